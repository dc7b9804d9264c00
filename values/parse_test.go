package values

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

func TestParseSaysWhatIsWrong(t *testing.T) {
	const edge = "targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]\n"
	target := func(fields string) string { return "targetRefs: [{" + fields + "}]" }
	const group = "group: gateway.networking.k8s.io, "
	cases := map[string]struct{ kind, spec, want string }{
		"no target":        {"GatewayConfig", "default: {}", "spec needs exactly one of targetRef and targetRefs"},
		"two ways to name": {"GatewayConfig", edge + "targetRef: {group: '', kind: Namespace, name: team}", "spec needs exactly one of targetRef and targetRefs"},
		"an unknown kind": {"GatewayConfig", target(group + "kind: Service, name: x"),
			`spec.targetRefs[0] has kind "Service"; write GatewayClass, Namespace, Gateway, ListenerSet, HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute`},
		"a wrong group":           {"GatewayConfig", target(group + "kind: Namespace, name: x"), `spec.targetRefs[0] has group "gateway.networking.k8s.io"; write "" for kind Namespace`},
		"a class by a tenant":     {"GatewayConfig", target(group + "kind: GatewayClass, name: x"), "spec.targetRefs[0] has kind GatewayClass, but a GatewayConfig may not target it; use a GatewayClassConfig"},
		"a Gateway by a provider": {"GatewayClassConfig", target(group + "kind: Gateway, selector: {}"), "spec.targetRefs[0] has kind Gateway, but a GatewayClassConfig may target GatewayClass and Namespace only; use a GatewayConfig"},
		"neither name nor selector": {"GatewayConfig", target(group + "kind: Gateway"),
			"spec.targetRefs[0] needs exactly one of name and selector; write `selector: {}` to target all of its kind"},
		"both name and selector": {"GatewayConfig", target(group + "kind: Gateway, name: x, selector: {}"),
			"spec.targetRefs[0] needs exactly one of name and selector; write `selector: {}` to target all of its kind"},
		"a section of a class":         {"GatewayClassConfig", target(group + "kind: GatewayClass, name: x, sectionName: y"), "spec.targetRefs[0] has sectionName or listenerSelector, but GatewayClass has no sections"},
		"listeners of a route":         {"GatewayConfig", target(group + "kind: HTTPRoute, name: x, listenerSelector: {}"), "spec.targetRefs[0] has listenerSelector, but HTTPRoute has rules, not listeners; name one by sectionName"},
		"a section and a selector":     {"GatewayConfig", target(group + "kind: Gateway, name: x, sectionName: y, listenerSelector: {}"), "spec.targetRefs[0] has both sectionName and listenerSelector; keep one of them"},
		"an empty section":             {"GatewayConfig", target(group + "kind: Gateway, name: x, sectionName: ''"), "spec.targetRefs[0] has an empty sectionName; leave it out to target the whole Gateway"},
		"an unknown template":          {"GatewayConfig", target(group + "kind: Gateway, name: x, appliesTo: [Pod]"), `spec.targetRefs[0] has appliesTo "Pod"; write Gateway, Route or both`},
		"a selector that is no good":   {"GatewayConfig", target(group + "kind: Gateway, selector: {matchExpressions: [{key: a, operator: Near}]}"), `spec.targetRefs[0] has a selector that cannot be read: "Near" is not a valid label selector operator`},
		"a default that is a list":     {"GatewayConfig", edge + "default: [secret]", "spec.default must be an object, but is a list; write keys with values under it"},
		"a default that is deep":       {"GatewayConfig", edge + "default: {a: " + strings.Repeat("[", 65) + strings.Repeat("]", 65) + "}", "spec.default is nested more than 64 deep; write fewer levels"},
		"a default that is a string":   {"GatewayConfig", edge + "default: secret", "spec.default must be an object, but is a string; write keys with values under it"},
		"an override that is a bool":   {"GatewayConfig", edge + "override: true", "spec.override must be an object, but is a boolean; write keys with values under it"},
		"an override that is a number": {"GatewayConfig", edge + "override: 5", "spec.override must be an object, but is a number; write keys with values under it"},
		"an unknown strategy":          {"GatewayConfig", edge + "merge: {default: {strategy: deep}}", `spec.merge.default.strategy is "deep"; write merge or atomic`},
		"a condition that is a typo":   {"GatewayConfig", edge + "override: {}\nmerge: {override: {when: self.a > b}}", "spec.merge.override.when does not compile: undeclared reference to 'b' (in container ''), at line 1, column 10"},
		"a condition without a block":  {"GatewayConfig", edge + "merge: {override: {when: b}}", "spec.merge.override.when does not compile: undeclared reference to 'b' (in container ''), at line 1, column 1"},
		"a constraint without parts": {"GatewayConfig", edge + "constraints: [{name: '', when: '', override: null}]",
			"spec.constraints[0] has no name; write one that is unique in the list; spec.constraints[0] has no when; write a condition, or use override for what always applies; spec.constraints[0] has no override; write the values that apply where the condition holds"},
		"two constraints of one name": {"GatewayConfig", edge + "constraints: [{name: a, when: 'true', override: {}}, {name: a, when: 'true', override: {}}]",
			`spec.constraints[1] has the name "a" of another; write one that is unique in the list`},
		"a constraint of a wrong type": {"GatewayConfig", edge + "constraints: [{name: a, when: 'true', override: []}]", "spec.constraints[0].override must be an object, but is a list; write keys with values under it"},
		"a path with an index":         {"GatewayConfig", edge + "remove: ['a[0]']", `spec.remove[0] has "a[0]", which has brackets without a string; write a["b"], and leave out list indexes, since a list is removed whole`},
		"many problems are cut short": {"GatewayConfig", edge + "remove: ['', '', '', '', '', '']",
			"spec.remove[0] is empty; write a path like a.b; spec.remove[1] is empty; write a path like a.b; spec.remove[2] is empty; write a path like a.b; " +
				"spec.remove[3] is empty; write a path like a.b; spec.remove[4] is empty; write a path like a.b; and 1 more"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, got := Parse(object(t, c.kind, "team", "p", 0, c.spec))
			if diff := cmp.Diff(verdict.No(v1alpha1.ReasonInvalid, "%s", c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseAcceptsWhatIsRight(t *testing.T) {
	cases := map[string]struct{ kind, spec string }{
		"a singular targetRef":               {"GatewayConfig", "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: edge}"},
		"no block at all":                    {"GatewayClassConfig", "targetRefs: [{group: '', kind: Namespace, name: team}]"},
		"a null block, which is absent":      {"GatewayConfig", "targetRefs: [{group: '', kind: Namespace, name: team}]\ndefault: null"},
		"strategy merge written out":         {"GatewayConfig", "targetRefs: [{group: '', kind: Namespace, selector: {}}]\ndefault: {}\nmerge: {default: {strategy: merge}}"},
		"keys that look like fields of ours": {"GatewayConfig", "targetRefs: [{group: '', kind: Namespace, name: team}]\ndefault: {merge: {strategy: x}, when: y}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, got := Parse(object(t, c.kind, "team", "p", 0, c.spec))
			if diff := cmp.Diff(verdict.Yes(v1alpha1.ReasonAccepted, c.kind+" is valid"), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseRefusesMoreTargetsThanTheAPI(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0, "targetRef: "+refYAML("kind: Gateway, name: edge"))
	spec := o.PolicySpec()
	for range 17 {
		spec.TargetRefs = append(spec.TargetRefs, *spec.TargetRef)
	}
	spec.TargetRef = nil
	_, got := Parse(o)
	if diff := cmp.Diff(verdict.No(v1alpha1.ReasonInvalid, "spec.targetRefs has 17 entries; write at most 16"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseBlueprint(t *testing.T) {
	cases := map[string]struct {
		spec   string
		schema Schema
		want   verdict.Verdict
	}{
		"no values are fine": {"{}", nil, verdict.Yes(v1alpha1.ReasonAccepted, "GatewayClassBlueprint is valid")},
		"all blocks are read": {"values: {default: {a: 1}, override: {b: 1}, merge: {override: {when: 'true'}}, constraints: [{name: c, when: 'true', override: {}}]}", nil,
			verdict.Yes(v1alpha1.ReasonAccepted, "GatewayClassBlueprint is valid")},
		"a block of a wrong type is named": {"values: {default: []}", nil,
			verdict.No(v1alpha1.ReasonInvalid, "spec.values.default must be an object, but is a list; write keys with values under it")},
		"a schema that was compiled is heeded": {"values: {schema: {openAPIV3Schema: {type: object}}}", fakeSchema{},
			verdict.Yes(v1alpha1.ReasonAccepted, "GatewayClassBlueprint is valid")},
		"a schema that was not compiled is refused rather than ignored": {"values: {schema: {}}", nil,
			verdict.No(v1alpha1.ReasonInvalid, "spec.values.schema cannot be used; write an openAPIV3Schema, or leave the schema out")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "bp"}}
			if err := yaml.UnmarshalStrict([]byte(c.spec), &b.Spec); err != nil {
				t.Fatal(err)
			}
			_, got := ParseBlueprint(b, c.schema)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestParseKeepsNothingOfTheObject(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0,
		"targetRefs: ["+refYAML("kind: Gateway, selector: {matchExpressions: [{key: app, operator: In, values: [edge]}]}, appliesTo: [Gateway]")+"]\ndefault: {a: text}")
	p := mustParse(t, o)
	spec := o.PolicySpec()
	spec.TargetRefs[0].AppliesTo[0] = v1alpha1.AppliesToRoute
	spec.TargetRefs[0].Selector.MatchExpressions[0].Values[0] = "other"
	clear(spec.Default.Raw)
	o.SetName("other")
	want := []Origin{{"/a", Setter{"GatewayConfig/team/p", BlockDefault, LevelGatewaySelected}, []Setter{}, ""}}
	got := Compute(nil, []*Policy{p}, gatewayTarget())
	if diff := cmp.Diff(want, got.Origins); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(Tree{"a": "text"}, got.Tree); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAnInvalidPolicyContributesNothingAndHoldsItsTargetsIfItGuardsThem(t *testing.T) {
	const typo = "\nmerge: {default: {when: 'typo'}}"
	cases := map[string]struct {
		blocks string
		held   []string
	}{
		"with defaults only it holds nothing":    {"default: {a: 1}" + typo, nil},
		"with an override it holds its targets":  {"override: {a: 1}" + typo, []string{"GatewayConfig/team/p"}},
		"with a constraint it holds its targets": {"constraints: [{name: c, when: typo, override: {}}]", []string{"GatewayConfig/team/p"}},
		"an override of a wrong type is a guard": {"override: []", []string{"GatewayConfig/team/p"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p, v := Parse(object(t, "GatewayConfig", "team", "p", 0, "targetRefs: ["+refYAML("kind: Gateway, name: edge")+"]\n"+c.blocks))
			if v.OK {
				t.Fatal("it is valid")
			}
			want := Effective{
				Tree:    Tree{"kept": true},
				Origins: []Origin{{"/kept", Setter{"GatewayConfig/team/q", BlockDefault, LevelNamespace}, []Setter{}, ""}},
				Contributions: []Contribution{
					{Source: "GatewayConfig/team/q", Level: LevelNamespace, Refs: []int{0}, Sets: 1},
					{Source: "GatewayConfig/team/p", Level: LevelGateway, Refs: []int{0}},
				},
				Held: c.held,
			}
			got := Compute(nil, []*Policy{p, at(t, LevelNamespace, "q", 0, "default: {kept: true}")}, gatewayTarget())
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
