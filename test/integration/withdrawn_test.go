package integration_test

import (
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// notAccepted are the conditions of a Gateway of which no listener of its own is valid, and orphaned those of its ListenerSets.
var (
	notAccepted = []string{"Accepted=False/ListenersNotValid", "Programmed=False/Invalid"}
	orphaned    = []string{"Accepted=False/ParentNotAccepted", "Programmed=False/ParentNotAccepted"}
)

func TestWhatIsWithdrawnGoesWhileTheGatewayIsNotAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate}, forRoutes(routeTemplate))
	secret := newCertificate(t, "own")
	w.create(secret)
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame), func(gw *gatewayv1.Gateway) {
		gw.Spec.Listeners = []gatewayv1.Listener{httpsListener("own", "own")}
	})
	first, second := w.listenerSet("a-first", "edge", "first.example.com"), w.listenerSet("b-second", "edge", "second.example.com")
	route := w.route("shop", toListenerSet("a-first"))
	const (
		own      = "own.example.com:443 of Gateway edge\n"
		ofFirst  = "first.example.com:80 of ListenerSet a-first\n"
		ofSecond = "second.example.com:80 of ListenerSet b-second\n"
	)
	becomes(t, "all stands", listening{own + ofFirst + ofSecond, 2, programmed}, w.listening("edge"))
	becomes(t, "the route has its object", []string{"ConfigMap/shop-a-first"}, names(w.children(route, configMaps)))
	unharmed := w.unharmed(gw)

	w.delete(secret)
	becomes(t, "without its certificate the Gateway is not accepted, and goes on", listening{own + ofFirst + ofSecond, 0, notAccepted}, w.listening("edge"))
	becomes(t, "its ListenerSets are told", orphaned, conditionsOnly(w.setReport("a-first")))
	is(t, "the route goes on, too", []string{"ConfigMap/shop-a-first"}, names(w.children(route, configMaps)))

	w.delete(second)
	becomes(t, "a ListenerSet that is deleted goes", listening{own + ofFirst, 0, notAccepted}, w.listening("edge"))
	change(w, gw, func(gw *gatewayv1.Gateway) {
		gw.Spec.Listeners[0].Hostname = new(gatewayv1.Hostname("new.example.com"))
	})
	const renamed = "new.example.com:443 of Gateway edge\n"
	becomes(t, "what the owner changes changes", listening{renamed + ofFirst, 0, notAccepted}, w.listening("edge"))
	change(w, gw, admitting(gatewayv1.NamespacesFromNone))
	becomes(t, "a ListenerSet that is not let in any more goes", listening{renamed, 0, notAccepted}, w.listening("edge"))
	becomes(t, "it is told", setShutOut, conditionsOnly(w.setReport(first.Name)))
	becomes(t, "so does what its route had", []string(nil), names(w.children(route, configMaps)))
	change(w, gw, func(gw *gatewayv1.Gateway) {
		gw.Spec.Listeners[0].TLS.CertificateRefs[0].Namespace = new(gatewayv1.Namespace("kube-system"))
	})
	becomes(t, "a certificate that may not be used any more takes the listener along", listening{"", 0, notAccepted}, w.listening("edge"))
	unharmed("withdrawing all listeners")

	w.create(newCertificate(t, "own"))
	change(w, gw, func(gw *gatewayv1.Gateway) {
		admitting(gatewayv1.NamespacesFromSame)(gw)
		gw.Spec.Listeners[0].TLS.CertificateRefs[0].Namespace = nil
	})
	becomes(t, "mended, it stands", listening{renamed + ofFirst, 1, programmed}, w.listening("edge"))
	becomes(t, "and so does the route", []string{"ConfigMap/shop-a-first"}, names(w.children(route, configMaps)))
	unharmed("mending it")
}

func TestNothingBeginsBeforeTheGatewayIsAccepted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate})
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame), func(gw *gatewayv1.Gateway) {
		gw.Spec.Listeners = []gatewayv1.Listener{httpsListener("own", "own")}
	})
	w.listenerSet("shop", "edge", "shop.example.com")
	becomes(t, "the Gateway is not accepted", notAccepted, w.gatewayConditions("edge"))
	becomes(t, "neither is its ListenerSet", orphaned, conditionsOnly(w.setReport("shop")))
	is(t, "nothing is rendered", []string(nil), names(w.children(gw, configMaps, services)))
	w.create(newCertificate(t, "own"))
	const all = "own.example.com:443 of Gateway edge\nshop.example.com:80 of ListenerSet shop\n"
	becomes(t, "accepted, it is", listening{all, 1, programmed}, w.listening("edge"))
}
