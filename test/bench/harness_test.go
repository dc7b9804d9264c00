package bench

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers"
	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := kube.Run(m)
	if err := results.print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// full has every workload at its full size, which takes about half an hour.
var full = flag.Bool("full", false, "run the workloads at their full size")

// size is that of a workload, and a smaller one for every day.
func size(whole, daily int) int {
	if *full {
		return whole
	}
	return daily
}

const (
	// workers is how many requests the plain client, and whoever creates the Gateways, has under way at once.
	workers = 16
	// patience is how long a benchmark waits for what it measures.
	patience = 10 * time.Minute
	// quiet is how long nothing is asked of the API server before all is done.
	quiet = time.Second
)

// counter counts the requests of a client, by method and resource, and remembers which objects it brought about by apply.
type counter struct {
	mu      sync.Mutex
	counts  map[string]int
	applied map[string]bool
	last    time.Time
}

func newCounter() *counter {
	return &counter{counts: map[string]int{}, applied: map[string]bool{}}
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.applied, c.last = map[string]int{}, map[string]bool{}, time.Now()
}

// requests is the number of requests that begin with one of these methods; of all without any.
func (c *counter) requests(methods ...string) (sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, count := range c.counts {
		for _, method := range methods {
			if strings.HasPrefix(key, method+" ") {
				sum += count
			}
		}
	}
	return sum
}

func (c *counter) writes() int {
	return c.requests(http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete)
}

// wrap makes a client count. Names of objects and namespaces are left out of the keys, and so are watches.
func (c *counter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if r.URL.Query().Has("watch") {
			return response, err
		}
		key := r.Method + " " + resource(r.URL.Path)
		if err == nil && response.StatusCode >= http.StatusBadRequest {
			key += fmt.Sprintf(" (%d)", response.StatusCode)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts[key]++
		c.last = time.Now()
		if r.Method == http.MethodPatch && err == nil && response.StatusCode < 300 {
			c.applied[r.URL.Path] = true
		}
		return response, err
	})
}

// await waits until this many different objects were applied. It asks the API server nothing, which has other things to do.
func (c *counter) await(b *testing.B, objects int) {
	b.Helper()
	wait(b, fmt.Sprintf("%d objects are applied", objects), func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.applied) >= objects
	})
}

// settle waits until nothing has been asked for a while, beginning now.
func (c *counter) settle(b *testing.B) {
	b.Helper()
	c.mu.Lock()
	c.last = time.Now()
	c.mu.Unlock()
	wait(b, "the manager is quiet", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return time.Since(c.last) > quiet
	})
}

func wait(b *testing.B, what string, done func() bool) {
	b.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("waited for %s in vain, for %s", what, patience)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// resource is the resource, and the subresource if there is one, of a path such as /apis/apps/v1/namespaces/ns/deployments/name/status.
func resource(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range parts {
		if part == "namespaces" && i+2 < len(parts) {
			parts = append(parts[i+2:i+3], parts[min(i+4, len(parts)):]...)
			break
		}
	}
	return strings.Join(parts, "/")
}

// plane is a running manager, with a blueprint and a class of its own.
type plane struct {
	*testing.B
	config *rest.Config
	client client.Client
	count  *counter
	// class is the name of the class and of the blueprint.
	class string
	// stop ends the manager; it may be called again.
	stop func()
}

// newPlane starts a manager in this process. When the benchmark ends, its Gateways are gone before it is stopped, so that the next
// one does not find them.
func newPlane(b *testing.B, bp *v1alpha1.GatewayClassBlueprint, adjust ...func(*ctrl.Options)) *plane {
	b.Helper()
	config := kube.Config(b)
	if err := kube.InstallCRDs(b.Context(), config, kube.GatewayAPICRDs(), kube.OwnCRDs()); err != nil {
		b.Fatal(err)
	}
	p := &plane{B: b, config: config, client: newClient(b, config), count: newCounter(), class: "bench-" + kube.Namespace(b)}
	p.restart(adjust...)
	bp.Name = p.class
	p.create(bp, newClass(p.class))
	return p
}

// restart starts a manager, in the place of the one that runs, if any.
func (p *plane) restart(adjust ...func(*ctrl.Options)) {
	if p.stop != nil {
		p.stop()
	}
	p.count.reset()
	p.stop = sync.OnceFunc(startManager(p.B, p.config, p.count, adjust...))
}

// warm makes one Gateway, which starts the watches, and returns the objects rendered for it.
func (p *plane) warm(objects int) []unstructured.Unstructured {
	p.Helper()
	namespace := p.namespace()
	p.create(newGateway(namespace, p.class, 0))
	p.count.await(p.B, objects)
	p.count.settle(p.B)
	return p.objectsIn(namespace)
}

// gateways makes n Gateways in a namespace of their own, waits until the objects of each are there, and says how long it took.
func (p *plane) gateways(n, objects int) (namespace string, took time.Duration) {
	p.Helper()
	namespace = p.namespace()
	p.count.reset()
	started := time.Now()
	parallel(p.B, n, func(i int) error { return p.client.Create(p.Context(), newGateway(namespace, p.class, i)) })
	p.count.await(p.B, n*objects)
	return namespace, time.Since(started)
}

// end deletes the Gateways, waits until they are gone with all that was made for them, and stops the manager.
func (p *plane) end() {
	p.Helper()
	all := &metav1.PartialObjectMetadataList{}
	all.SetGroupVersionKind(rendered[0])
	if err := p.client.List(p.Context(), all); err != nil {
		p.Fatal(err)
	}
	parallel(p.B, len(all.Items), func(i int) error {
		return client.IgnoreNotFound(p.client.Delete(p.Context(), &all.Items[i]))
	})
	for _, kind := range rendered {
		for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(kind)
			if err := p.client.List(p.Context(), list, client.HasLabels{v1alpha1.LabelOwnerUID}, client.Limit(1)); err != nil {
				p.Fatal(err)
			}
			if len(list.Items) == 0 {
				break
			}
			if time.Now().After(deadline) {
				p.Fatalf("objects of kind %s do not go", kind.Kind)
			}
		}
	}
	p.count.settle(p.B)
	p.stop()
}

// plainApply is the lower bound: one client that applies copies of the objects.
func (p *plane) plainApply(objects []unstructured.Unstructured, copies int) time.Duration {
	p.Helper()
	return p.plainApplyTo(p.namespace(), objects, copies)
}

func (p *plane) plainApplyTo(namespace string, objects []unstructured.Unstructured, copies int) time.Duration {
	p.Helper()
	started := time.Now()
	parallel(p.B, copies*len(objects), func(i int) error {
		o := objects[i%len(objects)].DeepCopy()
		metadata := map[string]any{"namespace": namespace, "name": fmt.Sprintf("%s-%d", o.GetName(), i/len(objects))}
		plain := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": o.GetAPIVersion(), "kind": o.GetKind(), "metadata": metadata,
		}}
		for _, field := range []string{"spec", "data"} {
			if value, ok := o.Object[field]; ok {
				plain.Object[field] = value
			}
		}
		return p.client.Apply(p.Context(), client.ApplyConfigurationFromUnstructured(plain), client.FieldOwner("bench"))
	})
	return time.Since(started)
}

// objectsIn returns the rendered objects of a namespace.
func (p *plane) objectsIn(namespace string) []unstructured.Unstructured {
	p.Helper()
	var objects []unstructured.Unstructured
	for _, gvk := range rendered {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := p.client.List(p.Context(), list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil {
			p.Fatal(err)
		}
		objects = append(objects, list.Items...)
	}
	return objects
}

func (p *plane) namespace() string {
	p.Helper()
	return kube.Namespace(p.B)
}

func (p *plane) create(objects ...client.Object) {
	p.Helper()
	for _, o := range objects {
		if err := p.client.Create(p.Context(), o); err != nil {
			p.Fatal(err)
		}
	}
}

// startManager starts the controller in this process. It must be stopped before the next one starts.
func startManager(b *testing.B, config *rest.Config, count *counter, adjust ...func(*ctrl.Options)) (stop func()) {
	b.Helper()
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.Level(zapcore.WarnLevel)))
	config = rest.CopyConfig(config)
	config.Wrap(count.wrap)
	mgr, err := controllers.NewManager(config, controllers.Options{
		ControllerNamespace: v1alpha1.DefaultControllerNamespace, MaxConcurrentReconciles: 8,
	}, func(o *ctrl.Options) {
		o.Metrics = metricsserver.Options{BindAddress: "0"}
		skip := true
		o.Controller.SkipNameValidation = &skip
		for _, change := range adjust {
			change(o)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	}
}

func newClient(b *testing.B, config *rest.Config) client.Client {
	b.Helper()
	scheme, err := controllers.Scheme()
	if err != nil {
		b.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// parallel calls do for 0 to n-1, by several workers. Any error fails the benchmark.
func parallel(b *testing.B, n int, do func(int) error) {
	b.Helper()
	work := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range work {
				if err := do(i); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	group.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// rendered are the kinds of all objects that the blueprints of the benchmarks render. The first is that of Gateways.
var rendered = []schema.GroupVersionKind{
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Version: "v1", Kind: "ConfigMap"},
}
