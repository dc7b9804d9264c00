package values

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatIsShadowedByWhatIsReplacedItselfIsTold(t *testing.T) {
	cases := map[string]struct {
		blueprint, q, p string
		want            []string
	}{
		"a map is replaced by a scalar, which is replaced by a map with another key": {
			blueprint: "default: {a: {x: 1, v: {z: 2}}}", q: "default: {a: 5}", p: "default: {a: {w: 3}}",
			want: []string{"/a/v/z of GatewayClassBlueprint/bp by " + byQ, "/a/x of GatewayClassBlueprint/bp by " + byQ},
		},
		"a map is replaced by a scalar, which is replaced by an empty map": {
			blueprint: "default: {a: {x: 1}}", q: "default: {a: 5}", p: "default: {a: {}}",
			want: []string{"/a/x of GatewayClassBlueprint/bp by " + byQ},
		},
		"an empty map is replaced by a scalar, which is replaced by a map": {
			blueprint: "default: {a: {}}", q: "default: {a: 5}", p: "default: {a: {w: 3}}",
			want: []string{"/a of GatewayClassBlueprint/bp by " + byQ},
		},
		"the item of a list that is merged is named by its key": {
			blueprint: "default: {listeners: [{name: a, port: 1}]}", q: "default: {listeners: 5}", p: "default: {listeners: [{name: b}]}",
			want: []string{
				"/listeners/name=a/name of GatewayClassBlueprint/bp by " + byQ, "/listeners/name=a/port of GatewayClassBlueprint/bp by " + byQ,
			},
		},
		"what the schema fills up hides what an empty map replaced": {
			blueprint: "default: {any: 5}", p: "default: {any: {}}",
			want: []string{"/any of GatewayClassBlueprint/bp by " + byP},
		},
		"what an origin tells of is not hidden": {
			blueprint: "default: {a: {x: 1}, b: 5}", q: "default: {a: 5, b: {}}", p: "default: {a: 6, b: {x: 1}}",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			policies := []*Policy{at(t, LevelGateway, "p", 0, c.p), at(t, LevelClassGlobal, "q", 0, c.q)}
			filled := filling(marked(), tree(t, "{any: {filled: {x: 1}}}"))
			var got []string
			for _, h := range Compute(blueprintWith(t, c.blueprint, filled), policies, gatewayTarget()).Hidden {
				got = append(got, h.Path+" of "+h.SetBy+" by "+h.By.SetBy+" "+h.By.Block)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestTheMessageOfAConstraintComesWithWhatItDoes: in one line, and cut where it gets long.
func TestTheMessageOfAConstraintComesWithWhatItDoes(t *testing.T) {
	q := at(t, LevelClassGlobal, "q", 0, `
constraints:
- {name: few, when: "self.a > 10", override: {a: 10, b: null}, message: "at\n most\t10\u001b[31m"}
- {name: long, when: "true", override: {c: 1}, message: "`+strings.Repeat("é", 300)+`"}`)
	p := at(t, LevelGateway, "p", 0, "default: {a: 11, b: 1, c: 2}")
	e := Compute(nil, []*Policy{q, p}, gatewayTarget())
	got := map[string]string{}
	for _, o := range e.Origins {
		got["set "+o.Path] = o.Message
	}
	for _, r := range e.Removed {
		got["removed "+r.Path] = r.Message
	}
	for _, s := range e.Contributions[1].Shadowed {
		got["shadowed "+s.Path] = s.Message
	}
	cut := strings.Repeat("é", maxMessage-3) + "..."
	want := map[string]string{
		"set /a": "at most 10 [31m", "shadowed /a": "at most 10 [31m", "removed /b": "at most 10 [31m", "set /c": cut, "shadowed /c": cut,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
