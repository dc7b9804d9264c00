package values

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// setTarget is the path to the listener of the ListenerSet.
func setTarget() Target {
	t := ruleTarget()
	t.Route = nil
	return t
}

// refusing is a schema that does not allow what is wrong.
func refusing() fakeSchema {
	return fakeSchema{validate: func(tree Tree) []Problem {
		if _, wrong := tree["wrong"]; wrong {
			return []Problem{{Path: "/wrong", Message: "is wrong"}}
		}
		return nil
	}}
}

// unreadable is a policy at a level that carries an override which cannot be read.
func unreadable(t *testing.T, level Level) *Policy {
	t.Helper()
	s := spots[level]
	p, v := Parse(object(t, s.kind, s.namespace, "unreadable", 0, "targetRefs: ["+refYAML(s.ref)+"]\noverride: []"))
	if v.OK {
		t.Fatal("it can be read")
	}
	return p
}

// A guest is whoever may attach a ListenerSet to somebody else's Gateway.
func TestGuestsAreSetAsideBeforeTheyStopTheirHost(t *testing.T) {
	host := func() *Policy { return at(t, LevelGateway, "host", 0, "default: {a: 1}") }
	good := func() *Policy {
		return at(t, LevelListenerSetNamespace, "good", 0, "default: {a: 2}\noverride: {b: 2}")
	}
	bad := func(level Level) *Policy { return at(t, level, "bad", 0, "default: {wrong: 1}") }
	inGatewaysNamespace := func() Target {
		target := setTarget()
		target.ListenerSet.Namespace = "team"
		return target
	}
	allAside := []string{"GatewayConfig/sets/good default: SetAside", "GatewayConfig/sets/good override: SetAside"}
	cases := map[string]struct {
		policies []*Policy
		target   Target
		want     found
		blocked  []string
		// charged are the sources that something is charged to.
		charged []string
	}{
		"guests that are as the schema says count": {
			[]*Policy{host(), good()}, setTarget(), found{Tree: tree(t, "{a: 2, b: 2}")}, nil, nil,
		},
		"what a guest must not say leaves all guests out": {
			[]*Policy{host(), good(), bad(LevelListenerSet)}, setTarget(),
			found{Tree: tree(t, "{a: 1}"), Inactive: append(allAside[:2:2], "GatewayConfig/sets/bad default: SetAside")},
			nil, []string{"GatewayConfig/sets/bad"},
		},
		"a guard of a guest that cannot be read does, too": {
			[]*Policy{host(), good(), unreadable(t, LevelListenerSetListener)}, setTarget(),
			found{Tree: tree(t, "{a: 1}"), Inactive: append(allAside[:2:2], "GatewayConfig/sets/unreadable override: SetAside")}, nil, nil,
		},
		"the guest's own route is the guest's business": {
			[]*Policy{host(), bad(LevelListenerSet)}, ruleTarget(), found{Tree: tree(t, "{a: 1, wrong: 1}")},
			[]string{"/wrong is wrong (GatewayConfig/sets/bad default)"}, []string{"GatewayConfig/sets/bad"},
		},
		"the host is no guest": {
			[]*Policy{bad(LevelGateway), good()}, setTarget(), found{Tree: tree(t, "{a: 2, b: 2, wrong: 1}")},
			[]string{"/wrong is wrong (GatewayConfig/team/bad default)"}, []string{"GatewayConfig/team/bad"},
		},
		"who shares the Gateway's namespace is no guest": {
			[]*Policy{host(), mustParse(t, object(t, "GatewayConfig", "team", "bad", 0, "targetRefs: ["+refYAML("kind: ListenerSet, name: extra")+"]\ndefault: {wrong: 1}"))},
			inGatewaysNamespace(), found{Tree: tree(t, "{a: 1, wrong: 1}")},
			[]string{"/wrong is wrong (GatewayConfig/team/bad default)"}, []string{"GatewayConfig/team/bad"},
		},
		"the provider is no guest anywhere": {
			[]*Policy{host(), good(), mustParse(t, object(t, "GatewayClassConfig", "sets", "bad", 0, "targetRefs: ["+refYAML("kind: Namespace, name: sets")+"]\ndefault: {wrong: 1}"))},
			setTarget(), found{Tree: tree(t, "{a: 2, b: 2, wrong: 1}")},
			[]string{"/wrong is wrong (GatewayClassConfig/sets/bad default)"}, []string{"GatewayClassConfig/sets/bad"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := Compute(blueprintWith(t, "{}", refusing()), c.policies, c.target)
			if diff := gocmp.Diff(c.want, summary(e)); diff != "" {
				t.Errorf("values (-want +got)\n%s", diff)
			}
			if diff := gocmp.Diff(c.blocked, e.Blocked()); diff != "" {
				t.Errorf("what blocks them (-want +got)\n%s", diff)
			}
			var charged []string
			for _, contribution := range e.Contributions {
				if len(contribution.Violations) > 0 {
					charged = append(charged, contribution.Source)
				}
			}
			if diff := gocmp.Diff(c.charged, charged); diff != "" {
				t.Errorf("who is charged (-want +got)\n%s", diff)
			}
		})
	}
}

func TestContributionsTellWhatASourceTookAwayAndLost(t *testing.T) {
	type part struct {
		Sets, Removes int
		Removed       []string
		Inactive      []Reason
		SetAside      bool
	}
	e := Compute(blueprint(t, "default: {a: {x: 1, z: 1}, b: 1}"), []*Policy{
		at(t, LevelClassGlobal, "all", 0, "default: {c: 1}\noverride: {d: null}"),
		at(t, LevelNamespace, "atomic", 0, "default: {e: 1}\nmerge: {default: {strategy: atomic}}"),
		at(t, LevelGateway, "tenant", 0, "default: {d: 1, f: 1}\nremove: [a, c]"),
	}, gatewayTarget())
	got := map[string]part{}
	for _, c := range e.Contributions {
		p := part{Sets: c.Sets, Removes: c.Removes, SetAside: c.SetAside}
		for _, r := range c.Removed {
			p.Removed = append(p.Removed, r.Path+" by "+r.By.SetBy)
		}
		for _, i := range c.Inactive {
			p.Inactive = append(p.Inactive, i.Reason)
		}
		got[c.Source] = p
	}
	tenant, all := "GatewayConfig/team/tenant", "GatewayClassConfig/gatewright-system/all"
	want := map[string]part{
		"GatewayClassBlueprint/bp":  {Sets: 1, Removed: []string{"/a/x by " + tenant, "/a/z by " + tenant}},
		all:                         {Removes: 1, Removed: []string{"/c by " + tenant}},
		"GatewayConfig/team/atomic": {Inactive: []Reason{AtomicSuperseded}},
		tenant:                      {Sets: 1, Removes: 3, Removed: []string{"/d by " + all}},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
