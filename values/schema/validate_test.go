package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/values"
)

func TestDefault(t *testing.T) {
	const schema = `{
		a: {type: integer, default: 1},
		b: {type: object, default: {}, properties: {c: {type: string, default: x}, d: {type: string}}},
		e: {type: object, properties: {f: {type: string, default: w}}},
		l: {type: array, items: {type: object, properties: {g: {type: boolean, default: false}}}},
		m: {type: object, additionalProperties: {type: object, properties: {h: {type: number, default: 0.5}}}}}`
	cases := map[string]struct{ tree, want string }{
		"what is missing is filled in, and what that is made of": {"{}", "{a: 1, b: {c: x}}"},
		"what is there stays": {"{a: 0, b: {c: '', d: z}}", "{a: 0, b: {c: '', d: z}}"},
		"a map without a default is not made, but filled up if it is there": {"{e: {}}", "{a: 1, b: {c: x}, e: {f: w}}"},
		"items and what is under any key are filled up": {"{b: {c: ''}, a: 2, l: [{}, {g: true}], m: {k: {}}}",
			"{b: {c: ''}, a: 2, l: [{g: false}, {g: true}], m: {k: {h: 0.5}}}"},
		"what is of a wrong type stays": {"{a: x, b: [], e: 1, l: {}, m: [1]}", "{a: x, b: [], e: 1, l: {}, m: [1]}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, got := compile(t, properties(schema)), tree(t, c.tree)
			s.Default(got)
			if diff := cmp.Diff(tree(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			s.Default(got)
			if diff := cmp.Diff(tree(t, c.want), got); diff != "" {
				t.Errorf("a second time (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDefaultsAreNotShared(t *testing.T) {
	s := compile(t, properties("{a: {type: object, default: {b: [1]}, properties: {b: {type: array, items: {type: integer}}}}}"))
	first := values.Tree{}
	s.Default(first)
	first["a"].(values.Tree)["b"].([]any)[0] = "changed"
	second := values.Tree{}
	s.Default(second)
	if diff := cmp.Diff(tree(t, "{a: {b: [1]}}"), second); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestValidate(t *testing.T) {
	cases := map[string]struct {
		properties, tree string
		// want is each problem as path and message.
		want []string
	}{
		"a tree that is as it should be":            {"{a: {type: integer, maximum: 5}}", "{a: 5}", nil},
		"a wrong type":                              {"{a: {type: integer}}", "{a: canary}", []string{"/a must be of type integer"}},
		"a fraction where a whole number should be": {"{a: {type: integer}}", "{a: 1.5}", []string{"/a must be of type integer"}},
		"a number that is too large for its format": {"{a: {type: integer, format: int32}}", "{a: 3000000000}", []string{"/a must be of type integer with format int32"}},
		"a whole number is a number":                {"{a: {type: number}}", "{a: 1}", nil},
		"a number or a text":                        {"{a: {x-kubernetes-int-or-string: true}, b: {x-kubernetes-int-or-string: true}, c: {x-kubernetes-int-or-string: true}}", "{a: 1, b: 10%, c: true}", []string{"/c must be of type integer,string"}},
		"too much":                                  {"{a: {type: integer, maximum: 5}}", "{a: 6}", []string{"/a should be less than or equal to 5"}},
		"too little":                                {"{a: {type: number, minimum: 0, exclusiveMinimum: true}}", "{a: 0}", []string{"/a should be greater than 0"}},
		"no multiple":                               {"{a: {type: integer, multipleOf: 5}}", "{a: 6}", []string{"/a should be a multiple of 5"}},
		"too long a text":                           {"{a: {type: string, maxLength: 3}}", "{a: canary}", []string{"/a should be at most 3 chars long"}},
		"too short a text":                          {"{a: {type: string, minLength: 10}}", "{a: canary}", []string{"/a should be at least 10 chars long"}},
		"a text without the pattern":                {"{a: {type: string, pattern: '^x'}}", "{a: canary}", []string{"/a should match '^x'"}},
		"a text in another format":                  {"{a: {type: string, format: ipv4}}", "{a: canary}", []string{"/a must be of type ipv4"}},
		"none of the allowed":                       {"{a: {type: string, enum: [x, z]}}", "{a: canary}", []string{"/a should be one of [x z]"}},
		"too many items":                            {"{a: {type: array, items: {type: integer}, maxItems: 1}}", "{a: [1, 2]}", []string{"/a should have at most 1 items"}},
		"too many keys":                             {"{a: {type: object, additionalProperties: {type: integer}, maxProperties: 1}}", "{a: {b: 1, c: 2}}", []string{"/a should have at most 1 properties"}},
		"something is missing":                      {"{a: {type: object, properties: {b: {type: string}}, required: [b]}}", "{a: {}}", []string{"/a/b is required; set it"}},
		"a null in a list":                          {"{a: {type: array, items: {type: string}}, b: {type: array, items: {type: string, nullable: true}}}", "{a: [null], b: [null]}", []string{"/a/0 must be of type string"}},
		"an item of a list":                         {"{a: {type: array, items: {type: object, properties: {b: {type: integer}}}}}", "{a: [{b: 1}, {b: x}]}", []string{"/a/1/b must be of type integer"}},
		"neither of two":                            {"{a: {type: integer, anyOf: [{maximum: 1}, {minimum: 9}]}}", "{a: 5}", []string{"/a must validate at least one schema (anyOf)", "/a should be less than or equal to 1"}},
		"both of two":                               {"{a: {type: integer, oneOf: [{maximum: 9}, {minimum: 1}]}}", "{a: 5}", []string{"/a must validate one and only one schema (oneOf). Found 2 valid alternatives"}},
		"what it should not be":                     {"{a: {type: string, not: {enum: [canary]}}}", "{a: canary}", []string{"/a must not validate the schema (not)"}},
		"several problems come in order":            {"{a: {type: integer}, b: {type: object, properties: {c: {type: integer}}}}", "{b: {c: x}, a: x}", []string{"/a must be of type integer", "/b/c must be of type integer"}},

		"an unknown key":                       {"{maxReplicas: {type: integer}}", "{maxReplica: 1}", []string{"/maxReplica is an unknown key; did you mean maxReplicas? (unknown)"}},
		"an unknown key far from all others":   {"{a: {type: object, properties: {b: {type: integer}}}}", "{a: {listener: 1}}", []string{"/a/listener is an unknown key (unknown)"}},
		"an unknown key of an item":            {"{a: {type: array, items: {type: object, properties: {b: {type: integer}}}}}", "{a: [{x: 1}]}", []string{"/a/0/x is an unknown key (unknown)"}},
		"an unknown key under any key":         {"{a: {type: object, additionalProperties: {type: object, properties: {bits: {type: integer}}}}}", "{a: {k: {bit: 1}}}", []string{"/a/k/bit is an unknown key; did you mean bits? (unknown)"}},
		"a map that may hold nothing":          {"{a: {type: object}}", "{a: {b: 1}}", []string{"/a/b is an unknown key (unknown)"}},
		"a map that may hold anything":         {"{a: {type: object, additionalProperties: true}, b: {type: object, x-kubernetes-preserve-unknown-fields: true}, c: {x-kubernetes-preserve-unknown-fields: true}}", "{a: {x: {y: 1}}, b: {x: 1}, c: {x: 1}}", nil},
		"a map that may hold anything besides": {"{a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object, properties: {c: {type: integer}}}}}}", "{a: {x: 1, b: {d: 1}}}", []string{"/a/b/d is an unknown key (unknown)"}},
		"a map instead of a text has no keys":  {"{a: {type: string}}", "{a: {b: 1}}", []string{"/a must be of type string"}},

		"keys with all kinds of letters": {"{a: {type: object, additionalProperties: {type: integer}}}", "{a: {b.c/~d: x, 'e[0]': x, '': x, 'e.f': x, e: 1}}",
			[]string{"/a/ must be of type integer", "/a/b.c~1~0d must be of type integer", "/a/e.f must be of type integer", "/a/e[0] must be of type integer"}},
		"a missing key with a dot":  {"{a: {type: object, properties: {b.c: {type: string}}, required: [b.c]}}", "{a: {}}", []string{"/a/b.c is required; set it"}},
		"a missing key at the root": {"{a: {type: string}}\nrequired: [a]", "{}", []string{"/a is required; set it"}},

		"two items of one key":    {"{a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: string}}}}}", "{a: [{id: x}, {id: x}]}", []string{"/a/1 is the same item as another; keep one of them"}},
		"twice the same in a set": {"{a: {type: object, additionalProperties: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}", "{a: {k.l: [x, x]}}", []string{"/a/k.l/1 is the same item as another; keep one of them"}},
		"an item that is no map":  {"{a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: string}}}}}", "{a: [canary]}", []string{"/a/0 must be an object, as an item of a list with keys", "/a/0 must be of type object"}},

		"a rule that holds":                            {"{a: {type: object, properties: {min: {type: integer}, max: {type: integer}}, x-kubernetes-validations: [{rule: self.min <= self.max}]}}", "{a: {min: 1, max: 1}}", nil},
		"a rule that does not hold says its message":   {"{a: {type: object, properties: {min: {type: integer}, max: {type: integer}}, x-kubernetes-validations: [{rule: self.min <= self.max, message: must have min up to max, reason: FieldValueDuplicate}]}}", "{a: {min: 2, max: 1}}", []string{"/a must have min up to max"}},
		"a rule without a message says itself":         {"{a: {type: integer, x-kubernetes-validations: [{rule: self > 1}]}}", "{a: 1}", []string{"/a failed rule: self > 1"}},
		"a rule about one of several":                  {"{a: {type: object, properties: {b: {type: integer}}, x-kubernetes-validations: [{rule: self.b > 1, fieldPath: .b, message: too few}]}}", "{a: {b: 1}}", []string{"/a/b too few"}},
		"a rule at the root":                           {"{a: {type: integer}}\nx-kubernetes-validations: [{rule: self.a > 1, message: need an a above 1}]", "{a: 1}", []string{" need an a above 1"}},
		"a rule of items and of what is under any key": {"{a: {type: object, additionalProperties: {type: array, items: {type: integer, x-kubernetes-validations: [{rule: self > 1, message: too small}]}}}}", "{a: {k.l: [2, 1]}}", []string{"/a/k.l/1 too small"}},
		"a rule that fails names no value": {"{a: {type: object, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: \"self[self.x] == ''\", message: must lead on}]}}", "{a: {x: canary}}",
			[]string{"/a cannot be checked, since something is missing, of a wrong type or out of range: must lead on"}},
		"a rule that fails without a message": {"{a: {type: object, properties: {b: {type: string}}, x-kubernetes-validations: [{rule: self.b == ''}]}}", "{a: {}}",
			[]string{"/a cannot be checked, since something is missing, of a wrong type or out of range: self.b == ''"}},
		"rules are not asked about what is of a wrong type": {"{a: {type: integer, x-kubernetes-validations: [{rule: self > 1}]}, b: {type: integer}}", "{a: 1, b: x}", []string{"/b must be of type integer"}},
		"rules are asked about trees with unknown keys":     {"{a: {type: integer, x-kubernetes-validations: [{rule: self > 1}]}}", "{a: 1, b: x}", []string{"/a failed rule: self > 1", "/b is an unknown key (unknown)"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, given := compile(t, properties(c.properties)), tree(t, c.tree)
			var got []string
			for _, p := range s.Validate(given) {
				text := p.Path + " " + p.Message
				if p.Unknown {
					text += " (unknown)"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if strings.Contains(fmt.Sprint(got), "canary") {
				t.Error("a value is told")
			}
			if diff := cmp.Diff(tree(t, c.tree), given); diff != "" {
				t.Errorf("the tree was changed (-before +after)\n%s", diff)
			}
		})
	}
}

func TestValidateTellsSoMuchAndNoMore(t *testing.T) {
	given := values.Tree{}
	for i := range 2 * maxFound {
		given[fmt.Sprintf("k%03d", i)] = "x"
	}
	got := compile(t, "type: object").Validate(given)
	if len(got) != maxFound || got[maxFound-1].Path != "/k099" {
		t.Errorf("%d problems, the last about %s", len(got), got[len(got)-1].Path)
	}
}

func TestRulesThatTakeTooLongAreGivenUp(t *testing.T) {
	s := compile(t, properties("{a: {type: array, maxItems: 700, items: {type: string, maxLength: 10}, x-kubernetes-validations: ["+
		strings.Repeat("{rule: 'self.all(x, self.all(y, x != y || x == y))', message: m},", 5)+"]}}"))
	var list []any
	for i := range 700 {
		list = append(list, fmt.Sprint(i))
	}
	want := []values.Problem{{Message: "take too long to be checked by the rules of the schema; set less"}}
	if diff := cmp.Diff(want, s.Validate(values.Tree{"a": list})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
