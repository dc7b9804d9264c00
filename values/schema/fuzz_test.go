package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/gatewright/gatewright/values"
)

// FuzzSchema reads any schema and holds any tree against it: nothing may panic, what was filled in once stays, validating
// changes nothing, and it says the same each time.
func FuzzSchema(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object"}`, `{}`},
		{`{"type":"object","properties":{"a":{"type":"integer","default":1,"x-kubernetes-validations":[{"rule":"self > 0"}]}}}`, `{"a":0,"b":[null]}`},
		{`{"type":"object","additionalProperties":{"type":"array","items":{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["n"]}}`, `{"l":[{"n":"x"},{"n":"x"},{}]}`},
		{`{"type":"object","x-gatewright-settable-by":"provider","properties":{"a":{"x-kubernetes-int-or-string":true,"writeOnly":true}},"required":["a.b"]}`, `{"a":{"b.c":1}}`},
		{`{"type":"object","properties":{"a":{"type":"string","format":"password","anyOf":[{"pattern":"x"},{"maxLength":2}]}}}`, `{"a":"abc"}`},
		{`{"properties":{"":{"items":[]}},"allOf":[[]],"not":1}`, `[]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, raw, text []byte) {
		s, err := Compile(raw)
		var given values.Tree
		if err != nil || utiljson.Unmarshal(text, &given) != nil || given == nil {
			return
		}
		s.Default(given)
		before := runtime.DeepCopyJSON(given)
		s.Default(given)
		first := s.Validate(given)
		if diff := cmp.Diff(before, given); diff != "" {
			t.Errorf("(-filled in once +after)\n%s", diff)
		}
		if diff := cmp.Diff(first, s.Validate(given)); diff != "" {
			t.Errorf("two times (-first +second)\n%s", diff)
		}
		if _, err := json.Marshal(s.Marks()); err != nil {
			t.Error(err)
		}
	})
}
