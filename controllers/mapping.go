package controllers

import (
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// certificateChanged passes Secrets that come, go, or are thought of otherwise than before. Most changes renew what was good.
var certificateChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*corev1.Secret)
	after, okAfter := e.ObjectNew.(*corev1.Secret)
	return okBefore && okAfter && fetch.CertificateOf(before) != fetch.CertificateOf(after)
}}

// versionChanged passes CustomResourceDefinitions of Gateway API that come, go, or say that they are of another version.
var versionChanged = predicate.And(
	predicate.NewPredicateFuncs(func(crd client.Object) bool { return fetch.IsGatewayAPI(crd) }), predicate.AnnotationChangedPredicate{},
)

// comesOrGoes passes objects of which nothing matters but that they are there.
var comesOrGoes = predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}

// blueprintChanged passes new generations of a blueprint, and the moment at which its kinds and its ServiceAccount are recorded, which is
// what Gateways wait for before they apply anything of it.
var blueprintChanged = predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
	before, okBefore := e.ObjectOld.(*v1alpha1.GatewayClassBlueprint)
	after, okAfter := e.ObjectNew.(*v1alpha1.GatewayClassBlueprint)
	return okBefore && okAfter &&
		(before.Generation != after.Generation || !equality.Semantic.DeepEqual(before.Status.Kinds, after.Status.Kinds) ||
			!equality.Semantic.DeepEqual(before.Status.ServiceAccounts, after.Status.ServiceAccounts))
}}

// each collects what every object of a list wakes. A list that could not be read wakes nobody.
func each[T any](ctx context.Context, objects []T, err error, wakes func(context.Context, *T) []ctrl.Request) []ctrl.Request {
	if err != nil {
		log.FromContext(ctx).Error(err, "an event could not be mapped to the objects that it concerns")
		return nil
	}
	list := make([]ctrl.Request, 0, len(objects))
	for i := range objects {
		list = append(list, wakes(ctx, &objects[i])...)
	}
	return list
}

// requests wake the objects of a list themselves.
func requests[T any, P interface {
	*T
	client.Object
}](ctx context.Context, objects []T, err error) []ctrl.Request {
	return each(ctx, objects, err, func(_ context.Context, o *T) []ctrl.Request { return request(P(o).GetNamespace(), P(o).GetName()) })
}

func routeRequests(ctx context.Context, routes []gateway.Route, err error) []ctrl.Request {
	return each(ctx, routes, err, func(_ context.Context, r *gateway.Route) []ctrl.Request {
		return request(r.Object.GetNamespace(), r.Object.GetName())
	})
}

func keyRequests(ctx context.Context, keys []types.NamespacedName, err error) []ctrl.Request {
	return each(ctx, keys, err, func(_ context.Context, key *types.NamespacedName) []ctrl.Request {
		return request(key.Namespace, key.Name)
	})
}

func request(namespace, name string) []ctrl.Request {
	return []ctrl.Request{{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}}
}

func itself[T client.Object](_ context.Context, o T) []ctrl.Request {
	return request(o.GetNamespace(), o.GetName())
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

// classesOfCRD wakes all classes: each says whether the version of Gateway API is supported, and what is of the kinds that there are.
func (s *shell) classesOfCRD(ctx context.Context, _ client.Object) []ctrl.Request {
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
	return each(ctx, classes, err, s.gatewaysOfClass)
}

func gatewayOfListenerSet(_ context.Context, set *gatewayv1.ListenerSet) []ctrl.Request {
	if parent, ok := gateway.ParentGateway(set); ok {
		return request(parent.Namespace, parent.Name)
	}
	return nil
}

func (s *shell) gatewaysOfRoute(ctx context.Context, route gateway.Route) []ctrl.Request {
	var list []ctrl.Request
	for _, parent := range fetch.Parents(route) {
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
	list = append(list, each(ctx, sets, err, gatewayOfListenerSet)...)
	routes, err := s.fetch.RoutesIn(ctx, gateway.RouteKinds, namespace.Name)
	list = append(list, each(ctx, routes, err, func(ctx context.Context, r *gateway.Route) []ctrl.Request {
		return s.gatewaysOfRoute(ctx, *r)
	})...)
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
	return each(ctx, classes, err, s.gatewaysOfClass)
}

// gatewaysOfSecret wakes the Gateways and, through them, the ListenerSets that name a Secret.
func (s *shell) gatewaysOfSecret(ctx context.Context, secret *corev1.Secret) []ctrl.Request {
	names, err := s.fetch.GatewaysNamingSecret(ctx, client.ObjectKeyFromObject(secret))
	return unique(keyRequests(ctx, names, err))
}

func (s *shell) gatewaysOfConfigMap(ctx context.Context, config client.Object) []ctrl.Request {
	names, err := s.fetch.GatewaysNamingConfigMap(ctx, client.ObjectKeyFromObject(config))
	return keyRequests(ctx, names, err)
}

// gatewaysOfGrant wakes the Gateways and, through them, the ListenerSets that refer into the namespace of a ReferenceGrant.
func (s *shell) gatewaysOfGrant(ctx context.Context, grant *gatewayv1.ReferenceGrant) []ctrl.Request {
	names, err := s.fetch.GatewaysNeedingGrants(ctx, grant.Namespace)
	return unique(keyRequests(ctx, names, err))
}

// gatewaysOfCRD wakes the Gateways that may render a kind when it comes to be served, or is served no more.
func (s *shell) gatewaysOfCRD(ctx context.Context, crd client.Object) []ctrl.Request {
	blueprints, err := s.fetch.Blueprints(ctx)
	group := groupOfCRD(crd)
	blueprints = slices.DeleteFunc(blueprints, func(b v1alpha1.GatewayClassBlueprint) bool {
		return !slices.ContainsFunc(recordedKinds(&b), func(kind schema.GroupVersionKind) bool { return kind.Group == group })
	})
	return unique(each(ctx, blueprints, err, s.gatewaysOfBlueprint))
}

// groupOfCRD is the end of its name, "<plural>.<group>". The kind is not part of a CRD's metadata.
func groupOfCRD(crd client.Object) string {
	_, group, _ := strings.Cut(crd.GetName(), ".")
	return group
}

// servingDelay is how long after a CRD's last change the API server serves it at the latest. There is no event for that moment.
const servingDelay = 5 * time.Second

// onCRD wakes objects when a CRD changes, and once more when it is served for certain. The queue itself cannot be told to do both: what
// waits in it already is not taken in a second time for later.
func (s *shell) onCRD(wakes func(context.Context, client.Object) []ctrl.Request) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	wake := func(ctx context.Context, crd client.Object, q queue) {
		if err := s.children.Recheck(ctx, groupOfCRD(crd)); err != nil {
			log.FromContext(ctx).Error(err, "the watch on a kind that is gone could not be ended")
		}
		woken := wakes(ctx, crd)
		add := func() {
			for _, r := range woken {
				q.Add(r)
			}
		}
		add()
		time.AfterFunc(servingDelay, add)
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) { wake(ctx, e.Object, q) },
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			// A resync is no change.
			if e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion() {
				wake(ctx, e.ObjectNew, q)
			}
		},
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
	return each(ctx, gateways, err, s.listenerSetsOfGateway)
}

// To routes: whatever wakes a Gateway wakes the routes that are rendered with its values and its listeners.

// routesUnder wakes the routes of some kinds that name one of the Gateways, or one of their ListenerSets.
func (s *shell) routesUnder(ctx context.Context, kinds []gatewayv1.Kind, gateways []ctrl.Request) []ctrl.Request {
	var list []ctrl.Request
	for _, gw := range gateways {
		routes, err := s.fetch.RoutesUnder(ctx, kinds, gw.NamespacedName)
		list = append(list, routeRequests(ctx, routes, err)...)
	}
	return unique(list)
}

// routesOfSet wakes the routes of some kinds that name a ListenerSet itself.
func (s *shell) routesOfSet(ctx context.Context, kinds []gatewayv1.Kind, set *gatewayv1.ListenerSet) []ctrl.Request {
	key := gateway.ParentKey{Kind: gateway.KindListenerSet, NamespacedName: client.ObjectKeyFromObject(set)}
	routes, err := s.fetch.RoutesOf(ctx, kinds, key)
	return routeRequests(ctx, routes, err)
}

// under wakes the routes of the reconciler's kind that name one of the Gateways, or one of their ListenerSets.
func (r *routeReconciler) under(ctx context.Context, gateways []ctrl.Request) []ctrl.Request {
	return r.routesUnder(ctx, r.routeKinds(), gateways)
}

// then wakes what is concerned by the Gateways that an event wakes.
func then[T client.Object](
	wakes func(context.Context, T) []ctrl.Request, onwards func(context.Context, []ctrl.Request) []ctrl.Request,
) func(context.Context, T) []ctrl.Request {
	return func(ctx context.Context, o T) []ctrl.Request {
		gateways := wakes(ctx, o)
		if len(gateways) == 0 {
			return nil
		}
		return onwards(ctx, gateways)
	}
}

// ofListenerSet wakes all routes of the Gateway: a set may take a hostname away from another.
func (r *routeReconciler) ofListenerSet(ctx context.Context, set *gatewayv1.ListenerSet) []ctrl.Request {
	own := r.routesOfSet(ctx, r.routeKinds(), set)
	return unique(append(own, r.under(ctx, gatewayOfListenerSet(ctx, set))...))
}

func (r *routeReconciler) ofNamespace(ctx context.Context, namespace *corev1.Namespace) []ctrl.Request {
	return unique(append(r.beside(ctx, namespace.Name), r.under(ctx, r.gatewaysOfNamespace(ctx, namespace))...))
}

// ofPolicy wakes the routes of the Gateways that a policy may reach, and those beside it.
func (r *routeReconciler) ofPolicy(ctx context.Context, policy client.Object) []ctrl.Request {
	return unique(append(r.beside(ctx, policy.GetNamespace()), r.under(ctx, r.gatewaysOfPolicy(ctx, policy))...))
}

// ofGrant wakes the routes that refer into the namespace of a ReferenceGrant, and those of Gateways that do.
func (r *routeReconciler) ofGrant(ctx context.Context, grant *gatewayv1.ReferenceGrant) []ctrl.Request {
	routes, err := r.fetch.RoutesNeedingGrants(ctx, r.routeKinds(), grant.Namespace)
	return unique(append(routeRequests(ctx, routes, err), r.under(ctx, r.gatewaysOfGrant(ctx, grant))...))
}

func (r *routeReconciler) ofService(ctx context.Context, service client.Object) []ctrl.Request {
	routes, err := r.fetch.RoutesNaming(ctx, r.routeKinds(), client.ObjectKeyFromObject(service))
	return routeRequests(ctx, routes, err)
}

func (r *routeReconciler) ofRendering(_ context.Context, rendering *v1alpha1.Rendering) []ctrl.Request {
	if owner := metav1.GetControllerOf(rendering); owner != nil && owner.Kind == string(r.kind) {
		return request(rendering.Namespace, owner.Name)
	}
	return nil
}

// beside wakes the routes of a namespace.
func (r *routeReconciler) beside(ctx context.Context, namespace string) []ctrl.Request {
	routes, err := r.fetch.RoutesIn(ctx, r.routeKinds(), namespace)
	return routeRequests(ctx, routes, err)
}

// To policies: whatever may turn a target up or away, or shadow a value.

const (
	kindGatewayClass = "GatewayClass"
	kindNamespace    = "Namespace"
)

func (s *shell) policyRequests(ctx context.Context, kind, namespace string) []ctrl.Request {
	policies, err := s.fetch.PoliciesIn(ctx, namespace)
	return each(ctx, policies, err, func(_ context.Context, policy *v1alpha1.Policy) []ctrl.Request {
		if (*policy).PolicyKind() != kind {
			return nil
		}
		return request((*policy).GetNamespace(), (*policy).GetName())
	})
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
	for _, route := range s.routesUnder(ctx, gateway.RouteKinds, gateways) {
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
func (s *shell) policiesOfRoute(kind string) func(context.Context, gateway.Route) []ctrl.Request {
	return func(ctx context.Context, route gateway.Route) []ctrl.Request {
		list := s.policyRequests(ctx, kind, route.Object.GetNamespace())
		return unique(append(list, s.policiesAround(ctx, kind, s.gatewaysOfRoute(ctx, route))...))
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
		return unique(each(ctx, classes, err, s.policiesOfClass(kind)))
	}
}

// policiesBeside wakes the policies that a changed one may shadow or lay bare.
func (s *shell) policiesBeside(kind string) func(context.Context, client.Object) []ctrl.Request {
	return func(ctx context.Context, policy client.Object) []ctrl.Request {
		list := s.policyRequests(ctx, kind, policy.GetNamespace())
		return unique(append(list, s.policiesAround(ctx, kind, s.gatewaysOfPolicy(ctx, policy))...))
	}
}
