package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/controllers/internal/watch"
	"github.com/gatewright/gatewright/internal/desired"
)

// Applier applies and deletes rendered objects. It is safe for use by several reconciles at once, of different parents.
type Applier struct {
	clients *Clients
	live    client.Reader
	recent  *memory
	*damping
}

// New returns an Applier that writes with these clients. live reads from the API server itself; it is asked only about objects that are
// in the way and that no watch knows of, and once about those of which a watch knows too little to see that they are as rendered.
func New(clients *Clients, live client.Reader) *Applier {
	return &Applier{clients: clients, live: live, recent: newMemory(), damping: newDamping()}
}

// Unseen returns the objects that were applied for an owner and that are not among those that a watch has seen, by kind and name.
func (a *Applier) Unseen(owner types.UID, watched []*unstructured.Unstructured) []*unstructured.Unstructured {
	list := slices.DeleteFunc(a.recent.unseenOf(owner), func(o *unstructured.Unstructured) bool {
		return slices.ContainsFunc(watched, func(w *unstructured.Unstructured) bool { return w.GetUID() == o.GetUID() })
	})
	slices.SortFunc(list, func(x, y *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(x.GetKind(), y.GetKind()), cmp.Compare(x.GetName(), y.GetName()))
	})
	return list
}

// Newest returns the newest state of a live object that is known: what a watch has seen, or what the last apply returned if the
// watch has not caught up with it. watched is nil if no watch has seen the object.
func (a *Applier) Newest(id desired.Identity, watched *unstructured.Unstructured) *unstructured.Unstructured {
	return a.recent.newest(id, watched)
}

// Knows says whether a state of a live object that a watch has just seen is the one that the last apply returned.
func (a *Applier) Knows(watched *unstructured.Unstructured) bool {
	return a.recent.confirm(desired.IdentityOf(watched), watched)
}

// Gone forgets an object that a watch has seen go, unless another was applied in its place since.
func (a *Applier) Gone(watched *unstructured.Unstructured) {
	a.recent.gone(desired.IdentityOf(watched), watched.GetUID())
}

// Order is one rendered object to bring about.
type Order struct {
	Rendered *unstructured.Unstructured
	// Watched is the object as a watch has seen it, or nil.
	Watched *unstructured.Unstructured
	// Owner is the uid of the parent that it is rendered for.
	Owner types.UID
	// As is the ServiceAccount as which the object is applied; empty for the controller itself.
	As types.NamespacedName
	// Recreate says that the object may be deleted and created anew where a change is refused, since a field is immutable.
	Recreate bool
	// Inputs tells what the object is rendered from, apart from other rendered objects: as long as it stays the same, there is no
	// reason to write to the object again and again.
	Inputs func() string
}

// Apply brings one rendered object about and returns its live state and what was done. The error is a *ForeignError, ErrDeleting,
// an *ImmutableError, an *IdentityError, a *watch.KindNotServedError, or what the API server said; or a *ThrashingError, with which
// there is a live state too unless the object is deleted again and again.
func (a *Applier) Apply(ctx context.Context, o Order) (*unstructured.Unstructured, plan.Action, error) {
	id := desired.IdentityOf(o.Rendered)
	live := a.recent.newest(id, o.Watched)
	if o.Watched == nil {
		var err error
		if live == nil {
			live, err = a.create(ctx, o)
			if !apierrors.IsConflict(err) {
				return live, plan.Create, err
			}
			// There is one, which our watch does not know: it sees labelled objects only.
		}
		if live, err = a.read(ctx, o.Rendered); err != nil {
			return nil, "", err
		}
	}
	action := plan.For(o.Rendered, live, o.Owner, a.recent.fingerprint(id))
	if action == plan.Look {
		var err error
		if live, err = a.read(ctx, o.Rendered); err != nil {
			return nil, action, err
		}
		action = plan.For(o.Rendered, live, o.Owner, a.recent.fingerprint(id))
	}
	switch action {
	case plan.Keep:
		a.recent.adopt(id, live)
		return live, action, a.damping.fought(id, o.Inputs)
	case plan.Refuse:
		return nil, action, &ForeignError{id}
	case plan.Wait:
		return nil, action, ErrDeleting
	case plan.Create:
		live, err := a.create(ctx, o)
		return live, action, err
	case plan.Update, plan.Look: // what there is to see was seen
	}
	return a.update(ctx, o, live)
}

// update brings an object that is ours back to what is rendered, whoever changed it.
func (a *Applier) update(ctx context.Context, o Order, live *unstructured.Unstructured) (*unstructured.Unstructured, plan.Action, error) {
	id := desired.IdentityOf(live)
	if err := a.damping.wait(id, o.Inputs); err != nil {
		return live, plan.Keep, err
	}
	applied := o.Rendered.DeepCopy()
	// If it was replaced since, the uid makes the API server refuse instead of writing to the newcomer.
	applied.SetUID(live.GetUID())
	err := a.patch(ctx, o.As, applied, client.ForceOwnership)
	if fields := immutable(err); len(fields) > 0 {
		if !o.Recreate || !plan.Deletable(live, o.Owner) {
			return nil, plan.Update, &ImmutableError{id, fields}
		}
		if err := a.Delete(ctx, live); err != nil {
			return nil, plan.Update, err
		}
		return nil, plan.Wait, ErrDeleting
	}
	if err != nil {
		return nil, plan.Update, err
	}
	a.damping.wrote(id, o.Inputs)
	return applied, plan.Update, a.damping.fought(id, o.Inputs)
}

// noVersion is a resource version that no object has: etcd counts from it, so that what is written first has the next.
const noVersion = "1"

// create applies an object that must not exist yet; the error is a conflict if it does. Server-side apply has no word for that, but
// it refuses to write to an object of another resource version than the one named, and it heeds none where there is no object.
func (a *Applier) create(ctx context.Context, o Order) (*unstructured.Unstructured, error) {
	id := desired.IdentityOf(o.Rendered)
	if err := a.damping.wait(id, o.Inputs); err != nil {
		return nil, err
	}
	applied := o.Rendered.DeepCopy()
	applied.SetResourceVersion(noVersion)
	if err := a.patch(ctx, o.As, applied); err != nil {
		return nil, err
	}
	a.damping.wrote(id, o.Inputs)
	return applied, a.damping.fought(id, o.Inputs)
}

// patch applies an object, which becomes what the API server made of it, and remembers it.
func (a *Applier) patch(
	ctx context.Context, as types.NamespacedName, o *unstructured.Unstructured, options ...client.PatchOption,
) error {
	patch, err := body(o)
	if err != nil {
		return err
	}
	writer, err := a.clients.As(ctx, as)
	if err != nil {
		return explain(o, as, err)
	}
	id := desired.IdentityOf(o)
	if err := writer.Patch(ctx, o, patch, append(options, client.FieldOwner(v1alpha1.FieldManager))...); err != nil {
		return explain(o, as, err)
	}
	a.recent.remember(id, o)
	return nil
}

// read asks the API server itself for an object; nil if there is none.
func (a *Applier) read(ctx context.Context, like *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(like.GroupVersionKind())
	err := a.live.Get(ctx, client.ObjectKeyFromObject(like), live)
	if apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		a.recent.forget(desired.IdentityOf(like))
		return nil, nil
	}
	if err != nil {
		return nil, explain(like, types.NamespacedName{}, err)
	}
	return live, nil
}

// Delete deletes an owned object, in the background, provided that it is still the one that was judged, as whom it was applied. The
// error is an *IdentityError or what the API server said.
func (a *Applier) Delete(ctx context.Context, o *unstructured.Unstructured) error {
	writer, as, err := a.clients.Of(ctx, o)
	if err != nil {
		return explain(o, as, err)
	}
	uid := o.GetUID()
	err = writer.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err = client.IgnoreNotFound(err); err == nil {
		a.recent.forget(desired.IdentityOf(o))
	}
	return explain(o, as, err)
}

func explain(o *unstructured.Unstructured, as types.NamespacedName, err error) error {
	_, unidentified := errors.AsType[*IdentityError](err)
	switch {
	case err == nil:
		return nil
	case unidentified:
		return err
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		// A write that names what to write to is answered so only where there is no such kind.
		return &watch.KindNotServedError{GroupVersionKind: o.GroupVersionKind()}
	default:
		return &RefusedError{Identity: desired.IdentityOf(o), As: as, Cause: err}
	}
}
