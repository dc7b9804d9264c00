package integration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// history is what a ConfigMap said from the moment at which it began to be watched.
type history struct {
	*testing.T
	watch watch.Interface
	seen  []string
}

// newHistory begins to watch what a ConfigMap says under a key.
func (w *world) newHistory(name string) *history {
	w.Helper()
	config, err := shared.server.Config()
	if err != nil {
		w.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		w.Fatal(err)
	}
	watcher, err := clients.CoreV1().ConfigMaps(w.namespace).Watch(w.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(watcher.Stop)
	return &history{T: w.T, watch: watcher}
}

// until reads on until a state is reached, and returns all states up to it.
func (h *history) until(key, last string) []string {
	h.Helper()
	for len(h.seen) == 0 || h.seen[len(h.seen)-1] != last {
		select {
		case event := <-h.watch.ResultChan():
			o, ok := event.Object.(*corev1.ConfigMap)
			switch {
			case !ok || event.Type == watch.Deleted:
				h.seen = append(h.seen, string(event.Type))
			case len(h.seen) == 0 || h.seen[len(h.seen)-1] != o.Data[key]:
				h.seen = append(h.seen, o.Data[key])
			}
		case <-h.Context().Done():
			h.Fatalf("the test ends, and all that was seen is %q", h.seen)
		}
	}
	return h.seen
}

func TestALoserIsPromotedWithoutAnInterruptionForOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "service": serviceTemplate}, forRoutes(shadowRouteTemplate))
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	winner := w.listenerSet("a-winner", "edge", "shop.example.com")
	becomes(t, "the winner stands", setStands, w.setReport("a-winner"))
	w.listenerSet("b-loser", "edge", "shop.example.com")
	w.listenerSet("c-bystander", "edge", "news.example.com")
	becomes(t, "the loser is told", setLost, w.setReport("b-loser"))
	becomes(t, "the bystander stands", setStands, w.setReport("c-bystander"))
	w.route("news", toListenerSet("c-bystander"))
	w.route("shop", toListenerSet("b-loser"))
	stands := map[string][]string{"ListenerSet/c-bystander": routeStands}
	becomes(t, "the bystander's route stands", stands, w.routeReports("news"))
	route := &gatewayv1.HTTPRoute{}
	route.Name = "news-c-bystander"
	route.Namespace = w.namespace
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "edge"}}
	versions := func() ([]string, error) {
		return []string{read(w, route).ResourceVersion, read(w, service).ResourceVersion}, nil
	}
	before, err := versions()
	if err != nil {
		t.Fatal(err)
	}

	const own, bystander = "edge.example.com:80 of Gateway edge\n", "news.example.com:80 of ListenerSet c-bystander\n"
	promoted := own + "shop.example.com:80 of ListenerSet b-loser\n" + bystander
	history := w.newHistory("edge-listeners")
	w.delete(winner)
	states := history.until("listeners", promoted)
	want := []string{own + "shop.example.com:80 of ListenerSet a-winner\n" + bystander, promoted}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("what is rendered of the listeners, from state to state: -want +got:\n%s", diff)
	}
	becomes(t, "the loser is told", setStands, w.setReport("b-loser"))
	is(t, "the bystander is told nothing new", setStands, w.setReport("c-bystander"))
	is(t, "what is rendered for others is not written", before, versions)
	is(t, "the bystander's route stands", stands, w.routeReports("news"))
}
