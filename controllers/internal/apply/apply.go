package apply

import (
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
	client client.Client
	live   client.Reader
	recent *memory
}

// New returns an Applier that writes with c. live reads from the API server itself; it is asked only about objects that no
// watch knows of, before they are first applied.
func New(c client.Client, live client.Reader) *Applier {
	return &Applier{client: c, live: live, recent: newMemory()}
}

// Newest returns the newest state of a live object that is known: what a watch has seen, or what the last apply returned if the
// watch has not caught up with it. watched is nil if no watch has seen the object.
func (a *Applier) Newest(id desired.Identity, watched *unstructured.Unstructured) *unstructured.Unstructured {
	return a.recent.newest(id, watched)
}

// Apply brings one rendered object about for the parent with this uid and returns its live state and what was done. watched
// is the object as a watch has seen it, or nil. The error is a *ForeignError, ErrDeleting, a *watch.KindNotServedError, or what
// the API server said.
func (a *Applier) Apply(
	ctx context.Context, rendered, watched *unstructured.Unstructured, owner types.UID,
) (*unstructured.Unstructured, plan.Action, error) {
	id := desired.IdentityOf(rendered)
	if watched == nil {
		if !a.recent.claim(id) {
			return nil, plan.Refuse, &ForeignError{id}
		}
		defer a.recent.release(id)
	}
	live, err := a.lookup(ctx, id, rendered, watched)
	if err != nil {
		return nil, "", err
	}
	action := plan.For(rendered, live, owner, a.recent.fingerprint(id))
	switch action {
	case plan.Keep:
		return live, action, nil
	case plan.Refuse:
		return nil, action, &ForeignError{id}
	case plan.Wait:
		return nil, action, ErrDeleting
	case plan.Create, plan.Update:
	}
	applied := rendered.DeepCopy()
	options := []client.PatchOption{client.FieldOwner(v1alpha1.FieldManager)}
	if live != nil {
		// An object that is ours is brought back to what is rendered, whoever changed it. If it was replaced since, the uid
		// makes the API server refuse instead of writing to the newcomer.
		options = append(options, client.ForceOwnership)
		applied.SetUID(live.GetUID())
	}
	patch, err := body(applied)
	if err != nil {
		return nil, action, err
	}
	err = a.client.Patch(ctx, applied, patch, options...)
	switch {
	case live == nil && apierrors.IsConflict(err):
		// Without force, an object that came to be in between and holds other values is not written to.
		return nil, plan.Refuse, &ForeignError{id}
	case err != nil:
		return nil, action, explain(rendered, err)
	case live == nil && hasOtherManagers(applied):
		return nil, plan.Refuse, errors.Join(a.letGo(ctx, applied), &ForeignError{id})
	}
	a.recent.remember(id, applied)
	return applied, action, nil
}

// hasOtherManagers says whether somebody else has a hand in an object that an apply was to create: then it was there before.
func hasOtherManagers(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager != v1alpha1.FieldManager
	})
}

// letGo takes back what was written to somebody else's object that came to be between the look and the apply. An apply cannot be
// told to do nothing but create. Without force it has changed no field of the other's, so that taking back what is ours leaves
// the object as it was.
func (a *Applier) letGo(ctx context.Context, o *unstructured.Unstructured) error {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(o.GroupVersionKind())
	nothing.SetNamespace(o.GetNamespace())
	nothing.SetName(o.GetName())
	nothing.SetUID(o.GetUID())
	patch, err := body(nothing)
	if err != nil {
		return err
	}
	a.recent.forget(desired.IdentityOf(o))
	return explain(o, client.IgnoreNotFound(a.client.Patch(ctx, nothing, patch, client.FieldOwner(v1alpha1.FieldManager))))
}

// lookup finds the live object. Where no watch knows one it asks the API server, since a watch sees labelled objects only, and
// writing to an object that is not ours is what must never happen. It first asks for no more than whether there is one: there
// mostly is none, and the API server answers that from memory.
func (a *Applier) lookup(
	ctx context.Context, id desired.Identity, rendered, watched *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	if watched != nil {
		return a.recent.newest(id, watched), nil
	}
	if a.recent.newest(id, nil) == nil {
		found := &metav1.PartialObjectMetadata{}
		found.SetGroupVersionKind(rendered.GroupVersionKind())
		exists, err := a.exists(ctx, id, found, &client.GetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}})
		if err != nil || !exists {
			return nil, explain(rendered, err)
		}
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(rendered.GroupVersionKind())
	exists, err := a.exists(ctx, id, live)
	if err != nil || !exists {
		a.recent.forget(id)
		return nil, explain(rendered, err)
	}
	return live, nil
}

func (a *Applier) exists(ctx context.Context, id desired.Identity, into client.Object, options ...client.GetOption) (bool, error) {
	err := a.live.Get(ctx, id.NamespacedName, into, options...)
	if apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
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
