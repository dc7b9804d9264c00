package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestAManifestReadsAsWhatWasRendered(t *testing.T) {
	want := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"data": map[string]any{
			"yes": "yes", "number": "1e3", "octal": "0777", "date": "2001-01-01", "null": "~", "empty": "",
			"lines": "one\ntwo\n", "item": "- a: b # c", "controls": "\u007f\u0085\u2028", "9": "key",
		},
		"spec": map[string]any{"integer": 5.0, "fraction": 1.5, "flag": true, "none": nil, "list": []any{}, "map": map[string]any{}},
	}
	text := Manifest("config", &unstructured.Unstructured{Object: want})
	var got map[string]any
	if err := yaml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, text)
	}
}
