package apply

import (
	"cmp"
	"context"
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
	client client.Client
	live   client.Reader
	recent *memory
}

// New returns an Applier that writes with c. live reads from the API server itself; it is asked only about objects that no
// watch knows of and that are in the way.
func New(c client.Client, live client.Reader) *Applier {
	return &Applier{client: c, live: live, recent: newMemory()}
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

// Apply brings one rendered object about for the parent with this uid and returns its live state and what was done. watched
// is the object as a watch has seen it, or nil. The error is a *ForeignError, ErrDeleting, a *watch.KindNotServedError, or what
// the API server said.
func (a *Applier) Apply(
	ctx context.Context, rendered, watched *unstructured.Unstructured, owner types.UID,
) (*unstructured.Unstructured, plan.Action, error) {
	id := desired.IdentityOf(rendered)
	live := a.recent.newest(id, watched)
	if watched == nil {
		var err error
		if live == nil {
			live, err = a.create(ctx, rendered)
			if !apierrors.IsConflict(err) {
				return live, plan.Create, err
			}
			// There is one, which our watch does not know: it sees labelled objects only.
		}
		if live, err = a.read(ctx, rendered); err != nil {
			return nil, "", err
		}
	}
	action := plan.For(rendered, live, owner, a.recent.fingerprint(id))
	switch action {
	case plan.Keep:
		return live, action, nil
	case plan.Refuse:
		return nil, action, &ForeignError{id}
	case plan.Wait:
		return nil, action, ErrDeleting
	case plan.Create:
		live, err := a.create(ctx, rendered)
		return live, action, err
	case plan.Update:
	}
	// An object that is ours is brought back to what is rendered, whoever changed it. If it was replaced since, the uid makes the
	// API server refuse instead of writing to the newcomer.
	applied := rendered.DeepCopy()
	applied.SetUID(live.GetUID())
	if err := a.patch(ctx, applied, client.ForceOwnership); err != nil {
		return nil, action, err
	}
	return applied, action, nil
}

// noVersion is a resource version that no object has: etcd counts from it, so that what is written first has the next.
const noVersion = "1"

// create applies an object that must not exist yet; the error is a conflict if it does. Server-side apply has no word for that, but
// it refuses to write to an object of another resource version than the one named, and it heeds none where there is no object.
func (a *Applier) create(ctx context.Context, rendered *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	applied := rendered.DeepCopy()
	applied.SetResourceVersion(noVersion)
	if err := a.patch(ctx, applied); err != nil {
		return nil, err
	}
	return applied, nil
}

// patch applies an object, which becomes what the API server made of it, and remembers it.
func (a *Applier) patch(ctx context.Context, o *unstructured.Unstructured, options ...client.PatchOption) error {
	patch, err := body(o)
	if err != nil {
		return err
	}
	id := desired.IdentityOf(o)
	if err := a.client.Patch(ctx, o, patch, append(options, client.FieldOwner(v1alpha1.FieldManager))...); err != nil {
		return explain(o, err)
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
		return nil, explain(like, err)
	}
	return live, nil
}

// Delete deletes an owned object, in the background, provided that it is still the one that was judged.
func (a *Applier) Delete(ctx context.Context, o *unstructured.Unstructured) error {
	uid := o.GetUID()
	err := a.client.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err = client.IgnoreNotFound(err); err == nil {
		a.recent.forget(desired.IdentityOf(o))
	}
	return explain(o, err)
}

func explain(o *unstructured.Unstructured, err error) error {
	switch {
	case err == nil:
		return nil
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		// A write that names what to write to is answered so only where there is no such kind.
		return &watch.KindNotServedError{GroupVersionKind: o.GroupVersionKind()}
	default:
		return &RefusedError{Identity: desired.IdentityOf(o), Cause: err}
	}
}
