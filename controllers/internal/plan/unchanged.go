package plan

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"strings"

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
// equal objects look different, and they would be applied for ever.
func Unchanged(rendered, live *unstructured.Unstructured, remembered Fingerprint) bool {
	hash := rendered.GetAnnotations()[v1alpha1.AnnotationRendered]
	if hash == "" || live.GetAnnotations()[v1alpha1.AnnotationRendered] != hash {
		return false
	}
	if remembered != (Fingerprint{}) {
		return remembered == FingerprintOf(live)
	}
	return covers(ownFields(live), rendered, live.Object)
}

// unchangedIfWhole says whether a live object of which the metadata alone is known is as rendered, provided that the values stand
// that Unchanged would have to see.
func unchangedIfWhole(rendered, live *unstructured.Unstructured, remembered Fingerprint) bool {
	for key := range live.Object {
		if key != "apiVersion" && key != "kind" && key != "metadata" {
			return false
		}
	}
	whole := maps.Clone(rendered.Object)
	whole["metadata"] = live.Object["metadata"]
	return Unchanged(rendered, &unstructured.Unstructured{Object: whole}, remembered)
}

// covers says whether every field of a rendered object is in a set of fields, and has the value of a live one where the set does not
// tell.
func covers(fields map[string]any, rendered *unstructured.Unstructured, live map[string]any) bool {
	if fields == nil {
		return false
	}
	for key, value := range rendered.Object {
		switch key {
		case "apiVersion", "kind":
		case "metadata":
			if !ownsMetadata(fields["f:metadata"], value, live["metadata"]) {
				return false
			}
		default:
			if !owns(fields["f:"+key], value, live[key]) {
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
	fields := ownFieldsText(live)
	if fields == "" {
		return Fingerprint{}
	}
	return sha256.Sum256([]byte(fields + live.GetAnnotations()[v1alpha1.AnnotationRendered]))
}

// ownsMetadata leaves out the name and the namespace, which are an object's address and owned by nobody.
func ownsMetadata(fields, metadata, live any) bool {
	m, ok := metadata.(map[string]any)
	if !ok {
		return false
	}
	set, _ := fields.(map[string]any)
	for key, value := range m {
		if key != "name" && key != "namespace" && !owns(set["f:"+key], value, member(live, key)) {
			return false
		}
	}
	return true
}

// owns says whether a set of fields covers a rendered value. fields is nil if the field is not in the set, an empty map if
// it is in it as a whole, and otherwise holds its members: "f:<name>" of a map, "k:<keys as JSON>" of a list merged by key,
// "v:<value as JSON>" of a set.
//
// An empty set is also what is left of a map of which every member was taken over, so that for it the values must stand too.
func owns(fields, value, live any) bool {
	set, ok := fields.(map[string]any)
	if !ok {
		return false
	}
	if len(set) == 0 {
		switch value.(type) {
		case map[string]any, []any:
			return contains(live, value)
		}
		return true
	}
	switch value := value.(type) {
	case map[string]any:
		for key, wanted := range value {
			if !owns(set["f:"+key], wanted, member(live, key)) {
				return false
			}
		}
	case []any:
		for _, item := range value {
			if !ownsItem(set, item, live) {
				return false
			}
		}
	}
	return true
}

func ownsItem(set map[string]any, item, live any) bool {
	for key, members := range set {
		switch {
		case strings.HasPrefix(key, "k:"):
			if m, ok := item.(map[string]any); ok && hasKeys(m, key[2:]) && owns(members, item, itemOf(live, key[2:])) {
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

func member(m any, key string) any {
	members, _ := m.(map[string]any)
	return members[key]
}

// itemOf returns the item of a live list that has these key fields.
func itemOf(list any, keys string) any {
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok && hasKeys(m, keys) {
			return item
		}
	}
	return nil
}

// contains says whether a live value holds all of a rendered one. What the API server spells in another way counts as different,
// which costs an apply that changes nothing, once.
func contains(live, rendered any) bool {
	switch rendered := rendered.(type) {
	case map[string]any:
		for key, value := range rendered {
			if !contains(member(live, key), value) {
				return false
			}
		}
		return true
	case []any:
		items, _ := live.([]any)
		if len(items) != len(rendered) {
			return false
		}
		for i := range rendered {
			if !contains(items[i], rendered[i]) {
				return false
			}
		}
		return true
	}
	text, err := json.Marshal(live)
	return err == nil && equalsJSON(rendered, string(text))
}
