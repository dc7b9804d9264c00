package watch

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

// world is a watcher on a real API server, with a namespace of its own, and the queue of the owners that it wakes.
type world struct {
	*testing.T
	*Children
	client    client.Client
	namespace string
	queue     queue
	// awake are the owners that were woken.
	awake map[string]bool
}

// patience is how long a test waits for whoever is to be woken.
const patience = time.Minute

func newWorld(t *testing.T) *world {
	t.Helper()
	config := kube.Config(t)
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	owned, err := labels.NewRequirement(v1alpha1.LabelOwnerUID, selection.Exists, nil)
	if err != nil {
		t.Fatal(err)
	}
	share := true
	labelled, err := cache.New(config, cache.Options{
		Mapper: c.RESTMapper(), DefaultLabelSelector: labels.NewSelector().Add(*owned), DefaultTransform: Slim,
		DefaultUnsafeDisableDeepCopy: &share, ReaderFailOnMissingInformer: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- labelled.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	w := &world{T: t, Children: NewChildren(labelled, c, c.RESTMapper(), nothing{}), client: c, namespace: kube.Namespace(t)}
	w.awake = map[string]bool{}
	w.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(w.queue.ShutDown)
	time.AfterFunc(patience, w.queue.ShutDown)
	if err := w.Source("Gateway").Start(ctx, w.queue); err != nil {
		t.Fatal(err)
	}
	return w
}

// nothing is a memory of an applier that has applied nothing.
type nothing struct{}

func (nothing) Knows(*unstructured.Unstructured) bool { return false }
func (nothing) Gone(*unstructured.Unstructured)       {}

// create makes an object for an owner of the same name.
func (w *world) create(o client.Object, name string) {
	w.Helper()
	o.SetNamespace(w.namespace)
	o.SetName(name)
	o.SetLabels(map[string]string{v1alpha1.LabelOwnerUID: "uid-of-" + name})
	// The control plane would collect what refers to an owner that does not exist.
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationOwner: "Gateway/" + w.namespace + "/" + name})
	if err := w.client.Create(w.Context(), o); err != nil {
		w.Fatal(err)
	}
}

// woken waits until an owner is woken that was not waited for since it was woken last.
func (w *world) woken(name string) {
	w.Helper()
	for !w.awake[name] {
		request, ended := w.queue.Get()
		if ended {
			w.Fatalf("nobody wakes %s", name)
		}
		w.queue.Done(request)
		w.awake[request.Name] = true
	}
	delete(w.awake, name)
}

// ensured starts a watch, or starts it anew, for an owner, and waits until the owner is woken and finds it complete.
func (w *world) ensured(kind Kind, owner string) {
	w.Helper()
	if err := w.Ensure(w.Context(), kind, "Gateway", w.key(owner)); !errors.Is(err, ErrSyncing) {
		w.Fatalf("a watch that starts: %v, want ErrSyncing", err)
	}
	w.woken(owner)
	if err := w.Ensure(w.Context(), kind, "Gateway", w.key(owner)); err != nil {
		w.Fatalf("a watch that has started: %v", err)
	}
}

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// seen is what there is of an object besides its metadata, as the watch has it; nil if there is no object.
func (w *world) seen(gvk schema.GroupVersionKind, name string) map[string]any {
	w.Helper()
	o, err := w.Get(w.Context(), gvk, w.key(name))
	if err != nil {
		w.Fatal(err)
	}
	owned, err := w.OwnedBy(w.Context(), types.UID("uid-of-"+name))
	if err != nil {
		w.Fatal(err)
	}
	if o == nil {
		return nil
	}
	if diff := cmp.Diff([]*unstructured.Unstructured{o}, owned); diff != "" {
		w.Errorf("what the owner owns: -want +got:\n%s", diff)
	}
	rest := o.DeepCopy().Object
	delete(rest, "metadata")
	return rest
}

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

func TestAKindIsWatchedByItsMetadataUntilSomebodyReadsMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(&corev1.ConfigMap{Data: map[string]string{"key": "value"}}, "first")
	head := map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}
	whole := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"key": "value"}}

	w.ensured(Kind{configMaps, false}, "asking")
	if diff := cmp.Diff(head, w.seen(configMaps, "first")); diff != "" {
		t.Errorf("as long as nobody reads more: -want +got:\n%s", diff)
	}
	w.create(&corev1.ConfigMap{Data: map[string]string{"key": "value"}}, "second")
	w.woken("second")

	w.ensured(Kind{configMaps, true}, "reading")
	if diff := cmp.Diff(whole, w.seen(configMaps, "first")); diff != "" {
		t.Errorf("once somebody reads it: -want +got:\n%s", diff)
	}
	if err := w.Ensure(t.Context(), Kind{configMaps, false}, "Gateway", w.key("asking")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, w.seen(configMaps, "second")); diff != "" {
		t.Errorf("it stays so for whoever needs less: -want +got:\n%s", diff)
	}
}

func TestWhatGoesWhileAWatchIsStartedAnewIsNoticed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	going := &corev1.ConfigMap{}
	w.create(going, "going")
	w.ensured(Kind{configMaps, false}, "asking")
	w.woken("going")

	// The watch on metadata may hear of it or not, as it happens.
	if err := w.client.Delete(t.Context(), going); err != nil {
		t.Fatal(err)
	}
	w.ensured(Kind{configMaps, true}, "reading")
	w.woken("going")
	if diff := cmp.Diff(map[string]any(nil), w.seen(configMaps, "going")); diff != "" {
		t.Errorf("what is gone: -want +got:\n%s", diff)
	}
}

func TestWhatIsInASecretIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(&corev1.Secret{Data: map[string][]byte{"key": []byte("value")}}, "first")
	w.ensured(Kind{secrets, true}, "reading")
	want := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque"}
	if diff := cmp.Diff(want, w.seen(secrets, "first")); diff != "" {
		t.Errorf("a Secret of which more is read than its metadata: -want +got:\n%s", diff)
	}
}
