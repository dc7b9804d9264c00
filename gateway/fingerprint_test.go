package gateway

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func fingerprinted() Snapshot {
	key := types.NamespacedName{Namespace: "a", Name: "n"}
	return Snapshot{
		Class: &gatewayv1.GatewayClass{}, Blueprint: &v1alpha1.GatewayClassBlueprint{}, Gateway: &gatewayv1.Gateway{},
		ListenerSets: []*gatewayv1.ListenerSet{{}}, Routes: []Route{HTTPRoute(&gatewayv1.HTTPRoute{})},
		Namespaces: map[string]labels.Set{"a": {"k": "v"}}, Grants: []*gatewayv1.ReferenceGrant{{}},
		Secrets: map[types.NamespacedName]Certificate{key: {}}, ConfigMaps: map[types.NamespacedName]Certificate{key: {}},
		Services: map[types.NamespacedName]bool{key: true}, Configs: map[string]bool{"c": true},
		Policies: []v1alpha1.Policy{&v1alpha1.GatewayConfig{}},
	}
}

func TestTheFingerprintTellsEveryFieldApart(t *testing.T) {
	key := types.NamespacedName{Namespace: "a", Name: "n"}
	changes := map[string]func(*Snapshot){
		"Class":        func(s *Snapshot) { s.Class.Generation++ },
		"Blueprint":    func(s *Snapshot) { s.Blueprint.Generation++ },
		"Gateway":      func(s *Snapshot) { s.Gateway.Labels = map[string]string{"k": "v"} },
		"ListenerSets": func(s *Snapshot) { s.ListenerSets[0].Generation++ },
		"Routes":       func(s *Snapshot) { s.Routes[0].Object.SetGeneration(2) },
		"Namespaces":   func(s *Snapshot) { s.Namespaces["a"] = labels.Set{"k": "other"} },
		"Grants":       func(s *Snapshot) { s.Grants = nil },
		"Secrets":      func(s *Snapshot) { s.Secrets[key] = Certificate{KeyPair: "no"} },
		"ConfigMaps":   func(s *Snapshot) { s.ConfigMaps[key] = Certificate{Authorities: "no"} },
		"Services":     func(s *Snapshot) { delete(s.Services, key) },
		"Configs":      func(s *Snapshot) { s.Configs["d"] = true },
		"Policies":     func(s *Snapshot) { s.Policies[0] = &v1alpha1.GatewayClassConfig{} },
	}
	var fields []string
	for field := range reflect.TypeFor[Snapshot]().Fields() {
		fields = append(fields, field.Name)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(fields)), slices.Sorted(maps.Keys(changes))); diff != "" {
		t.Fatalf("a field has no case: -fields +cases:\n%s", diff)
	}
	same := fingerprinted()
	want := same.Fingerprint()
	for field, change := range changes {
		t.Run(field, func(t *testing.T) {
			s := fingerprinted()
			if s.Fingerprint() != want {
				t.Error("the same again has another fingerprint")
			}
			if change(&s); s.Fingerprint() == want {
				t.Error("the fingerprint does not tell")
			}
		})
	}
}

func TestTheFingerprintHeedsNoReports(t *testing.T) {
	s := fingerprinted()
	want := s.Fingerprint()
	s.Gateway.Status.Conditions = []metav1.Condition{{Type: "Programmed"}}
	s.Gateway.ResourceVersion = "7"
	s.Policies[0].PolicyStatus().Ancestors = []gatewayv1.PolicyAncestorStatus{{}}
	if s.Fingerprint() != want {
		t.Error("a report changes the fingerprint")
	}
}

func TestTheFingerprintHeedsNoOrder(t *testing.T) {
	set := func(name string) *gatewayv1.ListenerSet {
		return &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	config := func(name string) v1alpha1.Policy {
		return &v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	route := func(name string) Route {
		return HTTPRoute(&gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	one, other := fingerprinted(), fingerprinted()
	one.ListenerSets, other.ListenerSets = []*gatewayv1.ListenerSet{set("a"), set("b")}, []*gatewayv1.ListenerSet{set("b"), set("a")}
	one.Policies, other.Policies = []v1alpha1.Policy{config("a"), config("b")}, []v1alpha1.Policy{config("b"), config("a")}
	one.Routes, other.Routes = []Route{route("a"), route("b")}, []Route{route("b"), route("a")}
	if one.Fingerprint() != other.Fingerprint() {
		t.Error("the order of a list changes the fingerprint")
	}
}
