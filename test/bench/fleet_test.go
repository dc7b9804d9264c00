package bench

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// BenchmarkW2W3W4 measures a fleet of Gateways that has converged: at rest, one edit, and a change that reaches all of them.
func BenchmarkW2W3W4(b *testing.B) {
	n := size(1000, 100)
	for b.Loop() {
		p := newPlane(b, newBlueprint())
		objects := p.warm(objectsPerGateway)
		namespace, _ := p.gateways(n, objectsPerGateway)
		p.count.settle(b)
		p.edits(namespace, n)
		p.fanOut(objects, n)
		p.rest(n)
		p.end()
	}
}

// rest counts what is asked of the API server while nothing happens but resyncs.
func (p *plane) rest(n int) {
	period := 2 * time.Second
	p.restart(func(o *ctrl.Options) { o.Cache.SyncPeriod = &period })
	time.Sleep(period)
	p.count.settle(p.B)
	p.count.reset()
	before := reconciles(p.B, "gateway")
	time.Sleep(3 * period)
	if looked := reconciles(p.B, "gateway") - before; looked < float64(n) {
		p.Errorf("%v looks at %d Gateways: there was no resync", looked, n)
	}
	asked := p.count.writes() + p.count.requests(http.MethodGet)
	p.Logf("requests over resyncs: %v", p.count.counts)
	results.add(row{workload: fmt.Sprintf("W2 idle, %d Gateways, over resyncs", n), target: "0",
		measured: fmt.Sprintf("%d requests", asked), cost: float64(asked)})
}

// edits changes one listener of one Gateway, several times.
func (p *plane) edits(namespace string, n int) {
	const edits = 20
	// The shadow Gateway and the list of hostnames.
	const changed = 2
	took := make([]time.Duration, edits)
	writes := 0
	for i := range took {
		gw := newGateway(namespace, p.class, i*n/edits)
		if err := p.client.Get(p.Context(), client.ObjectKeyFromObject(gw), gw); err != nil {
			p.Fatal(err)
		}
		hostname := gatewayv1.Hostname(fmt.Sprintf("edited-%d.example.com", i))
		gw.Spec.Listeners[0].Hostname = &hostname
		p.count.reset()
		started := time.Now()
		if err := p.client.Update(p.Context(), gw); err != nil {
			p.Fatal(err)
		}
		p.count.await(p.B, changed)
		took[i] = time.Since(started)
		p.count.settle(p.B)
		writes = max(writes, p.count.writes())
	}
	p.Logf("requests for the last edit: %v", p.count.counts)
	slices.Sort(took)
	results.add(row{workload: fmt.Sprintf("W3 one edit among %d Gateways, until its objects are written", n), target: "p99 <= 1 s",
		measured: fmt.Sprintf("median %.0f ms, worst %.0f ms, %d writes", ms(took[edits/2]), ms(took[edits-1]), writes),
		cost:     ms(took[edits-1])})
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fanOut changes a value of a class that one template reads.
func (p *plane) fanOut(objects []unstructured.Unstructured, n int) {
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultControllerNamespace}}
	if err := client.IgnoreAlreadyExists(p.client.Create(p.Context(), system)); err != nil {
		p.Fatal(err)
	}
	config := &v1alpha1.GatewayClassConfig{ObjectMeta: metav1.ObjectMeta{Namespace: system.Name, Name: p.class}}
	config.Spec.TargetRefs = []v1alpha1.PolicyTargetReference{
		{Group: gatewayv1.GroupName, Kind: "GatewayClass", Name: gatewayv1.ObjectName(p.class)},
	}
	config.Spec.Override = minReplicas(2)
	p.create(config)
	p.count.settle(p.B)

	p.count.reset()
	before := client.MergeFrom(config.DeepCopy())
	config.Spec.Override = minReplicas(3)
	started := time.Now()
	// Its status was written since, and may be again.
	if err := p.client.Patch(p.Context(), config, before); err != nil {
		p.Fatal(err)
	}
	p.count.await(p.B, n)
	took := time.Since(started)
	p.count.settle(p.B)
	applied := p.count.requests(http.MethodPatch)
	p.Logf("requests for a value of a class: %v", p.count.counts)

	hpa := slices.DeleteFunc(slices.Clone(objects), func(o unstructured.Unstructured) bool { return o.GetKind() != "HorizontalPodAutoscaler" })
	theirs := p.namespace()
	p.plainApplyTo(theirs, hpa, n)
	if err := unstructured.SetNestedField(hpa[0].Object, int64(4), "spec", "minReplicas"); err != nil {
		p.Fatal(err)
	}
	bound := p.plainApplyTo(theirs, hpa, n)
	results.add(row{workload: fmt.Sprintf("W4 fan-out of one value to %d Gateways, %d applies", n, applied), target: "<= 1.5x",
		took: took, least: bound})
	if err := p.client.Delete(p.Context(), config); err != nil {
		p.Fatal(err)
	}
	p.count.settle(p.B)
}
