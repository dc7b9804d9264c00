package cases

import (
	_ "embed" // the cases
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

var (
	//go:embed decisions.yaml
	decisions []byte
	//go:embed rfc0009.yaml
	rfc0009 []byte
)

// Case is what policies say, and what comes of it for the Gateway of World.
type Case struct {
	Name string `json:"name"`
	// Blueprint is spec.values of the blueprint; nil if it has none.
	Blueprint *v1alpha1.BlueprintValues `json:"blueprint,omitempty"`
	Policies  []Policy                  `json:"policies"`
	// Outcome is what is expected.
	Outcome
	// Unmatched are the target references that reach nothing, with the reason.
	Unmatched []string `json:"unmatched,omitempty"`
}

// Policy is a GatewayConfig or a GatewayClassConfig.
type Policy struct {
	// At is one of places: where the policy is and, unless it has target references of its own, what it targets.
	At   string `json:"at"`
	Name string `json:"name"`
	// Created is when the policy was made, in seconds after the oldest one.
	Created int `json:"created,omitempty"`
	// Deleted says that the policy is being deleted.
	Deleted bool `json:"deleted,omitempty"`
	v1alpha1.PolicySpec
}

// place is how a policy comes to a level: its kind, its namespace and its target.
type place struct {
	kind, namespace string
	target          v1alpha1.PolicyTargetReference
}

var (
	class   = v1alpha1.PolicyTargetReference{Group: gatewayv1.GroupName, Kind: "GatewayClass", Name: "public"}
	gateway = v1alpha1.PolicyTargetReference{Group: gatewayv1.GroupName, Kind: "Gateway", Name: "edge"}
	team    = v1alpha1.PolicyTargetReference{Kind: "Namespace", Name: "team"}
)

var places = map[string]place{
	"classGlobal":    {v1alpha1.KindGatewayClassConfig, v1alpha1.DefaultControllerNamespace, class},
	"classNamespace": {v1alpha1.KindGatewayClassConfig, "team", team},
	"classLocal":     {v1alpha1.KindGatewayClassConfig, "team", class},
	"namespace":      {v1alpha1.KindGatewayConfig, "team", team},
	"gateway":        {v1alpha1.KindGatewayConfig, "team", gateway},
}

// Decisions are the rows of the decision table of how values merge, each in one case or several.
func Decisions(t testing.TB) []Case {
	t.Helper()
	var all []Case
	read(t, decisions, &all)
	return all
}

// RFC0009 are the eleven examples of Kuadrant's RFC 0009. They say nothing but which values are effective.
func RFC0009(t testing.TB) []Case {
	t.Helper()
	var examples []struct {
		Name, Story   string
		Higher, Lower v1alpha1.PolicySpec
		Effective     Tree
	}
	read(t, rfc0009, &examples)
	all := make([]Case, len(examples))
	for i, e := range examples {
		all[i] = Case{
			Name: e.Name + " " + e.Story,
			Policies: []Policy{
				{At: "classGlobal", Name: "higher", PolicySpec: e.Higher},
				{At: "gateway", Name: "lower", PolicySpec: e.Lower},
			},
			Outcome: Outcome{Values: e.Effective},
		}
	}
	return all
}

func read(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
}

// epoch is when the oldest policies were made.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Object is the policy as clients read it.
func (p Policy) Object() v1alpha1.Policy {
	at := places[p.At]
	object := metav1.ObjectMeta{
		Namespace: at.namespace, Name: p.Name,
		CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(p.Created) * time.Second)),
	}
	if p.Deleted {
		object.DeletionTimestamp = &object.CreationTimestamp
	}
	kind := metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: at.kind}
	spec := *p.PolicySpec.DeepCopy()
	if len(spec.TargetRefs) == 0 {
		spec.TargetRefs = []v1alpha1.PolicyTargetReference{at.target}
	}
	if at.kind == v1alpha1.KindGatewayClassConfig {
		return &v1alpha1.GatewayClassConfig{TypeMeta: kind, ObjectMeta: object, Spec: spec}
	}
	return &v1alpha1.GatewayConfig{TypeMeta: kind, ObjectMeta: object, Spec: spec}
}

// BlueprintObject is the blueprint of the Gateway's class.
func (c Case) BlueprintObject() *v1alpha1.GatewayClassBlueprint {
	return &v1alpha1.GatewayClassBlueprint{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.KindGatewayClassBlueprint},
		ObjectMeta: metav1.ObjectMeta{Name: "bp"},
		Spec:       v1alpha1.GatewayClassBlueprintSpec{Values: c.Blueprint},
	}
}

// world is what the cases have in common.
const world = `apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata:
  name: public
spec:
  controllerName: gatewright.dev/controller
  parametersRef: {group: gatewright.dev, kind: GatewayClassBlueprint, name: bp}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge
  namespace: team
spec:
  gatewayClassName: public
  listeners: [{name: http, port: 80, protocol: HTTP}]
`

// Manifests is the case as a file that holds all of its objects.
func (c Case) Manifests(t testing.TB) []byte {
	t.Helper()
	text := []byte(world)
	add := func(object any) {
		document, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		text = fmt.Appendf(text, "---\n%s", document)
	}
	add(c.BlueprintObject())
	for _, p := range c.Policies {
		add(p.Object())
	}
	return text
}
