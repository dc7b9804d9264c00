package plan

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Unchanged says whether applying the rendered object would change nothing, without asking the API server.
//
// Two facts together prove it. The annotation gatewright.dev/rendered on the live object holds the hash of what was applied
// last, so an equal hash means that the same object was rendered then. And the API server keeps, for our field manager, the set
// of fields that still have the value we applied: whoever changes or removes one takes it out of that set. If every field
// that we render is still in it, none was touched since.
//
// remembered is the fingerprint of the live object right after it was applied, if that is known. It decides first: fields that
// the API server drops, such as those that a CRD does not know, are never in our set and would make an object look changed.
//
// Comparing values instead was rejected: the API server normalises what it stores (quantities, defaults, int-or-string), so that
// equal objects look different, and they would be applied for ever. Only metadata is read here, so live may be as little as
// a PartialObjectMetadata.
func Unchanged(rendered, live *unstructured.Unstructured, remembered Fingerprint) bool {
	hash := rendered.GetAnnotations()[v1alpha1.AnnotationRendered]
	if hash == "" || live.GetAnnotations()[v1alpha1.AnnotationRendered] != hash {
		return false
	}
	if remembered != (Fingerprint{}) && remembered == FingerprintOf(live) {
		return true
	}
	fields := ownFields(live)
	if fields == nil {
		return false
	}
	for key, value := range rendered.Object {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			if !ownsMetadata(fields["f:metadata"], value) {
				return false
			}
		default:
			if !owns(fields["f:"+key], value) {
				return false
			}
		}
	}
	return true
}

// Fingerprint tells whether what we applied still stands: it is the same as long as nobody touches a field of ours.
type Fingerprint [sha256.Size]byte

// FingerprintOf returns the fingerprint of a live object. That of an object which we did not apply is the zero value.
func FingerprintOf(live *unstructured.Unstructured) Fingerprint {
	for _, entry := range live.GetManagedFields() {
		if isOurs(entry) {
			h := sha256.New()
			h.Write(entry.FieldsV1.GetRawBytes())
			h.Write([]byte(live.GetAnnotations()[v1alpha1.AnnotationRendered]))
			return Fingerprint(h.Sum(nil))
		}
	}
	return Fingerprint{}
}

func isOurs(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == v1alpha1.FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == "" && entry.FieldsV1 != nil
}

// ownFields returns the set of fields that our field manager applied and that nobody changed since, or nil if there is none.
func ownFields(live *unstructured.Unstructured) map[string]any {
	for _, entry := range live.GetManagedFields() {
		if !isOurs(entry) {
			continue
		}
		var fields map[string]any
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			return nil
		}
		return fields
	}
	return nil
}

// ownsMetadata leaves out the name and the namespace, which are an object's address and owned by nobody.
func ownsMetadata(fields, metadata any) bool {
	m, ok := metadata.(map[string]any)
	if !ok {
		return false
	}
	set, _ := fields.(map[string]any)
	for key, value := range m {
		if key != "name" && key != "namespace" && !owns(set["f:"+key], value) {
			return false
		}
	}
	return true
}

// owns says whether a set of fields covers a rendered value. fields is nil if the field is not in the set, an empty map if
// it is in it as a whole, and otherwise holds its members: "f:<name>" of a map, "k:<keys as JSON>" of a list merged by key,
// "v:<value as JSON>" of a set.
func owns(fields, value any) bool {
	set, ok := fields.(map[string]any)
	if !ok {
		return false
	}
	if len(set) == 0 {
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			if !owns(set["f:"+key], member) {
				return false
			}
		}
	case []any:
		for _, item := range value {
			if !ownsItem(set, item) {
				return false
			}
		}
	}
	return true
}

func ownsItem(set map[string]any, item any) bool {
	for key, members := range set {
		switch {
		case strings.HasPrefix(key, "k:"):
			if m, ok := item.(map[string]any); ok && hasKeys(m, key[2:]) && owns(members, item) {
				return true
			}
		case strings.HasPrefix(key, "v:"):
			if equalsJSON(item, key[2:]) {
				return true
			}
		}
	}
	return false
}

// hasKeys says whether a list item has these key fields. A key field that the item leaves out is one that the API server
// defaults, such as the protocol of a port.
func hasKeys(item map[string]any, keys string) bool {
	var want map[string]json.RawMessage
	if json.Unmarshal([]byte(keys), &want) != nil {
		return false
	}
	for name, value := range want {
		if have, ok := item[name]; ok && !equalsJSON(have, string(value)) {
			return false
		}
	}
	return true
}

func equalsJSON(value any, text string) bool {
	encoded, err := json.Marshal(value)
	return err == nil && string(encoded) == text
}
