package chart

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/test/helm"
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

// render returns the objects of the chart for a namespace and some values, in Helm's order of installation.
func render(t *testing.T, namespace string, args ...string) []*unstructured.Unstructured {
	t.Helper()
	text, err := helm.Run(t, nil, append([]string{"template", release, chartDir(), "--namespace", namespace}, args...)...)
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
