package chart

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

// release is the name under which the tests install the chart.
const release = "gatewright"

func chartDir() string { return filepath.Join(kube.RepoRoot(), "charts", "gatewright") }

// valuesFiles returns the files in the chart's ci/ by their names without extension: the values that it must work with.
func valuesFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(chartDir(), "ci", "*-values.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("values to test the chart with: %v, error %v", paths, err)
	}
	files := map[string]string{}
	for _, path := range paths {
		files[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = path
	}
	return files
}

// helmPath is Helm as tools/go.mod pins it. `make` names it; a single `go test` finds or builds it the same way.
var helmPath = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("HELM"); path != "" {
		return path, nil
	}
	find := exec.Command(filepath.Join(kube.RepoRoot(), "hack", "tool"), "helm")
	find.Stderr = os.Stderr
	out, err := find.Output()
	return strings.TrimSpace(string(out)), err
})

// helm runs Helm and returns its standard output, and all that it said as an error if it failed. Environment variables in
// env are added.
func helm(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	path, err := helmPath()
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

// render returns the objects of the chart for a namespace and some values, in Helm's order of installation.
func render(t *testing.T, namespace string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := helm(t, nil, append([]string{"template", release, chartDir(), "--namespace", namespace}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := decode(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// decode reads YAML documents and refuses duplicate keys, of which parsers otherwise drop one in silence.
func decode(text io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := yaml.NewDocumentDecoder(io.NopCloser(text))
	defer documents.Close()
	buffer := make([]byte, 1<<20)
	for {
		n, err := documents.Read(buffer)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := sigsyaml.UnmarshalStrict(buffer[:n], &object.Object); err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, buffer[:n])
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// find returns the objects of a kind.
func find(objects []*unstructured.Unstructured, kind string) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	return found
}
