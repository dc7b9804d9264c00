package integration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// listening is what a Gateway says of its listeners and what is rendered of them.
type listening struct {
	// Rendered has a line for each listener, "hostname:port of kind name".
	Rendered string
	// Attached is the number of ListenerSets.
	Attached int32
	// Conditions of the Gateway.
	Conditions []string
}

func (w *world) listening(gateway string) func() (listening, error) {
	return func() (listening, error) {
		gw := &gatewayv1.Gateway{}
		if err := shared.client.Get(w.Context(), w.key(gateway), gw); err != nil {
			return listening{}, err
		}
		data, err := w.data(gateway + "-listeners")()
		got := listening{Rendered: data["listeners"], Conditions: summary(gw.Status.Conditions, gw.Generation)}
		if gw.Status.AttachedListenerSets != nil {
			got.Attached = *gw.Status.AttachedListenerSets
		}
		return got, err
	}
}

// setReport is what a ListenerSet says of itself and of its listeners.
type setReport struct {
	Conditions []string
	Listeners  map[gatewayv1.SectionName][]string
}

func (w *world) setReport(name string) func() (setReport, error) {
	return func() (setReport, error) {
		set := &gatewayv1.ListenerSet{}
		if err := shared.client.Get(w.Context(), w.key(name), set); err != nil {
			return setReport{}, err
		}
		got := setReport{Conditions: summary(set.Status.Conditions, set.Generation), Listeners: map[gatewayv1.SectionName][]string{}}
		for _, l := range set.Status.Listeners {
			got.Listeners[l.Name] = told(l.Conditions, set.Generation)
		}
		return got, nil
	}
}

var (
	listenerStands = []string{"Accepted=True/Accepted", "Programmed=True/Programmed", "ResolvedRefs=True/ResolvedRefs"}
	listenerLost   = []string{
		"Accepted=False/HostnameConflict", "Conflicted=True/HostnameConflict", "Programmed=False/HostnameConflict",
		"ResolvedRefs=True/ResolvedRefs",
	}
	setStands = setReport{programmed, map[gatewayv1.SectionName][]string{"l0": listenerStands}}
	setLost   = setReport{
		[]string{"Accepted=False/ListenersNotValid", "Programmed=False/ListenersNotValid"},
		map[gatewayv1.SectionName][]string{"l0": listenerLost},
	}
	setShutOut = []string{"Accepted=False/NotAllowed", "Programmed=False/NotAllowed"}
	setWaits   = setReport{[]string{"Accepted=Unknown/Pending", "Programmed=Unknown/Pending"}, map[gatewayv1.SectionName][]string{}}
)

// unharmed remembers the objects of an owner and returns a check that they are the same ones, not made anew.
func (w *world) unharmed(owner client.Object) func(what string) {
	w.Helper()
	observe := w.children(owner, configMaps, services)
	uids := func() (map[string]any, error) {
		found, err := observe()
		all := map[string]any{}
		for name, c := range found {
			all[name] = c.UID
		}
		return all, err
	}
	want, err := uids()
	if err != nil {
		w.Fatal(err)
	}
	return func(what string) {
		w.Helper()
		is(w, what+" leaves the Gateway's objects in place", want, uids)
	}
}

func TestAListenerSetComesConflictsIsPromotedAndIsDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate})
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	const own = "edge.example.com:80 of Gateway edge\n"
	becomes(t, "the Gateway stands alone", listening{own, 0, programmed}, w.listening("edge"))
	unharmed := w.unharmed(gw)

	first := w.listenerSet("a-first", "edge", "shop.example.com")
	becomes(t, "a set joins", listening{own + "shop.example.com:80 of ListenerSet a-first\n", 1, programmed}, w.listening("edge"))
	becomes(t, "the set says so", setStands, w.setReport("a-first"))
	unharmed("joining")

	w.listenerSet("b-second", "edge", "shop.example.com")
	becomes(t, "a second set loses the hostname", setLost, w.setReport("b-second"))
	becomes(t, "the first keeps it", listening{own + "shop.example.com:80 of ListenerSet a-first\n", 1, programmed}, w.listening("edge"))
	is(t, "the first set is not touched by the conflict", setStands, w.setReport("a-first"))

	w.delete(first)
	becomes(t, "the second is promoted", listening{own + "shop.example.com:80 of ListenerSet b-second\n", 1, programmed}, w.listening("edge"))
	becomes(t, "the second says so", setStands, w.setReport("b-second"))
	unharmed("promotion")

	change(w, gw, func(gw *gatewayv1.Gateway) { admitting(gatewayv1.NamespacesFromNone)(gw) })
	becomes(t, "the Gateway lets nobody in", listening{own, 0, programmed}, w.listening("edge"))
	becomes(t, "the set is told", setShutOut, conditionsOnly(w.setReport("b-second")))
	unharmed("shutting out")

	change(w, gw, func(gw *gatewayv1.Gateway) { admitting(gatewayv1.NamespacesFromSame)(gw) })
	becomes(t, "the set is back", listening{own + "shop.example.com:80 of ListenerSet b-second\n", 1, programmed}, w.listening("edge"))
	becomes(t, "the set says so again", setStands, w.setReport("b-second"))
	unharmed("letting in again")
}

func conditionsOnly(observe func() (setReport, error)) func() ([]string, error) {
	return func() ([]string, error) {
		report, err := observe()
		return report.Conditions, err
	}
}

func TestAListenerSetMovesFromOneGatewayToAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate})
	from := w.gateway("from", admitting(gatewayv1.NamespacesFromSame))
	to := w.gateway("to", admitting(gatewayv1.NamespacesFromSame))
	bystander := w.gateway("bystander", admitting(gatewayv1.NamespacesFromSame))
	const fromOwn, toOwn = "from.example.com:80 of Gateway from\n", "to.example.com:80 of Gateway to\n"
	const moving = "shop.example.com:80 of ListenerSet shop\n"

	set := w.listenerSet("shop", "from", "shop.example.com")
	becomes(t, "the set is with its Gateway", listening{fromOwn + moving, 1, programmed}, w.listening("from"))
	becomes(t, "the other Gateway is ready", listening{toOwn, 0, programmed}, w.listening("to"))
	becomes(t, "the third Gateway is ready", programmed, w.gatewayConditions("bystander"))
	fromUnharmed, toUnharmed := w.unharmed(from), w.unharmed(to)
	before, err := w.children(bystander, configMaps, services)()
	if err != nil {
		t.Fatal(err)
	}

	change(w, set, func(set *gatewayv1.ListenerSet) { set.Spec.ParentRef.Name = "to" })
	becomes(t, "the set has left", listening{fromOwn, 0, programmed}, w.listening("from"))
	becomes(t, "the set has arrived", listening{toOwn + moving, 1, programmed}, w.listening("to"))
	becomes(t, "the set says so", setStands, w.setReport("shop"))
	fromUnharmed("leaving")
	toUnharmed("arriving")

	change(w, set, func(set *gatewayv1.ListenerSet) { set.Spec.ParentRef.Name = "nobody" })
	becomes(t, "the set has left for a Gateway that does not exist", listening{toOwn, 0, programmed}, w.listening("to"))
	becomes(t, "nothing is said of it any more", setWaits, w.setReport("shop"))
	toUnharmed("leaving for nobody")

	after, err := w.children(bystander, configMaps, services)()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("objects of a Gateway that has nothing to do with it were written (-before +after):\n%s", diff)
	}
}

func TestAListenerSetOfAnotherNamespaceIsLetInByItsLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate})
	from := gatewayv1.NamespacesFromSelector
	w.gateway("edge", func(gw *gatewayv1.Gateway) {
		gw.Spec.AllowedListeners = &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{
			From: &from, Selector: labelled("listeners", w.name),
		}}
	})
	const own = "edge.example.com:80 of Gateway edge\n"
	elsewhere := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	set := newListenerSet("shop", "edge", "shop.example.com")
	set.Spec.ParentRef.Namespace = new(gatewayv1.Namespace(w.namespace))
	elsewhere.create(set)
	becomes(t, "a namespace without the label is shut out", setShutOut, conditionsOnly(elsewhere.setReport("shop")))
	becomes(t, "the Gateway stands alone", listening{own, 0, programmed}, w.listening("edge"))

	label(elsewhere, map[string]string{"listeners": w.name})
	becomes(t, "the label lets it in", listening{own + "shop.example.com:80 of ListenerSet shop\n", 1, programmed}, w.listening("edge"))
	becomes(t, "the set says so", setStands, elsewhere.setReport("shop"))

	label(elsewhere, nil)
	becomes(t, "without the label it is out again", listening{own, 0, programmed}, w.listening("edge"))
	becomes(t, "the set is told", setShutOut, conditionsOnly(elsewhere.setReport("shop")))
}
