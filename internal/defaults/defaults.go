package defaults

import (
	_ "embed"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// embedded holds a place for each kind. It is a few kilobytes, where the CRDs are close to a megabyte that every start of the
// tool would have to read.
//
//go:embed defaults.json
var embedded []byte

// place is a place in an object, with the defaults at it and below it. Where there are none, there is no place.
type place struct {
	// Default is the value where there is none; nil if there is no default.
	Default any `json:"default,omitempty"`
	// Nullable says that null is a value of its own here, not a missing one.
	Nullable bool `json:"nullable,omitempty"`
	// Fields are the places below a map, by key.
	Fields map[string]*place `json:"fields,omitempty"`
	// Items is the place of each item of a list.
	Items *place `json:"items,omitempty"`
}

// kinds are the places of whole objects, by Kind.group. The versions of a kind have the same defaults.
var kinds = sync.OnceValue(func() map[string]*place {
	var all map[string]*place
	if err := utiljson.Unmarshal(embedded, &all); err != nil {
		panic(fmt.Sprintf("defaults.json: %v", err)) // it is part of the program
	}
	return all
})

// Apply returns a copy of an object with the defaults of its kind filled in. An object of a kind that has none is returned as
// a copy all the same.
func Apply(object *unstructured.Unstructured) *unstructured.Unstructured {
	filled := object.DeepCopy()
	kinds()[key(filled.GroupVersionKind().GroupKind())].fill(filled.Object)
	return filled
}

func key(kind schema.GroupKind) string { return kind.String() }

// fill goes by the rule of structural schemas: a default stands in for what is missing, or null where null is no value; what was
// filled in is filled in further.
func (p *place) fill(value any) {
	if p == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, field := range p.Fields {
			if present, found := value[name]; field.Default != nil && (!found || present == nil && !field.Nullable) {
				value[name] = runtime.DeepCopyJSONValue(field.Default)
			}
			field.fill(value[name])
		}
	case []any:
		for i := range value {
			p.Items.fill(value[i])
		}
	}
}
