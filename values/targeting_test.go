package values

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// TestLevelsAreOrdered puts one policy on every level of a path, which all set the same leaf.
func TestLevelsAreOrdered(t *testing.T) {
	through := func(first, last Level) (list []Level) {
		for l := first; l <= last; l++ {
			list = append(list, l)
		}
		return list
	}
	cases := map[string]struct {
		target Target
		levels []Level
	}{
		"to a Gateway's listener": {listenerTarget(), through(LevelBlueprint, LevelGatewayListener)},
		"through a ListenerSet's listener to a rule": {
			ruleTarget(), append(through(LevelBlueprint, LevelGateway), through(LevelListenerSetNamespace, LevelRule)...),
		},
		"to a Gateway": {gatewayTarget(), through(LevelBlueprint, LevelGateway)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			const blocks = "default: {d: 1}\noverride: {o: 1}"
			var policies []*Policy
			for level := range spots {
				policies = append(policies, at(t, level, fmt.Sprintf("p%d", level), 0, blocks))
			}
			var want, got struct{ D, O []Level }
			for i, level := range c.levels {
				want.O = append(want.O, level)
				want.D = append(want.D, c.levels[len(c.levels)-1-i])
			}
			for _, o := range Compute(blueprint(t, blocks), policies, c.target).Origins {
				order := []Level{o.Level}
				for _, s := range o.Shadowed {
					if s.Block == o.Block {
						order = append(order, s.Level)
					}
				}
				if o.Path == "/d" {
					got.D = order
				} else {
					got.O = order
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("levels from the strongest to the weakest (-want +got)\n%s", diff)
			}
		})
	}
}

func TestTargeting(t *testing.T) {
	global := v1alpha1.DefaultControllerNamespace
	set := gatewayTarget()
	set.ListenerSet = &Object{Namespace: "sets", Name: "extra"}
	sameNamespace := ruleTarget()
	sameNamespace.ListenerSet.Namespace, sameNamespace.Route.Namespace = "team", "team"
	listenerForRoutes := listenerTarget()
	listenerForRoutes.AppliesTo = v1alpha1.AppliesToRoute
	elsewhere := gatewayTarget()
	elsewhere.ControllerNamespace = "team"
	const class, config = "GatewayClassConfig", "GatewayConfig"
	cases := map[string]struct {
		kind, namespace, ref string
		target               Target
		want                 Level // 0: the policy does not match
	}{
		"a class by selector in the controller's namespace is global":      {class, global, "kind: GatewayClass, selector: {matchLabels: {tier: gold}}", gatewayTarget(), LevelClassGlobal},
		"all classes are selected by an empty selector":                    {class, global, "kind: GatewayClass, selector: {}", gatewayTarget(), LevelClassGlobal},
		"another class does not match":                                     {class, global, "kind: GatewayClass, name: other", gatewayTarget(), 0},
		"a class selector that does not fit does not match":                {class, global, "kind: GatewayClass, selector: {matchLabels: {tier: iron}}", gatewayTarget(), 0},
		"in the controller's namespace a Namespace is never matched":       {class, "team", "kind: Namespace, name: team", elsewhere, 0},
		"the controller's namespace is as the target says":                 {class, "team", "kind: GatewayClass, name: public", elsewhere, LevelClassGlobal},
		"a GatewayClassConfig reaches its own namespace":                   {class, "team", "kind: Namespace, selector: {matchLabels: {owner: a}}", gatewayTarget(), LevelClassNamespace},
		"a GatewayClassConfig does not reach another namespace":            {class, "other", "kind: GatewayClass, name: public", gatewayTarget(), 0},
		"a GatewayClassConfig in a route's namespace reaches the route":    {class, "apps", "kind: GatewayClass, name: public", ruleTarget(), LevelClassLocal},
		"a GatewayClassConfig in a route's namespace leaves the Gateway":   {class, "apps", "kind: GatewayClass, name: public", gatewayTarget(), 0},
		"a GatewayConfig does not reach a Gateway of another namespace":    {config, "other", "kind: Gateway, name: edge", gatewayTarget(), 0},
		"a GatewayConfig does not name another namespace":                  {config, "team", "kind: Namespace, name: apps", ruleTarget(), 0},
		"a Namespace is selected by its labels":                            {config, "team", "kind: Namespace, selector: {matchLabels: {owner: a}}", gatewayTarget(), LevelNamespace},
		"a Namespace selector that does not fit does not match":            {config, "team", "kind: Namespace, selector: {matchLabels: {owner: b}}", gatewayTarget(), 0},
		"all Gateways of a namespace are selected by an empty selector":    {config, "team", "kind: Gateway, selector: {}", gatewayTarget(), LevelGatewaySelected},
		"a Gateway is inherited by a route":                                {config, "team", "kind: Gateway, name: edge", ruleTarget(), LevelGateway},
		"a Gateway is inherited by a ListenerSet's listener":               {config, "team", "kind: Gateway, name: edge", set, LevelGateway},
		"a Gateway's listener is not the Gateway":                          {config, "team", "kind: Gateway, name: edge, sectionName: https", gatewayTarget(), 0},
		"a section of selected Gateways is a listener by name":             {config, "team", "kind: Gateway, selector: {}, sectionName: https", listenerTarget(), LevelGatewayListener},
		"a listener selector that does not fit does not match":             {config, "team", "kind: Gateway, name: edge, listenerSelector: {matchLabels: {exposed: never}}", listenerTarget(), 0},
		"a Gateway's section is not a ListenerSet's listener of that name": {config, "team", "kind: Gateway, name: edge, sectionName: tls", ruleTarget(), 0},
		"a Gateway's listener selector leaves a ListenerSet's listeners":   {config, "team", "kind: Gateway, name: edge, listenerSelector: {}", ruleTarget(), 0},
		"a ListenerSet is not on the Gateway's path":                       {config, "sets", "kind: ListenerSet, name: extra", gatewayTarget(), 0},
		"a ListenerSet's namespace counts with its listeners":              {config, "sets", "kind: Namespace, name: sets", set, LevelListenerSetNamespace},
		"one namespace of all is the Gateway's":                            {config, "team", "kind: Namespace, name: team", sameNamespace, LevelNamespace},
		"a rule is not the whole route":                                    {config, "apps", "kind: HTTPRoute, name: web, sectionName: other", ruleTarget(), 0},
		"a route of another kind does not match":                           {config, "apps", "kind: GRPCRoute, name: web", ruleTarget(), 0},
		"values for Gateways are not seen by routes":                       {config, "team", "kind: Gateway, name: edge, appliesTo: [Gateway]", ruleTarget(), 0},
		"values for routes are not seen by Gateways":                       {config, "team", "kind: Gateway, name: edge, appliesTo: [Route]", gatewayTarget(), 0},
		"values for routes are seen by routes":                             {config, "team", "kind: Gateway, name: edge, appliesTo: [Route]", ruleTarget(), LevelGateway},
		"values for both are seen by both":                                 {config, "team", "kind: Gateway, name: edge, appliesTo: [Route, Gateway]", gatewayTarget(), LevelGateway},
		"the reader is as the target says":                                 {config, "team", "kind: Gateway, name: edge, appliesTo: [Route]", listenerForRoutes, LevelGateway},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := mustParse(t, object(t, c.kind, c.namespace, "p", 0, "targetRef: "+refYAML(c.ref)+"\ndefault: {a: 1}"))
			var got Level
			for _, o := range Compute(nil, []*Policy{p}, c.target).Origins {
				got = o.Level
			}
			if got != c.want {
				t.Errorf("level %q, want %q", got, c.want)
			}
		})
	}
}

func TestLevels3And4ExistForEachNamespaceOnThePath(t *testing.T) {
	var policies []*Policy
	for _, namespace := range []string{"apps", "team", "sets"} {
		for _, ref := range []string{"kind: Namespace, name: " + namespace, "kind: GatewayClass, name: public"} {
			name := ref[6:8]
			policies = append(policies, mustParse(t, object(t, "GatewayClassConfig", namespace, name, 0, "targetRef: "+refYAML(ref)+"\ndefault: {a: 1}")))
		}
	}
	o := Compute(nil, policies, ruleTarget()).Origins[0]
	got := []string{o.SetBy}
	for _, s := range o.Shadowed {
		got = append(got, s.SetBy)
	}
	want := []string{
		"GatewayClassConfig/apps/Ga", "GatewayClassConfig/sets/Ga", "GatewayClassConfig/team/Ga",
		"GatewayClassConfig/apps/Na", "GatewayClassConfig/sets/Na", "GatewayClassConfig/team/Na",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("from the strongest to the weakest (-want +got)\n%s", diff)
	}
}

func TestAppliesToNeverAffectsOrder(t *testing.T) {
	policies := []*Policy{
		mustParse(t, object(t, "GatewayConfig", "team", "both", 0, "targetRefs: ["+refYAML("kind: Gateway, name: edge, appliesTo: [Gateway]")+","+refYAML("kind: Namespace, name: team")+"]\ndefault: {a: both}")),
		at(t, LevelGatewaySelected, "selected", 0, "default: {a: selected}"),
	}
	for want, target := range map[string]Target{"both": gatewayTarget(), "selected": ruleTarget()} {
		if got := Compute(nil, policies, target).Tree["a"]; got != want {
			t.Errorf("for %s: %v, want %s", target.reader(), got, want)
		}
	}
}

func TestTargetsListeners(t *testing.T) {
	for level, want := range map[Level]bool{
		LevelGateway: false, LevelGatewayListener: true, LevelGatewayListenersSelected: true, LevelListenerSet: false,
		LevelListenerSetListener: true, LevelListenerSetListenersSelected: true, LevelRule: false, LevelNamespace: false,
	} {
		if got := at(t, level, "p", 0, "default: {}").TargetsListeners(); got != want {
			t.Errorf("%s: %t, want %t", level, got, want)
		}
	}
}

func TestListenerLabels(t *testing.T) {
	object := map[string]string{"tier": "object", "app": "edge", LabelPort: "1"}
	cases := map[string]struct {
		annotation string
		want       map[string]string
		fails      bool
	}{
		"without an annotation they are the object's, protocol and port": {
			"", map[string]string{"tier": "object", "app": "edge", LabelProtocol: "HTTPS", LabelPort: "443"}, false,
		},
		"an annotation wins over the object, and what is computed over both": {
			"tier=public,team=a," + LabelPort + "=2", map[string]string{"tier": "public", "team": "a", "app": "edge", LabelProtocol: "HTTPS", LabelPort: "443"}, false,
		},
		"an annotation that cannot be read counts as absent": {
			"tier", map[string]string{"tier": "object", "app": "edge", LabelProtocol: "HTTPS", LabelPort: "443"}, true,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{"listeners.gatewright.dev/https": c.annotation, "listeners.gatewright.dev/other": "tier=other"}
			got, err := ListenerLabels(object, annotations, "https", "HTTPS", 443)
			if diff := cmp.Diff(c.want, got); diff != "" || (err != nil) != c.fails {
				t.Errorf("(-want +got)\n%s%v", diff, err)
			}
		})
	}
}
