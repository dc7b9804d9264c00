package integration_test

import (
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestWhatRunsStaysWhileTheClassOfItsGatewayIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})), forRoutes(routeTemplate))
	gw := w.gateway("edge")
	route := w.route("shop", toGateway("edge"))
	stands := map[string][]string{"Gateway/edge": routeStands}
	becomes(t, "the route stands", stands, w.routeReports("shop"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	ofGateway, ofRoute := w.children(gw, configMaps), w.children(route, configMaps)
	gatewayHas, err := ofGateway()
	if err != nil {
		t.Fatal(err)
	}
	routeHas, err := ofRoute()
	if err != nil {
		t.Fatal(err)
	}

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = gatewayv1.ObjectName(w.name + "-nowhere") })
	// What comes after is seen after: a route of another Gateway that is done says that the first was looked at.
	w.gateway("next")
	w.route("next", toGateway("next"))
	becomes(t, "another route stands", stands["Gateway/edge"], func() ([]string, error) {
		reports, err := w.routeReports("next")()
		return reports["Gateway/next"], err
	})
	is(t, "the Gateway has what it had", gatewayHas, ofGateway)
	is(t, "the route has what it had", routeHas, ofRoute)
	is(t, "the route's report stays", stands, w.routeReports("shop"))

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = gatewayv1.ObjectName(w.name) })
	becomes(t, "the Gateway is Programmed again", programmed, w.gatewayConditions("edge"))
	is(t, "the route has what it had all along", routeHas, ofRoute)
}
