package controllers

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// policyReconciler reports on policies of one kind.
type policyReconciler struct {
	*shell
	// empty returns a new policy of the kind.
	empty func() v1alpha1.Policy
}

// Reconcile reports, for each ancestor, whether a policy is accepted and what became of its values.
func (r *policyReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	policy := r.empty()
	object := policy.(client.Object)
	if err := r.client.Get(ctx, req.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, nil
	}
	ancestors, err := r.ancestors(ctx, policy)
	if err != nil {
		return ctrl.Result{}, err
	}
	after := object.DeepCopyObject().(client.Object)
	s := after.(v1alpha1.Policy).PolicyStatus()
	s.Ancestors = status.Ancestors(s.Ancestors, ancestors, object.GetGeneration())
	return result(r.update(ctx, object, after, policyConditions))
}

func policyConditions(o client.Object) []metav1.Condition {
	var conditions []metav1.Condition
	for _, ancestor := range o.(v1alpha1.Policy).PolicyStatus().Ancestors {
		conditions = append(conditions, ancestor.Conditions...)
	}
	return conditions
}

// ancestors are what a policy is reported for: for a GatewayClassConfig the classes, else the Gateways that it reaches; the
// targets themselves where it reaches none.
func (r *policyReconciler) ancestors(ctx context.Context, policy v1alpha1.Policy) ([]status.Ancestor, error) {
	parsed, v := r.policies.get(policy)
	var missing []status.Ancestor
	var reached []gatewayv1.Gateway
	for _, target := range policy.PolicySpec().Targets() {
		gateways, found, err := r.reach(ctx, policy, target)
		if err != nil {
			return nil, err
		}
		reached = append(reached, gateways...)
		if v.OK && !found {
			missing = append(missing, status.Ancestor{Ref: targetRef(policy, target), Accepted: targetNotFound(policy, target)})
		} else if !v.OK || len(gateways) == 0 {
			missing = append(missing, status.Ancestor{Ref: targetRef(policy, target), Accepted: v})
		}
	}
	if !v.OK {
		return missing, nil
	}
	byRef := map[string]*status.Ancestor{}
	var refs []string
	for i := range reached {
		contribution, err := r.contribution(ctx, parsed, &reached[i])
		if err != nil {
			return nil, err
		}
		ref := ancestorRef(policy, &reached[i])
		key := string(*ref.Kind) + "/" + string(ref.Name)
		if byRef[key] == nil {
			byRef[key] = &status.Ancestor{Ref: ref, Accepted: v}
			refs = append(refs, key)
		}
		byRef[key].Contributions = append(byRef[key].Contributions, contribution...)
	}
	slices.Sort(refs)
	ancestors := missing
	for _, key := range refs {
		ancestors = append(ancestors, *byRef[key])
	}
	return ancestors, nil
}

// reach returns the Gateways that one target reference reaches, and whether what it names exists.
func (r *policyReconciler) reach(ctx context.Context, policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference) ([]gatewayv1.Gateway, bool, error) {
	name, namespace := string(target.Name), policy.GetNamespace()
	switch target.Kind {
	case "GatewayClass":
		class, err := r.fetch.Class(ctx, gatewayv1.ObjectName(name))
		if class == nil || err != nil {
			return nil, false, err
		}
		gateways, err := r.fetch.GatewaysOfClass(ctx, name)
		if namespace != r.controllerNamespace {
			gateways = slices.DeleteFunc(slices.Clone(gateways), func(gw gatewayv1.Gateway) bool { return gw.Namespace != namespace })
		}
		return gateways, true, err
	case "Namespace":
		if name != namespace {
			return nil, false, nil
		}
		gateways, err := r.fetch.GatewaysIn(ctx, namespace)
		return gateways, true, err
	case gateway.KindGateway:
		key := gateway.ParentKey{Kind: gateway.KindGateway, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
		gw, _, err := r.fetch.ParentGateway(ctx, key)
		if gw == nil || err != nil {
			return nil, false, err
		}
		return []gatewayv1.Gateway{*gw}, true, nil
	}
	return nil, false, nil
}

// contribution says what became of a policy's values for one Gateway.
func (r *policyReconciler) contribution(ctx context.Context, policy *values.Policy, gw *gatewayv1.Gateway) ([]values.Contribution, error) {
	class, err := r.fetch.Class(ctx, gw.Spec.GatewayClassName)
	if class == nil || err != nil {
		return nil, err
	}
	snapshot, err := r.fetch.Gateway(ctx, class, gw)
	if err != nil {
		return nil, err
	}
	ready, _ := r.blueprint(snapshot)
	if ready == nil {
		return nil, nil
	}
	var mine []values.Contribution
	for _, c := range desired.GatewayValues(r.inputs(snapshot, ready)).Contributions {
		if c.Source == policy.Ref() {
			mine = append(mine, c)
		}
	}
	return mine, nil
}

func targetNotFound(policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference) verdict.Verdict {
	if target.Kind == "Namespace" && string(target.Name) != policy.GetNamespace() {
		return verdict.No(v1alpha1.ReasonTargetNotFound, "a policy reaches its own namespace only; name that, or put the policy into the other")
	}
	where := "in namespace " + policy.GetNamespace()
	if target.Kind == "GatewayClass" {
		where = "of controller " + v1alpha1.ControllerName
	}
	return verdict.No(v1alpha1.ReasonTargetNotFound, "there is no %s %s %s", target.Kind, target.Name, where)
}

func targetRef(policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference) gatewayv1.ParentReference {
	ref := gatewayv1.ParentReference{Group: &target.Group, Kind: &target.Kind, Name: target.Name}
	if target.Name == "" {
		ref.Name = gatewayv1.ObjectName(strings.ToLower(string(target.Kind)) + "-selector")
	}
	if target.Kind != "GatewayClass" && target.Kind != "Namespace" {
		namespace := gatewayv1.Namespace(policy.GetNamespace())
		ref.Namespace = &namespace
	}
	return ref
}

// ancestorRef is what a policy that reaches a Gateway is reported for (GEP-713, PolicyAncestorStatus): there may be many more Gateways
// of a class than the list holds, so a provider's policy is reported once for the class.
func ancestorRef(policy v1alpha1.Policy, gw *gatewayv1.Gateway) gatewayv1.ParentReference {
	group := gatewayv1.Group(gatewayv1.GroupName)
	if policy.PolicyKind() == v1alpha1.KindGatewayClassConfig {
		kind := gatewayv1.Kind("GatewayClass")
		return gatewayv1.ParentReference{Group: &group, Kind: &kind, Name: gw.Spec.GatewayClassName}
	}
	kind, namespace := gateway.KindGateway, gatewayv1.Namespace(gw.Namespace)
	return gatewayv1.ParentReference{Group: &group, Kind: &kind, Namespace: &namespace, Name: gatewayv1.ObjectName(gw.Name)}
}
