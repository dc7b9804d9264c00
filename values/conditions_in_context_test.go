package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWhatConditionsSee has policies whose conditions tell what is in self, lower and target.
func TestWhatConditionsSee(t *testing.T) {
	defaultWhen := func(expression string) string { return "\nmerge: {default: {when: '" + expression + "'}}" }
	overrideWhen := func(expression string) string { return "\nmerge: {override: {when: '" + expression + "'}}" }
	cases := map[string]struct {
		blueprint string
		policies  []policyAt
		target    Target
		want      string
	}{
		"a default sees the defaults and unconditional overrides of more specific levels": {
			blueprint: "default: {bp: 1}\noverride: {bpo: 1}",
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {seen: true}\noverride: {own: 1}" + defaultWhen("self == {\"d\": 1, \"o\": 1}")},
				{LevelNamespace, "q", 0, "default: {d: 1}"},
				{LevelGateway, "r", 0, "override: {o: 1}"},
				{LevelGateway, "s", 1, "override: {c: 1}" + overrideWhen("true")},
			},
			want: "{bp: 1, bpo: 1, seen: true, own: 1, d: 1, o: 1, c: 1}",
		},
		"a default does not see what a more specific atomic override drops": {
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {seen: true}" + defaultWhen(`self == {"o": 1}`)},
				{LevelGateway, "q", 0, "default: {d: 1}\noverride: {o: 1}" + atomicOverride},
			},
			want: "{seen: true, o: 1}",
		},
		"a default does not see its siblings": {
			policies: []policyAt{
				{LevelGateway, "old", 0, "default: {a: 1}"},
				{LevelGateway, "new", 1, "default: {b: 1}" + defaultWhen("has(self.a)")},
			},
			want: "{a: 1}",
		},
		"a default does not see what was removed from more specific defaults": {
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {seen: true}" + defaultWhen("!has(self.gone)")},
				{LevelNamespace, "q", 0, "default: {gone: 1}"},
				{LevelGateway, "r", 0, "remove: [gone]"},
			},
			want: "{seen: true}",
		},
		"an override sees everything of lower precedence, so that a global cap clips the blueprint's default": {
			blueprint: "default: {replicas: 99}",
			policies:  []policyAt{{LevelClassGlobal, "p", 0, "override: {replicas: 10}" + overrideWhen("self.replicas > 10")}},
			want:      "{replicas: 10}",
		},
		"an override does not see less specific overrides": {
			blueprint: "override: {a: 1}",
			policies:  []policyAt{{LevelGateway, "p", 0, "override: {b: 1}" + overrideWhen("has(self.a)")}},
			want:      "{a: 1}",
		},
		"lower is the more specific levels only": {
			blueprint: "default: {bp: 1}",
			policies: []policyAt{
				{LevelNamespace, "p", 0, "default: {own: 1}\noverride: {seen: true}" + overrideWhen("lower == {\"d\": 1, \"o\": 1, \"c\": 1}")},
				{LevelGateway, "q", 0, "default: {d: 1}\noverride: {o: 1}\nconstraints: [{name: c, when: 'true', override: {c: 1}}]"},
			},
			want: "{bp: 1, own: 1, seen: true, d: 1, o: 1, c: 1}",
		},
		"an older override sees a newer sibling": {
			policies: []policyAt{
				{LevelGateway, "old", 0, "override: {a: old}" + overrideWhen("self.a == \"new\"")},
				{LevelGateway, "new", 1, "override: {a: new}"},
			},
			want: "{a: old}",
		},
		"an override does not see a newer sibling that it would conflict with": {
			policies: []policyAt{
				{LevelGateway, "old", 0, "override: {a: old}" + "\nmerge: {override: {strategy: atomic, when: \"!has(self.b)\"}}"},
				{LevelGateway, "new", 1, "override: {b: new}"},
			},
			want: "{a: old}",
		},
		"of three overrides the oldest does not see the newest after another has seen it": {
			policies: []policyAt{
				{LevelGateway, "old", 0, "override: {a: old}\nmerge: {override: {strategy: atomic, when: \"!has(self.b)\"}}"},
				{LevelGateway, "mid", 1, "override: {c: 1}" + overrideWhen("self.b == 2")},
				{LevelGateway, "new", 2, "override: {b: 1}"},
			},
			want: "{a: old}",
		},
		"an older override that stands against an atomic sibling sees what that would have dropped": {
			policies: []policyAt{
				{LevelGateway, "old", 0, "default: {d: 1}\noverride: {a: 1}" + overrideWhen("self.d == 1")},
				{LevelGateway, "new", 1, "override: {b: 1}" + atomicOverride},
			},
			want: "{a: 1, d: 1}",
		},
		"lower is the same for a constraint": {
			policies: []policyAt{
				{LevelClassGlobal, "p", 0, "default: {own: 1}\nconstraints: [{name: c, when: 'lower == {\"d\": 1}', override: {seen: true}}]"},
				{LevelNamespace, "q", 0, "default: {d: 1}"},
				{LevelClassLocal, "r", 0, "override: {}\nconstraints: [{name: c, when: 'lower == {}', override: {r: 1}}]\nmerge: {override: {strategy: atomic, when: 'has(self.x)'}}"},
			},
			want: "{own: 1, seen: true, d: 1}",
		},
		"a constraint sees that an atomic override of its level dropped more specific levels": {
			policies: []policyAt{
				{LevelNamespace, "p", 0, "override: {}\nconstraints: [{name: c, when: 'lower == {}', override: {seen: true}}]" + atomicOverride},
				{LevelGateway, "q", 0, "default: {d: 1}"},
			},
			want: "{seen: true}",
		},
		"a constraint sees the overrides of its own level": {
			policies: []policyAt{{LevelGateway, "p", 0, "override: {a: 20}\nconstraints: [{name: cap, when: 'self.a == 20', override: {a: 10}}]"}},
			want:     "{a: 10}",
		},
		"a less specific constraint sees what an atomic override leaves": {
			blueprint: "default: {bp: 1}\nconstraints: [{name: c, when: 'self == {\"bp\": 1, \"a\": 1}', override: {seen: true}}]",
			policies:  []policyAt{{LevelGateway, "p", 0, "default: {d: 1}\noverride: {a: 1}" + atomicOverride}},
			want:      "{bp: 1, a: 1, seen: true}",
		},
		"a Gateway is the target of its own values": {
			target: gatewayTarget(),
			policies: []policyAt{{LevelGateway, "p", 0, "default: {seen: true}" + defaultWhen(
				`target == {"kind": "Gateway", "namespace": "team", "name": "edge", "labels": {"app": "edge"}, "gatewayClassName": "public", "listener": ""}`)}},
			want: "{seen: true}",
		},
		"a listener is told by name": {
			target:   listenerTarget(),
			policies: []policyAt{{LevelGateway, "p", 0, "default: {seen: true}" + defaultWhen(`target.kind == "Gateway" && target.listener == "https"`)}},
			want:     "{seen: true}",
		},
		"a route is the target of its own values": {
			target: ruleTarget(),
			policies: []policyAt{{LevelGateway, "p", 0, "default: {seen: true}" + defaultWhen(
				`target == {"kind": "HTTPRoute", "namespace": "apps", "name": "web", "labels": {"app": "web"}, "gatewayClassName": "public", "listener": "tls"}`)}},
			want: "{seen: true}",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			target := c.target
			if target.Gateway.Name == "" {
				target = gatewayTarget()
			}
			var bp *Policy
			if c.blueprint != "" {
				bp = blueprint(t, c.blueprint)
			}
			var policies []*Policy
			for _, p := range c.policies {
				policies = append(policies, at(t, p.level, p.name, p.created, p.blocks))
			}
			if diff := cmp.Diff(tree(t, c.want), Compute(bp, policies, target).Tree); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
