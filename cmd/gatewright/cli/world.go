package cli

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
)

// world is what a command works on, wherever it was read from.
type world struct {
	objects gateway.Objects
	// namespace is that of names that name none.
	namespace string
	// clusterScoped says whether a kind has no namespaces.
	clusterScoped func(schema.GroupVersionKind) bool
	// live is where live objects are found.
	live liveObjects
	// notes are what people should know of the input.
	notes []string
}

// liveObjects are where live objects are found.
type liveObjects interface {
	// ofKinds returns those of the kinds that the controller may have applied, and notes on kinds that cannot be seen.
	ofKinds(ctx context.Context, kinds []schema.GroupVersionKind) (objects []*unstructured.Unstructured, notes []string, err error)
}

// fromFiles are objects that somebody says are live.
type fromFiles []*unstructured.Unstructured

// ofKinds returns all objects: what is of no use does no harm.
func (f fromFiles) ofKinds(context.Context, []schema.GroupVersionKind) ([]*unstructured.Unstructured, []string, error) {
	return f, nil, nil
}

// dropDeleted leaves out Gateways and routes that are being deleted: nothing is rendered for them any more.
func (w *world) dropDeleted() {
	w.objects.Gateways = slices.DeleteFunc(w.objects.Gateways, deleted)
	w.objects.Routes = slices.DeleteFunc(w.objects.Routes, func(r gateway.Route) bool { return deleted(r.Object) })
}

func deleted[T metav1.Object](o T) bool { return o.GetDeletionTimestamp() != nil }

// observed hands out those live objects that may be an owner's. Which of them a template rendered is found by kind and name, so
// that labels need not be there: a file may hold what somebody expects to be live one day. Where they are, they count.
func observed(live []*unstructured.Unstructured, owner desired.Owner) desired.Observed {
	return func(template string) []*unstructured.Unstructured {
		var list []*unstructured.Unstructured
		for _, o := range live {
			labels := o.GetLabels()
			if matches(labels[v1alpha1.LabelTemplate], template) && matches(labels[v1alpha1.LabelOwnerUID], string(owner.UID)) {
				list = append(list, o)
			}
		}
		return list
	}
}

// matches says whether a label says nothing else than it should. An owner out of a file has no uid to compare with.
func matches(label, want string) bool { return label == "" || want == "" || label == want }

// keyOf is the namespace and name of an object.
func keyOf(o metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}
}
