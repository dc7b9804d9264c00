package integration_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// newGrant lets objects of a kind and namespace refer to Secrets or Services beside the grant.
func newGrant(name string, from gatewayv1.Kind, namespace string, to gatewayv1.Kind) *gatewayv1.ReferenceGrant {
	return &gatewayv1.ReferenceGrant{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gatewayv1.ReferenceGrantSpec{
		From: []gatewayv1.ReferenceGrantFrom{{Group: gatewayv1.GroupName, Kind: from, Namespace: gatewayv1.Namespace(namespace)}},
		To:   []gatewayv1.ReferenceGrantTo{{Kind: to}},
	}}
}

func TestCertificatesOfOtherNamespacesAreUsedAsLongAsTheyAreGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate})
	vault := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	vault.create(newCertificate(t, "shop"))
	in := gatewayv1.Namespace(vault.namespace)
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame), listeningTo(httpsListener("shop", "shop", in)))
	set := newListenerSet("extra", "edge")
	set.Spec.Listeners = []gatewayv1.ListenerEntry{gatewayv1.ListenerEntry(httpsListener("cart", "shop", in))}
	w.create(set)
	ofSet := func() ([]string, error) {
		report, err := w.setReport("extra")()
		return report.Listeners["cart"], err
	}
	notPermitted := unresolved("RefNotPermitted")
	becomes(t, "nobody may use it", notPermitted, w.listenerSays("edge", "shop"))
	becomes(t, "not even a ListenerSet", notPermitted, ofSet)
	becomes(t, "both listeners are left out", map[string]string{"names": "own"}, w.data("edge"))

	toGateways := newGrant("gateways", "Gateway", w.namespace, "Secret")
	vault.create(toGateways)
	becomes(t, "the Gateway may", listenerStands, w.listenerSays("edge", "shop"))
	becomes(t, "its listener is rendered", map[string]string{"names": "own shop"}, w.data("edge"))
	is(t, "that does not count for the ListenerSet", notPermitted, ofSet)

	toSets := newGrant("sets", "ListenerSet", w.namespace, "Secret")
	vault.create(toSets)
	becomes(t, "the ListenerSet may", listenerStands, ofSet)
	becomes(t, "its listener is rendered, too", map[string]string{"names": "own shop cart"}, w.data("edge"))

	vault.delete(toGateways)
	becomes(t, "the Gateway may no more", notPermitted, w.listenerSays("edge", "shop"))
	becomes(t, "its listener goes", map[string]string{"names": "own cart"}, w.data("edge"))
	is(t, "the ListenerSet still may", listenerStands, ofSet)
	change(vault, toSets, func(g *gatewayv1.ReferenceGrant) { g.Spec.To[0].Name = new(gatewayv1.ObjectName("another")) })
	becomes(t, "a grant for another Secret is none", notPermitted, ofSet)
	becomes(t, "the set's listener goes, too", map[string]string{"names": "own"}, w.data("edge"))
}

func TestBackendsOfOtherNamespacesResolveAsLongAsTheyAreGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, forAllRoutes)
	w.gateway("edge", allProtocols)
	elsewhere := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	elsewhere.create(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "backend"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	})
	route := oneOfEachKind(toGateway("edge"), "backend")["tcp"].(*gatewayv1.TCPRoute)
	route.Spec.Rules[0].BackendRefs[0].Namespace = new(gatewayv1.Namespace(elsewhere.namespace))
	w.create(route)
	refused := []string{"Accepted=True/Accepted", "ResolvedRefs=False/RefNotPermitted", "gatewright.dev/Programmed=True/Programmed"}
	becomes(t, "it may not be referred to", refused, w.routeSays(route))

	elsewhere.create(newGrant("others", "UDPRoute", w.namespace, "Service"))
	grant := newGrant("tcp", "TCPRoute", w.namespace, "Service")
	elsewhere.create(grant)
	becomes(t, "it may", routeStandsWhole, w.routeSays(route))
	elsewhere.delete(grant)
	becomes(t, "it may no more", refused, w.routeSays(route))
}
