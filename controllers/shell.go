package controllers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/controllers/internal/fetch"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/controllers/internal/watch"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
)

// shell is what the reconcilers have in common.
type shell struct {
	client   client.Client
	fetch    *fetch.Fetcher
	optional *watch.Optional
	children *watch.Children
	applier  *apply.Applier
	programs *programs
	policies *policies
	written  *written
	counts   *counts
	blocked  *blocked
	reaches  *reaches
	*postponed
	// served passes the CustomResourceDefinitions of kinds of Gateway API that came to be served, or are served no more.
	served chan event.GenericEvent
	events events.EventRecorder

	controllerNamespace string
}

const (
	// conflictDelay is how soon a write is tried again that somebody else's write got in the way of. By then the cache has it.
	conflictDelay = 50 * time.Millisecond
	// missingDelay is how soon it is looked again whether a name is still taken by a foreign object, which no watch sees go, whether a
	// kind is still not served, for the case that it came to be without a CRD that changes, or whether it is known by now as whom an
	// object may be deleted.
	missingDelay = 30 * time.Second
)

// isOvertaken says whether a write was based on what had changed since.
func isOvertaken(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || errors.Is(err, errBehind)
}

func isThrashing(err error) bool {
	_, thrashing := errors.AsType[*apply.ThrashingError](err)
	return thrashing
}

func isMissing(err error) bool {
	_, foreign := errors.AsType[*apply.ForeignError](err)
	_, notServed := errors.AsType[*watch.KindNotServedError](err)
	return foreign || notServed || isUnidentified(err)
}

// result turns an error into what the queue is to do. A conflict is daily life, not an error to log; reports wait until no other
// owner's objects do.
func result(err error) (ctrl.Result, error) {
	switch {
	case errors.Is(err, errUnreported):
		low := handler.LowPriority
		return ctrl.Result{RequeueAfter: reportDelay, Priority: &low}, nil
	case err == nil, errors.Is(err, errWoken):
		return ctrl.Result{}, nil
	case only(err, isOvertaken):
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	case only(err, isThrashing):
		thrashing, _ := errors.AsType[*apply.ThrashingError](err)
		return ctrl.Result{RequeueAfter: thrashing.After}, nil
	case only(err, isMissing):
		return ctrl.Result{RequeueAfter: missingDelay}, nil
	case only(err, apierrors.IsInvalid):
		// It stays so until something changes, which wakes whoever it is about.
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	return ctrl.Result{}, err
}

// only says whether an error is of a sort, with all that is joined in it.
func only(err error, sort func(error) bool) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(e error) bool { return !only(e, sort) })
	}
	return sort(err)
}

// blueprint returns what a Gateway is rendered from: the newest good generation of its class's blueprint. If there is none it
// returns why; a verdict in favour then means that nothing is wrong and that the Gateway will be woken.
func (s *shell) blueprint(snapshot gateway.Snapshot) (*compiled, verdict.Verdict) {
	pending := string(gatewayv1.GatewayReasonPending)
	if snapshot.Blueprint == nil {
		return nil, verdict.No(pending, "GatewayClass %s is not accepted: %s", snapshot.Class.Name, classVerdict(snapshot.Class, nil, verdict.Verdict{}).Message)
	}
	ready, v := s.programs.get(snapshot.Blueprint)
	if ready == nil {
		return nil, verdict.No(pending, "GatewayClassBlueprint %s is not accepted: %s", snapshot.Blueprint.Name, v.Message)
	}
	recorded := recordedKinds(snapshot.Blueprint)
	for _, kind := range ready.program.Kinds() {
		if !slices.Contains(recorded, kind) {
			// What may be rendered is recorded before it is applied, so that it is found again whatever happens.
			return nil, verdict.Yes(pending, "the blueprint's kinds are about to be recorded")
		}
	}
	if !recordsServiceAccount(snapshot.Blueprint, ready.program.ServiceAccount()) {
		return nil, verdict.Yes(pending, "the blueprint's ServiceAccount is about to be recorded")
	}
	return ready, v
}

func (s *shell) inputs(ctx context.Context, snapshot gateway.Snapshot, ready *compiled) desired.Inputs {
	return desired.Inputs{
		Snapshot: snapshot, Merged: gateway.Merge(snapshot),
		Program: ready.program, Blueprint: ready.values, Policies: s.policies.all(snapshot.Policies),
		BlueprintGeneration: ready.generation,
		ControllerNamespace: s.controllerNamespace,
		ClusterScoped: func(gvk schema.GroupVersionKind) bool {
			clusterScoped, err := s.children.Scope(gvk)
			return err == nil && clusterScoped
		},
		OwnClass: func(name string) bool {
			class, err := s.fetch.Class(ctx, gatewayv1.ObjectName(name))
			return err == nil && class != nil
		},
		Begun: s.begun(ctx, snapshot.Gateway),
	}
}

// begun says, when asked, whether anything that was rendered for a Gateway is there.
func (s *shell) begun(ctx context.Context, gw *gatewayv1.Gateway) func() bool {
	return func() bool {
		owned, err := s.owned(ctx, desired.OwnerOf(string(gateway.KindGateway), gw))
		return err == nil && len(owned) > 0
	}
}

// kinds are all that rendered objects may have, of any blueprint: an owner's objects may stem from a blueprint that its class
// does not refer to any more.
func (s *shell) kinds(ctx context.Context) ([]watch.Kind, error) {
	blueprints, err := s.fetch.Blueprints(ctx)
	if err != nil {
		return nil, err
	}
	var kinds []watch.Kind
	for i := range blueprints {
		for _, kind := range recordedKinds(&blueprints[i]) {
			if !slices.ContainsFunc(kinds, func(k watch.Kind) bool { return k.GroupVersionKind == kind }) {
				kinds = append(kinds, s.childKind(kind, blueprints))
			}
		}
	}
	return kinds, nil
}

// childKind says of a kind whether the bodies of rendered objects are read: for how they are, or by one of all blueprints.
func (s *shell) childKind(kind schema.GroupVersionKind, blueprints []v1alpha1.GatewayClassBlueprint) watch.Kind {
	body := status.Reports(kind)
	for i := 0; i < len(blueprints) && !body; i++ {
		ready, _ := s.programs.get(&blueprints[i])
		body = ready != nil && ready.program.ReadsBody(kind)
	}
	return watch.Kind{GroupVersionKind: kind, Body: body}
}

func recordedKinds(b *v1alpha1.GatewayClassBlueprint) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, kind := range b.Status.Kinds {
		kinds = append(kinds, schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind))
	}
	return kinds
}

// protect puts our finalizer on an owner before the first cluster-scoped object is applied for it: such an object can have no
// owner reference, so the garbage collector would never remove it. The error is errWoken if the owner is gone meanwhile: nothing may
// be applied for it any more.
func (s *shell) protect(ctx context.Context, owner client.Object, in desired.Inputs) error {
	if !in.Program.ClusterScopedPermitted() || controllerutil.ContainsFinalizer(owner, v1alpha1.FinalizerClusterScoped) {
		return nil
	}
	if err := s.patchFinalizer(ctx, owner, controllerutil.AddFinalizer, v1alpha1.FinalizerClusterScoped); err != nil {
		return err
	}
	if !controllerutil.ContainsFinalizer(owner, v1alpha1.FinalizerClusterScoped) {
		return errWoken
	}
	return nil
}

// finalize removes what the garbage collector cannot remove, and then our finalizer. It renders nothing: what is owned is
// found by its label, whatever has become of the blueprint and the policies.
func (s *shell) finalize(ctx context.Context, object client.Object, owner desired.Owner) error {
	if !controllerutil.ContainsFinalizer(object, v1alpha1.FinalizerClusterScoped) {
		return nil
	}
	return s.giveUp(ctx, object, owner)
}

// giveUp deletes everything that is owned, and takes our finalizer off once nothing is left that needs it.
func (s *shell) giveUp(ctx context.Context, object client.Object, owner desired.Owner) error {
	unseen, err := s.abandon(ctx, owner)
	if undeleted, blocked := errors.AsType[*undeletedError](err); blocked && s.blocked.isNews(owner.UID, undeleted.Identity) {
		s.events.Eventf(object, nil, "Warning", v1alpha1.ReasonDeletionBlocked, "Delete",
			"%s %s: %s", undeleted.Kind, undeleted.Name, undeleted.cause)
	}
	if err != nil || !controllerutil.ContainsFinalizer(object, v1alpha1.FinalizerClusterScoped) {
		return err
	}
	for kind, why := range unseen {
		if clusterScoped, err := s.children.Scope(kind); err != nil || !clusterScoped {
			continue
		}
		if errors.Is(why, watch.ErrSyncing) {
			return errWoken
		}
		return fmt.Errorf("the deletion of %s waits: objects of kind %s may be left, but %w", owner, kind.Kind, why)
	}
	owned, err := s.owned(ctx, owner)
	if err != nil {
		return err
	}
	for _, o := range owned {
		if o.GetNamespace() == "" {
			if s.blocked.isNews(owner.UID, desired.IdentityOf(o)) {
				s.events.Eventf(object, nil, "Normal", v1alpha1.ReasonDeletionBlocked, "Delete",
					"waits until %s %s is gone", o.GetKind(), o.GetName())
			}
			return nil
		}
	}
	if !s.children.Complete() {
		return errBehind
	}
	s.blocked.forget(owner.UID)
	return s.patchFinalizer(ctx, object, controllerutil.RemoveFinalizer, v1alpha1.FinalizerClusterScoped)
}

// abandon deletes everything that is owned and in sight. unseen are the kinds that are not; the owner is woken when they are.
func (s *shell) abandon(ctx context.Context, owner desired.Owner) (unseen kindErrors, err error) {
	kinds, err := s.kinds(ctx)
	if err != nil {
		return nil, err
	}
	done, err := s.converge(ctx, owner, nil, kinds, false)
	if err := errors.Join(err, done.retry); err != nil {
		return nil, err
	}
	return done.unseen, s.deleteRenderings(ctx, owner, nil)
}

// keep holds an object back from being deleted while it is used.
func (s *shell) keep(ctx context.Context, object client.Object, used bool, finalizer string) error {
	switch {
	case !used:
		return s.patchFinalizer(ctx, object, controllerutil.RemoveFinalizer, finalizer)
	case object.GetDeletionTimestamp() == nil:
		return s.patchFinalizer(ctx, object, controllerutil.AddFinalizer, finalizer)
	}
	return nil
}

// patchFinalizer changes the finalizers of an object, which stays as it was if it is gone.
func (s *shell) patchFinalizer(ctx context.Context, object client.Object, change func(client.Object, string) bool, finalizer string) error {
	after := object.DeepCopyObject().(client.Object)
	if !change(after, finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	err := s.client.Patch(ctx, after, patch, client.FieldOwner(v1alpha1.FieldManager))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("changing the finalizers of %s: %w", client.ObjectKeyFromObject(object), err)
	}
	object.SetResourceVersion(after.GetResourceVersion())
	object.SetFinalizers(after.GetFinalizers())
	return nil
}

// tell makes an event of each condition that turned.
func (s *shell) tell(about client.Object, before, after []metav1.Condition) {
	for _, condition := range status.Transitions(before, after) {
		eventType := "Normal"
		if condition.Status == metav1.ConditionFalse && condition.Reason != v1alpha1.ReasonPending {
			eventType = "Warning"
		}
		s.events.Eventf(about, nil, eventType, condition.Reason, "Report", "%s=%s: %s", condition.Type, condition.Status, condition.Message)
	}
}

// update writes an object's status if it differs from what was read, and makes events of what turned.
func (s *shell) update(ctx context.Context, before, after client.Object, conditions func(client.Object) []metav1.Condition) error {
	if s.written.ahead(before) {
		return errBehind
	}
	wrote, err := status.Write(ctx, s.client, before, after)
	if apierrors.IsInvalid(err) {
		// What the API server quotes may be a tenant's.
		err = fmt.Errorf("writing the status of %s: %w", client.ObjectKeyFromObject(after),
			&apply.RefusedError{Identity: desired.Identity{NamespacedName: client.ObjectKeyFromObject(after)}, Cause: err})
	}
	if wrote {
		s.written.note(after)
		s.tell(after, conditions(before), conditions(after))
	}
	return err
}
