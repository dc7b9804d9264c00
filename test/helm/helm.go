package helm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gatewright/gatewright/test/kube"
)

// path is Helm as tools/go.mod pins it. `make` names it; a single `go test` finds or builds it the same way.
var path = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("HELM"); path != "" {
		return path, nil
	}
	find := exec.Command(filepath.Join(kube.RepoRoot(), "hack", "tool"), "helm")
	find.Stderr = os.Stderr
	out, err := find.Output()
	return strings.TrimSpace(string(out)), err
})

// Run runs Helm and returns its standard output, and all that it said as an error if it failed. Environment variables in
// env are added.
func Run(t testing.TB, env []string, args ...string) (string, error) {
	t.Helper()
	path, err := path()
	if err != nil {
		t.Fatalf("finding helm: %v", err)
	}
	var stdout, stderr bytes.Buffer
	command := exec.Command(path, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	// Nothing of the user's own Helm may decide about a test.
	home := t.TempDir()
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
	command.Env = append(command.Env, env...)
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w\n%s%s", args[0], err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}
