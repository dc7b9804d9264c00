package controllers

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
)

// gatewayReconciler implements Gateways, and reports on their ListenerSets, which it has judged in the same breath.
type gatewayReconciler struct {
	*shell
}

// Reconcile brings about what is rendered for a Gateway and reports on it, its ListenerSets and its objects.
func (r *gatewayReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	gw := &gatewayv1.Gateway{}
	if err := r.client.Get(ctx, req.NamespacedName, gw); err != nil {
		r.reaches.forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if gw.DeletionTimestamp != nil {
		return result(r.finalize(ctx, gw, desired.OwnerOf(string(gateway.KindGateway), gw)))
	}
	class, err := r.fetch.Class(ctx, gw.Spec.GatewayClassName)
	if err != nil {
		return ctrl.Result{}, err
	}
	if class == nil {
		return result(r.release(ctx, gw))
	}
	snapshot, err := r.fetch.Gateway(ctx, class, gw)
	if err != nil {
		return ctrl.Result{}, err
	}
	ready, why := r.blueprint(snapshot)
	if ready == nil {
		return result(r.waiting(ctx, gw, snapshot.ListenerSets, why))
	}
	return result(r.implement(ctx, gw, r.inputs(ctx, snapshot, ready)))
}

// implement applies what is rendered for the Gateway, and reports.
func (r *gatewayReconciler) implement(ctx context.Context, gw *gatewayv1.Gateway, in desired.Inputs) error {
	parent := desired.Gateway(in)
	kinds, err := r.kinds(ctx)
	if err != nil {
		return err
	}
	if err := r.protect(ctx, gw, in); err != nil {
		return err
	}
	done, err := r.converge(ctx, parent.Owner, []*desired.Parent{parent}, kinds, false)
	if err != nil {
		return err
	}
	if r.postpone(parent.Owner, done) {
		return errUnreported
	}
	return errors.Join(r.report(ctx, gw, in, parent, done.outcomes[0]), done.retry)
}

// release lets go of a Gateway whose class is gone or another controller's. If the class exists, it is somebody else's now, and
// what was rendered for us goes, as does what we reported; a class that is gone may come back, and what runs stays.
func (r *gatewayReconciler) release(ctx context.Context, gw *gatewayv1.Gateway) error {
	exists, err := r.fetch.ClassExists(ctx, gw.Spec.GatewayClassName)
	if !exists || err != nil {
		return err
	}
	err = r.giveUp(ctx, gw, desired.OwnerOf(string(gateway.KindGateway), gw))
	return errors.Join(err, r.disown(ctx, gw, &gatewayv1.Gateway{}, gatewayConditions))
}

// report writes the Rendering, the Gateway's status and those of its ListenerSets, each only if it changed.
func (r *gatewayReconciler) report(
	ctx context.Context, gw *gatewayv1.Gateway, in desired.Inputs, parent *desired.Parent, outcome status.Outcome,
) error {
	errs := []error{r.writeRendering(ctx, in, parent, outcome)}

	after := gw.DeepCopy()
	v := status.Values{Gateway: parent.Values, Listeners: parent.Listeners}
	status.Gateway(after, in.Merged, v, outcome)
	errs = append(errs, r.update(ctx, gw, after, gatewayConditions))
	for _, set := range in.Merged.ListenerSets {
		after := set.Object.DeepCopy()
		status.ListenerSet(after, set, v, outcome.Programmed())
		errs = append(errs, r.update(ctx, set.Object, after, listenerSetConditions))
	}
	return errors.Join(errs...)
}

func gatewayConditions(o client.Object) []metav1.Condition {
	return o.(*gatewayv1.Gateway).Status.Conditions
}

func listenerSetConditions(o client.Object) []metav1.Condition {
	return o.(*gatewayv1.ListenerSet).Status.Conditions
}

// waiting reports that a Gateway and its ListenerSets cannot be looked at yet, and leaves everything else as it is.
func (r *gatewayReconciler) waiting(
	ctx context.Context, gw *gatewayv1.Gateway, sets []*gatewayv1.ListenerSet, why verdict.Verdict,
) error {
	if why.OK {
		// Nothing is wrong; what it waits for is about to be written and wakes it.
		return nil
	}
	after := gw.DeepCopy()
	status.GatewayWaiting(after, why)
	errs := []error{r.update(ctx, gw, after, gatewayConditions)}
	for _, set := range sets {
		after := set.DeepCopy()
		status.ListenerSetWaiting(after)
		errs = append(errs, r.update(ctx, set, after, listenerSetConditions))
	}
	return errors.Join(errs...)
}
