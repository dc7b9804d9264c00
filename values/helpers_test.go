package values

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// The path that the tests compute values for: Gateway team/edge with listener https, ListenerSet sets/extra with listener
// tls, HTTPRoute apps/web with rule checkout.
func gatewayTarget() Target {
	return Target{
		Class:   Object{Name: "public", Labels: map[string]string{"tier": "gold"}},
		Gateway: Object{Namespace: "team", Name: "edge", Labels: map[string]string{"app": "edge"}},
		Namespaces: map[string]map[string]string{
			"team": {"owner": "a"}, "sets": {"owner": "b"}, "apps": {"owner": "c"},
		},
	}
}

func listenerTarget() Target {
	t := gatewayTarget()
	t.Listener = &Listener{Name: "https", Labels: map[string]string{"exposed": "yes"}}
	return t
}

// ruleTarget is the longest path: through the ListenerSet to a rule of the route.
func ruleTarget() Target {
	t := gatewayTarget()
	t.ListenerSet = &Object{Namespace: "sets", Name: "extra", Labels: map[string]string{"app": "extra"}}
	t.Listener = &Listener{Name: "tls", Labels: map[string]string{"exposed": "yes"}}
	t.Route = &Route{Kind: "HTTPRoute", Object: Object{Namespace: "apps", Name: "web", Labels: map[string]string{"app": "web"}}, Rule: "checkout"}
	return t
}

// spot is how a policy of the tests comes to a level: its kind, its namespace and its target reference.
type spot struct{ kind, namespace, ref string }

var spots = map[Level]spot{
	LevelClassGlobal:                  {"GatewayClassConfig", "gatewright-system", "kind: GatewayClass, name: public"},
	LevelClassNamespace:               {"GatewayClassConfig", "team", "kind: Namespace, name: team"},
	LevelClassLocal:                   {"GatewayClassConfig", "team", "kind: GatewayClass, name: public"},
	LevelNamespace:                    {"GatewayConfig", "team", "kind: Namespace, name: team"},
	LevelGatewaySelected:              {"GatewayConfig", "team", "kind: Gateway, selector: {matchLabels: {app: edge}}"},
	LevelGateway:                      {"GatewayConfig", "team", "kind: Gateway, name: edge"},
	LevelGatewayListenersSelected:     {"GatewayConfig", "team", "kind: Gateway, name: edge, listenerSelector: {matchLabels: {exposed: 'yes'}}"},
	LevelGatewayListener:              {"GatewayConfig", "team", "kind: Gateway, name: edge, sectionName: https"},
	LevelListenerSetNamespace:         {"GatewayConfig", "sets", "kind: Namespace, name: sets"},
	LevelListenerSetSelected:          {"GatewayConfig", "sets", "kind: ListenerSet, selector: {matchLabels: {app: extra}}"},
	LevelListenerSet:                  {"GatewayConfig", "sets", "kind: ListenerSet, name: extra"},
	LevelListenerSetListenersSelected: {"GatewayConfig", "sets", "kind: ListenerSet, name: extra, listenerSelector: {matchLabels: {exposed: 'yes'}}"},
	LevelListenerSetListener:          {"GatewayConfig", "sets", "kind: ListenerSet, name: extra, sectionName: tls"},
	LevelRouteNamespace:               {"GatewayConfig", "apps", "kind: Namespace, name: apps"},
	LevelRouteSelected:                {"GatewayConfig", "apps", "kind: HTTPRoute, selector: {matchLabels: {app: web}}"},
	LevelRoute:                        {"GatewayConfig", "apps", "kind: HTTPRoute, name: web"},
	LevelRule:                         {"GatewayConfig", "apps", "kind: HTTPRoute, name: web, sectionName: checkout"},
}

// refYAML writes a target reference with its group.
func refYAML(fields string) string {
	if len(fields) > 15 && fields[:15] == "kind: Namespace" {
		return `{group: "", ` + fields + "}"
	}
	return "{group: gateway.networking.k8s.io, " + fields + "}"
}

// epoch is when the oldest policy of the tests was created; ages are in seconds after it.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// object decodes a policy from its spec, written as YAML.
func object(t testing.TB, kind, namespace, name string, created int, spec string) v1alpha1.Policy {
	t.Helper()
	meta := metav1.ObjectMeta{
		Namespace: namespace, Name: name,
		CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(created) * time.Second)),
	}
	var p v1alpha1.Policy = &v1alpha1.GatewayConfig{ObjectMeta: meta}
	if kind == v1alpha1.KindGatewayClassConfig {
		p = &v1alpha1.GatewayClassConfig{ObjectMeta: meta}
	}
	if err := yaml.UnmarshalStrict([]byte(spec), p.PolicySpec()); err != nil {
		t.Fatalf("%s %s/%s: %v\n%s", kind, namespace, name, err, spec)
	}
	return p
}

// at is a valid policy at a level, with the blocks written as YAML. The first ones created are the oldest.
func at(t testing.TB, level Level, name string, created int, blocks string) *Policy {
	t.Helper()
	s := spots[level]
	return mustParse(t, object(t, s.kind, s.namespace, name, created, fmt.Sprintf("targetRefs: [%s]\n%s", refYAML(s.ref), blocks)))
}

func mustParse(t testing.TB, object v1alpha1.Policy) *Policy {
	t.Helper()
	p, v := Parse(object)
	if !v.OK {
		t.Fatalf("%s: %s: %s", p.Ref(), v.Reason, v.Message)
	}
	return p
}

// blueprint is one with the values written as YAML.
func blueprint(t testing.TB, valuesYAML string) *Policy {
	t.Helper()
	return blueprintWith(t, valuesYAML, nil)
}

// blueprintWith is one with a schema.
func blueprintWith(t testing.TB, valuesYAML string, schema Schema) *Policy {
	t.Helper()
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "bp"}, Spec: v1alpha1.GatewayClassBlueprintSpec{Values: &v1alpha1.BlueprintValues{}}}
	if err := yaml.UnmarshalStrict([]byte(valuesYAML), b.Spec.Values); err != nil {
		t.Fatal(err)
	}
	p, v := ParseBlueprint(b, schema)
	if !v.OK {
		t.Fatalf("%s: %s", v.Reason, v.Message)
	}
	return p
}

// tree is a tree written as YAML.
func tree(t testing.TB, text string) Tree {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := decodeTree(data)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

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

const atomicOverride = "\nmerge: {override: {strategy: atomic}}"
