package schema

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// The types that a schema may name, and what maps and lists may be.
var (
	types     = []string{"array", "boolean", "integer", "number", "object", "string"}
	mapTypes  = []string{"atomic", "granular"}
	listTypes = []string{"atomic", "map", "set"}
)

// check holds a place of a schema, and all below it, against what the API server asks of a CustomResourceDefinition besides
// that its schema is structural; the package that does it there would bring the whole API server along. often is how many
// values there can be at the place.
func (c *compiler) check(at *field.Path, s *schema.Structural, often cardinality) {
	c.checkType(at, s)
	c.checkMap(at, s)
	if s.XListType != nil || len(s.XListMapKeys) > 0 {
		c.checkList(at, s)
	}
	c.checkRules(at, s, often)
	if s.Items != nil {
		c.check(at.Child("items"), s.Items, often.times(itemsOf(s)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		property := s.Properties[name]
		c.check(at.Child("properties").Key(name), &property, often)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		c.check(at.Child("additionalProperties"), s.AdditionalProperties.Structural, often.times(propertiesOf(s)))
	}
}

func (c *compiler) checkType(at *field.Path, s *schema.Structural) {
	if s.Type != "" && !slices.Contains(types, s.Type) {
		c.problem(at.Child("type"), "must be one of %s", strings.Join(types, ", "))
		return
	}
	node := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.ValueValidation.Format}}
	if s.Type != "" {
		node.Type = spec.StringOrArray{s.Type}
	}
	for _, format := range validation.GetUnrecognizedFormats(node, environment.DefaultCompatibilityVersion()) {
		c.problem(at.Child("format"), "%q is no format that is checked for type %s; leave it out or use pattern", format, s.Type)
	}
}

func (c *compiler) checkMap(at *field.Path, s *schema.Structural) {
	if len(s.Properties) > 0 && s.AdditionalProperties != nil {
		c.problem(at.Child("additionalProperties"), "cannot stand beside properties; write one of them")
	}
	if s.XMapType == nil {
		return
	}
	if !slices.Contains(mapTypes, *s.XMapType) {
		c.problem(at.Child("x-kubernetes-map-type"), "must be one of %s", strings.Join(mapTypes, ", "))
	}
	if s.Type != "object" {
		c.problem(at.Child("type"), "must be object, for x-kubernetes-map-type")
	}
}

func (c *compiler) checkList(at *field.Path, s *schema.Structural) {
	listType := ""
	if s.XListType != nil {
		listType = *s.XListType
	}
	switch {
	case s.Type != "array":
		c.problem(at.Child("type"), "must be array, for x-kubernetes-list-type")
	case s.Items == nil:
		// That items are missing is found elsewhere.
	case listType == "set":
		c.checkSet(at.Child("items"), s.Items)
	case listType == "map":
		c.checkKeys(at, s)
	case listType != "atomic":
		c.problem(at.Child("x-kubernetes-list-type"), "must be one of %s", strings.Join(listTypes, ", "))
	}
	if listType != "map" && len(s.XListMapKeys) > 0 {
		c.problem(at.Child("x-kubernetes-list-map-keys"), "is for x-kubernetes-list-type: map only")
	}
}

// checkSet sees to it that the items of a set are compared as a whole.
func (c *compiler) checkSet(at *field.Path, items *schema.Structural) {
	if items.Nullable {
		c.problem(at.Child("nullable"), "must be false for the items of a set")
	}
	if items.Type == "object" && (items.XMapType == nil || *items.XMapType != "atomic") {
		c.problem(at.Child("x-kubernetes-map-type"), "must be atomic for the items of a set")
	}
	if items.Type == "array" && items.XListType != nil && *items.XListType != "atomic" {
		c.problem(at.Child("x-kubernetes-list-type"), "must be atomic for the items of a set")
	}
}

// checkKeys sees to it that every item of a list has its keys.
func (c *compiler) checkKeys(at *field.Path, s *schema.Structural) {
	keys := at.Child("x-kubernetes-list-map-keys")
	if len(s.XListMapKeys) == 0 {
		c.problem(keys, "must name the properties that tell items apart, for x-kubernetes-list-type: map")
	}
	items := at.Child("items")
	if s.Items.Type != "object" || s.Items.Nullable {
		c.problem(items, "must be of type object and not nullable, for x-kubernetes-list-type: map")
	}
	for i, name := range s.XListMapKeys {
		property, ok := s.Items.Properties[name]
		if !ok || slices.Contains(s.XListMapKeys[:i], name) {
			c.problem(keys, "must be names of different properties of the items")
			continue
		}
		if property.Type == "array" || property.Type == "object" || property.Nullable {
			c.problem(items.Child("properties").Key(name), "must be a scalar and not nullable, as a key of the items")
		}
		if property.Default.Object == nil && !slices.Contains(s.Items.ValueValidation.Required, name) {
			c.problem(items.Child("properties").Key(name), "must be required or have a default, as a key of the items")
		}
	}
}
