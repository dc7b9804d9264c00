package integration_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// The tests of this file count requests and stop the manager, so none of them is parallel: they run before all that are.

// sixTemplates are those of the workload that the targets for writes are stated for: a shadow Gateway, an Ingress, an autoscaler, a
// disruption budget, and two ConfigMaps of which one reads the other.
var sixTemplates = templates{
	"shadow": shadowTemplate,
	"ingress": `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  rules:
  {{- range .Listeners }}
    - host: {{ .hostname }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: {service: {name: {{ $.Gateway.metadata.name }}, port: {number: {{ .port }}}}}
  {{- end }}
`,
	"scaling": `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ .Gateway.metadata.name }}}
  minReplicas: {{ .Values.minReplicas }}
  maxReplicas: 10
  metrics:
    - type: Resource
      resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}
`,
	"disruption": `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  maxUnavailable: 1
  selector: {matchLabels: {app: {{ .Gateway.metadata.name }}}}
`,
	"config": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data:
  hostnames: {{ .Hostnames.Union | toJson | quote }}
`,
	"derived": `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-derived
data:
  uid: {{ (index .Resources.config 0).metadata.uid }}
`,
}

// idle waits until no manager of this process has done anything for a while: an event may be on its way. (The depth of the work
// queues would not tell: it keeps what a stopped manager left in them.)
func idle(t *testing.T) {
	t.Helper()
	quiet, done := 0, -1.0
	eventually(t, "the manager is idle", func() error {
		working, err := counted("controller_runtime_active_workers")
		if err != nil {
			return err
		}
		reconciles, err := counted("controller_runtime_reconcile_total")
		if err != nil {
			return err
		}
		quiet++
		if working > 0 || reconciles != done {
			quiet, done = 0, reconciles
		}
		if quiet < 20 {
			return fmt.Errorf("%v workers are busy, %v reconciles so far, quiet for %d glances", working, reconciles, quiet)
		}
		return nil
	})
}

// replicas are the values of the workload: the class of shadow Gateways, and a number that policies change.
func replicas(inner string) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return with(v1alpha1.ValuesBlocks{Default: tree2JSON(map[string]any{"class": inner, "minReplicas": 2})})
}

func TestAGatewayOfSixObjectsTakesEightWrites(t *testing.T) {
	w := newWorld(t)
	w.class(sixTemplates, replicas("played-by-nobody"))
	// The first Gateway of a class starts the watches.
	w.gateway("warm-up")
	w.says("warm-up", "warm-up-shadow")
	w.counts(1)
	idle(t)

	heard := newAudit(t)
	w.gateway("edge")
	w.says("edge", "edge-shadow")
	idle(t)
	want := map[string]int{
		"patch gateways edge-shadow": 1, "patch ingresses edge": 1, "patch horizontalpodautoscalers edge": 1,
		"patch poddisruptionbudgets edge": 1, "patch configmaps edge": 1, "patch configmaps edge-derived": 1,
		"create renderings edge": 1, "update gateways/status edge": 1,
	}
	// The ninth is the blueprint's: it counts its Gateways some time later, in one write for all that have come by then.
	w.counts(2)
	want["update gatewayclassblueprints/status "+w.name] = 1
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, mutating...))); diff != "" {
		t.Errorf("writes until all objects are there: -want +got:\n%s", diff)
	}

	heard = newAudit(t)
	w.play("edge-shadow")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	idle(t)
	want = map[string]int{"update renderings edge": 1, "update gateways/status edge": 1, "create events": 1}
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, mutating...))); diff != "" {
		t.Errorf("writes once the shadow Gateway is programmed: -want +got:\n%s", diff)
	}
}

// counts waits until the blueprint says that so many Gateways use it.
func (w *world) counts(gateways int32) {
	w.Helper()
	becomes(w, "the blueprint has counted its Gateways", gateways, func() (int32, error) {
		blueprint := &v1alpha1.GatewayClassBlueprint{}
		err := shared.client.Get(w.Context(), client.ObjectKey{Name: w.name}, blueprint)
		return blueprint.Status.Gateways, err
	})
}

// tally counts equal writes. Events have names that nobody can know. What an optimistic lock refused was no write.
func tally(requests []string) map[string]int {
	counts := map[string]int{}
	for _, request := range requests {
		if strings.HasPrefix(request, "create events") {
			request = "create events"
		}
		if !strings.HasSuffix(request, ": 409") {
			counts[request]++
		}
	}
	return counts
}

// busyWorld is one where everything that the manager handles is there, and all is well.
func busyWorld(t *testing.T, of templates) *world {
	t.Helper()
	w := newWorld(t)
	w.class(of, replicas(playedClass), forRoutes(shadowRouteTemplate))
	w.create(classConfig("class", target("GatewayClass", w.name), v1alpha1.ValuesBlocks{Override: tree2JSON(map[string]any{"minReplicas": 3})}))
	w.create(config("edge", target("Gateway", "edge"), v1alpha1.ValuesBlocks{Default: tree2JSON(map[string]any{"minReplicas": 4})}))
	for _, name := range []string{"edge", "other"} {
		w.gateway(name, admitting(gatewayv1.NamespacesFromSame))
	}
	w.listenerSet("a-first", "edge", "shop.example.com")
	w.listenerSet("b-second", "edge", "shop.example.com")
	w.route("shop", toListenerSet("a-first"), toGateway("other"))
	for _, name := range []string{"edge", "other"} {
		becomes(t, name+" is Programmed", programmed, w.gatewayConditions(name))
	}
	becomes(t, "the set stands", setStands, w.setReport("a-first"))
	becomes(t, "the route stands", map[string][]string{"ListenerSet/a-first": routeStands, "Gateway/other": routeStands}, w.routeReports("shop"))
	w.counts(2)
	idle(t)
	return w
}

func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	w := busyWorld(t, sixTemplates)
	asking := append([]string{"get"}, mutating...)
	var none []string

	heard := newAudit(t)
	elsewhere := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	label(elsewhere, map[string]string{"team": "other"})
	label(w, map[string]string{"team": "own"})
	gw := &gatewayv1.Gateway{}
	gw.Name = "edge"
	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Labels = map[string]string{"team": "own"} })
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Annotations["example.com/note"] = "theirs" })
	elsewhere.create(config("stray", target("Gateway", "edge"), v1alpha1.ValuesBlocks{Default: tree2JSON(map[string]any{"minReplicas": 5})}))
	idle(t)
	if diff := cmp.Diff(none, heard.requests(shared.manager, w, asking...)); diff != "" {
		t.Errorf("requests after changes that do not matter: -want +got:\n%s", diff)
	}

	// A manager that starts anew remembers nothing, and must see from what is there that there is nothing to do.
	restart(t)
	idle(t)
	if diff := cmp.Diff(none, heard.requests(shared.manager, w, asking...)); diff != "" {
		t.Errorf("requests after a restart: -want +got:\n%s", diff)
	}

	period := 300 * time.Millisecond
	restart(t, func(o *ctrl.Options) { o.Cache.SyncPeriod = &period })
	looksAtEverything(t)
	atWork := newAudit(t)
	looksAtEverything(t)
	resynced := shared.manager
	if diff := cmp.Diff(none, atWork.requests(resynced, nil, append(asking, "list")...)); diff != "" {
		t.Errorf("requests about anything over resyncs, once the manager has started: -want +got:\n%s", diff)
	}
	restart(t)
	if diff := cmp.Diff(none, heard.requests(resynced, w, asking...)); diff != "" {
		t.Errorf("requests over resyncs: -want +got:\n%s", diff)
	}
}

// looksAtEverything waits until a manager that resyncs all the time has looked at everything several times.
func looksAtEverything(t *testing.T) {
	t.Helper()
	before, err := counted("controller_runtime_reconcile_total")
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything is looked at several times more", func() error {
		now, err := counted("controller_runtime_reconcile_total")
		if err == nil && now < before+100 {
			err = fmt.Errorf("%v reconciles so far", now-before)
		}
		return err
	})
}

// restart ends the manager and starts another.
func restart(t *testing.T, adjust ...func(*ctrl.Options)) {
	t.Helper()
	if err := shared.manager.stop(); err != nil {
		t.Fatalf("stopping the manager: %v", err)
	}
	var err error
	if shared.manager, err = startManager(adjust...); err != nil {
		t.Fatalf("starting the manager: %v", err)
	}
}

func TestAChangeWritesWhatItChangesAndNothingElse(t *testing.T) {
	// No shadow Gateway: that would be programmed anew, and all that depends on it would have to say so meanwhile.
	of := maps.Clone(sixTemplates)
	delete(of, "shadow")
	w := busyWorld(t, of)

	heard := newAudit(t)
	w.listenerSet("c-third", "edge", "news.example.com")
	becomes(t, "the set stands", setStands, w.setReport("c-third"))
	idle(t)
	want := map[string]int{
		"patch ingresses edge": 1, "patch configmaps edge": 1,
		"update gateways/status edge": 1, "update listenersets/status c-third": 1, "update renderings edge": 1, "create events": 1,
		"update gatewayconfigs/status edge": 1,
	}
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, mutating...))); diff != "" {
		t.Errorf("writes for one more ListenerSet: -want +got:\n%s", diff)
	}

	heard = newAudit(t)
	provider := classConfig("class", target("GatewayClass", w.name), v1alpha1.ValuesBlocks{})
	change(w, provider, func(p *v1alpha1.GatewayClassConfig) { p.Spec.Override = tree2JSON(map[string]any{"minReplicas": 6}) })
	for _, name := range []string{"edge", "other"} {
		becomes(t, "the autoscaler of "+name+" follows", int32(6), w.minReplicas(name))
	}
	idle(t)
	var reports []string
	for _, name := range w.renderings() {
		reports = append(reports, "update renderings "+name)
	}
	want = tally(append(reports, "patch horizontalpodautoscalers edge", "patch horizontalpodautoscalers other",
		"update gatewayclassconfigs/status class"))
	if diff := cmp.Diff(want, tally(heard.requests(shared.manager, w, mutating...))); diff != "" {
		t.Errorf("writes for one value of a class: -want +got:\n%s", diff)
	}
}

func (w *world) minReplicas(name string) func() (int32, error) {
	return func() (int32, error) {
		o := &autoscalingv2.HorizontalPodAutoscaler{}
		err := shared.client.Get(w.Context(), w.key(name), o)
		if o.Spec.MinReplicas == nil {
			return 0, err
		}
		return *o.Spec.MinReplicas, err
	}
}

// renderings are the names of all reports, those of routes included: all of them tell the values.
func (w *world) renderings() []string {
	w.Helper()
	var list v1alpha1.RenderingList
	if err := shared.client.List(w.Context(), &list, client.InNamespace(w.namespace)); err != nil {
		w.Fatal(err)
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}
