package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gatewright/gatewright/internal/nearest"
	"github.com/gatewright/gatewright/values"
)

// The marks that the API server does not know.
const (
	markSettableBy = "x-gatewright-settable-by"
	markWriteOnly  = "writeOnly"
	// formatPassword is a format that the API server knows. Here it says that a value is sensitive, as writeOnly does.
	formatPassword = "password"
	// keywordPreserve allows keys that the schema does not know.
	keywordPreserve = "x-kubernetes-preserve-unknown-fields"
)

// refused are keywords that the API server knows, and does not allow or does not act on for values.
var refused = []string{
	"$ref", "$schema", "additionalItems", "definitions", "dependencies", "id", "patternProperties", "uniqueItems",
	"x-kubernetes-embedded-resource",
}

// keywords are those that a schema may have.
var keywords = func() map[string]bool {
	known := map[string]bool{markSettableBy: true, markWriteOnly: true}
	props := reflect.TypeFor[apiextensionsv1.JSONSchemaProps]()
	for field := range props.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known[name] = !slices.Contains(refused, name)
	}
	return known
}()

// within is what the place of a schema is part of.
type within struct {
	// nested says that it is below allOf, anyOf, oneOf or not, where only what is valid can be said.
	nested bool
	// atomic says that it is below a map that is one leaf.
	atomic bool
	// sensitive says that what it is part of is.
	sensitive bool
}

// read takes the marks out of a schema, and returns the rest of it, which is what the API server knows. Both are as deep as
// the schema. Where there are no marks, there are none.
func (c *compiler) read(at *field.Path, raw map[string]any, w within) (map[string]any, *values.Marks) {
	c.known(at, raw)
	m := &values.Marks{}
	if w.nested {
		c.refuseMarks(at, raw)
	} else {
		c.mark(m, at, raw, w)
		w.atomic = w.atomic || m.Merge == values.MergeAtomic
		w.sensitive = w.sensitive || m.Sensitive
	}
	plain := maps.Clone(raw)
	delete(plain, markSettableBy)
	delete(plain, markWriteOnly)

	if properties, ok := raw["properties"].(map[string]any); ok {
		plain["properties"], m.Properties = c.readAll(at.Child("properties"), properties, w)
	}
	if additional, ok := raw["additionalProperties"].(map[string]any); ok {
		plain["additionalProperties"], m.Additional = c.read(at.Child("additionalProperties"), additional, w)
	}
	if items, ok := raw["items"].(map[string]any); ok {
		plain["items"], m.Items = c.read(at.Child("items"), items, w)
	}
	c.readNested(at, raw)
	c.checkNames(at, m, w)
	if reflect.ValueOf(*m).IsZero() {
		return plain, nil
	}
	return plain, m
}

// readAll reads the schemas of properties.
func (c *compiler) readAll(at *field.Path, raw map[string]any, w within) (map[string]any, map[string]*values.Marks) {
	plain := maps.Clone(raw)
	var marks map[string]*values.Marks
	for name, property := range raw {
		object, ok := property.(map[string]any)
		if !ok {
			continue
		}
		below, m := c.read(at.Key(name), object, w)
		plain[name] = below
		if m == nil {
			continue
		}
		if marks == nil {
			marks = map[string]*values.Marks{}
		}
		marks[name] = m
	}
	return plain, marks
}

// readNested reads the schemas that are combined at a place. They can have no marks, so there is nothing to take out.
func (c *compiler) readNested(at *field.Path, raw map[string]any) {
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := raw[keyword].([]any)
		for i, item := range list {
			if object, ok := item.(map[string]any); ok {
				c.read(at.Child(keyword).Index(i), object, within{nested: true})
			}
		}
	}
	if object, ok := raw["not"].(map[string]any); ok {
		c.read(at.Child("not"), object, within{nested: true})
	}
}

// known names every keyword that nobody would heed.
func (c *compiler) known(at *field.Path, raw map[string]any) {
	for keyword := range raw {
		allowed, known := keywords[keyword]
		switch {
		case !known:
			c.problem(at, "has an unknown keyword %q%s", keyword, nearest.Suggest(keyword, slices.Collect(maps.Keys(keywords))))
		case !allowed:
			c.problem(at, "has %s, which is not supported here; leave it out", keyword)
		}
	}
	if preserve, ok := raw[keywordPreserve]; ok && preserve != true {
		c.problem(at.Child(keywordPreserve), "must be true; leave it out where unknown keys are not allowed")
	}
}

func (c *compiler) refuseMarks(at *field.Path, raw map[string]any) {
	for _, mark := range []string{markSettableBy, markWriteOnly} {
		if _, ok := raw[mark]; ok {
			c.problem(at, "has %s, which has no effect here; write it where the property is declared", mark)
		}
	}
	if raw["format"] == formatPassword {
		c.problem(at, "has format %s, which hides nothing here; write it where the property is declared", formatPassword)
	}
}

// mark reads the marks of one place.
func (c *compiler) mark(m *values.Marks, at *field.Path, raw map[string]any, w within) {
	c.settableBy(m, at.Child(markSettableBy), raw, w)
	if writeOnly, ok := raw[markWriteOnly]; ok {
		if m.Sensitive, ok = writeOnly.(bool); !ok {
			c.problem(at.Child(markWriteOnly), "must be true or false")
		}
	}
	m.Sensitive = m.Sensitive || raw["format"] == formatPassword
	switch {
	case raw["x-kubernetes-map-type"] == "atomic":
		m.Merge = values.MergeAtomic
	case raw["x-kubernetes-list-type"] == "set":
		m.Merge = values.MergeSet
	case raw["x-kubernetes-list-type"] == "map":
		m.Merge, m.Keys = values.MergeByKey, keys(raw)
	}
	if w.atomic && m.Merge != values.MergeAtomic {
		// What is part of one leaf is not merged.
		m.Merge, m.Keys = values.MergeDefault, nil
	}
}

func (c *compiler) settableBy(m *values.Marks, at *field.Path, raw map[string]any, w within) {
	by, ok := raw[markSettableBy]
	if !ok {
		return
	}
	text, _ := by.(string)
	switch m.SettableBy = values.Party(text); {
	case m.SettableBy != values.PartyProvider && m.SettableBy != values.PartyTenant:
		c.problem(at, "must be %s or %s", values.PartyProvider, values.PartyTenant)
	case w.atomic:
		c.problem(at, "is part of a map that is set as a whole (x-kubernetes-map-type: atomic); write it there")
	}
}

// keys are those of the items of a list. What is wrong with them is found later.
func keys(raw map[string]any) []values.Key {
	items, _ := raw["items"].(map[string]any)
	properties, _ := items["properties"].(map[string]any)
	names, _ := raw["x-kubernetes-list-map-keys"].([]any)
	var list []values.Key
	for _, name := range names {
		text, _ := name.(string)
		property, _ := properties[text].(map[string]any)
		list = append(list, values.Key{Name: text, Default: property["default"]})
	}
	return list
}

// checkNames sees to it that nothing sensitive becomes part of a path: items of lists that are merged are named by their keys,
// or by themselves.
func (c *compiler) checkNames(at *field.Path, m *values.Marks, w within) {
	sensitive := w.sensitive
	switch m.Merge {
	case values.MergeSet:
		sensitive = sensitive || hides(m.Items)
	case values.MergeByKey:
		for _, key := range m.Keys {
			sensitive = sensitive || m.Items != nil && (m.Items.Sensitive || hides(m.Items.Properties[key.Name]))
		}
	default:
		return
	}
	if sensitive {
		c.problem(at.Child("x-kubernetes-list-type"), "names items by what is sensitive, and names are shown; write atomic")
	}
}

func hides(m *values.Marks) bool { return m != nil && m.Sensitive }
