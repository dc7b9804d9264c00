package integration_test

import (
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// The tests of this file count what one event costs among many objects that it does not concern. They are not parallel, since
// reconciles are counted for the whole manager. What is counted does not depend on how many there are, so there are no more
// than it takes to tell one from all.

// reconciles are how often each controller has reconciled anything so far.
func reconciles(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "controller" {
					counts[label.GetValue()] += metric.GetCounter().GetValue()
				}
			}
		}
	}
	return counts
}

// since is by how much counts have grown.
func since(t *testing.T, before map[string]float64) map[string]float64 {
	t.Helper()
	grown := map[string]float64{}
	for controller, n := range reconciles(t) {
		if n > before[controller] {
			grown[controller] = n - before[controller]
		}
	}
	return grown
}

// few holds that only these controllers had anything to do, and for one object each. An object is looked at twice: what is
// rendered goes first, and the report on it follows. Of its few writes each may have an echo that overtakes the answer, and is
// worth a look in vain.
func few(t *testing.T, reconciles map[string]float64, controllers ...string) {
	t.Helper()
	const looks = 6
	for controller, n := range reconciles {
		if !slices.Contains(controllers, controller) || n > looks {
			t.Errorf("controller %s reconciled %v times; only %q have to do with it, at most %d times", controller, n, controllers, looks)
		}
	}
}

// createAll makes many objects, several at once.
func (w *world) createAll(objects []client.Object) {
	w.Helper()
	work := make(chan client.Object)
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for o := range work {
				o.SetNamespace(w.namespace)
				if err := shared.client.Create(w.Context(), o); err != nil {
					w.Errorf("creating %T %s: %v", o, o.GetName(), err)
				}
			}
		})
	}
	for _, o := range objects {
		work <- o
	}
	close(work)
	workers.Wait()
	if w.Failed() {
		w.FailNow()
	}
}

// How many there are: more than a few by default, and as many as one likes with -args -gateways=1000 -sets=1000 -routes=10000.
var (
	manyGateways = flag.Int("gateways", 60, "how many Gateways there are of a class whose values change")
	manySets     = flag.Int("sets", 150, "how many ListenerSets there are before one more")
	manyRoutes   = flag.Int("routes", 200, "how many routes there are before one more, a hundred on each Gateway")
)

// grows waits until a number is reached that goes up all the time.
func grows(t *testing.T, what string, to int32, observe func() (int32, error)) {
	t.Helper()
	for seen := int32(-1); seen < to; {
		eventually(t, fmt.Sprintf("%s, %d of %d", what, seen, to), func() error {
			now, err := observe()
			if err != nil || now > seen {
				seen = max(seen, now)
				return err
			}
			return fmt.Errorf("no more than %d yet", now)
		})
	}
}

func TestOneMoreListenerSetAmongManyCostsItsGatewayOnly(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate})
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.gateway("other", admitting(gatewayv1.NamespacesFromSame))
	var sets []client.Object
	for i := range *manySets {
		sets = append(sets, newListenerSet(fmt.Sprintf("set-%d", i), "edge", gatewayv1.Hostname(fmt.Sprintf("h%d.example.com", i))))
	}
	w.createAll(sets)
	grows(t, "sets are attached", int32(*manySets), w.attachedSets("edge"))
	w.counts(2)
	w.alone()
	idle(t)

	heard, before := newAudit(t), reconciles(t)
	w.listenerSet("one-more", "edge", "one-more.example.com")
	becomes(t, "the set stands", setStands, w.setReport("one-more"))
	becomes(t, "it is counted", int32(*manySets+1), w.attachedSets("edge"))
	idle(t)
	few(t, since(t, before), "gateway", "listenerset")
	want := map[string]int{
		"patch configmaps edge-listeners": 1, "update gateways/status edge": 1, "update listenersets/status one-more": 1,
		"update renderings edge": 1, "create events": 1,
	}
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, append([]string{"get", "list"}, mutating...)...))); diff != "" {
		t.Errorf("requests for one more ListenerSet: -want +got:\n%s", diff)
	}
}

func (w *world) attachedSets(gateway string) func() (int32, error) {
	return func() (int32, error) {
		listening, err := w.listening(gateway)()
		return listening.Attached, err
	}
}

func TestOneMoreRouteAmongManyCostsItsGatewayOnly(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"service": serviceTemplate}, forRoutes(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .HTTPRoute.metadata.name }}
`))
	gateways := max(4, *manyRoutes/100)
	var routes []client.Object
	for i := range gateways {
		w.gateway(fmt.Sprintf("edge-%d", i))
	}
	for i := range *manyRoutes {
		routes = append(routes, newRoute(fmt.Sprintf("route-%d", i), toGateway(gatewayv1.ObjectName(fmt.Sprintf("edge-%d", i%gateways)))))
	}
	w.createAll(routes)
	for i := range gateways {
		grows(t, "routes are attached", int32(*manyRoutes/gateways), w.attachedRoutes(fmt.Sprintf("edge-%d", i)))
	}
	grows(t, "routes are rendered", int32(*manyRoutes+gateways), func() (int32, error) { return int32(len(w.renderings())), nil })
	w.counts(int32(gateways))
	w.alone()
	idle(t)

	heard, before := newAudit(t), reconciles(t)
	w.route("one-more", toGateway("edge-1"))
	becomes(t, "the route stands", map[string][]string{"Gateway/edge-1": routeStands}, w.routeReports("one-more"))
	becomes(t, "it is counted", int32(*manyRoutes/gateways+1), w.attachedRoutes("edge-1"))
	idle(t)
	few(t, since(t, before), "gateway", "httproute")
	requests := tally(heard.requests(shared.manager, w, append([]string{"get", "list"}, mutating...)...))
	rendering := ""
	for _, name := range w.renderings() {
		if requests["create renderings "+name] > 0 {
			rendering = name
		}
	}
	want := map[string]int{
		"patch configmaps one-more": 1, "create renderings " + rendering: 1, "update httproutes/status one-more": 1,
		"update gateways/status edge-1": 1, "update renderings edge-1": 1, "create events": 1,
	}
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("requests for one more route: -want +got:\n%s", diff)
	}
}

func TestAValueOfAClassIsWrittenToEachOfManyGatewaysOnce(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"scaling": sixTemplates["scaling"], "config": sixTemplates["config"]}, replicas(playedClass))
	three := v1alpha1.ValuesBlocks{Override: tree2JSON(map[string]any{"minReplicas": 3})}
	provider := classConfig("class", target("GatewayClass", w.name), three)
	w.create(provider)
	var gateways []client.Object
	want := map[string]int{"update gatewayclassconfigs/status class": 1}
	for i := range *manyGateways {
		name := fmt.Sprintf("edge-%d", i)
		gateways = append(gateways, w.newGateway(name))
		want["patch horizontalpodautoscalers "+name], want["update renderings "+name] = 1, 1
	}
	w.createAll(gateways)
	grows(t, "Gateways are reported on", int32(*manyGateways), func() (int32, error) { return int32(len(w.renderings())), nil })
	w.counts(int32(*manyGateways))
	w.alone()
	idle(t)

	heard, before := newAudit(t), reconciles(t)
	change(w, provider, func(p *v1alpha1.GatewayClassConfig) { p.Spec.Override = tree2JSON(map[string]any{"minReplicas": 6}) })
	for i := range *manyGateways {
		name := fmt.Sprintf("edge-%d", i)
		becomes(t, "the autoscaler of "+name+" follows", int32(6), w.minReplicas(name))
	}
	idle(t)
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, append([]string{"get", "list"}, mutating...)...))); diff != "" {
		t.Errorf("requests for one value of a class: -want +got:\n%s", diff)
	}
	// Each is looked at to apply what changed and once more to report on it; of the two writes each may have an echo.
	if looks := since(t, before)["gateway"]; looks > float64(4**manyGateways) {
		t.Errorf("%d Gateways were looked at %v times", *manyGateways, looks)
	}
}
