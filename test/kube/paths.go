package kube

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// RepoRoot returns the directory of the main module, from wherever in it a test runs, modules inside it included. It
// panics outside of it.
func RepoRoot() string { return repoRoot() }

var repoRoot = sync.OnceValue(func() string {
	start, err := os.Getwd()
	if err != nil {
		panic(fmt.Errorf("finding the root of the repository: %w", err))
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module github.com/gatewright/gatewright\n")) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic(fmt.Errorf("finding the root of the repository: neither %s nor a directory above it holds its go.mod", start))
		}
	}
})

// GatewayAPICRDs returns the directory of Gateway API's standard CRDs, of the very version that go.mod requires. It
// panics when the go command does not find the module.
func GatewayAPICRDs() string { return gatewayAPICRDs() }

var gatewayAPICRDs = sync.OnceValue(func() string {
	// Unlike `go list`, this fetches the module where nothing has done so yet.
	download := exec.Command("go", "mod", "download", "-json", "sigs.k8s.io/gateway-api")
	download.Dir = RepoRoot()
	out, err := download.Output()
	if err != nil {
		panic(fmt.Errorf("finding the module sigs.k8s.io/gateway-api: %w\n%s", err, out))
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		panic(fmt.Errorf("finding the module sigs.k8s.io/gateway-api: %w", err))
	}
	return filepath.Join(module.Dir, "config", "crd", "standard")
})

// OwnCRDs returns the directory of Gatewright's own CRDs: those that the chart installs.
func OwnCRDs() string { return filepath.Join(RepoRoot(), "charts", "gatewright", "crds") }

// ForeignCRDs returns the directory of CRDs that stand in for those of other projects, whose kinds blueprints render.
func ForeignCRDs() string { return filepath.Join(RepoRoot(), "test", "crds") }
