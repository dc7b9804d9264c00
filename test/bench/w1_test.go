package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
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

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

const (
	// workers is how many requests the plain client, and whoever creates the Gateways, has under way at once.
	workers = 16
	// patience is how long a benchmark waits for what it measures.
	patience = 5 * time.Minute
)

// rendered are the kinds of the six objects of a Gateway.
var rendered = []schema.GroupVersionKind{
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Version: "v1", Kind: "ConfigMap"},
}

const objectsPerGateway = 6

// counter counts the requests of a client, by method and resource, and remembers which objects it brought about by apply.
type counter struct {
	mu      sync.Mutex
	counts  map[string]int
	applied map[string]bool
}

func newCounter() *counter {
	return &counter{counts: map[string]int{}, applied: map[string]bool{}}
}

func (c *counter) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts, c.applied = map[string]int{}, map[string]bool{}
}

// writes is the number of mutating requests.
func (c *counter) writes() (sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, count := range c.counts {
		if !strings.HasPrefix(key, http.MethodGet) {
			sum += count
		}
	}
	return sum
}

// wrap makes a client count. Names of objects and namespaces are left out of the keys.
func (c *counter) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		key := r.Method + " " + resource(r.URL.Path)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.counts[key]++
		if r.Method == http.MethodPatch && err == nil && response.StatusCode < 300 {
			c.applied[r.URL.Path] = true
		}
		return response, err
	})
}

// await waits until this many different objects were applied. It asks the API server nothing, which has other things to do.
func (c *counter) await(b *testing.B, objects int) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		c.mu.Lock()
		found := len(c.applied)
		c.mu.Unlock()
		if found >= objects {
			return
		}
	}
	b.Fatalf("%d objects are not all there after %s", objects, patience)
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

// BenchmarkW1 measures cold convergence: from the first create of N Gateways until all 6N objects exist.
func BenchmarkW1(b *testing.B) {
	config := kube.Config(b)
	if err := kube.InstallCRDs(b.Context(), config, kube.GatewayAPICRDs(), kube.OwnCRDs()); err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{50, 100, 200} {
		b.Run(fmt.Sprintf("gateways=%d", n), func(b *testing.B) {
			for b.Loop() {
				coldConvergence(b, config, n)
			}
		})
	}
}

func coldConvergence(b *testing.B, config *rest.Config, n int) {
	c := newClient(b, config)
	name := "bench-" + kube.Namespace(b)
	count := newCounter()
	stop := startManager(b, config, count)
	defer stop()
	create(b, c, blueprint(name), class(name))
	warm := gatewayNumber(kube.Namespace(b), name, 0)
	create(b, c, warm)
	count.await(b, objectsPerGateway)
	objects := objectsIn(b, c, warm.Namespace)

	namespace := kube.Namespace(b)
	count.reset()
	started := time.Now()
	parallel(n, func(i int) error { return c.Create(b.Context(), gatewayNumber(namespace, name, i)) })
	count.await(b, n*objectsPerGateway)
	took := time.Since(started)
	b.ReportMetric(float64(count.writes())/float64(n), "writes/gateway")
	b.Logf("requests for %d Gateways: %v", n, count.counts)

	bound := plainApply(b, c, objects, n)
	b.ReportMetric(bound.Seconds(), "bound-s")
	b.ReportMetric(took.Seconds(), "s")
	b.ReportMetric(took.Seconds()/bound.Seconds(), "ratio")
}

// plainApply is the lower bound: one client that applies the same objects.
func plainApply(b *testing.B, c client.Client, objects []unstructured.Unstructured, n int) time.Duration {
	namespace := kube.Namespace(b)
	started := time.Now()
	parallel(n*len(objects), func(i int) error {
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
		err := c.Apply(b.Context(), client.ApplyConfigurationFromUnstructured(plain), client.FieldOwner("bench"))
		if err != nil {
			b.Error(err)
		}
		return err
	})
	return time.Since(started)
}

// objectsIn returns the rendered objects of a namespace.
func objectsIn(b *testing.B, c client.Client, namespace string) []unstructured.Unstructured {
	var objects []unstructured.Unstructured
	for _, gvk := range rendered {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(gvk)
		if err := c.List(b.Context(), list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil {
			b.Fatal(err)
		}
		objects = append(objects, list.Items...)
	}
	return objects
}

// startManager starts the controller in this process. It must be stopped before the next one starts.
func startManager(b *testing.B, config *rest.Config, count *counter) (stop func()) {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr), zap.Level(zapcore.WarnLevel)))
	config = rest.CopyConfig(config)
	config.Wrap(count.wrap)
	mgr, err := controllers.NewManager(config, controllers.Options{
		ControllerNamespace: v1alpha1.DefaultControllerNamespace, MaxConcurrentReconciles: 8,
	}, func(o *ctrl.Options) {
		o.Metrics = metricsserver.Options{BindAddress: "0"}
		skip := true
		o.Controller.SkipNameValidation = &skip
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

func create(b *testing.B, c client.Client, objects ...client.Object) {
	for _, o := range objects {
		if err := c.Create(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

// parallel calls do for 0 to n-1, by several workers.
func parallel(n int, do func(int) error) {
	work := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range work {
				if do(i) != nil {
					return
				}
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
}
