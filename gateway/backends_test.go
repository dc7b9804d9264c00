package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
)

// routesTo are routes of every kind in namespace team with these backends, attached to the Gateway infra/gw or, if not, naming a
// section of it that does not exist.
func routesTo(t *testing.T, attached bool, refs ...gatewayv1.BackendRef) []gateway.Route {
	t.Helper()
	parents := gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{toGateway("", 0)}}
	if !attached {
		parents.ParentRefs[0].SectionName = new(gatewayv1.SectionName("none"))
	}
	at := meta("team", "route", 0)
	httpRule, grpcRule := gatewayv1.HTTPRouteRule{}, gatewayv1.GRPCRouteRule{}
	for _, ref := range refs {
		httpRule.BackendRefs = append(httpRule.BackendRefs, gatewayv1.HTTPBackendRef{BackendRef: ref})
		grpcRule.BackendRefs = append(grpcRule.BackendRefs, gatewayv1.GRPCBackendRef{BackendRef: ref})
	}
	var out []gateway.Route
	for _, object := range []metav1.Object{
		&gatewayv1.HTTPRoute{ObjectMeta: at, Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: parents, Hostnames: []gatewayv1.Hostname{"http.example.com"}, Rules: []gatewayv1.HTTPRouteRule{httpRule}}},
		&gatewayv1.GRPCRoute{ObjectMeta: at, Spec: gatewayv1.GRPCRouteSpec{
			CommonRouteSpec: parents, Hostnames: []gatewayv1.Hostname{"grpc.example.com"}, Rules: []gatewayv1.GRPCRouteRule{grpcRule}}},
		&gatewayv1.TLSRoute{ObjectMeta: at, Spec: gatewayv1.TLSRouteSpec{
			CommonRouteSpec: parents, Hostnames: []gatewayv1.Hostname{"tls.example.com"}, Rules: []gatewayv1.TLSRouteRule{{BackendRefs: refs}}}},
		&gatewayv1.TCPRoute{ObjectMeta: at, Spec: gatewayv1.TCPRouteSpec{CommonRouteSpec: parents, Rules: []gatewayv1.TCPRouteRule{{BackendRefs: refs}}}},
		&gatewayv1.UDPRoute{ObjectMeta: at, Spec: gatewayv1.UDPRouteSpec{CommonRouteSpec: parents, Rules: []gatewayv1.UDPRouteRule{{BackendRefs: refs}}}},
	} {
		route, ok := gateway.RouteOf(object)
		if !ok {
			t.Fatalf("%T is no route", object)
		}
		out = append(out, route)
	}
	return out
}

// TestBackends covers the ResolvedRefs condition of routes of every kind, set whether or not they are accepted. The Services
// team/good and others/good exist.
func TestBackends(t *testing.T) {
	all := gatewayv1.NamespacesFromAll
	gw := gw(nil, allowing(listener("http", http, 80, ""), all, nil), allowing(listener("tls", tls, 443, ""), all, nil),
		allowing(listener("tcp", tcp, 90, ""), all, nil), allowing(listener("udp", udp, 90, ""), all, nil))
	ofKind := func(group gatewayv1.Group, kind gatewayv1.Kind, namespace gatewayv1.Namespace) gatewayv1.BackendRef {
		ref := backendRef(namespace, "good")
		ref.Group, ref.Kind = &group, &kind
		return ref
	}
	permitted := func(name gatewayv1.ObjectName) []*gatewayv1.ReferenceGrant {
		var out []*gatewayv1.ReferenceGrant
		for _, kind := range gateway.RouteKinds {
			out = append(out, consent("others", kind, "team", "Service", name))
		}
		return out
	}
	blueprint := everything.DeepCopy()
	blueprint.Spec.Supports = &v1alpha1.Supports{BackendKinds: []v1alpha1.PermittedKind{{Group: "example.com", Kind: "Bucket"}}}
	fine := verdict.Yes("ResolvedRefs", "everything that the route refers to can be used")
	const first = "spec.rules[0].backendRefs[0] "

	for name, c := range map[string]struct {
		refs   []gatewayv1.BackendRef
		grants []*gatewayv1.ReferenceGrant
		want   verdict.Verdict
		// byKind says that the message names the kind of the route.
		byKind bool
	}{
		"a Service beside the route is fine": {refs: []gatewayv1.BackendRef{backendRef("", "good")}, want: fine},
		"a route without backends is fine":   {want: fine},
		"a Service that does not exist is told with its path": {
			refs: []gatewayv1.BackendRef{backendRef("", "good"), backendRef("", "none")},
			want: verdict.No("BackendNotFound", "spec.rules[0].backendRefs[1] names a Service that does not exist; create it, or name one that exists")},
		"how many more there are is told": {
			refs: []gatewayv1.BackendRef{backendRef("", "none"), backendRef("", "good"), backendRef("", "none"), ofKind("", "Pod", "")},
			want: verdict.No("BackendNotFound", first+"names a Service that does not exist; create it, or name one that exists; 2 more do not resolve either")},
		"another kind is told with those that are supported": {
			refs: []gatewayv1.BackendRef{ofKind("example.com", "Service", "")},
			want: verdict.No("InvalidKind", first+"names an object of a kind that the GatewayClass does not support; it supports Service, Bucket")},
		"a kind that the blueprint supports is taken to exist": {refs: []gatewayv1.BackendRef{ofKind("example.com", "Bucket", "")}, want: fine},
		"another namespace must permit it, whether or not the Service exists": {
			refs: []gatewayv1.BackendRef{backendRef("others", "none")}, byKind: true, want: verdict.No("RefNotPermitted", first+
				"names an object of another namespace, which that namespace does not permit; its owner can, with a ReferenceGrant from kind ")},
		"so it must for other kinds": {
			refs: []gatewayv1.BackendRef{ofKind("example.com", "Bucket", "others")}, grants: permitted(""), byKind: true, want: verdict.No("RefNotPermitted", first+
				"names an object of another namespace, which that namespace does not permit; its owner can, with a ReferenceGrant from kind ")},
		"a grant for the kind of the route permits it": {refs: []gatewayv1.BackendRef{backendRef("others", "good")}, grants: permitted(""), want: fine},
		"a grant for that Service permits it":          {refs: []gatewayv1.BackendRef{backendRef("others", "good")}, grants: permitted("good"), want: fine},
		"then it is told that the Service does not exist": {refs: []gatewayv1.BackendRef{backendRef("others", "none")}, grants: permitted(""),
			want: verdict.No("BackendNotFound", first+"names a Service that does not exist; create it, or name one that exists")},
	} {
		for _, attached := range []bool{true, false} {
			t.Run(name+map[bool]string{true: "", false: ", of a route that is not accepted"}[attached], func(t *testing.T) {
				m := merge(gateway.Snapshot{
					Blueprint: blueprint, Gateway: gw, Routes: routesTo(t, attached, c.refs...), Grants: c.grants,
					Namespaces: namespaces(nil, "infra", "team"),
					Services:   map[types.NamespacedName]bool{{Namespace: "team", Name: "good"}: true, {Namespace: "others", Name: "good"}: true},
				})
				got, want := map[gatewayv1.Kind]verdict.Verdict{}, map[gatewayv1.Kind]verdict.Verdict{}
				for _, kind := range gateway.RouteKinds {
					want[kind] = c.want
					if c.byKind {
						want[kind] = verdict.No(c.want.Reason, "%s%s of this namespace", c.want.Message, kind)
					}
				}
				for _, a := range m.Attachments {
					got[a.Route.Kind] = a.ResolvedRefs
					if a.Parents[0].Accepted.OK != attached {
						t.Errorf("%s: %v", a.Route.Kind, a.Parents[0].Accepted)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("ResolvedRefs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestR5RouteKindsFindTheirListeners promises that a route of each kind attaches to the listeners of its protocols, and is not
// allowed by the others.
func TestR5RouteKindsFindTheirListeners(t *testing.T) {
	all := gatewayv1.NamespacesFromAll
	m := merge(gateway.Snapshot{
		Blueprint: everything, Routes: routesTo(t, true), Namespaces: namespaces(nil, "infra", "team"),
		Gateway: gw(nil, allowing(listener("http", http, 80, ""), all, nil), allowing(listener("https", https, 443, ""), all, nil),
			allowing(listener("tls", tls, 444, ""), all, nil), allowing(listener("tcp", tcp, 90, ""), all, nil), allowing(listener("udp", udp, 90, ""), all, nil)),
	})
	got := map[gatewayv1.Kind][]gatewayv1.SectionName{}
	for _, a := range m.Attachments {
		got[a.Route.Kind] = m.ListenerNames(a.Parents[0])
	}
	want := map[gatewayv1.Kind][]gatewayv1.SectionName{
		"HTTPRoute": {"http", "https"}, "GRPCRoute": {"http", "https"}, "TLSRoute": {"tls"}, "TCPRoute": {"tcp"}, "UDPRoute": {"udp"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
}
