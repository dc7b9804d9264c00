package controllers

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/fetch"
	"github.com/gatewright/gatewright/gateway"
)

// This file says what wakes whom. A mapping function is called with an object as it was and as it is, so that what is let
// go is woken as well as what is taken up. Reading from the cache fails only while the manager stops.

// deletionChanged passes the moment at which an object is marked for deletion.
var deletionChanged = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false }, DeleteFunc: func(event.DeleteEvent) bool { return false },
	GenericFunc: func(event.GenericEvent) bool { return false },
	UpdateFunc: func(e event.UpdateEvent) bool {
		return (e.ObjectOld.GetDeletionTimestamp() == nil) != (e.ObjectNew.GetDeletionTimestamp() == nil)
	},
}

// existenceChanged passes Gateways that come, go, or change their class.
var existenceChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*gatewayv1.Gateway)
	after, okAfter := e.ObjectNew.(*gatewayv1.Gateway)
	return okBefore && okAfter && before.Spec.GatewayClassName != after.Spec.GatewayClassName
}}

// blueprintChanged passes new generations of a blueprint, and the moment at which its kinds are recorded, which is what
// Gateways wait for before they apply anything of it.
var blueprintChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*v1alpha1.GatewayClassBlueprint)
	after, okAfter := e.ObjectNew.(*v1alpha1.GatewayClassBlueprint)
	return okBefore && okAfter &&
		(before.Generation != after.Generation || !equality.Semantic.DeepEqual(before.Status.Kinds, after.Status.Kinds))
}}

func requests[T any, P interface {
	*T
	client.Object
}](ctx context.Context, objects []T, err error) []ctrl.Request {
	if err != nil {
		log.FromContext(ctx).Error(err, "an event could not be mapped to the objects that it concerns")
		return nil
	}
	list := make([]ctrl.Request, 0, len(objects))
	for i := range objects {
		list = append(list, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(P(&objects[i]))})
	}
	return list
}

func request(namespace, name string) []ctrl.Request {
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

// unique drops duplicates, which the queue would drop too, but one by one and under a lock.
func unique(list []ctrl.Request) []ctrl.Request {
	seen := make(map[ctrl.Request]bool, len(list))
	return slices.DeleteFunc(list, func(r ctrl.Request) bool {
		again := seen[r]
		seen[r] = true
		return again
	})
}

// To classes and blueprints.

func (s *shell) classesOfBlueprint(ctx context.Context, b *v1alpha1.GatewayClassBlueprint) []ctrl.Request {
	classes, err := s.fetch.ClassesOfBlueprint(ctx, b.Name)
	return requests(ctx, classes, err)
}

// classesOfPolicy wakes all classes for a policy that may be attached to any of them: what a selector matches is for package values
// to say.
func (s *shell) classesOfPolicy(ctx context.Context, policy *v1alpha1.GatewayClassConfig) []ctrl.Request {
	if policy.Namespace != s.controllerNamespace {
		return nil
	}
	classes, err := s.fetch.Classes(ctx)
	return requests(ctx, classes, err)
}

func classOfGateway(_ context.Context, gw *gatewayv1.Gateway) []ctrl.Request {
	return request("", string(gw.Spec.GatewayClassName))
}

func blueprintOfClass(_ context.Context, class *gatewayv1.GatewayClass) []ctrl.Request {
	if name, ok := fetch.BlueprintOf(class); ok {
		return request("", name)
	}
	return nil
}

func (s *shell) blueprintOfGateway(ctx context.Context, gw *gatewayv1.Gateway) []ctrl.Request {
	class, err := s.fetch.Class(ctx, gw.Spec.GatewayClassName)
	if class == nil || err != nil {
		return nil
	}
	return blueprintOfClass(ctx, class)
}

// To Gateways.

func (s *shell) gatewaysOfClass(ctx context.Context, class *gatewayv1.GatewayClass) []ctrl.Request {
	gateways, err := s.fetch.GatewaysOfClass(ctx, class.Name)
	return requests(ctx, gateways, err)
}

func (s *shell) gatewaysOfBlueprint(ctx context.Context, b *v1alpha1.GatewayClassBlueprint) []ctrl.Request {
	classes, err := s.fetch.ClassesOfBlueprint(ctx, b.Name)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	var list []ctrl.Request
	for i := range classes {
		list = append(list, s.gatewaysOfClass(ctx, &classes[i])...)
	}
	return list
}

func gatewayOfListenerSet(_ context.Context, set *gatewayv1.ListenerSet) []ctrl.Request {
	if parent, ok := gateway.ParentGateway(set); ok {
		return request(parent.Namespace, parent.Name)
	}
	return nil
}

func (s *shell) gatewaysOfHTTPRoute(ctx context.Context, route *gatewayv1.HTTPRoute) []ctrl.Request {
	var list []ctrl.Request
	for _, parent := range fetch.Parents(gateway.HTTPRoute(route)) {
		gw, _, err := s.fetch.ParentGateway(ctx, parent)
		if gw != nil && err == nil {
			list = append(list, request(gw.Namespace, gw.Name)...)
		}
	}
	return unique(list)
}

// gatewaysOfNamespace wakes the Gateways for which the labels of a namespace may count: those in it, whose values a policy may
// select by them, and those that a ListenerSet or a route in it names, which may be let in by them.
func (s *shell) gatewaysOfNamespace(ctx context.Context, namespace *corev1.Namespace) []ctrl.Request {
	own, err := s.fetch.GatewaysIn(ctx, namespace.Name)
	list := requests(ctx, own, err)
	sets, err := s.fetch.ListenerSetsIn(ctx, namespace.Name)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	for i := range sets {
		list = append(list, gatewayOfListenerSet(ctx, &sets[i])...)
	}
	routes, err := s.fetch.RoutesIn(ctx, namespace.Name)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	for i := range routes {
		list = append(list, s.gatewaysOfHTTPRoute(ctx, &routes[i])...)
	}
	return unique(list)
}

// gatewaysOfPolicy wakes the Gateways whose values, or whose listeners' values, a policy may have a part in: those of its namespace
// and those that ListenerSets and routes of its namespace are attached to. A GatewayClassConfig in the controller's namespace
// reaches all Gateways of the classes that it targets.
func (s *shell) gatewaysOfPolicy(ctx context.Context, o client.Object) []ctrl.Request {
	policy, ok := o.(v1alpha1.Policy)
	if !ok {
		return nil
	}
	gateways, err := s.fetch.GatewaysIn(ctx, policy.GetNamespace())
	list := requests(ctx, gateways, err)
	switch {
	case policy.PolicyKind() == v1alpha1.KindGatewayConfig:
		namespace := &corev1.Namespace{}
		namespace.Name = policy.GetNamespace()
		list = append(list, s.gatewaysOfNamespace(ctx, namespace)...)
	case policy.GetNamespace() == s.controllerNamespace:
		for _, target := range policy.PolicySpec().Targets() {
			list = append(list, s.gatewaysOfTarget(ctx, target)...)
		}
	}
	return unique(list)
}

// gatewaysOfTarget wakes the Gateways of the classes that a target reference names or selects.
func (s *shell) gatewaysOfTarget(ctx context.Context, target v1alpha1.PolicyTargetReference) []ctrl.Request {
	switch {
	case target.Kind != kindGatewayClass:
		return nil
	case target.Selector == nil:
		gateways, err := s.fetch.GatewaysOfClass(ctx, string(target.Name))
		return requests(ctx, gateways, err)
	}
	// What a selector matches is for package values to say; a class more costs a look in vain.
	classes, err := s.fetch.Classes(ctx)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	var list []ctrl.Request
	for i := range classes {
		list = append(list, s.gatewaysOfClass(ctx, &classes[i])...)
	}
	return list
}

// gatewaysOfCRD wakes the Gateways that may render a kind when it comes to be served, or is served no more.
func (s *shell) gatewaysOfCRD(ctx context.Context, crd client.Object) []ctrl.Request {
	blueprints, err := s.fetch.Blueprints(ctx)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	group := groupOfCRD(crd)
	var list []ctrl.Request
	for i := range blueprints {
		if slices.ContainsFunc(recordedKinds(&blueprints[i]), func(kind schema.GroupVersionKind) bool { return kind.Group == group }) {
			list = append(list, s.gatewaysOfBlueprint(ctx, &blueprints[i])...)
		}
	}
	return unique(list)
}

// groupOfCRD is the end of its name, "<plural>.<group>". The kind is not part of a CRD's metadata.
func groupOfCRD(crd client.Object) string {
	_, group, _ := strings.Cut(crd.GetName(), ".")
	return group
}

// servingDelay is how long after a CRD's last change the API server serves it at the latest. There is no event for that moment.
const servingDelay = 5 * time.Second

// onCRD wakes objects when a CRD changes, and once more when it is served for certain.
func (s *shell) onCRD(wakes func(context.Context, client.Object) []ctrl.Request) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	wake := func(ctx context.Context, crd client.Object, q queue) {
		if err := s.children.Recheck(ctx, groupOfCRD(crd)); err != nil {
			log.FromContext(ctx).Error(err, "the watch on a kind that is gone could not be ended")
		}
		for _, r := range wakes(ctx, crd) {
			q.Add(r)
			q.AddAfter(r, servingDelay)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) { wake(ctx, e.ObjectNew, q) },
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) { wake(ctx, e.Object, q) },
	}
}

// To ListenerSets.

func (s *shell) listenerSetsOfGateway(ctx context.Context, gw *gatewayv1.Gateway) []ctrl.Request {
	sets, err := s.fetch.ListenerSetsOf(ctx, client.ObjectKeyFromObject(gw))
	return requests(ctx, sets, err)
}

func (s *shell) listenerSetsOfClass(ctx context.Context, class *gatewayv1.GatewayClass) []ctrl.Request {
	gateways, err := s.fetch.GatewaysOfClass(ctx, class.Name)
	if err != nil {
		return requests[gatewayv1.Gateway](ctx, nil, err)
	}
	var list []ctrl.Request
	for i := range gateways {
		list = append(list, s.listenerSetsOfGateway(ctx, &gateways[i])...)
	}
	return list
}

// To routes: whatever wakes a Gateway wakes the routes that are rendered with its values and its listeners.

func (s *shell) httpRoutesOf(ctx context.Context, gateways []ctrl.Request) []ctrl.Request {
	var list []ctrl.Request
	for _, gw := range gateways {
		routes, err := s.fetch.RoutesOf(ctx, gateway.KindGateway, gw.NamespacedName)
		list = append(list, requests(ctx, routes, err)...)
		sets, err := s.fetch.ListenerSetsOf(ctx, gw.NamespacedName)
		if err != nil {
			continue
		}
		for i := range sets {
			routes, err := s.fetch.RoutesOf(ctx, gateway.KindListenerSet, client.ObjectKeyFromObject(&sets[i]))
			list = append(list, requests(ctx, routes, err)...)
		}
	}
	return unique(list)
}

func (s *shell) httpRoutesOfGateway(ctx context.Context, gw *gatewayv1.Gateway) []ctrl.Request {
	return s.httpRoutesOf(ctx, request(gw.Namespace, gw.Name))
}

func (s *shell) httpRoutesOfClass(ctx context.Context, class *gatewayv1.GatewayClass) []ctrl.Request {
	return s.httpRoutesOf(ctx, s.gatewaysOfClass(ctx, class))
}

func (s *shell) httpRoutesOfBlueprint(ctx context.Context, b *v1alpha1.GatewayClassBlueprint) []ctrl.Request {
	return s.httpRoutesOf(ctx, s.gatewaysOfBlueprint(ctx, b))
}

// httpRoutesOfListenerSet wakes all routes of the Gateway: a set may take a hostname away from another.
func (s *shell) httpRoutesOfListenerSet(ctx context.Context, set *gatewayv1.ListenerSet) []ctrl.Request {
	own, err := s.fetch.RoutesOf(ctx, gateway.KindListenerSet, client.ObjectKeyFromObject(set))
	return unique(append(requests(ctx, own, err), s.httpRoutesOf(ctx, gatewayOfListenerSet(ctx, set))...))
}

func (s *shell) httpRoutesOfNamespace(ctx context.Context, namespace *corev1.Namespace) []ctrl.Request {
	routes, err := s.fetch.RoutesIn(ctx, namespace.Name)
	return unique(append(requests(ctx, routes, err), s.httpRoutesOf(ctx, s.gatewaysOfNamespace(ctx, namespace))...))
}

// httpRoutesOfPolicy wakes the routes of the Gateways that a policy may reach, and those beside it.
func (s *shell) httpRoutesOfPolicy(ctx context.Context, policy client.Object) []ctrl.Request {
	beside, err := s.fetch.RoutesIn(ctx, policy.GetNamespace())
	return unique(append(requests(ctx, beside, err), s.httpRoutesOf(ctx, s.gatewaysOfPolicy(ctx, policy))...))
}

func (s *shell) httpRoutesOfCRD(ctx context.Context, crd client.Object) []ctrl.Request {
	return s.httpRoutesOf(ctx, s.gatewaysOfCRD(ctx, crd))
}

// To policies: whatever may turn a target up or away, or shadow a value.

const (
	kindGatewayClass = "GatewayClass"
	kindNamespace    = "Namespace"
)

func (s *shell) policyRequests(ctx context.Context, kind, namespace string) []ctrl.Request {
	policies, err := s.fetch.PoliciesIn(ctx, namespace)
	if err != nil {
		return requests[v1alpha1.GatewayConfig](ctx, nil, err)
	}
	var list []ctrl.Request
	for _, policy := range policies {
		if policy.PolicyKind() == kind {
			list = append(list, request(policy.GetNamespace(), policy.GetName())...)
		}
	}
	return list
}

// policiesAround wakes the policies that may have a part in the values of Gateways, of their listeners or of their routes: those of
// the controller's namespace, and those beside the Gateways, their ListenerSets and all routes.
func (s *shell) policiesAround(ctx context.Context, kind string, gateways []ctrl.Request) []ctrl.Request {
	list := s.policyRequests(ctx, kind, s.controllerNamespace)
	seen := map[string]bool{s.controllerNamespace: true}
	beside := func(namespace string) {
		if !seen[namespace] {
			seen[namespace] = true
			list = append(list, s.policyRequests(ctx, kind, namespace)...)
		}
	}
	for _, gw := range gateways {
		beside(gw.Namespace)
		sets, err := s.fetch.ListenerSetsOf(ctx, gw.NamespacedName)
		for _, set := range requests(ctx, sets, err) {
			beside(set.Namespace)
		}
	}
	for _, route := range s.httpRoutesOf(ctx, gateways) {
		beside(route.Namespace)
	}
	return list
}

func (s *shell) policiesOfGateway(kind string) func(context.Context, *gatewayv1.Gateway) []ctrl.Request {
	return func(ctx context.Context, gw *gatewayv1.Gateway) []ctrl.Request {
		return s.policiesAround(ctx, kind, request(gw.Namespace, gw.Name))
	}
}

// policiesOfListenerSet wakes those around its Gateway, too: it may take a hostname away from the set of another namespace.
func (s *shell) policiesOfListenerSet(kind string) func(context.Context, *gatewayv1.ListenerSet) []ctrl.Request {
	return func(ctx context.Context, set *gatewayv1.ListenerSet) []ctrl.Request {
		list := s.policyRequests(ctx, kind, set.Namespace)
		return unique(append(list, s.policiesAround(ctx, kind, gatewayOfListenerSet(ctx, set))...))
	}
}

// policiesOfRoute wakes those around its Gateways, too: its own policies may shadow theirs.
func (s *shell) policiesOfRoute(kind string) func(context.Context, *gatewayv1.HTTPRoute) []ctrl.Request {
	return func(ctx context.Context, route *gatewayv1.HTTPRoute) []ctrl.Request {
		list := s.policyRequests(ctx, kind, route.Namespace)
		return unique(append(list, s.policiesAround(ctx, kind, s.gatewaysOfHTTPRoute(ctx, route))...))
	}
}

// policiesOfNamespace wakes those that may select a namespace, and those around the Gateways that may let it in.
func (s *shell) policiesOfNamespace(kind string) func(context.Context, *corev1.Namespace) []ctrl.Request {
	return func(ctx context.Context, namespace *corev1.Namespace) []ctrl.Request {
		list := s.policyRequests(ctx, kind, namespace.Name)
		return unique(append(list, s.policiesAround(ctx, kind, s.gatewaysOfNamespace(ctx, namespace))...))
	}
}

func (s *shell) policiesOfClass(kind string) func(context.Context, *gatewayv1.GatewayClass) []ctrl.Request {
	return func(ctx context.Context, class *gatewayv1.GatewayClass) []ctrl.Request {
		return s.policiesAround(ctx, kind, s.gatewaysOfClass(ctx, class))
	}
}

func (s *shell) policiesOfBlueprint(kind string) func(context.Context, *v1alpha1.GatewayClassBlueprint) []ctrl.Request {
	return func(ctx context.Context, b *v1alpha1.GatewayClassBlueprint) []ctrl.Request {
		classes, err := s.fetch.ClassesOfBlueprint(ctx, b.Name)
		if err != nil {
			return requests[v1alpha1.GatewayConfig](ctx, nil, err)
		}
		var list []ctrl.Request
		for i := range classes {
			list = append(list, s.policiesOfClass(kind)(ctx, &classes[i])...)
		}
		return unique(list)
	}
}

// policiesBeside wakes the policies that a changed one may shadow or lay bare.
func (s *shell) policiesBeside(kind string) func(context.Context, client.Object) []ctrl.Request {
	return func(ctx context.Context, policy client.Object) []ctrl.Request {
		list := s.policyRequests(ctx, kind, policy.GetNamespace())
		return unique(append(list, s.policiesAround(ctx, kind, s.gatewaysOfPolicy(ctx, policy))...))
	}
}
