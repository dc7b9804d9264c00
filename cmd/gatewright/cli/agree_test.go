package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/defaults"
)

// expectation is what test/golden expects of a case, as far as it is about objects.
type expectation struct {
	Gateways []struct {
		Objects []map[string]any `json:"objects"`
		Routes  []struct {
			Objects []map[string]any `json:"objects"`
		} `json:"routes"`
	} `json:"gateways"`
}

func TestRenderPrintsTheObjectsOfTheGoldenCases(t *testing.T) {
	const root = "../../.."
	cases := map[string][]string{}
	for _, expected := range globbed(t, root+"/blueprints/*/cases/*/expected.yaml") {
		dir := filepath.Dir(expected)
		args := []string{"-f", filepath.Join(dir, "..", "..", "blueprint.yaml"), "-f", filepath.Join(dir, "input.yaml")}
		if live := filepath.Join(dir, "observed.yaml"); exists(live) {
			args = append(args, "--observed", live)
		}
		cases[expected] = args
	}
	for _, expected := range globbed(t, root+"/test/golden/testdata/samples/*/expected.yaml") {
		cases[expected] = []string{"-f", root + "/samples/" + filepath.Base(filepath.Dir(expected))}
	}
	for expected, args := range cases {
		t.Run(strings.TrimPrefix(expected, root), func(t *testing.T) {
			got := command("", append([]string{"gatewright", "render", "-o", "json"}, args...)...)
			if diff := cmp.Diff(expectedObjects(t, expected), printedObjects(t, got.out)); diff != "" {
				t.Errorf("objects (-want +got):\n%s\n%s", diff, got.err)
			}
		})
	}
}

func expectedObjects(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want expectation
	if err := yaml.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	objects := map[string]string{}
	for _, gw := range want.Gateways {
		collect(t, objects, gw.Objects)
		for _, route := range gw.Routes {
			collect(t, objects, route.Objects)
		}
	}
	return objects
}

func printedObjects(t *testing.T, text string) map[string]string {
	t.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.NewDecoder(bytes.NewBufferString(text)).Decode(&list); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	objects := map[string]string{}
	collect(t, objects, list.Items)
	return objects
}

// collect writes objects as text, by kind, namespace and name. The golden cases leave the hash out. Whether a default is written
// or left out makes no difference to an API server, nor does it here.
func collect(t *testing.T, into map[string]string, objects []map[string]any) {
	t.Helper()
	for _, object := range objects {
		u := defaults.Apply(&unstructured.Unstructured{Object: object})
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations", v1alpha1.AnnotationRendered)
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			t.Fatal(err)
		}
		into[u.GetKind()+" "+u.GetNamespace()+"/"+u.GetName()] = string(text)
	}
}

func globbed(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("nothing is like %s: %v", pattern, err)
	}
	return paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
