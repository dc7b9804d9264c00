package values

import (
	"encoding/json"
	"path"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComputeNamesTheSetterOfEachLeaf(t *testing.T) {
	bp := blueprint(t, "default: {size: 1, labels: {a: x}, list: [1, 2]}\noverride: {locked: true}")
	policies := []*Policy{
		at(t, LevelGateway, "gw", 0, "default: {size: 3, locked: false, labels: {b: y}}"),
		at(t, LevelClassGlobal, "global", 0, "default: {size: 2}\noverride: {cap: 10}"),
		at(t, LevelNamespace, "older", 1, "default: {size: 20}"),
		at(t, LevelNamespace, "newer", 2, "default: {size: 21, list: []}"),
	}
	set := func(by, block string, level Level) Setter { return Setter{by, block, level} }
	blue := set("GatewayClassBlueprint/bp", BlockDefault, LevelBlueprint)
	global := set("GatewayClassConfig/gatewright-system/global", BlockDefault, LevelClassGlobal)
	older := set("GatewayConfig/team/older", BlockDefault, LevelNamespace)
	newer := set("GatewayConfig/team/newer", BlockDefault, LevelNamespace)
	gw := set("GatewayConfig/team/gw", BlockDefault, LevelGateway)
	blueOverride := set(blue.SetBy, BlockOverride, LevelBlueprint)
	want := Effective{
		Tree: tree(t, "{size: 3, labels: {a: x, b: y}, list: [], locked: true, cap: 10}"),
		Origins: []Origin{
			{"/cap", set(global.SetBy, BlockOverride, LevelClassGlobal), []Setter{}, ""},
			{"/labels/a", blue, []Setter{}, ""},
			{"/labels/b", gw, []Setter{}, ""},
			{"/list", newer, []Setter{blue}, ""},
			{"/locked", blueOverride, []Setter{gw}, ""},
			{"/size", gw, []Setter{older, newer, global, blue}, ""},
		},
		Contributions: []Contribution{
			{Source: blue.SetBy, Level: LevelBlueprint, Sets: 2, Shadowed: []Shadow{{Path: "/list", Block: BlockDefault, By: newer}, {Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: global.SetBy, Level: LevelClassGlobal, Refs: []int{0}, Sets: 1, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: older.SetBy, Level: LevelNamespace, Refs: []int{0}, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: newer.SetBy, Level: LevelNamespace, Refs: []int{0}, Sets: 1, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: gw.SetBy, Level: LevelGateway, Refs: []int{0}, Sets: 2, Shadowed: []Shadow{{Path: "/locked", Block: BlockDefault, By: blueOverride}}},
		},
	}
	if diff := cmp.Diff(want, Compute(bp, policies, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestProvenance tells, leaf by leaf, who set it and whom that shadows, and of the leaves that are not there where they went.
func TestProvenance(t *testing.T) {
	cases := map[string]struct {
		blueprint string
		policies  []policyAt
		want      []string
	}{
		"a map over a scalar shadows it, and what the scalar shadowed stays shadowed by the scalar": {
			blueprint: "default: {a: {x: 1}}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 5}"}, {LevelGateway, "q", 0, "default: {a: {w: 2}}"}},
			want: []string{
				"/a/w set by q default, not p default",
				"/a of p default shadowed by q default",
				"/a/x of bp default shadowed by p default",
			},
		},
		"of several blocks that shadow a leaf the strongest is named, be it above or below in the tree": {
			blueprint: "default: {a: {b: {c: 1}}}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "default: {a: {b: 5}}"}, {LevelGateway, "q", 0, "default: {a: 7}"}},
			want: []string{
				"/a set by q default, not p default, not bp default",
				"/a/b of p default shadowed by q default",
				"/a/b/c of bp default shadowed by q default",
			},
		},
		"a scalar over a map shadows all leaves of the map": {
			blueprint: "default: {a: {x: 1, w: {z: 1}}}",
			policies:  []policyAt{{LevelGateway, "q", 0, "default: {a: 5}"}},
			want: []string{
				"/a set by q default, not bp default",
				"/a/w/z of bp default shadowed by q default",
				"/a/x of bp default shadowed by q default",
			},
		},
		"an empty map shadows what is no map, and not what is one": {
			blueprint: "default: {a: 5, b: {x: 1}}",
			policies:  []policyAt{{LevelGateway, "q", 0, "default: {a: {}, b: {}}"}},
			want: []string{
				"/a set by q default, not bp default", "/b/x set by bp default",
				"/a of bp default shadowed by q default",
			},
		},
		"of two empty maps the stronger is the setter": {
			blueprint: "default: {a: {}}",
			policies:  []policyAt{{LevelGateway, "q", 0, "default: {a: {}}"}},
			want:      []string{"/a set by q default, not bp default", "/a of bp default shadowed by q default"},
		},
		"empty maps get along where there is something in the map": {
			blueprint: "default: {a: {}}",
			policies:  []policyAt{{LevelNamespace, "p", 0, "default: {a: {}}"}, {LevelGateway, "q", 0, "default: {a: {x: 1}}"}},
			want:      []string{"/a/x set by q default"},
		},
		"a null that empties a map sets the empty map": {
			blueprint: "default: {a: {x: 1}}",
			policies:  []policyAt{{LevelGateway, "q", 0, "default: {a: {x: null}}"}},
			want:      []string{"/a set by q default", "/a/x of bp default removed by q default"},
		},
		"a null that a stronger block makes good is shadowed": {
			blueprint: "default: {a: 1}",
			policies:  []policyAt{{LevelNamespace, "p", 0, "default: {a: null}"}, {LevelGateway, "q", 0, "default: {a: 2}"}},
			want:      []string{"/a set by q default, not p default, not bp default", "/a of bp default shadowed by q default"},
		},
		"a null above a leaf removes it": {
			blueprint: "default: {a: {x: {w: 1}}}",
			policies:  []policyAt{{LevelGateway, "q", 0, "override: {a: null}"}},
			want:      []string{"/a/x/w of bp default removed by q override"},
		},
		"the blocks of one policy are told apart, and a constraint gives its message": {
			policies: []policyAt{{LevelGateway, "q", 0, "default: {a: 1}\noverride: {a: 20}\nconstraints: [{name: cap, when: 'self.a > 10', override: {a: 10}, message: at most 10}]"}},
			want: []string{
				"/a set by q constraint/cap, not q override, not q default",
				"/a of q default shadowed by q constraint/cap (at most 10)",
				"/a of q override shadowed by q constraint/cap (at most 10)",
			},
		},
		"an inactive block shadows nobody and is shadowed by nobody": {
			blueprint: "default: {a: 1}",
			policies:  []policyAt{{LevelGateway, "q", 0, "default: {a: 2}\nmerge: {default: {when: 'false'}}"}},
			want:      []string{"/a set by bp default"},
		},
		"keys are escaped in paths": {
			policies: []policyAt{{LevelGateway, "q", 0, `default: {"a/b": {"~c": 1, "": 2}}`}},
			want:     []string{"/a~1b/ set by q default", "/a~1b/~0c set by q default"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var bp *Policy
			if c.blueprint != "" {
				bp = blueprint(t, c.blueprint)
			}
			var policies []*Policy
			for _, p := range c.policies {
				policies = append(policies, at(t, p.level, p.name, p.created, p.blocks))
			}
			if diff := cmp.Diff(c.want, told(Compute(bp, policies, gatewayTarget()))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// told writes provenance as sentences: first the leaves of the result, then those of the sources, the most specific first.
func told(e Effective) (sentences []string) {
	who := func(s Setter) string { return path.Base(s.SetBy) + " " + s.Block }
	for _, o := range e.Origins {
		sentence := o.Path + " set by " + who(o.Setter)
		for _, s := range o.Shadowed {
			sentence += ", not " + who(s)
		}
		sentences = append(sentences, sentence)
	}
	for _, c := range slices.Backward(e.Contributions) {
		for _, s := range c.Shadowed {
			sentence := s.Path + " of " + path.Base(c.Source) + " " + s.Block + " shadowed by " + who(s.By)
			if s.Message != "" {
				sentence += " (" + s.Message + ")"
			}
			sentences = append(sentences, sentence)
		}
	}
	for _, r := range e.Removed {
		sentences = append(sentences, r.Path+" of "+who(r.Setter)+" removed by "+who(r.By))
	}
	return sentences
}

func TestEffectiveAsJSON(t *testing.T) {
	cases := map[string]struct {
		effective Effective
		want      string
	}{
		"an empty result has empty lists": {
			Compute(nil, nil, gatewayTarget()), `{"values":{},"provenance":[],"removed":[],"inactive":[]}`,
		},
		"the zero result too": {Effective{}, `{"values":{},"provenance":[],"removed":[],"inactive":[]}`},
		"all is there": {
			Compute(blueprint(t, "default: {a: 1, b: 1, c: 1}"), []*Policy{
				at(t, LevelGatewaySelected, "p", 0, "default: {a: 2}\nremove: [b, x]\nmerge: {override: {when: 'false'}}\noverride: {d: 1}"),
				at(t, LevelGateway, "q", 0, "default: {a: 3}\nmerge: {default: {when: 'self.x[0] > 1'}}\nconstraints: [{name: cap, when: 'self.a > \"\"', override: {a: 4}}]"),
			}, gatewayTarget()),
			`{
				"values": {"a": 4, "c": 1},
				"provenance": [
					{"path": "/a", "setBy": "GatewayConfig/team/q", "block": "constraint/cap", "level": 6, "shadowed": [
						{"setBy": "GatewayConfig/team/p", "block": "default", "level": 6},
						{"setBy": "GatewayClassBlueprint/bp", "block": "default", "level": 1}
					]},
					{"path": "/c", "setBy": "GatewayClassBlueprint/bp", "block": "default", "level": 1, "shadowed": []}
				],
				"removed": [{"path": "/b", "setBy": "GatewayClassBlueprint/bp", "block": "default", "level": 1,
					"removedBy": {"setBy": "GatewayConfig/team/p", "block": "remove", "level": 6}}],
				"inactive": [
					{"setBy": "GatewayConfig/team/p", "block": "override", "level": 6, "reason": "WhenFalse"},
					{"setBy": "GatewayConfig/team/q", "block": "default", "level": 6, "reason": "WhenFalse"}
				],
				"warnings": [
					{"setBy": "GatewayConfig/team/q", "block": "constraint/cap", "level": 6, "reason": "ConditionError",
						"message": "the condition fails on these values: one of them is missing from a list, of a type that the expression does not expect, or out of range, so the block applies"},
					{"setBy": "GatewayConfig/team/p", "block": "remove", "level": 6, "reason": "RemoveIneffective", "path": "/x",
						"message": "no less specific default sets it, and nothing else can be removed"}
				]
			}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(c.effective)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, c.want), tree(t, string(got))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
