package integration_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/kube"
)

// anyRouteTemplate yields a ConfigMap for a route of any kind under one parent.
const anyRouteTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Route.metadata.name }}
data:
  kind: {{ .Route.kind }}
  listeners: {{ .ParentRef.listeners | toJson | quote }}
`

// namesTemplate writes the names of the merged listeners.
const namesTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data:
  names: {{ range .Listeners }}{{ .name }} {{ end }}
`

// forAllRoutes gives a blueprint a template for routes of every kind.
func forAllRoutes(spec *v1alpha1.GatewayClassBlueprintSpec) {
	template := &v1alpha1.RouteTemplate{ResourceTemplates: templates{"route": anyRouteTemplate}}
	spec.HTTPRouteTemplate, spec.GRPCRouteTemplate, spec.TLSRouteTemplate = template, template, template
	spec.TCPRouteTemplate, spec.UDPRouteTemplate = template, template
}

// passing is a listener of protocol TLS that lets it through.
func passing(name gatewayv1.SectionName, port gatewayv1.PortNumber) gatewayv1.Listener {
	return gatewayv1.Listener{
		Name: name, Port: port, Protocol: gatewayv1.TLSProtocolType,
		TLS: &gatewayv1.ListenerTLSConfig{Mode: new(gatewayv1.TLSModePassthrough)},
	}
}

// allProtocols has a Gateway listen for routes of every kind.
func allProtocols(gw *gatewayv1.Gateway) {
	gw.Spec.Listeners = []gatewayv1.Listener{
		httpListener("http", "edge.example.com"), passing("tls", 443),
		{Name: "tcp", Port: 5432, Protocol: gatewayv1.TCPProtocolType},
		{Name: "udp", Port: 53, Protocol: gatewayv1.UDPProtocolType},
	}
}

// oneOfEachKind are routes of every kind under a Gateway, with a backend each, by the listeners that take them.
func oneOfEachKind(parent gatewayv1.ParentReference, backend gatewayv1.ObjectName) map[gatewayv1.SectionName]client.Object {
	common := gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}}
	ref := gatewayv1.BackendRef{BackendObjectReference: gatewayv1.BackendObjectReference{Name: backend, Port: new(gatewayv1.PortNumber(80))}}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	return map[gatewayv1.SectionName]client.Object{
		"http": &gatewayv1.GRPCRoute{ObjectMeta: named("grpc"), Spec: gatewayv1.GRPCRouteSpec{CommonRouteSpec: common,
			Rules: []gatewayv1.GRPCRouteRule{{BackendRefs: []gatewayv1.GRPCBackendRef{{BackendRef: ref}}}}}},
		"tls": &gatewayv1.TLSRoute{ObjectMeta: named("tls"), Spec: gatewayv1.TLSRouteSpec{CommonRouteSpec: common,
			Hostnames: []gatewayv1.Hostname{"db.example.com"}, Rules: []gatewayv1.TLSRouteRule{{BackendRefs: []gatewayv1.BackendRef{ref}}}}},
		"tcp": &gatewayv1.TCPRoute{ObjectMeta: named("tcp"), Spec: gatewayv1.TCPRouteSpec{CommonRouteSpec: common,
			Rules: []gatewayv1.TCPRouteRule{{BackendRefs: []gatewayv1.BackendRef{ref}}}}},
		"udp": &gatewayv1.UDPRoute{ObjectMeta: named("udp"), Spec: gatewayv1.UDPRouteSpec{CommonRouteSpec: common,
			Rules: []gatewayv1.UDPRouteRule{{BackendRefs: []gatewayv1.BackendRef{ref}}}}},
	}
}

// routeSays are all conditions of a route of any kind under its first parent.
func (w *world) routeSays(route client.Object) func() ([]string, error) {
	return func() ([]string, error) {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(route), route); err != nil {
			return nil, err
		}
		parents := parentsIn(route)
		if len(parents) == 0 {
			return nil, errors.New("nothing is said of it")
		}
		return told(parents[0].Conditions, route.GetGeneration()), nil
	}
}

func parentsIn(route client.Object) []gatewayv1.RouteParentStatus {
	switch r := route.(type) {
	case *gatewayv1.HTTPRoute:
		return r.Status.Parents
	case *gatewayv1.GRPCRoute:
		return r.Status.Parents
	case *gatewayv1.TLSRoute:
		return r.Status.Parents
	case *gatewayv1.TCPRoute:
		return r.Status.Parents
	case *gatewayv1.UDPRoute:
		return r.Status.Parents
	}
	panic(fmt.Sprintf("%T is no route", route))
}

// routeCounts are a Gateway's counts of routes, by listener.
func (w *world) routeCounts(name string) func() (map[gatewayv1.SectionName]int32, error) {
	return func() (map[gatewayv1.SectionName]int32, error) {
		gw := &gatewayv1.Gateway{}
		err := shared.client.Get(w.Context(), w.key(name), gw)
		counts := map[gatewayv1.SectionName]int32{}
		for _, l := range gw.Status.Listeners {
			counts[l.Name] = l.AttachedRoutes
		}
		return counts, err
	}
}

var (
	routeStandsWhole = []string{"Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs", v1alpha1.ConditionRouteProgrammed + "=True/Programmed"}
	routeLost        = []string{"Accepted=True/Accepted", "ResolvedRefs=False/BackendNotFound", v1alpha1.ConditionRouteProgrammed + "=True/Programmed"}
)

func TestRoutesOfEveryKindAreRenderedAndReportedOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"service": serviceTemplate}, forAllRoutes)
	w.gateway("edge", allProtocols)
	routes := oneOfEachKind(toGateway("edge"), "backend")
	for _, route := range routes {
		w.create(route)
	}
	for listener, route := range routes {
		becomes(t, fmt.Sprintf("%T stands, and misses its backend", route), routeLost, w.routeSays(route))
		becomes(t, fmt.Sprintf("%T is rendered", route), map[string]string{
			"kind": kindOf(t, route), "listeners": fmt.Sprintf("[%q]", listener),
		}, w.data(route.GetName()))
	}
	becomes(t, "each is counted by the listener of its protocol",
		map[gatewayv1.SectionName]int32{"http": 1, "tls": 1, "tcp": 1, "udp": 1}, w.routeCounts("edge"))

	backend := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "backend"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	w.create(backend)
	for _, route := range routes {
		becomes(t, fmt.Sprintf("%T finds its backend", route), routeStandsWhole, w.routeSays(route))
	}
	w.delete(backend)
	for _, route := range routes {
		becomes(t, fmt.Sprintf("%T misses its backend again", route), routeLost, w.routeSays(route))
	}
	for _, route := range routes {
		w.delete(route)
	}
	becomes(t, "nothing is counted any more",
		map[gatewayv1.SectionName]int32{"http": 0, "tls": 0, "tcp": 0, "udp": 0}, w.routeCounts("edge"))
}

func kindOf(t *testing.T, o client.Object) string {
	t.Helper()
	gvk, err := shared.client.GroupVersionKindFor(o)
	if err != nil {
		t.Fatal(err)
	}
	return gvk.Kind
}

// This test is not parallel: it takes kinds away from all others.
func TestKindsOfGatewayAPIComeAndGoWithoutARestart(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, forAllRoutes)
	absent := []string{"listenersets", "referencegrants", "httproutes", "grpcroutes", "tlsroutes", "tcproutes", "udproutes"}
	t.Cleanup(func() { w.installGatewayAPI() })
	w.removeCRDs(absent...)
	restart(t)
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame), allProtocols)
	becomes(t, "a Gateway is Programmed where there are no routes and no ListenerSets", programmed, w.gatewayConditions("edge"))
	none := map[gatewayv1.SectionName]int32{"http": 0, "tls": 0, "tcp": 0, "udp": 0}
	becomes(t, "it has none", none, w.routeCounts("edge"))
	becomes(t, "its class does not claim them", []string{"Gateway", "GatewayInfrastructure"}, w.features)

	w.installGatewayAPI()
	all := []string{
		"GRPCRoute", "Gateway", "GatewayInfrastructure", "HTTPRoute", "HTTPRouteParentRefPort", "ListenerSet", "ReferenceGrant",
		"TCPRoute", "TLSRoute", "UDPRoute",
	}
	becomes(t, "the class claims all", all, w.features)
	routes := oneOfEachKind(toGateway("edge"), "backend")
	for _, route := range routes {
		w.create(route)
	}
	w.listenerSet("shop", "edge", "shop.example.com")
	for _, route := range routes {
		becomes(t, fmt.Sprintf("%T is taken up", route), routeLost, w.routeSays(route))
	}
	becomes(t, "the ListenerSet is taken up", setStands, w.setReport("shop"))
	becomes(t, "its listener is rendered", map[string]string{"names": "http tls tcp udp l0"}, w.data("edge"))
	becomes(t, "the Gateway counts the routes", map[gatewayv1.SectionName]int32{"http": 1, "tls": 1, "tcp": 1, "udp": 1}, w.routeCounts("edge"))

	w.removeCRDs("udproutes", "listenersets")
	becomes(t, "the class claims what is left", slices.DeleteFunc(slices.Clone(all), func(feature string) bool {
		return feature == "UDPRoute" || feature == "ListenerSet"
	}), w.features)
	becomes(t, "the routes of a kind that went are not counted",
		map[gatewayv1.SectionName]int32{"http": 1, "tls": 1, "tcp": 1, "udp": 0}, w.routeCounts("edge"))
	becomes(t, "the listeners of sets are not rendered where there are no sets any more",
		map[string]string{"names": "http tls tcp udp"}, w.data("edge"))
	w.gateway("later", allProtocols)
	becomes(t, "what comes later does not wait for them", programmed, w.gatewayConditions("later"))

	w.installGatewayAPI()
	again := oneOfEachKind(toGateway("edge"), "backend")["udp"]
	w.create(again)
	becomes(t, "a kind that came back is taken up again", routeLost, w.routeSays(again))
}

// features are those that the world's class claims.
func (w *world) features() ([]string, error) {
	class := &gatewayv1.GatewayClass{}
	err := shared.client.Get(w.Context(), client.ObjectKey{Name: w.name}, class)
	var names []string
	for _, feature := range class.Status.SupportedFeatures {
		names = append(names, string(feature.Name))
	}
	return names, err
}

// installGatewayAPI installs the CRDs that are missing.
func (w *world) installGatewayAPI() {
	w.Helper()
	config, err := shared.server.Config()
	if err != nil {
		w.Fatal(err)
	}
	// The test's own context may have ended by now.
	if err := kube.InstallCRDs(context.Background(), config, kube.GatewayAPICRDs()); err != nil {
		w.Fatal(err)
	}
}

// removeCRDs removes kinds of Gateway API, and waits until they are not served any more.
func (w *world) removeCRDs(plurals ...string) {
	w.Helper()
	for _, plural := range plurals {
		crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + gatewayv1.GroupName}}
		w.delete(crd)
		w.gone(crd)
	}
}
