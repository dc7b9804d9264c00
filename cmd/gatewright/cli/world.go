package cli

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	// live returns the live objects of the given kinds that the controller may have applied.
	live func(ctx context.Context, kinds []schema.GroupVersionKind) ([]*unstructured.Unstructured, error)
	// notes are what people should know of the input.
	notes []string
}

// dropDeleted leaves out Gateways and routes that are being deleted: nothing is rendered for them any more.
func (w *world) dropDeleted() {
	w.objects.Gateways = slices.DeleteFunc(w.objects.Gateways, deleted)
	w.objects.HTTPRoutes = slices.DeleteFunc(w.objects.HTTPRoutes, deleted)
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
