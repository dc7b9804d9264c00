package gateway_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

func class(name string, controller gatewayv1.GatewayController, ref *gatewayv1.ParametersReference) *gatewayv1.GatewayClass {
	return &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gatewayv1.GatewayClassSpec{ControllerName: controller, ParametersRef: ref},
	}
}

func toBlueprint(name string) *gatewayv1.ParametersReference {
	return &gatewayv1.ParametersReference{Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayClassBlueprint, Name: name}
}

func namespace(name string, l map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: l}}
}

func classConfig(namespace, name string) *v1alpha1.GatewayClassConfig {
	return &v1alpha1.GatewayClassConfig{ObjectMeta: meta(namespace, name, 0)}
}

func config(namespace, name string) *v1alpha1.GatewayConfig {
	return &v1alpha1.GatewayConfig{ObjectMeta: meta(namespace, name, 0)}
}

func httpRoute(namespace, name string, parents ...gatewayv1.ParentReference) *gatewayv1.HTTPRoute {
	return route(namespace, name, nil, parents...).Object.(*gatewayv1.HTTPRoute)
}

// world has the Gateway infra/gw with two ListenerSets, and things that do not concern it.
func world() gateway.Objects {
	strangerSet := set("elsewhere", "stranger", 1, listener("l", http, 80, ""))
	strangerSet.Spec.ParentRef.Name = "other"
	return gateway.Objects{
		GatewayClasses: []*gatewayv1.GatewayClass{class("other", "example.com/other", nil), class("edge", v1alpha1.ControllerName, toBlueprint("blue"))},
		Blueprints:     []*v1alpha1.GatewayClassBlueprint{{ObjectMeta: metav1.ObjectMeta{Name: "red"}}, {ObjectMeta: metav1.ObjectMeta{Name: "blue"}}},
		Gateways:       []*gatewayv1.Gateway{{ObjectMeta: meta("elsewhere", "gw", 0)}, gw(fromAll, listener("own", http, 80, ""))},
		ListenerSets: []*gatewayv1.ListenerSet{
			set("team-b", "second", 2, listener("l", http, 82, "")), strangerSet, set("team-a", "first", 1, listener("l", http, 81, "")),
		},
		Routes: []gateway.Route{
			gateway.HTTPRoute(httpRoute("team-c", "by-gateway", gatewayv1.ParentReference{Name: "unrelated"}, toGateway("", 0), toGateway("own", 0))),
			gateway.HTTPRoute(httpRoute("team-a", "by-set", toSet("team-a", "first", "", 0))),
			gateway.HTTPRoute(httpRoute("team-a", "stranger", toSet("elsewhere", "stranger", "", 0))),
			gateway.HTTPRoute(httpRoute("elsewhere", "stranger", gatewayv1.ParentReference{Name: "gw"})),
		},
		Namespaces: []*corev1.Namespace{
			namespace("team-a", map[string]string{"team": "a"}), namespace("elsewhere", nil), namespace("team-c", nil),
		},
		ClassConfigs: []*v1alpha1.GatewayClassConfig{classConfig("gatewright-system", "global"), classConfig("team-b", "local"), classConfig("elsewhere", "stranger")},
		Configs:      []*v1alpha1.GatewayConfig{config("infra", "gateways"), config("team-c", "routes"), config("elsewhere", "stranger")},
	}
}

// TestSnapshot promises that exactly what concerns a Gateway is selected.
func TestSnapshot(t *testing.T) {
	o := world()
	got, err := o.Snapshot(types.NamespacedName{Namespace: "infra", Name: "gw"})
	if err != nil {
		t.Fatal(err)
	}
	want := gateway.Snapshot{
		Class:        o.GatewayClasses[1],
		Blueprint:    o.Blueprints[1],
		Gateway:      o.Gateways[1],
		ListenerSets: []*gatewayv1.ListenerSet{o.ListenerSets[2], o.ListenerSets[0]},
		Routes:       []gateway.Route{o.Routes[0], o.Routes[1]},
		Namespaces: map[string]labels.Set{
			"infra":  {"kubernetes.io/metadata.name": "infra"},
			"team-a": {"kubernetes.io/metadata.name": "team-a", "team": "a"},
			"team-b": {"kubernetes.io/metadata.name": "team-b"},
			"team-c": {"kubernetes.io/metadata.name": "team-c"},
		},
		Secrets: map[types.NamespacedName]gateway.Certificate{}, ConfigMaps: map[types.NamespacedName]gateway.Certificate{},
		Services: map[types.NamespacedName]bool{},
		Configs:  map[string]bool{"gateways": true},
		Policies: []v1alpha1.Policy{o.ClassConfigs[0], o.ClassConfigs[1], o.Configs[0], o.Configs[1]},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(world(), o); diff != "" {
		t.Errorf("the objects were changed (-before +after):\n%s", diff)
	}
}

// TestSnapshotControllerNamespace promises that the controller namespace can be another one.
func TestSnapshotControllerNamespace(t *testing.T) {
	o := world()
	o.ControllerNamespace = "elsewhere"
	got, err := o.Snapshot(types.NamespacedName{Namespace: "infra", Name: "gw"})
	if err != nil {
		t.Fatal(err)
	}
	want := []v1alpha1.Policy{o.ClassConfigs[1], o.ClassConfigs[2], o.Configs[0], o.Configs[1], o.Configs[2]}
	if diff := cmp.Diff(want, got.Policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

// TestSnapshotErrors promises errors that tell callers apart what is missing, and people what to write.
func TestSnapshotErrors(t *testing.T) {
	with := func(change func(*gateway.Objects)) gateway.Objects {
		o := world()
		change(&o)
		return o
	}
	referring := func(ref *gatewayv1.ParametersReference) gateway.Objects {
		return with(func(o *gateway.Objects) { o.GatewayClasses[1].Spec.ParametersRef = ref })
	}
	inNamespace := toBlueprint("blue")
	inNamespace.Namespace = new(gatewayv1.Namespace("infra"))
	ofConfigMap := toBlueprint("blue")
	ofConfigMap.Group, ofConfigMap.Kind = "", "ConfigMap"

	for name, c := range map[string]struct {
		objects gateway.Objects
		want    error
		message string
	}{
		"no such Gateway": {
			with(func(o *gateway.Objects) { o.Gateways = o.Gateways[:1] }),
			gateway.ErrGatewayNotFound, "Gateway infra/gw: not found"},
		"no such class": {
			with(func(o *gateway.Objects) { o.GatewayClasses = o.GatewayClasses[:1] }),
			gateway.ErrClassNotFound, "Gateway infra/gw: its GatewayClass does not exist: there is none named edge"},
		"a class of another controller": {
			with(func(o *gateway.Objects) { o.Gateways[1].Spec.GatewayClassName = "other" }),
			gateway.ErrForeignClass,
			"Gateway infra/gw: its GatewayClass belongs to another controller: the controllerName of GatewayClass other is not gatewright.dev/controller"},
		"a class without blueprint": {
			referring(nil),
			gateway.ErrNoBlueprint, "GatewayClass edge: spec.parametersRef must name a GatewayClassBlueprint; it is not set"},
		"a class that refers to something else": {
			referring(ofConfigMap), gateway.ErrNoBlueprint,
			"GatewayClass edge: spec.parametersRef must name a GatewayClassBlueprint: write group gatewright.dev and kind GatewayClassBlueprint"},
		"a class that looks for its blueprint in a namespace": {
			referring(inNamespace), gateway.ErrNoBlueprint,
			"GatewayClass edge: spec.parametersRef must name a GatewayClassBlueprint, which is cluster-scoped: leave its namespace out"},
		"a blueprint that does not exist": {
			referring(toBlueprint("green")), gateway.ErrBlueprintNotFound,
			"GatewayClass edge: the GatewayClassBlueprint in spec.parametersRef does not exist: there is none named green"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.objects.Snapshot(types.NamespacedName{Namespace: "infra", Name: "gw"})
			if !errors.Is(err, c.want) {
				t.Fatalf("error is %v, not one of %v", err, c.want)
			}
			if diff := cmp.Diff(c.message, err.Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSnapshotReferences promises that what nobody wrote down is taken to exist unless its kind is complete, and that what is
// written down is judged.
func TestSnapshotReferences(t *testing.T) {
	key := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	grants := []*gatewayv1.ReferenceGrant{{ObjectMeta: meta("certs", "grant", 0)}}
	o := world()
	infra := o.Gateways[1]
	infra.Spec.Listeners = append(infra.Spec.Listeners,
		withCertificates(listener("one", https, 443, ""), secretRef("", "bad"), secretRef("certs", "unwritten")))
	infra.Spec.TLS = frontend(authorityRef("ConfigMap", "", "empty"), authorityRef("ConfigMap", "", "unwritten"))
	infra.Spec.Infrastructure = parameters(v1alpha1.GroupName, "GatewayConfig", "unwritten")
	r := httpRoute("team-a", "route", toGateway("", 0))
	r.Spec.Rules = []gatewayv1.HTTPRouteRule{{BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: backendRef("", "unwritten")}}}}
	o.Routes = append(o.Routes, gateway.HTTPRoute(r))
	o.Grants = grants
	o.Secrets = []*corev1.Secret{{ObjectMeta: meta("infra", "bad", 0)}, {ObjectMeta: meta("infra", "unrelated", 0)}}
	o.ConfigMaps = []*corev1.ConfigMap{{ObjectMeta: meta("infra", "empty", 0)}, {ObjectMeta: meta("infra", "unrelated", 0)}}

	got, err := o.Snapshot(key("infra", "gw"))
	if err != nil {
		t.Fatal(err)
	}
	type references struct {
		Grants     []*gatewayv1.ReferenceGrant
		Secrets    map[types.NamespacedName]gateway.Certificate
		ConfigMaps map[types.NamespacedName]gateway.Certificate
		Services   map[types.NamespacedName]bool
		Configs    map[string]bool
	}
	want := references{
		Grants: grants,
		Secrets: map[types.NamespacedName]gateway.Certificate{
			key("infra", "bad"):       gateway.CertificateOf(&corev1.Secret{}),
			key("certs", "unwritten"): {},
		},
		ConfigMaps: map[types.NamespacedName]gateway.Certificate{
			key("infra", "empty"):     {Authorities: "it has no data under the key ca.crt"},
			key("infra", "unwritten"): {},
		},
		Services: map[types.NamespacedName]bool{key("team-a", "unwritten"): true},
		Configs:  map[string]bool{"gateways": true, "unwritten": true},
	}
	if diff := cmp.Diff(want, references{got.Grants, got.Secrets, got.ConfigMaps, got.Services, got.Configs}); diff != "" {
		t.Errorf("references (-want +got):\n%s", diff)
	}
	o.Complete = []gatewayv1.Kind{"Secret", "ConfigMap", "Service", "GatewayConfig"}
	if got, err = o.Snapshot(key("infra", "gw")); err != nil {
		t.Fatal(err)
	}
	delete(want.Secrets, key("certs", "unwritten"))
	delete(want.ConfigMaps, key("infra", "unwritten"))
	delete(want.Services, key("team-a", "unwritten"))
	delete(want.Configs, "unwritten")
	if diff := cmp.Diff(want, references{got.Grants, got.Secrets, got.ConfigMaps, got.Services, got.Configs}); diff != "" {
		t.Errorf("references where all that there is was looked for (-want +got):\n%s", diff)
	}
}
