package schema

import (
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/values"
)

// compile is a schema written as YAML.
func compile(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(rawJSON(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rawJSON(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// tree is a tree written as YAML.
func tree(t testing.TB, text string) values.Tree {
	t.Helper()
	var decoded values.Tree
	if err := utiljson.Unmarshal(rawJSON(t, text), &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// properties is a schema that has these properties.
func properties(text string) string { return "type: object\nproperties: " + text }
