package controllers

import (
	"context"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// kindsReconciler takes the kinds of Gateway API up when they come to be served, and lets go of them when they are no more, as their
// CustomResourceDefinitions come and go.
type kindsReconciler struct {
	*shell
	// live asks the API server itself.
	live client.Reader
}

// servingPoll is how soon it is looked again for a kind that is about to be served, or to be served no more. There is no event for that
// moment.
const servingPoll = 500 * time.Millisecond

// Reconcile starts or ends the watch on the kind of a CustomResourceDefinition, and has the classes look again at what they support.
func (r *kindsReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	served, err := r.optional.Recheck(ctx, req.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	err = r.live.Get(ctx, req.NamespacedName, crd)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, fmt.Errorf("reading CustomResourceDefinition %s: %w", req.Name, err)
	}
	if crd.DeletionTimestamp == nil && served != slices.ContainsFunc(crd.Spec.Versions, isServed) {
		return ctrl.Result{RequeueAfter: servingPoll}, nil
	}
	select {
	case r.served <- event.GenericEvent{Object: crd}:
	case <-ctx.Done():
	}
	return ctrl.Result{}, nil
}

// isServed says whether a version of a kind is the one that is known here, and is to be served.
func isServed(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
	return v.Name == gatewayv1.GroupVersion.Version && v.Served
}
