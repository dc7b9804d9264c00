package bench

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// BenchmarkW5 measures a Gateway with many ListenerSets, and one more.
func BenchmarkW5(b *testing.B) {
	n := size(1000, 200)
	for b.Loop() {
		p := newPlane(b, listeningBlueprint())
		namespace := p.namespace()
		gw := newGateway(namespace, p.class, 0)
		all := gatewayv1.NamespacesFromSame
		gw.Spec.AllowedListeners = &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &all}}
		p.create(gw)
		parallel(b, n, func(i int) error { return p.client.Create(b.Context(), listenerSet(namespace, gw.Name, i)) })
		p.count.settle(b)
		p.count.reset()
		before := reconciles(b, "gateway")
		started := time.Now()
		p.create(listenerSet(namespace, gw.Name, n))
		p.count.await(b, 1)
		took := time.Since(started)
		p.count.settle(b)
		results.add(row{workload: fmt.Sprintf("W5 one more ListenerSet beside %d, until it is rendered", n), target: "writes only what changed",
			measured: fmt.Sprintf("%.0f ms, %d writes, %v looks at the Gateway", ms(took), p.count.writes(), reconciles(b, "gateway")-before),
			cost:     ms(took)})
		p.end()
	}
}

func listenerSet(namespace, gateway string, i int) *gatewayv1.ListenerSet {
	hostname := gatewayv1.Hostname(fmt.Sprintf("set-%d.example.com", i))
	return &gatewayv1.ListenerSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("set-%d", i)},
		Spec: gatewayv1.ListenerSetSpec{
			ParentRef: gatewayv1.ParentGatewayReference{Name: gatewayv1.ObjectName(gateway)},
			Listeners: []gatewayv1.ListenerEntry{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType, Hostname: &hostname}},
		},
	}
}

// BenchmarkW6 measures one more route among many.
func BenchmarkW6(b *testing.B) {
	gateways, routes := size(100, 10), size(10000, 500)
	for b.Loop() {
		p := newPlane(b, listeningBlueprint())
		namespace, _ := p.gateways(gateways, 1)
		parallel(b, routes, func(i int) error { return p.client.Create(b.Context(), httpRoute(namespace, i, i%gateways)) })
		p.count.settle(b)
		p.count.reset()
		before := reconciles(b, "gateway")
		started := time.Now()
		p.create(httpRoute(namespace, routes, 0))
		// The route's own status, and the Gateway's count.
		wait(b, "the route is counted", func() bool { return p.count.writes() >= 2 })
		took := time.Since(started)
		p.count.settle(b)
		results.add(row{workload: fmt.Sprintf("W6 one more route beside %d on %d Gateways, until it is counted", routes, gateways), target: "its Gateway alone",
			measured: fmt.Sprintf("%.0f ms, %d writes, %v looks at Gateways", ms(took), p.count.writes(), reconciles(b, "gateway")-before),
			cost:     ms(took)})
		p.end()
	}
}

func httpRoute(namespace string, i, gateway int) *gatewayv1.HTTPRoute {
	parent := gatewayv1.ParentReference{Name: gatewayv1.ObjectName(fmt.Sprintf("gw-%d", gateway))}
	return &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("route-%d", i)},
		Spec:       gatewayv1.HTTPRouteSpec{CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}}},
	}
}

// reconciles is how often the managers of this process have reconciled objects of a controller.
func reconciles(b *testing.B, controller string) (sum float64) {
	b.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == controller {
					sum += m.GetCounter().GetValue()
				}
			}
		}
	}
	return sum
}
