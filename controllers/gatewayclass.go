package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/fetch"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// gatewayClassReconciler reports on GatewayClasses of ours and keeps them while Gateways use them.
type gatewayClassReconciler struct {
	*shell
}

// Reconcile reports whether a class can be used.
func (r *gatewayClassReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	class, err := r.fetch.Class(ctx, gatewayv1.ObjectName(req.Name))
	if class == nil || err != nil {
		return ctrl.Result{}, err
	}
	gateways, err := r.fetch.GatewaysOfClass(ctx, class.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if err := r.keep(ctx, class, len(gateways) > 0, gatewayv1.GatewayClassFinalizerGatewaysExist); err != nil {
		return result(err)
	}
	var blueprint *v1alpha1.GatewayClassBlueprint
	var v verdict.Verdict
	if name, ok := fetch.BlueprintOf(class); ok {
		if blueprint, err = r.fetch.Blueprint(ctx, name); err != nil {
			return ctrl.Result{}, err
		}
		if blueprint != nil {
			_, v = r.programs.get(blueprint)
		}
	}
	after := class.DeepCopy()
	policies, err := r.fetch.PoliciesIn(ctx, r.controllerNamespace)
	if err != nil {
		return ctrl.Result{}, err
	}
	bundles, err := r.fetch.GatewayAPIVersions(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	accepted := classVerdict(class, blueprint, v)
	status.Set(&after.Status.Conditions, string(gatewayv1.GatewayClassConditionStatusAccepted), accepted, class.Generation)
	status.Set(&after.Status.Conditions, string(gatewayv1.GatewayClassConditionStatusSupportedVersion),
		status.SupportedVersion(bundles), class.Generation)
	if accepted.OK {
		// While a blueprint is broken, the last good one serves, and what it supports stands.
		after.Status.SupportedFeatures = gateway.Features(blueprint, func(kind gatewayv1.Kind) bool {
			return r.optional.Serves(schema.GroupKind{Group: gatewayv1.GroupName, Kind: string(kind)})
		})
	}
	affecting := values.Compute(nil, r.policies.all(policies), values.Target{
		ControllerNamespace: r.controllerNamespace, Class: values.Object{Name: class.Name, Labels: class.Labels},
	})
	status.Affected(&after.Status.Conditions, affecting.Contributions, class.Generation)
	return result(r.update(ctx, class, after, gatewayClassConditions))
}

func gatewayClassConditions(o client.Object) []metav1.Condition {
	return o.(*gatewayv1.GatewayClass).Status.Conditions
}

// classVerdict is a class's condition Accepted (Gateway API, GatewayClassConditionStatusAccepted). blueprint is what its
// parametersRef names, or nil if there is none, and v the verdict on that.
func classVerdict(class *gatewayv1.GatewayClass, blueprint *v1alpha1.GatewayClassBlueprint, v verdict.Verdict) verdict.Verdict {
	invalid := string(gatewayv1.GatewayClassReasonInvalidParameters)
	name, err := gateway.BlueprintName(class)
	switch {
	case err != nil:
		return verdict.No(invalid, "%s", err)
	case blueprint == nil:
		return verdict.No(invalid, "there is no GatewayClassBlueprint %s; create it or mend spec.parametersRef", name)
	case !v.OK:
		return verdict.No(invalid, "GatewayClassBlueprint %s is not accepted: %s", name, v.Message)
	}
	return verdict.Yes(string(gatewayv1.GatewayClassReasonAccepted), "implemented by GatewayClassBlueprint "+name)
}
