package gateway_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// BenchmarkMerge merges many listeners: workload W5, and its double to see that the time grows no faster than the number of
// listeners; then routes, one for each of many sets.
func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct{ sets, listeners, routes int }{
		{sets: 1000, listeners: 1}, {sets: 2000, listeners: 1}, {sets: 100, listeners: 64}, {sets: 200, listeners: 64},
		{sets: 1000, listeners: 1, routes: 1000},
	} {
		s := gateway.Snapshot{Gateway: gw(fromAll, listener("https", https, 443, "")), Namespaces: map[string]labels.Set{}}
		for i := range c.sets {
			s.ListenerSets = append(s.ListenerSets, benchmarkSet(i, c.listeners))
		}
		for i := range c.routes {
			namespace := fmt.Sprintf("team-%d", i)
			s.Namespaces[namespace] = labels.Set{"tenant": "true"}
			s.Routes = append(s.Routes, route(namespace, "route", nil, toSet(namespace, "set", "", 0)))
		}
		s = complete(s)
		b.Run(fmt.Sprintf("sets=%d/listeners=%d/routes=%d", c.sets, c.listeners, c.routes), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if m := gateway.Merge(s); len(m.Listeners) != 1+c.sets*c.listeners || int(m.AttachedListenerSets()) != c.sets {
					b.Fatal("not all listeners are merged")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.sets*c.listeners), "ns/listener")
		})
	}
}

// benchmarkSet has listeners as tenants write them: one name in all sets, a certificate, allowedRoutes.
func benchmarkSet(i, listeners int) *gatewayv1.ListenerSet {
	tenants := &metav1.LabelSelector{MatchLabels: map[string]string{"tenant": "true"}}
	var specs []gatewayv1.Listener
	for j := range listeners {
		l := withTLS(listener(fmt.Sprintf("https-%d", j), https, 443, fmt.Sprintf("h%d.team-%d.example.com", j, i)))
		specs = append(specs, allowing(l, gatewayv1.NamespacesFromSelector, tenants, gateway.KindHTTPRoute))
	}
	return set(fmt.Sprintf("team-%d", i), "set", i%7, specs...)
}
