package plan

import (
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/desired"
)

// Action is what is to be done with one rendered object.
type Action string

// The actions on a rendered object.
const (
	// Create applies an object of which no live one is known.
	Create Action = "Create"
	// Update applies an object that is owned and differs from what is rendered.
	Update Action = "Update"
	// Keep leaves an owned object alone: it is as rendered.
	Keep Action = "Keep"
	// Refuse leaves an object alone that has the rendered name and belongs to somebody else.
	Refuse Action = "Refuse"
	// Wait leaves an owned object alone that is being deleted; it is created anew once it is gone.
	Wait Action = "Wait"
	// Look reads an owned object of which the metadata alone is known: whether it is as rendered shows in its values.
	Look Action = "Look"
)

// For says what to do with one rendered object, given the live object of the same identity, or nil if none is known, the uid
// of the parent that the object is rendered for, and the fingerprint that is remembered of the last apply, if any.
func For(rendered, live *unstructured.Unstructured, owner types.UID, remembered Fingerprint) Action {
	switch {
	case live == nil:
		return Create
	case !Owned(live, owner) && !marked(live, owner):
		return Refuse
	case live.GetDeletionTimestamp() != nil:
		return Wait
	case Unchanged(rendered, live, remembered):
		return Keep
	case unchangedIfWhole(rendered, live, remembered):
		return Look
	default:
		return Update
	}
}

// Owned says whether a live object was rendered for the parent with this uid. The label alone is enough to find an object
// and to update it; deleting asks for more, see Prune.
func Owned(live *unstructured.Unstructured, owner types.UID) bool {
	return owner != "" && live.GetLabels()[v1alpha1.LabelOwnerUID] == string(owner)
}

// marked says whether an object that lacks the parent's label was applied for it all the same: it refers to the parent, and our
// field manager applied it. Then the label was taken away by hand, and is put back. A cluster-scoped object can have no
// reference, and is not recognised without its label.
func marked(live *unstructured.Unstructured, owner types.UID) bool {
	return live.GetNamespace() != "" && refersTo(live, owner) && appliedByUs(live)
}

// Pruning is what is to become of owned objects that are no longer rendered.
type Pruning struct {
	// Delete may go now: of what is not wanted any more, what nothing else stands on.
	Delete []*unstructured.Unstructured
	// Later may go once others are gone, which stand on it.
	Later []*unstructured.Unstructured
	// Held would go, but not all of the parent is settled yet.
	Held []*unstructured.Unstructured
	// Kept are labelled as owned, but lack another mark of ownership, so that somebody else may have put the label there.
	Kept []*unstructured.Unstructured
}

// Prune is the written permit to delete. An owned object that is not among the rendered ones may be deleted if all of these hold:
//
//   - the parent is settled: every template rendered and every object is applied. A template that waits or fails yields
//     nothing, and nothing must never be taken for "not wanted";
//   - it carries the parent's uid in our label, our field manager applied it, and, where it can have one, it has an owner
//     reference to the parent. A label alone can be copied by anybody, such as by a controller that clones objects.
//
// The caller adds the last safeguard, a UID precondition on the delete.
func Prune(rendered map[desired.Identity]bool, owned []*unstructured.Unstructured, owner types.UID, settled bool) Pruning {
	var p Pruning
	var unwanted []*unstructured.Unstructured
	highest := 0
	for _, o := range owned {
		switch {
		case rendered[desired.IdentityOf(o)] || !Owned(o, owner):
		case o.GetDeletionTimestamp() != nil:
			highest = max(highest, order(o))
		case !Deletable(o, owner):
			p.Kept = append(p.Kept, o)
		case !settled:
			p.Held = append(p.Held, o)
		default:
			highest = max(highest, order(o))
			unwanted = append(unwanted, o)
		}
	}
	for _, o := range unwanted {
		if order(o) == highest {
			p.Delete = append(p.Delete, o)
		} else {
			p.Later = append(p.Later, o)
		}
	}
	return p
}

// order is how many others an object stands on, one upon the other. What somebody else has written there counts as nothing.
func order(o *unstructured.Unstructured) int {
	n, err := strconv.Atoi(o.GetAnnotations()[v1alpha1.AnnotationOrder])
	if err != nil {
		return 0
	}
	return n
}

// Deletable says whether an object bears all the marks of having been applied for the parent, see Prune.
func Deletable(o *unstructured.Unstructured, owner types.UID) bool {
	return Owned(o, owner) && appliedByUs(o) && refersTo(o, owner)
}

func appliedByUs(o *unstructured.Unstructured) bool {
	return ownFields(o) != nil
}

// refersTo says whether the object has an owner reference to the parent, or can have none: a cluster-scoped object cannot
// refer to a namespaced parent.
func refersTo(o *unstructured.Unstructured, owner types.UID) bool {
	return o.GetNamespace() == "" || slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == owner
	})
}
