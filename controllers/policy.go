package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
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
		if apierrors.IsNotFound(err) {
			r.policies.forget(policy.PolicyKind(), req.NamespacedName)
		}
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var ancestors []status.Ancestor
	// A policy that is being deleted has a part in nothing any more.
	if object.GetDeletionTimestamp() == nil {
		var err error
		if ancestors, err = r.ancestors(ctx, policy); err != nil {
			return ctrl.Result{}, err
		}
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

// ancestors are what a policy is reported for: for a GatewayClassConfig the classes, else the Gateways and ListenerSets whose
// values, or whose routes' values, it takes part in. A target reference that takes part in nothing is reported by itself.
func (r *policyReconciler) ancestors(ctx context.Context, policy v1alpha1.Policy) ([]status.Ancestor, error) {
	parsed, v := r.policies.get(policy)
	gateways, err := r.within(ctx, policy)
	if err != nil {
		return nil, err
	}
	found := foundAncestors{policy: policy, source: parsed.Ref(), verdict: v, all: map[string]*status.Ancestor{}, matched: map[int]bool{}}
	for i := range gateways {
		in, err := r.partsIn(ctx, &gateways[i])
		if err != nil {
			return nil, err
		}
		if in != nil {
			found.add(in)
		}
	}
	var ancestors []status.Ancestor
	for i, target := range policy.PolicySpec().Targets() {
		if found.matched[i] {
			continue
		}
		accepted, err := r.unmatched(ctx, policy, target, v)
		if err != nil {
			return nil, err
		}
		ancestors = append(ancestors, status.Ancestor{Ref: targetRef(policy, target), Accepted: accepted})
	}
	for _, key := range slices.Sorted(maps.Keys(found.all)) {
		ancestors = append(ancestors, *found.all[key])
	}
	return ancestors, nil
}

// foundAncestors collects the ancestors of a policy.
type foundAncestors struct {
	policy v1alpha1.Policy
	// source is how provenance calls the policy, and verdict is that on the policy as such.
	source  string
	verdict verdict.Verdict
	all     map[string]*status.Ancestor
	// matched are the indexes of the target references that match something.
	matched map[int]bool
}

// add notes the parts that the policy has in a Gateway, or would have if its target references were accepted there.
func (f *foundAncestors) add(in *parts) {
	for _, part := range in.of[f.source] {
		if c := part.contribution; c != nil {
			ancestor := f.at(in.gateway, part.parent, c.Refs)
			ancestor.Contributions = append(ancestor.Contributions, *c)
			if part.held != "" {
				ancestor.Held = append(ancestor.Held, part.held)
			}
			continue
		}
		refused := desired.Refused(f.policy, in.blueprint, part.refusal.Refs)
		f.at(in.gateway, part.parent, part.refusal.Refs).Refused = &refused
	}
}

// at is what is reported for a parent on a path of a Gateway that target references match.
func (f *foundAncestors) at(gw *gatewayv1.Gateway, parent gateway.ParentKey, refs []int) *status.Ancestor {
	for _, ref := range refs {
		f.matched[ref] = true
	}
	ref := ancestorRef(f.policy, gw, parent)
	key := fmt.Sprintf("%s/%s/%s", *ref.Kind, parent.Namespace, ref.Name)
	if ref.Namespace == nil {
		key = fmt.Sprintf("%s/%s", *ref.Kind, ref.Name)
	}
	if f.all[key] == nil {
		f.all[key] = &status.Ancestor{Ref: ref, Accepted: f.verdict}
	}
	return f.all[key]
}

// within returns the Gateways of ours that a policy may reach.
func (r *policyReconciler) within(ctx context.Context, policy v1alpha1.Policy) ([]gatewayv1.Gateway, error) {
	var gateways []gatewayv1.Gateway
	for _, request := range r.gatewaysOfPolicy(ctx, policy.(client.Object)) {
		gw, _, err := r.fetch.ParentGateway(ctx, gateway.ParentKey{Kind: gateway.KindGateway, NamespacedName: request.NamespacedName})
		if err != nil {
			return nil, err
		}
		if gw != nil {
			gateways = append(gateways, *gw)
		}
	}
	return gateways, nil
}

// partsIn are those that policies have in a Gateway; nil while its blueprint cannot be used.
func (r *policyReconciler) partsIn(ctx context.Context, gw *gatewayv1.Gateway) (*parts, error) {
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
	return r.reaches.get(snapshot, ready, r.begun(ctx, gw), func() desired.Inputs { return r.inputs(ctx, snapshot, ready) }), nil
}

// unmatched is the verdict on a target reference that takes part in nothing.
func (r *policyReconciler) unmatched(
	ctx context.Context, policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference, v verdict.Verdict,
) (verdict.Verdict, error) {
	if !v.OK {
		return v, nil
	}
	class, err := r.fetch.Class(ctx, target.Name)
	return desired.Unmatched(policy, target, class != nil, r.controllerNamespace), err
}

func targetRef(policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference) gatewayv1.ParentReference {
	ref := gatewayv1.ParentReference{Group: &target.Group, Kind: &target.Kind, Name: target.Name}
	if target.Name == "" {
		ref.Name = gatewayv1.ObjectName(strings.ToLower(string(target.Kind)) + "-selector")
	}
	if target.Kind != kindGatewayClass && target.Kind != kindNamespace {
		namespace := gatewayv1.Namespace(policy.GetNamespace())
		ref.Namespace = &namespace
	}
	return ref
}

// ancestorRef is what a policy that has a part in a path is reported for (GEP-713, PolicyAncestorStatus). There may be many more
// Gateways of a class than the list holds, so a provider's policy is reported once for the class.
func ancestorRef(policy v1alpha1.Policy, gw *gatewayv1.Gateway, parent gateway.ParentKey) gatewayv1.ParentReference {
	group := gatewayv1.Group(gatewayv1.GroupName)
	if policy.PolicyKind() == v1alpha1.KindGatewayClassConfig {
		kind := gatewayv1.Kind(kindGatewayClass)
		return gatewayv1.ParentReference{Group: &group, Kind: &kind, Name: gw.Spec.GatewayClassName}
	}
	namespace := gatewayv1.Namespace(parent.Namespace)
	return gatewayv1.ParentReference{Group: &group, Kind: &parent.Kind, Namespace: &namespace, Name: gatewayv1.ObjectName(parent.Name)}
}
