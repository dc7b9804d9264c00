package manifest

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// Encode prints objects as YAML documents, the keys in the order in which kustomize has them: apiVersion, kind and metadata first,
// what has no place of its own by name. Equal objects give equal text.
func Encode(objects ...*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for i, object := range objects {
		text, err := encode(object.Object)
		if err != nil {
			return nil, fmt.Errorf("object %d (%s %s/%s) cannot be printed: %w", i, object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.WriteString(text)
	}
	return out.Bytes(), nil
}

func encode(object map[string]any) (string, error) {
	// This library quotes what anybody else's might read as something else than text.
	text, err := yaml.Marshal(object)
	if err != nil {
		return "", err
	}
	root, err := kyaml.Parse(string(text))
	if err != nil {
		return "", err
	}
	sortKeys(root.YNode())
	return root.String()
}

// field is a key of a map and its value.
type field struct{ key, value *kyaml.Node }

// sortKeys puts all keys in the order that people know.
func sortKeys(n *kyaml.Node) {
	for _, below := range n.Content {
		sortKeys(below)
	}
	if n.Kind != kyaml.MappingNode {
		return
	}
	fields := make([]field, 0, len(n.Content)/2)
	for pair := range slices.Chunk(n.Content, 2) {
		fields = append(fields, field{pair[0], pair[1]})
	}
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(cmp.Compare(rank(a.key.Value), rank(b.key.Value)), cmp.Compare(a.key.Value, b.key.Value))
	})
	n.Content = n.Content[:0]
	for _, f := range fields {
		n.Content = append(n.Content, f.key, f.value)
	}
}

// rank is the place of a key; those without one come last.
func rank(key string) int {
	if place, ok := kyaml.FieldOrder[key]; ok {
		return place
	}
	return len(kyaml.FieldOrder) + 1
}
