package integration_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// world is one test's own part of the cluster: a namespace, and a name for what has none.
type world struct {
	*testing.T
	namespace string
	// name is that of the test's GatewayClass and blueprint. Nobody else has it.
	name string
}

// newWorld makes a world that goes with its test. If the test fails, it tells what was in it.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := newWorldOf(t, "")
	w.name = w.namespace
	return w
}

// newWorldOf makes a world whose class another world has made.
func newWorldOf(t *testing.T, name string) *world {
	t.Helper()
	w := &world{T: t, name: name}
	w.namespace = w.newNamespace(nil)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.dump())
		}
	})
	return w
}

// in hands the world to a subtest.
func (w *world) in(t *testing.T) *world {
	return &world{T: t, namespace: w.namespace, name: w.name}
}

// newNamespace makes one more namespace.
func (w *world) newNamespace(labels map[string]string) string {
	w.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	w.create(namespace)
	return namespace.Name
}

func makeSystemNamespace() error {
	return shared.client.Create(context.Background(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: systemNamespace}})
}

// create makes an object, in the world's namespace unless it says another. What no namespace of the world takes along when it
// goes is deleted when the test ends.
func (w *world) create(o client.Object) {
	w.Helper()
	namespaced := w.place(o)
	if err := shared.client.Create(w.Context(), o); err != nil {
		w.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
	if !namespaced || o.GetNamespace() == systemNamespace {
		w.Cleanup(func() {
			// The test's own context has ended by now.
			if err := shared.client.Delete(context.Background(), o); client.IgnoreNotFound(err) != nil {
				w.Errorf("removing %T %s: %v", o, o.GetName(), err)
			}
		})
	}
}

// place puts an object into the world's namespace, unless it has none or says another, and says whether it can have one.
func (w *world) place(o client.Object) (namespaced bool) {
	w.Helper()
	namespaced, err := shared.client.IsObjectNamespaced(o)
	if err != nil {
		w.Fatal(err)
	}
	if namespaced && o.GetNamespace() == "" {
		o.SetNamespace(w.namespace)
	}
	return namespaced
}

// delete deletes an object and does not wait for it to go.
func (w *world) delete(o client.Object) {
	w.Helper()
	w.place(o)
	if err := shared.client.Delete(w.Context(), o); err != nil {
		w.Fatalf("deleting %T %s: %v", o, o.GetName(), err)
	}
}

// read reads an object anew.
func read[T client.Object](w *world, o T) T {
	w.Helper()
	if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		w.Fatalf("reading %T %s: %v", o, o.GetName(), err)
	}
	return o
}

// change edits an object as it is now.
func change[T client.Object](w *world, o T, edit func(T)) {
	w.Helper()
	w.place(o)
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		edit(o)
		return shared.client.Update(w.Context(), o, client.FieldOwner("by-hand"))
	})
	if err != nil {
		w.Fatalf("changing %T %s: %v", o, o.GetName(), err)
	}
}

// settled waits until a ConfigMap is rendered for a Gateway of the same name and the Gateway is Programmed, and returns the
// ConfigMap's state.
func (w *world) settled(name string) state {
	w.Helper()
	becomes(w, "Gateway "+name+" is Programmed", programmed, w.gatewayConditions(name))
	settled, err := w.state(name)()
	if err != nil {
		w.Fatal(err)
	}
	return settled
}

// gone waits until an object is no more.
func (w *world) gone(o client.Object) {
	w.Helper()
	uid := o.GetUID()
	eventually(w, fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error {
		err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		switch {
		case apierrors.IsNotFound(err) || err == nil && o.GetUID() != uid:
			return nil
		case err != nil:
			return err
		}
		return fmt.Errorf("it is there, deletionTimestamp %v, finalizers %v", o.GetDeletionTimestamp(), o.GetFinalizers())
	})
}

// data returns the data of a ConfigMap.
func (w *world) data(name string) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		configMap := &corev1.ConfigMap{}
		err := shared.client.Get(w.Context(), w.key(name), configMap)
		return configMap.Data, err
	}
}

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

// child is a rendered object, as far as it matters whether it is still the same one.
type child struct {
	UID types.UID
	// ResourceVersion changes with every write.
	ResourceVersion string
}

// kinds that blueprints of these tests render, in any test.
var (
	configMaps      = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services        = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	shadowGateways  = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "Gateway"}
	shadowRoutes    = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "HTTPRoute"}
	networkPolicies = schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}
	priorityClasses = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
)

// children returns the rendered objects of these kinds that belong to an owner, by "Kind/name".
func (w *world) children(owner client.Object, kinds ...schema.GroupVersionKind) func() (map[string]child, error) {
	return func() (map[string]child, error) {
		found := map[string]child{}
		for _, kind := range kinds {
			list := &unstructured.UnstructuredList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			err := shared.client.List(w.Context(), list, client.MatchingLabels{v1alpha1.LabelOwnerUID: string(owner.GetUID())})
			if err != nil {
				return nil, err
			}
			for _, o := range list.Items {
				found[o.GetKind()+"/"+o.GetName()] = child{o.GetUID(), o.GetResourceVersion()}
			}
		}
		return found, nil
	}
}

// names are the keys of what children finds, sorted.
func names(children func() (map[string]child, error)) func() ([]string, error) {
	return func() ([]string, error) {
		found, err := children()
		return slices.Sorted(maps.Keys(found)), err
	}
}

// told puts conditions into "Type=Status/Reason", sorted, and marks those that speak of an older generation.
func told(conditions []metav1.Condition, generation int64) []string {
	var list []string
	for _, c := range conditions {
		text := fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason)
		if c.ObservedGeneration != generation {
			text += fmt.Sprintf(" of generation %d, not %d", c.ObservedGeneration, generation)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// dump tells what is in the world's namespace and of its name, as far as it is reported on.
func (w *world) dump() string {
	var text strings.Builder
	for _, list := range []client.ObjectList{
		&v1alpha1.GatewayClassBlueprintList{}, &gatewayv1.GatewayClassList{}, &gatewayv1.GatewayList{}, &gatewayv1.ListenerSetList{},
		&gatewayv1.HTTPRouteList{}, &v1alpha1.GatewayConfigList{}, &v1alpha1.GatewayClassConfigList{}, &v1alpha1.RenderingList{},
	} {
		if err := shared.client.List(context.Background(), list); err != nil {
			fmt.Fprintf(&text, "listing %T: %v\n", list, err)
			continue
		}
		w.dumpList(&text, list)
	}
	return text.String()
}

func (w *world) dumpList(text *strings.Builder, list client.ObjectList) {
	err := meta.EachListItem(list, func(item runtime.Object) error {
		o := item.(client.Object)
		if o.GetNamespace() != w.namespace && o.GetName() != w.name {
			return nil
		}
		o.SetManagedFields(nil)
		content, err := yaml.Marshal(o)
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "--- %T\n%s", o, content)
		return nil
	})
	if err != nil {
		fmt.Fprintf(text, "%v\n", err)
	}
}
