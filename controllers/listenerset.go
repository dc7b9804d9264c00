package controllers

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// listenerSetReconciler takes back what was reported on ListenerSets whose parent is no Gateway of ours any more. As long as it
// is, the Gateway's own reconcile reports on them, since it judges them.
type listenerSetReconciler struct {
	*shell
}

// Reconcile takes back the status of a ListenerSet that has lost its Gateway.
func (r *listenerSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	set, err := r.fetch.ListenerSet(ctx, req.NamespacedName)
	if set == nil || err != nil {
		return ctrl.Result{}, err
	}
	key := gateway.ParentKey{Kind: gateway.KindListenerSet, NamespacedName: req.NamespacedName}
	gw, _, err := r.fetch.ParentGateway(ctx, key)
	if gw != nil || err != nil {
		return ctrl.Result{}, err
	}
	return result(r.disown(ctx, set, &gatewayv1.ListenerSet{}, listenerSetConditions))
}
