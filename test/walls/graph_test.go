package walls

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// A pkg is what `go list -json` says about a package.
type pkg struct {
	Dir          string
	ImportPath   string
	Name         string
	DepOnly      bool
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// A graph holds packages by import path: those of a module and all that they depend on.
type graph map[string]pkg

// load lists the packages of the module in dir, and everything that they import.
func load(dir string) (graph, error) {
	list := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,Name,DepOnly,Imports,TestImports,XTestImports", "./...")
	list.Dir = dir
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %s: %w\n%s", dir, err, stderr.String())
	}
	packages := graph{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, err
		}
		packages[p.ImportPath] = p
	}
}

// own returns the import paths of the module itself, sorted.
func (g graph) own() []string {
	var paths []string
	for path, p := range g {
		if !p.DepOnly {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// chain returns the shortest chain of imports from a package to one that is banned, both included, or nil. It does not
// look behind packages that are let through.
func (g graph) chain(from string, banned, through func(path string) bool) []string {
	cameFrom := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at != from && banned(at) {
			return backTo(from, at, cameFrom)
		}
		if at != from && through(at) {
			continue
		}
		for _, next := range g[at].Imports {
			if _, seen := cameFrom[next]; !seen {
				cameFrom[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func backTo(from, to string, cameFrom map[string]string) []string {
	chain := []string{to}
	for at := to; at != from; {
		at = cameFrom[at]
		chain = append(chain, at)
	}
	slices.Reverse(chain)
	return chain
}

// under matches packages with one of the import paths, and what lies below them.
func under(roots ...string) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(roots, func(root string) bool {
			return path == root || strings.HasPrefix(path, root+"/")
		})
	}
}

func none(string) bool { return false }
