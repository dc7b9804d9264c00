package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// ofKind is a route of namespace infra, of the kind HTTPRoute or GRPCRoute, that was created in that minute.
func ofKind(kind gatewayv1.Kind, name string, minute int, hostnames []gatewayv1.Hostname, parents ...gatewayv1.ParentReference) gateway.Route {
	common := gatewayv1.CommonRouteSpec{ParentRefs: parents}
	at := meta("infra", name, minute)
	var object metav1.Object = &gatewayv1.HTTPRoute{ObjectMeta: at, Spec: gatewayv1.HTTPRouteSpec{CommonRouteSpec: common, Hostnames: hostnames}}
	if kind == gateway.KindGRPCRoute {
		object = &gatewayv1.GRPCRoute{ObjectMeta: at, Spec: gatewayv1.GRPCRouteSpec{CommonRouteSpec: common, Hostnames: hostnames}}
	}
	route, _ := gateway.RouteOf(object)
	return route
}

// TestRivals covers which of an HTTPRoute and a GRPCRoute keeps a listener (GRPCRouteSpec.Hostnames).
func TestRivals(t *testing.T) {
	const httpKind, grpcKind = gateway.KindHTTPRoute, gateway.KindGRPCRoute
	names := func(n ...gatewayv1.Hostname) []gatewayv1.Hostname { return n }
	one, two := listener("one", http, 80, ""), listener("two", http, 81, "")
	whole := toGateway("", 0)
	yes := func(hostnames []gatewayv1.Hostname, listeners ...string) attached {
		return attached{"True/Accepted", listeners, hostnames}
	}
	lost := attached{Verdict: "False/HostnameConflict"}
	for name, c := range map[string]struct {
		listeners []gatewayv1.Listener
		routes    []gateway.Route
		want      map[string]attached
		counts    []int32
	}{
		"the older one keeps a hostname": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(httpKind, "h", 2, names("a.example.com"), whole), ofKind(grpcKind, "g", 1, names("a.example.com"), whole)},
			want:      map[string]attached{"h": lost, "g": yes(names("a.example.com"), "infra/gw one")}, counts: []int32{1}},
		"of the same age the first by name does": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(grpcKind, "b", 1, nil, whole), ofKind(httpKind, "a", 1, nil, whole)},
			want:      map[string]attached{"a": yes(nil, "infra/gw one"), "b": lost}, counts: []int32{1}},
		"a wildcard and a name below it have something in common": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(httpKind, "h", 1, names("*.example.com"), whole), ofKind(grpcKind, "g", 2, names("a.b.example.com"), whole)},
			want:      map[string]attached{"h": yes(names("*.example.com"), "infra/gw one"), "g": lost}, counts: []int32{1}},
		"and the other way round": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(httpKind, "h", 2, names("*.example.com"), whole), ofKind(grpcKind, "g", 1, names("a.b.example.com"), whole)},
			want:      map[string]attached{"g": yes(names("a.b.example.com"), "infra/gw one"), "h": lost}, counts: []int32{1}},
		"the apex is not below its wildcard, so both stand": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(httpKind, "h", 1, names("*.example.com"), whole), ofKind(grpcKind, "g", 2, names("example.com"), whole)},
			want: map[string]attached{
				"h": yes(names("*.example.com"), "infra/gw one"), "g": yes(names("example.com"), "infra/gw one")}, counts: []int32{2}},
		"routes of one kind may share hostnames": {
			listeners: []gatewayv1.Listener{one},
			routes:    []gateway.Route{ofKind(grpcKind, "f", 1, nil, whole), ofKind(grpcKind, "g", 2, nil, whole)},
			want:      map[string]attached{"f": yes(nil, "infra/gw one"), "g": yes(nil, "infra/gw one")}, counts: []int32{2}},
		"who loses takes nothing from others": {
			listeners: []gatewayv1.Listener{one},
			routes: []gateway.Route{
				ofKind(httpKind, "h", 1, names("a.example.com"), whole), ofKind(grpcKind, "g", 2, names("a.example.com", "b.example.com"), whole),
				ofKind(httpKind, "i", 3, names("b.example.com"), whole)},
			want: map[string]attached{
				"h": yes(names("a.example.com"), "infra/gw one"), "g": lost, "i": yes(names("b.example.com"), "infra/gw one")}, counts: []int32{2}},
		"another listener of the parent is enough": {
			listeners: []gatewayv1.Listener{one, two},
			routes:    []gateway.Route{ofKind(httpKind, "h", 1, nil, toGateway("one", 0)), ofKind(grpcKind, "g", 2, nil, whole)},
			want:      map[string]attached{"h": yes(nil, "infra/gw one"), "g": yes(nil, "infra/gw two")}, counts: []int32{1, 1}},
		"only what they have in common with the listener counts": {
			listeners: []gatewayv1.Listener{listener("one", http, 80, "b.example.com")},
			routes: []gateway.Route{
				ofKind(httpKind, "h", 1, names("a.example.com", "b.example.com"), whole), ofKind(grpcKind, "g", 2, names("a.example.com"), whole)},
			want: map[string]attached{
				"h": yes(names("b.example.com"), "infra/gw one"), "g": {Verdict: "False/NoMatchingListenerHostname"}}, counts: []int32{1}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Blueprint: everything, Gateway: gw(nil, c.listeners...), Routes: c.routes})
			got := map[string]attached{}
			for _, a := range m.Attachments {
				got[a.Route.Object.GetName()] = attachedOf(m, a)[0]
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("routes (-want +got):\n%s", diff)
			}
			var counts []int32
			for _, l := range m.Listeners {
				counts = append(counts, l.AttachedRoutes)
			}
			if diff := cmp.Diff(c.counts, counts); diff != "" {
				t.Errorf("attachedRoutes (-want +got):\n%s", diff)
			}
		})
	}
}
