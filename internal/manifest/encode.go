package manifest

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Encode prints objects as YAML documents, keys sorted, so that equal objects give equal text.
func Encode(objects ...*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for i, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("object %d (%s %s/%s) cannot be printed: %w", i, object.GetKind(), object.GetNamespace(), object.GetName(), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// Flatten replaces each `v1` List, as `kubectl get -o yaml` prints it, by its items, which keep the line of the list. Errors are
// of type *Error.
func Flatten(docs []Document) ([]Document, error) {
	var flat []Document
	for _, doc := range docs {
		if doc.GetAPIVersion() != "v1" || doc.GetKind() != "List" {
			flat = append(flat, doc)
			continue
		}
		items, ok := doc.Object["items"].([]any)
		if !ok {
			return nil, &Error{Line: doc.Line, Path: "items", Message: "a List must have a list of items"}
		}
		for i, item := range items {
			at := &Path{Parent: &Path{Key: "items"}, Index: i, isIndex: true}
			object, ok := item.(map[string]any)
			if !ok {
				return nil, &Error{Line: doc.Line, Path: at.String(), Message: fmt.Sprintf("an item is %s, not an object", Describe(item))}
			}
			u := &unstructured.Unstructured{Object: object}
			if u.GetKind() == "" || u.GetAPIVersion() == "" {
				return nil, &Error{Line: doc.Line, Path: at.String(), Message: "every item must have apiVersion and kind"}
			}
			flat = append(flat, Document{Unstructured: u, Line: doc.Line})
		}
	}
	return flat, nil
}
