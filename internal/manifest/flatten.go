package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
