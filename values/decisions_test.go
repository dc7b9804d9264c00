package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// policyAt describes a policy of a test; see at.
type policyAt struct {
	level   Level
	name    string
	created int
	blocks  string
}

// found is what the tests compare: the values, and in short what became of the blocks that are not in them.
type found struct {
	Tree     Tree
	Inactive []string
	Removed  []string
	Warnings []string
}

func summary(e Effective) found {
	f := found{Tree: e.Tree}
	for _, i := range e.Inactive {
		by := ""
		if i.By != nil {
			by = " by " + i.By.SetBy
		}
		f.Inactive = append(f.Inactive, i.SetBy+" "+i.Block+": "+string(i.Reason)+by)
	}
	for _, r := range e.Removed {
		f.Removed = append(f.Removed, r.Path+" of "+r.SetBy+" by "+r.By.Block+" of "+r.By.SetBy)
	}
	for _, w := range e.Warnings {
		f.Warnings = append(f.Warnings, w.SetBy+" "+w.Block+w.Path+": "+string(w.Reason))
	}
	return f
}

const atomicDefault = "\nmerge: {default: {strategy: atomic}}"
const atomicOverride = "\nmerge: {override: {strategy: atomic}}"

// TestDecisionTable holds the rows of the decision table on values, by number. Rows 21 to 24 have tests of their own below.
func TestDecisionTable(t *testing.T) {
	cases := map[string]struct {
		blueprint string
		policies  []policyAt
		want      string
		Inactive  []string
		Removed   []string
		Warnings  []string
	}{
		"row 1: of two defaults, the more specific one wins": {
			blueprint: "default: {a: 1}",
			policies:  []policyAt{{LevelNamespace, "p", 0, "default: {a: 5}"}, {LevelClassLocal, "q", 0, "default: {a: 4}"}},
			want:      "{a: 5}",
		},
		"row 2: of two overrides, the less specific one wins": {
			policies: []policyAt{{LevelNamespace, "p", 0, "override: {a: 5}"}, {LevelClassGlobal, "q", 0, "override: {a: 2}"}},
			want:     "{a: 2}",
		},
		"row 3: an override wins over a default of a more specific level": {
			policies: []policyAt{{LevelGateway, "p", 0, "default: {a: 6}"}, {LevelClassGlobal, "q", 0, "override: {a: 2}"}},
			want:     "{a: 2}",
		},
		"row 3: an override wins over a default of a less specific level": {
			policies: []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 2}"}, {LevelGateway, "q", 0, "override: {a: 6}"}},
			want:     "{a: 6}",
		},
		"row 4: at one level, an override wins over an older default": {
			policies: []policyAt{{LevelGateway, "old", 0, "default: {a: 1}"}, {LevelGateway, "new", 9, "override: {a: 2}"}},
			want:     "{a: 2}",
		},
		"row 4: among defaults of one level the oldest wins, and a newer one may add": {
			policies: []policyAt{{LevelGateway, "new", 9, "default: {a: 2, b: 2}"}, {LevelGateway, "old", 1, "default: {a: 1}"}},
			want:     "{a: 1, b: 2}",
		},
		"row 4: among overrides of one level the oldest wins, and a newer one may add": {
			policies: []policyAt{{LevelGateway, "new", 9, "override: {a: 2, b: 2}"}, {LevelGateway, "old", 1, "override: {a: 1}"}},
			want:     "{a: 1, b: 2}",
		},
		"row 4: of two of one age the first by name wins": {
			policies: []policyAt{{LevelGateway, "b", 0, "default: {a: b}\noverride: {c: b}"}, {LevelGateway, "a", 0, "default: {a: a}\noverride: {c: a}"}},
			want:     "{a: a, c: a}",
		},
		"row 5: an atomic default applies whole where nothing is more specific": {
			policies: []policyAt{{LevelClassGlobal, "p", 0, "default: {a: {b: 1, c: 2}}" + atomicDefault}},
			want:     "{a: {b: 1, c: 2}}",
		},
		"row 5: a less specific default does not drop an atomic one": {
			blueprint: "default: {a: {d: 3}}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "default: {a: {b: 1}}" + atomicDefault}},
			want:      "{a: {b: 1, d: 3}}",
		},
		"row 6: a more specific default drops an atomic one": {
			policies: []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 1, b: 1}" + atomicDefault}, {LevelGateway, "q", 0, "default: {c: 1}"}},
			want:     "{c: 1}",
			Inactive: []string{"GatewayClassConfig/gatewright-system/p default: AtomicSuperseded by GatewayConfig/team/q"},
		},
		"row 6: a more specific unconditional override drops an atomic default": {
			policies: []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 1, b: 1}" + atomicDefault}, {LevelGateway, "q", 0, "override: {c: 1}"}},
			want:     "{c: 1}",
			Inactive: []string{"GatewayClassConfig/gatewright-system/p default: AtomicSuperseded by GatewayConfig/team/q"},
		},
		"row 6: a more specific default whose condition is false does not drop an atomic one": {
			policies: []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 1}" + atomicDefault}, {LevelGateway, "q", 0, "default: {c: 1}\nmerge: {default: {when: 'false'}}"}},
			want:     "{a: 1}",
			Inactive: []string{"GatewayConfig/team/q default: WhenFalse"},
		},
		"row 6: of several reasons to drop a default its condition is named": {
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {a: 1}\nmerge: {default: {strategy: atomic, when: 'false'}}"},
				{LevelGateway, "q", 0, "default: {c: 1}"},
			},
			want:     "{c: 1}",
			Inactive: []string{"GatewayClassConfig/gatewright-system/p default: WhenFalse"},
		},
		"row 7: an atomic default stays above removals, constraints, conditional overrides, nulls and empty maps": {
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {a: 1, b: 1}" + atomicDefault},
				{LevelGateway, "q", 0, "remove: [b]\nconstraints: [{name: cap, when: 'self.a > 0', override: {c: 1}}]"},
				{LevelGateway, "r", 1, "default: {d: null, e: {}}"},
				{LevelGateway, "s", 2, "override: {f: 1}\nmerge: {override: {when: 'self.a == 1'}}"},
			},
			want:    "{a: 1, c: 1, e: {}, f: 1}",
			Removed: []string{"/b of GatewayClassConfig/gatewright-system/p by remove of GatewayConfig/team/q"},
		},
		"row 8: an atomic override drops its own and more specific levels; less specific defaults fill in and overrides win": {
			blueprint: "default: {a: bp, b: bp}\noverride: {o: bp}",
			policies: []policyAt{
				{LevelNamespace, "atomic", 5, "default: {own: 1}\noverride: {a: atomic, o: atomic}" + atomicOverride},
				{LevelNamespace, "sibling", 0, "default: {sibling: 1}"},
				{LevelGateway, "specific", 0, "default: {s: 1}\noverride: {t: 1}\nconstraints: [{name: c, when: 'true', override: {u: 1}}]"},
			},
			want: "{a: atomic, b: bp, o: bp}",
			Inactive: []string{
				"GatewayConfig/team/sibling default: AtomicOverridden by GatewayConfig/team/atomic",
				"GatewayConfig/team/atomic default: AtomicOverridden by GatewayConfig/team/atomic",
				"GatewayConfig/team/specific default: AtomicOverridden by GatewayConfig/team/atomic",
				"GatewayConfig/team/specific override: AtomicOverridden by GatewayConfig/team/atomic",
				"GatewayConfig/team/specific constraint/c: AtomicOverridden by GatewayConfig/team/atomic",
			},
		},
		"row 8: constraints of the level come after its atomic override": {
			policies: []policyAt{{LevelGateway, "p", 0, "override: {a: 20}\nconstraints: [{name: cap, when: 'self.a > 10', override: {a: 10}}]" + atomicOverride}},
			want:     "{a: 10}",
		},
		"row 9: of two atomic defaults at one level the oldest takes all": {
			policies: []policyAt{{LevelGateway, "new", 2, "default: {b: 1}" + atomicDefault}, {LevelGateway, "old", 1, "default: {a: 1}" + atomicDefault}},
			want:     "{a: 1}",
			Inactive: []string{"GatewayConfig/team/new default: Conflicted by GatewayConfig/team/old"},
		},
		"row 9: of two atomic overrides at one level the oldest takes all": {
			policies: []policyAt{{LevelGateway, "new", 2, "override: {b: 1}" + atomicOverride}, {LevelGateway, "old", 1, "override: {a: 1}" + atomicOverride}},
			want:     "{a: 1}",
			Inactive: []string{"GatewayConfig/team/new override: Conflicted by GatewayConfig/team/old"},
		},
		"row 9: one atomic sibling is enough, and an older merge keeps it out": {
			policies: []policyAt{
				{LevelGateway, "old", 1, "override: {a: 1}"}, {LevelGateway, "mid", 2, "override: {b: 1}" + atomicOverride},
				{LevelGateway, "new", 3, "override: {c: 1}"},
			},
			want:     "{a: 1, c: 1}",
			Inactive: []string{"GatewayConfig/team/mid override: Conflicted by GatewayConfig/team/old"},
		},
		"row 9: one atomic sibling is enough, and if it is the oldest it takes all": {
			policies: []policyAt{{LevelGateway, "new", 2, "default: {b: 1}"}, {LevelGateway, "old", 1, "default: {a: 1}" + atomicDefault}},
			want:     "{a: 1}",
			Inactive: []string{"GatewayConfig/team/new default: Conflicted by GatewayConfig/team/old"},
		},
		"row 9: an inactive block conflicts with nobody": {
			policies: []policyAt{
				{LevelGateway, "old", 1, "override: {a: 1}\nmerge: {override: {strategy: atomic, when: 'false'}}"},
				{LevelGateway, "new", 2, "override: {b: 1}"},
			},
			want:     "{b: 1}",
			Inactive: []string{"GatewayConfig/team/old override: WhenFalse"},
		},
		"row 9: a superseded block conflicts with nobody": {
			policies: []policyAt{
				{LevelNamespace, "old", 1, "default: {a: 1}" + atomicDefault}, {LevelNamespace, "new", 2, "default: {b: 1}"},
				{LevelGateway, "specific", 0, "default: {c: 1}"},
			},
			want:     "{b: 1, c: 1}",
			Inactive: []string{"GatewayConfig/team/old default: AtomicSuperseded by GatewayConfig/team/specific"},
		},
		"row 9: a default and an override of one level do not conflict": {
			policies: []policyAt{{LevelGateway, "old", 1, "default: {a: 1}" + atomicDefault}, {LevelGateway, "new", 2, "override: {b: 1}"}},
			want:     "{a: 1, b: 1}",
		},
		"row 10: maps are merged deeply": {
			blueprint: "default: {m: {a: 1, n: {b: 1, c: 1}}}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {m: {n: {c: 2, d: 2}}}"}},
			want:      "{m: {a: 1, n: {b: 1, c: 2, d: 2}}}",
		},
		"row 11: a scalar or a list replaces a map": {
			blueprint: "default: {a: {x: 1}, b: {x: 1}}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: 5, b: [5]}"}},
			want:      "{a: 5, b: [5]}",
		},
		"row 11: a map replaces a scalar or a list": {
			blueprint: "default: {a: 5, b: [5], c: 0, d: ''}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: {x: 1}, b: {x: 1}, c: {x: 1}, d: {x: 1}}"}},
			want:      "{a: {x: 1}, b: {x: 1}, c: {x: 1}, d: {x: 1}}",
		},
		"row 11: a shadowed leaf still shadows": {
			blueprint: "default: {a: {x: 1}}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "default: {a: 5}"}, {LevelGateway, "q", 0, "default: {a: {y: 2}}"}},
			want:      "{a: {y: 2}}",
		},
		"row 12: a list replaces a list, an empty one too": {
			blueprint: "default: {a: [1, 2, 3], b: [1], c: []}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: [4], b: [], c: [1]}"}},
			want:      "{a: [4], b: [], c: [1]}",
		},
		"row 13: an empty map leaves a map alone and replaces what is none": {
			blueprint: "default: {a: {x: 1}, b: 5, c: [1], d: '', e: false}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: {}, b: {}, c: {}, d: {}, e: {}, f: {}}"}},
			want:      "{a: {x: 1}, b: {}, c: {}, d: {}, e: {}, f: {}}",
		},
		"row 14: false, zero and the empty string are ordinary values": {
			blueprint: "default: {a: true, b: 5, c: x, d: 1.5, e: {x: 1}, f: [1]}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: false, b: 0, c: '', d: 0.0, e: false, f: 0}"}},
			want:      "{a: false, b: 0, c: '', d: 0, e: false, f: 0}",
		},
		"row 15: null in a default hides less specific defaults, and no more": {
			blueprint: "default: {a: 1, b: {x: 1, y: 1}, c: 1}",
			policies:  []policyAt{{LevelNamespace, "p", 0, "default: {a: null, b: {x: null}, c: null}"}, {LevelGateway, "q", 0, "default: {c: 2}"}},
			want:      "{b: {y: 1}, c: 2}",
			Removed: []string{
				"/a of GatewayClassBlueprint/bp by default of GatewayConfig/team/p",
				"/b/x of GatewayClassBlueprint/bp by default of GatewayConfig/team/p",
			},
		},
		"row 15: null in an override makes the leaf absent whatever more specific levels say": {
			blueprint: "default: {a: 1}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "override: {a: null}"}, {LevelGateway, "q", 0, "default: {a: 2, b: 1}\noverride: {a: 3}"}},
			want:      "{b: 1}",
			Removed: []string{
				"/a of GatewayClassBlueprint/bp by override of GatewayClassConfig/gatewright-system/p",
				"/a of GatewayConfig/team/q by override of GatewayClassConfig/gatewright-system/p",
				"/a of GatewayConfig/team/q by override of GatewayClassConfig/gatewright-system/p",
			},
		},
		"row 15: null in an override gives way to a less specific override": {
			blueprint: "override: {a: 1}",
			policies:  []policyAt{{LevelGateway, "p", 0, "override: {a: null}"}},
			want:      "{a: 1}",
		},
		"row 16: null inside a list is kept": {
			policies: []policyAt{{LevelGateway, "p", 0, "default: {a: [1, null, {b: null}]}"}},
			want:     "{a: [1, null, {b: null}]}",
		},
		"row 17: a condition on a missing key is false for a default and for an override": {
			policies: []policyAt{
				{LevelNamespace, "p", 0, "default: {a: 1}\noverride: {b: 1}\nmerge: {default: {when: 'self.x.y > 1'}, override: {when: 'self.num.z > 1'}}"},
				{LevelGateway, "q", 0, "default: {num: 5}"},
			},
			want: "{num: 5}",
			Inactive: []string{
				"GatewayConfig/team/p default: WhenFalse",
				"GatewayConfig/team/p override: WhenFalse",
			},
		},
		"row 17: a condition that fails is false for a default, true for an override and a constraint": {
			policies: []policyAt{
				{LevelNamespace, "p", 0, "default: {a: 1}\noverride: {b: 1}\nconstraints: [{name: cap, when: 'self.replicas > 10', override: {replicas: 10}}]" +
					"\nmerge: {default: {when: 'self.replicas > 10'}, override: {when: 'self.replicas > 10'}}"},
				{LevelGateway, "q", 0, "default: {replicas: '100'}"},
			},
			want:     "{b: 1, replicas: 10}",
			Inactive: []string{"GatewayConfig/team/p default: ConditionError"},
			Warnings: []string{"GatewayConfig/team/p override: ConditionError", "GatewayConfig/team/p constraint/cap: ConditionError"},
		},
		"row 18: a less specific override wins over a constraint": {
			blueprint: "override: {a: 50}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {a: 20}\nconstraints: [{name: cap, when: 'self.a > 10', override: {a: 10}}]"}},
			want:      "{a: 50}",
		},
		"row 19: constraints of a policy run in their order, each on the result so far": {
			policies: []policyAt{{LevelGateway, "p", 0, "default: {a: 20}\nconstraints:\n" +
				"- {name: one, when: 'self.a > 10', override: {a: 10, capped: true}}\n- {name: two, when: 'self.capped', override: {a: 9}}\n- {name: three, when: 'self.a == 10', override: {a: 8}}"}},
			want:     "{a: 9, capped: true}",
			Inactive: []string{"GatewayConfig/team/p constraint/three: WhenFalse"},
		},
		"row 19: among constraints of one level the oldest policy has the last word": {
			policies: []policyAt{
				{LevelGateway, "old", 1, "constraints: [{name: c, when: 'true', override: {a: old}}]"},
				{LevelGateway, "new", 2, "constraints: [{name: c, when: 'true', override: {a: new}}]"},
			},
			want: "{a: old}",
		},
		"row 20: a removal strips less specific defaults, the blueprint's included, and the maps that it empties": {
			blueprint: "default: {labels: {a: 1}, keep: {x: 1, y: 1}}",
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {labels: {b: 1}}"},
				{LevelGateway, "q", 0, "remove: ['labels', 'keep[\"x\"]']"},
			},
			want: "{keep: {y: 1}}",
			Removed: []string{
				"/keep/x of GatewayClassBlueprint/bp by remove of GatewayConfig/team/q",
				"/labels/a of GatewayClassBlueprint/bp by remove of GatewayConfig/team/q",
				"/labels/b of GatewayClassConfig/gatewright-system/p by remove of GatewayConfig/team/q",
			},
		},
		"row 20: a removal and a default of one policy replace a map": {
			blueprint: "default: {labels: {a: 1}}",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {labels: {b: 1}}\nremove: [/labels]"}},
			want:      "{labels: {b: 1}}",
			Removed:   []string{"/labels/a of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p"},
		},
		"row 20: a removal of its own, a sibling's or a more specific path has no effect and is reported": {
			policies: []policyAt{
				{LevelNamespace, "p", 1, "default: {own: 1}\nremove: [own, sibling, specific]"},
				{LevelNamespace, "q", 2, "default: {sibling: 1}"},
				{LevelGateway, "r", 3, "default: {specific: 1}"},
			},
			want: "{own: 1, sibling: 1, specific: 1}",
			Warnings: []string{
				"GatewayConfig/team/p remove/own: RemoveIneffective",
				"GatewayConfig/team/p remove/sibling: RemoveIneffective",
				"GatewayConfig/team/p remove/specific: RemoveIneffective",
			},
		},
		"row 20: a removal of what an override holds has no effect and is reported": {
			blueprint: "default: {a: {x: 1}}\noverride: {a: {y: 1}}",
			policies:  []policyAt{{LevelGateway, "p", 0, "remove: [a]\nconstraints: [{name: c, when: 'true', override: {b: 1}}]"}},
			want:      "{a: {y: 1}, b: 1}",
			Removed:   []string{"/a/x of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p"},
			Warnings:  []string{"GatewayConfig/team/p remove/a: RemoveIneffective"},
		},
		"row 20: two policies that remove one path are both effective": {
			blueprint: "default: {a: 1}",
			policies:  []policyAt{{LevelGateway, "p", 1, "remove: [a]"}, {LevelGateway, "q", 2, "remove: [a]"}},
			want:      "{}",
			Removed:   []string{"/a of GatewayClassBlueprint/bp by remove of GatewayConfig/team/q"},
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
			want := found{tree(t, c.want), c.Inactive, c.Removed, c.Warnings}
			if diff := cmp.Diff(want, summary(Compute(bp, policies, gatewayTarget()))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecisionRow21APolicyBeingDeletedIsIgnored(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0, "targetRef: "+refYAML("kind: Gateway, name: edge")+"\ndefault: {a: 1}")
	now := metav1.NewTime(epoch)
	o.SetDeletionTimestamp(&now)
	if diff := cmp.Diff(Effective{Tree: Tree{}, Contributions: []Contribution{}}, Compute(nil, []*Policy{mustParse(t, o)}, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecisionRow22AMissingTargetOrSectionContributesNothing(t *testing.T) {
	target := listenerTarget()
	for _, fields := range []string{
		"kind: Gateway, name: other", "kind: Gateway, name: edge, sectionName: other", "kind: ListenerSet, name: extra",
		"kind: HTTPRoute, name: web", "kind: Namespace, name: other", "kind: Gateway, selector: {matchLabels: {app: other}}",
	} {
		p := mustParse(t, object(t, "GatewayConfig", "team", "p", 0, "targetRefs: ["+refYAML(fields)+"]\ndefault: {a: 1}"))
		if diff := cmp.Diff(Effective{Tree: Tree{}, Contributions: []Contribution{}}, Compute(nil, []*Policy{p}, target)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", fields, diff)
		}
	}
}

func TestDecisionRow23APolicyThatMatchesByTwoRefsCountsOnceAtTheMostSpecific(t *testing.T) {
	p := mustParse(t, object(t, "GatewayConfig", "team", "p", 0,
		"targetRefs: ["+refYAML("kind: Namespace, name: team")+","+refYAML("kind: Gateway, name: other")+","+refYAML("kind: Gateway, name: edge")+"]\ndefault: {a: 1}"))
	setter := Setter{"GatewayConfig/team/p", BlockDefault, LevelGateway}
	want := Effective{
		Tree:          Tree{"a": int64(1)},
		Origins:       []Origin{{"/a", setter, []Setter{}}},
		Contributions: []Contribution{{Source: setter.SetBy, Level: LevelGateway, Refs: []int{0, 2}, Sets: 1}},
	}
	if diff := cmp.Diff(want, Compute(nil, []*Policy{p}, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecisionRow24NumbersAreAsKubernetesDecodesThem(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0, "targetRef: "+refYAML("kind: Gateway, name: edge"))
	o.PolicySpec().Default = &apiextensionsv1.JSON{Raw: []byte(
		`{"i": 1, "max": 9223372036854775807, "f": 1.0, "half": 0.5, "beyond": 9223372036854775808, "s": "1", "list": [1, 1.5]}`)}
	p := mustParse(t, o)
	want := Tree{
		"i": int64(1), "max": int64(9223372036854775807), "f": float64(1), "half": 0.5, "beyond": float64(9223372036854775808), "s": "1",
		"list": []any{int64(1), 1.5},
	}
	if diff := cmp.Diff(want, Compute(nil, []*Policy{p}, gatewayTarget()).Tree); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
