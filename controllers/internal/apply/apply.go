package apply

import (
	"context"
	"errors"
	"fmt"

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

// ForeignError says that the name of a rendered object is taken by an object that was not rendered for this parent.
type ForeignError struct {
	desired.Identity
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s %s exists already and was not rendered for this parent; rename it in the template or remove the existing object",
		e.Kind, e.Name)
}

// ErrDeleting says that an object is being deleted and is created anew once it is gone.
var ErrDeleting = errors.New("the old object is still being deleted")

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
	// Force is right for an object that is ours, where we must win. It never meets another's object: see lookup.
	options := []client.ApplyOption{client.FieldOwner(v1alpha1.FieldManager), client.ForceOwnership}
	if live != nil {
		// If the object was replaced since, the API server refuses instead of writing to the newcomer.
		applied.SetUID(live.GetUID())
	}
	if err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), options...); err != nil {
		return nil, action, explain(rendered, err)
	}
	a.recent.remember(id, applied)
	return applied, action, nil
}

// lookup finds the live object. Where no watch knows one it asks the API server, since a watch sees labelled objects only, and
// writing to an object that is not ours is what must never happen.
func (a *Applier) lookup(
	ctx context.Context, id desired.Identity, rendered, watched *unstructured.Unstructured,
) (*unstructured.Unstructured, error) {
	if watched != nil {
		return a.recent.newest(id, watched), nil
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(rendered.GroupVersionKind())
	err := a.live.Get(ctx, id.NamespacedName, live)
	switch {
	case apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
		a.recent.forget(id)
		return nil, nil
	case err != nil:
		return nil, explain(rendered, err)
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
	case meta.IsNoMatchError(err):
		return &watch.KindNotServedError{GroupVersionKind: o.GroupVersionKind()}
	default:
		return &RefusedError{Identity: desired.IdentityOf(o), Cause: err}
	}
}

// RefusedError says that the API server did not accept a write.
type RefusedError struct {
	desired.Identity
	Cause error
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// Error names the object and the reason. It leaves out the values that the API server quotes, since they may be a tenant's
// and conditions are read by others; the fields are named.
func (e *RefusedError) Error() string {
	object := fmt.Sprintf("%s %s", e.Kind, e.Name)
	var status apierrors.APIStatus
	if !errors.As(e.Cause, &status) {
		return fmt.Sprintf("applying %s: the API server could not be reached", object)
	}
	s := status.Status()
	switch {
	case apierrors.IsForbidden(e.Cause):
		return fmt.Sprintf("the controller may not write %s: the API server says Forbidden; grant it the kind, or look for a quota or an admission policy", object)
	case s.Details != nil && len(s.Details.Causes) > 0:
		return fmt.Sprintf("the API server refuses %s: %s", object, causes(s.Details.Causes))
	default:
		return fmt.Sprintf("the API server refuses %s: %s", object, s.Reason)
	}
}

const maxCauses = 4

func causes(all []metav1.StatusCause) string {
	text := ""
	for i, cause := range all {
		if i == maxCauses {
			return text + fmt.Sprintf(" and %d more", len(all)-i)
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s: %s", cause.Field, cause.Type)
	}
	return text
}

// WorthRetrying says whether an error may go away without an event that would tell us: the API server was out of reach or busy,
// somebody wrote at the same time, a right or a quota is missing, or a foreign object is in the way. What the API server finds
// invalid stays so until an input changes.
func WorthRetrying(err error) bool {
	var foreign *ForeignError
	var refused *RefusedError
	switch {
	case errors.As(err, &foreign):
		return true
	case !errors.As(err, &refused):
		return false
	}
	return !apierrors.IsInvalid(refused.Cause) && !apierrors.IsBadRequest(refused.Cause) && !apierrors.IsNotFound(refused.Cause)
}
