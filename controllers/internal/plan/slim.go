package plan

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Slim drops from a live object, which may be changed, what nobody looks at and what nobody may: which fields are managed by others,
// and what is in a Secret. The set of our own fields is kept as text, which takes a fraction of the memory of its tree.
func Slim(live *unstructured.Unstructured) {
	setOwnFields(live, ownFieldsText(live))
	if live.GetAPIVersion() == "v1" && live.GetKind() == "Secret" {
		delete(live.Object, "data")
		delete(live.Object, "stringData")
	}
}

// SlimMetadata does to the metadata of a live object, which may be changed, what Slim does to a whole one. Live returns it as an
// object.
func SlimMetadata(live *metav1.PartialObjectMetadata) {
	var ours []metav1.ManagedFieldsEntry
	for _, entry := range live.ManagedFields {
		if !isOurs(entry) {
			continue
		}
		var fields map[string]any
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil {
			ours = append(ours, metav1.ManagedFieldsEntry{
				Manager: entry.Manager, Operation: entry.Operation, FieldsV1: metav1.NewFieldsV1(canonical(fields)),
			})
		}
		break
	}
	live.ManagedFields = ours
}

// Live returns the metadata of a live object, as SlimMetadata left it, as an object without a body. The error says that it is not what
// the API server sends.
func Live(live *metav1.PartialObjectMetadata) (*unstructured.Unstructured, error) {
	others := *live
	others.ManagedFields = nil
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&others)
	if err != nil {
		return nil, fmt.Errorf("reading the metadata of %s %s: %w", live.Kind, live.Name, err)
	}
	o := &unstructured.Unstructured{Object: content}
	for _, entry := range live.ManagedFields {
		setOwnFields(o, entry.FieldsV1.GetRawString())
	}
	return o, nil
}

func isOurs(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == v1alpha1.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == "" && entry.FieldsV1 != nil
}

// ownFields returns the set of fields that our field manager applied and that nobody changed since, or nil if there is none.
func ownFields(live *unstructured.Unstructured) map[string]any {
	var fields map[string]any
	if json.Unmarshal([]byte(ownFieldsText(live)), &fields) != nil {
		return nil
	}
	return fields
}

// ownFieldsText is the set of fields that our field manager applied and that nobody changed since, as JSON with sorted keys, or "" if
// there is none. It is read in place: taking the managed fields out of an object copies all of them.
func ownFieldsText(live *unstructured.Unstructured) string {
	metadata, _ := live.Object["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		subresource, _ := entry["subresource"].(string)
		if entry["manager"] != v1alpha1.FieldManager || entry["operation"] != string(metav1.ManagedFieldsOperationApply) || subresource != "" {
			continue
		}
		switch fields := entry["fieldsV1"].(type) {
		case string: // setOwnFields left it
			return fields
		case map[string]any:
			return canonical(fields)
		}
	}
	return ""
}

// setOwnFields makes a set of fields of our manager the only one of an object, for ownFieldsText to find.
func setOwnFields(o *unstructured.Unstructured, fields string) {
	unstructured.RemoveNestedField(o.Object, "metadata", "managedFields")
	metadata, ok := o.Object["metadata"].(map[string]any)
	if !ok || fields == "" {
		return
	}
	metadata["managedFields"] = []any{map[string]any{
		"manager": v1alpha1.FieldManager, "operation": string(metav1.ManagedFieldsOperationApply), "fieldsV1": fields,
	}}
}

// canonical is a set of fields as JSON with sorted keys.
func canonical(fields map[string]any) string {
	text, err := json.Marshal(fields)
	if err != nil {
		// It was read from JSON.
		return ""
	}
	return string(text)
}
