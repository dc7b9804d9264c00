package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/values"
)

func TestCompileSaysWhatIsWrong(t *testing.T) {
	const keyed = "{l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, properties: {name: {type: string}}"
	// The fields are named from the schema's root on.
	cases := map[string]struct {
		schema string
		want   []string
	}{
		"a list is no schema":                       {"[]", []string{": must be an object; write type: object and properties"}},
		"the values are an object":                  {"type: string", []string{".type: must be object, which the values are"}},
		"a type must be written":                    {properties("{a: {}}"), []string{".properties[a].type: must not be empty for specified object fields"}},
		"an unknown type is refused":                {properties("{a: {type: int}}"), []string{".properties[a].type: must be one of array, boolean, integer, number, object, string"}},
		"a list needs items":                        {properties("{a: {type: array}}"), []string{".properties[a].items: must be specified"}},
		"a keyword of a wrong type":                 {properties("{a: {type: integer, minimum: '1'}}"), []string{": cannot be read: cannot unmarshal string into Go struct field JSONSchemaProps.properties.minimum of type float64"}},
		"a typo in a keyword":                       {properties("{a: {type: integer, minium: 1}}"), []string{`.properties[a]: has an unknown keyword "minium"; did you mean minimum?`}},
		"a typo further down":                       {properties("{a: {type: array, items: {type: object, additionalProperties: {type: string, paterns: x}}}}"), []string{`.properties[a].items.additionalProperties: has an unknown keyword "paterns"; did you mean pattern?`}},
		"a typo in an alternative":                  {properties("{a: {type: integer, anyOf: [{minimum: 1}, {maxium: 5}]}}"), []string{`.properties[a].anyOf[1]: has an unknown keyword "maxium"; did you mean maximum?`}},
		"a keyword that nobody heeds":               {properties("{a: {$ref: '#/x', type: object}}"), []string{".properties[a]: has $ref, which is not supported here; leave it out"}},
		"unknown keys are allowed or not mentioned": {properties("{a: {type: object, x-kubernetes-preserve-unknown-fields: false}}"), []string{".properties[a].x-kubernetes-preserve-unknown-fields: must be true; leave it out where unknown keys are not allowed"}},
		"a pattern that is no good":                 {properties("{a: {type: string, pattern: '('}}"), []string{".properties[a].pattern: must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"}},
		"a format that nobody checks":               {properties("{a: {type: string, format: ipv5}}"), []string{`.properties[a].format: "ipv5" is no format that is checked for type string; leave it out or use pattern`}},
		"properties and any other":                  {properties("{a: {type: string}}\nadditionalProperties: {type: string}"), []string{".additionalProperties: cannot stand beside properties; write one of them"}},
		"a type in an alternative":                  {properties("{a: {type: integer, anyOf: [{type: integer}]}}"), []string{".properties[a].anyOf[0].type: must be empty to be structural"}},
		"a default that is not valid":               {properties("{a: {type: integer, default: x}}"), []string{`.properties[a].default: must be of type integer: "string"`}},
		"a default that breaks a rule":              {properties("{a: {type: integer, default: 1, x-kubernetes-validations: [{rule: self > 1, message: too small}]}}"), []string{".properties[a].default: too small"}},
		"a default below any key":                   {properties("{a: {type: object, additionalProperties: {type: object, properties: {b: {type: integer, default: x}}}}}"), []string{`.properties[a].additionalProperties.properties[b].default: must be of type integer: "string"`}},
		"a default for all values":                  {"type: object\ndefault: {}", []string{".default: has no effect, since there always are values; write defaults for properties"}},
		"several problems are all named":            {properties("{a: {type: int}, b: {type: float}}"), []string{".properties[a].type: must be one of array, boolean, integer, number, object, string", ".properties[b].type: must be one of array, boolean, integer, number, object, string"}},

		"a map type is for maps":              {properties("{a: {type: string, x-kubernetes-map-type: atomic}}"), []string{".properties[a].type: must be object, for x-kubernetes-map-type"}},
		"an unknown map type":                 {properties("{a: {type: object, x-kubernetes-map-type: atom}}"), []string{".properties[a].x-kubernetes-map-type: must be one of atomic, granular"}},
		"a list type is for lists":            {properties("{a: {type: object, x-kubernetes-list-type: set}}"), []string{".properties[a].type: must be array, for x-kubernetes-list-type"}},
		"an unknown list type":                {properties("{a: {type: array, items: {type: string}, x-kubernetes-list-type: bag}}"), []string{".properties[a].x-kubernetes-list-type: must be one of atomic, map, set"}},
		"keys are for lists with keys":        {properties("{a: {type: array, items: {type: string}, x-kubernetes-list-type: set, x-kubernetes-list-map-keys: [x]}}"), []string{".properties[a].x-kubernetes-list-map-keys: is for x-kubernetes-list-type: map only"}},
		"a list with keys needs keys":         {properties("{a: {type: array, items: {type: object}, x-kubernetes-list-type: map}}"), []string{".properties[a].x-kubernetes-list-map-keys: must name the properties that tell items apart, for x-kubernetes-list-type: map"}},
		"the items of a list with keys":       {properties("{a: {type: array, items: {type: string}, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [x]}}"), []string{".properties[a].items: must be of type object and not nullable, for x-kubernetes-list-type: map", ".properties[a].x-kubernetes-list-map-keys: must be names of different properties of the items"}},
		"a key must always be there":          {properties(keyed + "}}}"), []string{".properties[l].items.properties[name]: must be required or have a default, as a key of the items"}},
		"a key must be a scalar":              {properties(strings.Replace(keyed, "type: string", "type: object", 1) + ", required: [name]}}}"), []string{".properties[l].items.properties[name]: must be a scalar and not nullable, as a key of the items"}},
		"maps in a set are compared whole":    {properties("{a: {type: array, items: {type: object}, x-kubernetes-list-type: set}}"), []string{".properties[a].items.x-kubernetes-map-type: must be atomic for the items of a set"}},
		"the items of a set are never null":   {properties("{a: {type: array, items: {type: string, nullable: true}, x-kubernetes-list-type: set}}"), []string{".properties[a].items.nullable: must be false for the items of a set"}},
		"a sensitive key would be shown":      {properties(strings.Replace(keyed, "type: string", "type: string, format: password", 1) + ", required: [name]}}}"), []string{".properties[l].x-kubernetes-list-type: names items by what is sensitive, and names are shown; write atomic"}},
		"a sensitive set would be shown":      {properties("{a: {type: array, items: {type: string, writeOnly: true}, x-kubernetes-list-type: set}}"), []string{".properties[a].x-kubernetes-list-type: names items by what is sensitive, and names are shown; write atomic"}},
		"a set in a sensitive map":            {properties("{a: {type: object, writeOnly: true, properties: {b: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}}"), []string{".properties[a].properties[b].x-kubernetes-list-type: names items by what is sensitive, and names are shown; write atomic"}},
		"settable by somebody unknown":        {properties("{a: {type: string, x-gatewright-settable-by: admin}}"), []string{".properties[a].x-gatewright-settable-by: must be provider or tenant"}},
		"settable in parts of one leaf":       {properties("{a: {type: object, x-kubernetes-map-type: atomic, properties: {b: {type: string, x-gatewright-settable-by: provider}}}}"), []string{".properties[a].properties[b].x-gatewright-settable-by: is part of a map that is set as a whole (x-kubernetes-map-type: atomic); write it there"}},
		"settable in an alternative":          {properties("{a: {type: string, not: {x-gatewright-settable-by: provider}}}"), []string{".properties[a].not: has x-gatewright-settable-by, which has no effect here; write it where the property is declared"}},
		"sensitive by something else":         {properties("{a: {type: string, writeOnly: 'yes'}}"), []string{".properties[a].writeOnly: must be true or false"}},
		"a password in an alternative":        {properties("{a: {type: string, allOf: [{format: password}]}}"), []string{".properties[a].allOf[0]: has format password, which hides nothing here; write it where the property is declared"}},
		"a number is no password":             {properties("{a: {type: integer, format: password}}"), []string{`.properties[a].format: "password" is no format that is checked for type integer; leave it out or use pattern`}},
		"a rule that does not compile":        {properties("{a: {type: integer, x-kubernetes-validations: [{rule: self > b}]}}"), []string{".properties[a].x-kubernetes-validations[0].rule: does not compile: 1:8: undeclared reference to 'b' (in container '')"}},
		"a rule that is no question":          {properties("{a: {type: integer, x-kubernetes-validations: [{rule: self + 1}]}}"), []string{".properties[a].x-kubernetes-validations[0].rule: does not compile: cel expression must evaluate to a bool"}},
		"a rule that is missing":              {properties("{a: {type: integer, x-kubernetes-validations: [{message: x}]}}"), []string{".properties[a].x-kubernetes-validations[0].rule: is missing; write a CEL expression over self"}},
		"a rule about the past":               {properties("{a: {type: integer, x-kubernetes-validations: [{rule: self >= oldSelf}]}}"), []string{".properties[a].x-kubernetes-validations[0].rule: uses oldSelf, but values have no former state; write a rule about self"}},
		"a rule about a perhaps missing past": {properties("{a: {type: integer, x-kubernetes-validations: [{rule: 'self > 1', optionalOldSelf: true}]}}"), []string{".properties[a].x-kubernetes-validations[0].optionalOldSelf: is of no use: values have no former state"}},
		"a message that could hold values":    {properties("{a: {type: string, x-kubernetes-validations: [{rule: 'self != \"\"', messageExpression: self}]}}"), []string{".properties[a].x-kubernetes-validations[0].messageExpression: could show values to people who may not see them; write message"}},
		"a message of several lines":          {properties("{a: {type: integer, x-kubernetes-validations: [{rule: self > 1, message: \"a\\nb\"}]}}"), []string{".properties[a].x-kubernetes-validations[0].message: must be one line; write what the rule asks for"}},
		"a rule about another place":          {properties("{a: {type: object, properties: {b: {type: string}}, x-kubernetes-validations: [{rule: has(self.b), fieldPath: .c}]}}"), []string{".properties[a].x-kubernetes-validations[0].fieldPath: must lead to a property below: does not refer to a valid field"}},
		"a rule that may cost too much": {properties("{a: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, x == y))'}]}}"),
			[]string{".properties[a].x-kubernetes-validations[0].rule: may cost too much, more than 100 times what is allowed; simplify it, or bound what it looks at by maxItems, maxProperties and maxLength"}},
		"a rule that may cost somewhat too much": {properties("{a: {type: array, maxItems: 1300, items: {type: string, maxLength: 10}, x-kubernetes-validations: [{rule: 'self.all(x, self.all(y, x == y))'}]}}"),
			[]string{".properties[a].x-kubernetes-validations[0].rule: may cost too much, 1.5 times what is allowed; simplify it, or bound what it looks at by maxItems, maxProperties and maxLength"}},
		"rules that may cost too much together": {properties("{a: {type: array, maxItems: 1000, items: {type: string, maxLength: 10}, x-kubernetes-validations: [" +
			strings.Repeat("{rule: 'self.all(x, self.all(y, x == y))'},", 12) + "]}}"),
			[]string{": has rules that may cost too much together, 1.1 times what is allowed; bound what they look at by maxItems, maxProperties and maxLength"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(rawJSON(t, c.schema))
			var got []string
			if err != nil {
				for line := range strings.SplitSeq(err.Error(), "\n") {
					got = append(got, strings.TrimPrefix(line, root.String()))
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCompileRefusesWhatIsNoJSON(t *testing.T) {
	_, err := Compile([]byte(`{"type": `))
	if diff := cmp.Diff("spec.values.schema.openAPIV3Schema: is not valid JSON", fmt.Sprint(err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCompileCutsShortWhatIsMuch(t *testing.T) {
	text, want := "type: object", ""
	for i := range 22 {
		text += fmt.Sprintf("\nx%02d: 1", i)
		if i < maxProblems {
			want += fmt.Sprintf("%s: has an unknown keyword %q\n", root, fmt.Sprintf("x%02d", i))
		}
	}
	want += root.String() + ": and 2 more"
	_, err := Compile(rawJSON(t, text))
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestMarks(t *testing.T) {
	cases := map[string]struct {
		schema string
		want   *values.Marks
	}{
		"a schema without marks has none": {properties("{a: {type: object, additionalProperties: {type: array, items: {type: string}}}}"), nil},
		"only places with marks are there": {properties("{a: {type: object, properties: {b: {type: string}, c: {type: string, writeOnly: true}}}, d: {type: string, writeOnly: false}}"),
			&values.Marks{Properties: map[string]*values.Marks{"a": {Properties: map[string]*values.Marks{"c": {Sensitive: true}}}}}},
		"a password is sensitive": {properties("{a: {type: string, format: password}}"),
			&values.Marks{Properties: map[string]*values.Marks{"a": {Sensitive: true}}}},
		"marks stand at the root, below any key and in items": {"type: object\nx-gatewright-settable-by: provider\nadditionalProperties: {type: array, items: {type: string, x-gatewright-settable-by: tenant}}",
			&values.Marks{SettableBy: values.PartyProvider, Additional: &values.Marks{Items: &values.Marks{SettableBy: values.PartyTenant}}}},
		"an atomic map is one leaf, and nothing in it is merged": {properties("{a: {type: object, x-kubernetes-map-type: atomic, properties: {b: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}}"),
			&values.Marks{Properties: map[string]*values.Marks{"a": {Merge: values.MergeAtomic}}}},
		"an atomic list and a granular map are what they are anyway": {properties("{a: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}, b: {type: object, x-kubernetes-map-type: granular, additionalProperties: {type: string}}}"), nil},
		"a set is merged": {properties("{a: {type: array, x-kubernetes-list-type: set, items: {type: string}}}"),
			&values.Marks{Properties: map[string]*values.Marks{"a": {Merge: values.MergeSet}}}},
		"a list is merged by its keys, which may have defaults": {
			properties("{a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [port, protocol], items: {type: object, required: [port], properties: " +
				"{port: {type: integer}, protocol: {type: string, default: TCP}, tls: {type: object, x-kubernetes-map-type: atomic}}}}}"),
			&values.Marks{Properties: map[string]*values.Marks{"a": {
				Merge: values.MergeByKey, Keys: []values.Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}},
				Items: &values.Marks{Properties: map[string]*values.Marks{"tls": {Merge: values.MergeAtomic}}},
			}}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, compile(t, c.schema).Marks()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
