package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/test/kube"
)

// page is a Markdown file, by its path in the repository.
type page struct {
	path, text string
}

// pages are all Markdown files of the repository.
func pages(t *testing.T) []page {
	t.Helper()
	root := kube.RepoRoot()
	var all []page
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		relative, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		all = append(all, read(t, relative))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// read reads a file of the repository.
func read(t *testing.T, path string) page {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kube.RepoRoot(), path))
	if err != nil {
		t.Fatal(err)
	}
	return page{path, string(text)}
}
