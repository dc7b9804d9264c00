package fetch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// Reader reads from a cache that knows Go types of the kinds that it holds.
type Reader interface {
	client.Reader
	Scheme() *runtime.Scheme
}

// Fetcher reads from the cache.
type Fetcher struct {
	reader Reader
	// live asks the API server itself.
	live        client.Reader
	authorities authorities
	// ControllerNamespace is where policies reach all Gateways of a class.
	controllerNamespace string
}

// New returns a Fetcher over a cache that was told of the indexes and holds what CacheOptions say. live asks the API server itself,
// for nothing but ConfigMaps that a Gateway refers to, and for what Whole is asked for.
func New(reader Reader, live client.Reader, controllerNamespace string) *Fetcher {
	return &Fetcher{
		reader: reader, live: live, controllerNamespace: controllerNamespace,
		authorities: authorities{known: map[types.NamespacedName]judgedConfigMap{}},
	}
}

// Gateway collects everything that may be known about a Gateway of one of our classes, save for what its routes refer to: that is for
// the routes' own status, and there may be very many.
func (f *Fetcher) Gateway(ctx context.Context, class *gatewayv1.GatewayClass, gw *gatewayv1.Gateway) (gateway.Snapshot, error) {
	s, err := f.listeners(ctx, class, gw)
	if err != nil {
		return s, err
	}
	if s.Routes, err = f.routes(ctx, s); err != nil {
		return s, err
	}
	for _, route := range s.Routes {
		if err := f.namespace(ctx, &s, route.Object.GetNamespace()); err != nil {
			return s, err
		}
	}
	return s, f.policies(ctx, &s)
}

// Route collects what may be known about a Gateway as far as one route concerns it: not its other routes.
func (f *Fetcher) Route(
	ctx context.Context, class *gatewayv1.GatewayClass, gw *gatewayv1.Gateway, route gateway.Route,
) (gateway.Snapshot, error) {
	s, err := f.listeners(ctx, class, gw)
	if err != nil {
		return s, err
	}
	s.Routes = []gateway.Route{route}
	if err := f.namespace(ctx, &s, route.Object.GetNamespace()); err != nil {
		return s, err
	}
	if err := f.resolve(ctx, &s, gateway.ReferencesOfRoute(route)); err != nil {
		return s, err
	}
	return s, f.policies(ctx, &s)
}

// listeners collects the Gateway, its blueprint, its ListenerSets and their namespaces.
func (f *Fetcher) listeners(ctx context.Context, class *gatewayv1.GatewayClass, gw *gatewayv1.Gateway) (gateway.Snapshot, error) {
	s := gateway.Snapshot{
		Class: class, Gateway: gw, Namespaces: map[string]labels.Set{},
		Secrets: map[types.NamespacedName]gateway.Certificate{}, ConfigMaps: map[types.NamespacedName]gateway.Certificate{},
		Services: map[types.NamespacedName]bool{},
	}
	if name, ok := BlueprintOf(class); ok {
		blueprint, err := f.Blueprint(ctx, name)
		if err != nil {
			return s, err
		}
		s.Blueprint = blueprint
	}
	var sets gatewayv1.ListenerSetList
	if err := f.list(ctx, &sets, setsByGateway, client.ObjectKeyFromObject(gw).String()); err != nil {
		return s, err
	}
	for i := range sets.Items {
		s.ListenerSets = append(s.ListenerSets, &sets.Items[i])
		if err := f.namespace(ctx, &s, sets.Items[i].Namespace); err != nil {
			return s, err
		}
	}
	if err := f.namespace(ctx, &s, gw.Namespace); err != nil {
		return s, err
	}
	return s, f.resolve(ctx, &s, s.References())
}

// routes finds the routes of the Gateway and of its ListenerSets, each once.
func (f *Fetcher) routes(ctx context.Context, s gateway.Snapshot) ([]gateway.Route, error) {
	found, err := f.RoutesUnder(ctx, gateway.RouteKinds, client.ObjectKeyFromObject(s.Gateway))
	if err != nil {
		return nil, err
	}
	seen := map[types.UID]bool{}
	return slices.DeleteFunc(found, func(route gateway.Route) bool {
		uid := route.Object.GetUID()
		again := seen[uid]
		seen[uid] = true
		return again || route.Object.GetDeletionTimestamp() != nil
	}), nil
}

// routesWith are the routes of some kinds that options select.
func (f *Fetcher) routesWith(ctx context.Context, kinds []gatewayv1.Kind, options ...client.ListOption) ([]gateway.Route, error) {
	var routes []gateway.Route
	for _, kind := range kinds {
		empty, err := f.reader.Scheme().New(routeKind(kind + "List"))
		if err != nil {
			return nil, fmt.Errorf("reading %ss: %w", kind, err)
		}
		list := empty.(client.ObjectList)
		if err := f.reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
			return nil, fmt.Errorf("reading %ss: %w", kind, err)
		}
		err = meta.EachListItem(list, func(item runtime.Object) error {
			if route, ok := gateway.RouteOf(item.(metav1.Object)); ok {
				routes = append(routes, route)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading %ss: %w", kind, err)
		}
	}
	return routes, nil
}

// policies collects the candidates: all policies of the controller's namespace and of every namespace in the snapshot. Among them is
// what the Gateway may name as its parameters.
func (f *Fetcher) policies(ctx context.Context, s *gateway.Snapshot) error {
	namespaces := slices.Collect(maps.Keys(s.Namespaces))
	if !slices.Contains(namespaces, f.controllerNamespace) {
		namespaces = append(namespaces, f.controllerNamespace)
	}
	for _, namespace := range namespaces {
		policies, err := f.PoliciesIn(ctx, namespace)
		if err != nil {
			return err
		}
		s.Policies = append(s.Policies, policies...)
	}
	s.Configs = configs(s.Policies, s.Gateway.Namespace)
	return nil
}

// PoliciesIn returns the policies of a namespace, of both kinds.
func (f *Fetcher) PoliciesIn(ctx context.Context, namespace string) ([]v1alpha1.Policy, error) {
	var policies []v1alpha1.Policy
	var classConfigs v1alpha1.GatewayClassConfigList
	if err := f.reader.List(ctx, &classConfigs, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading GatewayClassConfigs of namespace %s: %w", namespace, err)
	}
	for i := range classConfigs.Items {
		policies = append(policies, &classConfigs.Items[i])
	}
	var configs v1alpha1.GatewayConfigList
	if err := f.reader.List(ctx, &configs, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading GatewayConfigs of namespace %s: %w", namespace, err)
	}
	for i := range configs.Items {
		policies = append(policies, &configs.Items[i])
	}
	return policies, nil
}

// Class returns the GatewayClass of that name if it is ours, else nil.
func (f *Fetcher) Class(ctx context.Context, name gatewayv1.ObjectName) (*gatewayv1.GatewayClass, error) {
	class := &gatewayv1.GatewayClass{}
	if err := f.get(ctx, types.NamespacedName{Name: string(name)}, class); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	if class.Spec.ControllerName != v1alpha1.ControllerName {
		return nil, nil
	}
	return class, nil
}

// ParentGateway returns the Gateway that a route's parent is or, if the parent is a ListenerSet, wants to be folded into,
// together with its class. Both are nil if there is no such Gateway, or none of a class of ours; the class alone is nil if it
// does not exist, so that nobody knows whose the Gateway is.
func (f *Fetcher) ParentGateway(ctx context.Context, parent gateway.ParentKey) (*gatewayv1.Gateway, *gatewayv1.GatewayClass, error) {
	key := parent.NamespacedName
	if parent.Kind == gateway.KindListenerSet {
		set, err := f.ListenerSet(ctx, key)
		if set == nil || err != nil {
			return nil, nil, err
		}
		var ok bool
		if key, ok = gateway.ParentGateway(set); !ok {
			return nil, nil, nil
		}
	}
	gw := &gatewayv1.Gateway{}
	if err := f.get(ctx, key, gw); err != nil {
		return nil, nil, client.IgnoreNotFound(err)
	}
	class, err := f.Class(ctx, gw.Spec.GatewayClassName)
	if class != nil || err != nil {
		return gw, class, err
	}
	if exists, err := f.ClassExists(ctx, gw.Spec.GatewayClassName); exists || err != nil {
		return nil, nil, err
	}
	return gw, nil, nil
}

// GatewaysOfClass returns the Gateways of a class.
func (f *Fetcher) GatewaysOfClass(ctx context.Context, class string) ([]gatewayv1.Gateway, error) {
	var list gatewayv1.GatewayList
	err := f.list(ctx, &list, gatewaysByClass, class)
	return list.Items, err
}

// ClassesOfBlueprint returns our classes that refer to a blueprint.
func (f *Fetcher) ClassesOfBlueprint(ctx context.Context, blueprint string) ([]gatewayv1.GatewayClass, error) {
	var list gatewayv1.GatewayClassList
	err := f.list(ctx, &list, classesByBlueprint, blueprint)
	return list.Items, err
}

// ListenerSetsOf returns the ListenerSets that name a Gateway as their parent.
func (f *Fetcher) ListenerSetsOf(ctx context.Context, gw types.NamespacedName) ([]gatewayv1.ListenerSet, error) {
	var list gatewayv1.ListenerSetList
	err := f.list(ctx, &list, setsByGateway, gw.String())
	return list.Items, err
}

func routeKind(kind gatewayv1.Kind) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: gatewayv1.GroupVersion.Version, Kind: string(kind)}
}

// RoutesOf returns the routes of some kinds that name a parent.
func (f *Fetcher) RoutesOf(ctx context.Context, kinds []gatewayv1.Kind, parent gateway.ParentKey) ([]gateway.Route, error) {
	return f.routesWith(ctx, kinds, client.MatchingFields{routesByParent: parentKey(parent.Kind, parent.NamespacedName)})
}

// RoutesUnder returns the routes of some kinds that name a Gateway, or a ListenerSet that names it. One that names several of them
// comes several times.
func (f *Fetcher) RoutesUnder(ctx context.Context, kinds []gatewayv1.Kind, gw types.NamespacedName) ([]gateway.Route, error) {
	routes, err := f.RoutesOf(ctx, kinds, gateway.ParentKey{Kind: gateway.KindGateway, NamespacedName: gw})
	if err != nil {
		return nil, err
	}
	// There may be very many ListenerSets, and kinds of routes that name none of them: those are not looked for at each.
	if kinds, err = f.namingSets(ctx, kinds); len(kinds) == 0 || err != nil {
		return routes, err
	}
	sets, err := f.ListenerSetsOf(ctx, gw)
	if err != nil {
		return nil, err
	}
	for i := range sets {
		key := gateway.ParentKey{Kind: gateway.KindListenerSet, NamespacedName: client.ObjectKeyFromObject(&sets[i])}
		of, err := f.RoutesOf(ctx, kinds, key)
		if err != nil {
			return nil, err
		}
		routes = append(routes, of...)
	}
	return routes, nil
}

// namingSets are those of some kinds of which there is a route that names a ListenerSet.
func (f *Fetcher) namingSets(ctx context.Context, kinds []gatewayv1.Kind) ([]gatewayv1.Kind, error) {
	var naming []gatewayv1.Kind
	for _, kind := range kinds {
		one, err := f.routesWith(ctx, []gatewayv1.Kind{kind}, client.MatchingFields{routesByParent: anyListenerSet}, client.Limit(1))
		if err != nil {
			return nil, err
		}
		if len(one) > 0 {
			naming = append(naming, kind)
		}
	}
	return naming, nil
}

// RouteNamed returns the route of a kind and name as an object, or nil.
func (f *Fetcher) RouteNamed(ctx context.Context, kind gatewayv1.Kind, key types.NamespacedName) (client.Object, error) {
	empty, err := f.reader.Scheme().New(routeKind(kind))
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, key, err)
	}
	route := empty.(client.Object)
	if err := f.get(ctx, key, route); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return route, nil
}

// ListenerSet returns the ListenerSet of that name, or nil.
func (f *Fetcher) ListenerSet(ctx context.Context, key types.NamespacedName) (*gatewayv1.ListenerSet, error) {
	set := &gatewayv1.ListenerSet{}
	if err := f.get(ctx, key, set); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return set, nil
}

func (f *Fetcher) namespace(ctx context.Context, s *gateway.Snapshot, name string) error {
	if _, known := s.Namespaces[name]; known {
		return nil
	}
	var namespace corev1.Namespace
	if err := f.get(ctx, types.NamespacedName{Name: name}, &namespace); err != nil {
		return client.IgnoreNotFound(err)
	}
	s.Namespaces[name] = namespace.Labels
	return nil
}

func (f *Fetcher) get(ctx context.Context, key types.NamespacedName, into client.Object) error {
	if err := f.reader.Get(ctx, key, into); err != nil {
		if apierrors.IsNotFound(err) {
			return err
		}
		return fmt.Errorf("reading %T %s: %w", into, key, err)
	}
	return nil
}

func (f *Fetcher) list(ctx context.Context, into client.ObjectList, index, key string) error {
	if err := f.reader.List(ctx, into, client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("reading %T by %s: %w", into, index, err)
	}
	return nil
}

// ClassExists says whether there is a GatewayClass of that name, of whatever controller.
func (f *Fetcher) ClassExists(ctx context.Context, name gatewayv1.ObjectName) (bool, error) {
	err := f.get(ctx, types.NamespacedName{Name: string(name)}, &gatewayv1.GatewayClass{})
	return err == nil, client.IgnoreNotFound(err)
}

// Blueprints returns all blueprints.
func (f *Fetcher) Blueprints(ctx context.Context) ([]v1alpha1.GatewayClassBlueprint, error) {
	var list v1alpha1.GatewayClassBlueprintList
	if err := f.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading blueprints: %w", err)
	}
	return list.Items, nil
}

// BlueprintsNaming returns the blueprints whose objects are applied as a ServiceAccount, or were.
func (f *Fetcher) BlueprintsNaming(ctx context.Context, account types.NamespacedName) ([]v1alpha1.GatewayClassBlueprint, error) {
	all, err := f.Blueprints(ctx)
	return slices.DeleteFunc(all, func(b v1alpha1.GatewayClassBlueprint) bool {
		ref := b.Spec.ServiceAccountRef
		names := ref != nil && keyOf(*ref) == account
		return !names && !slices.Contains(b.Status.ServiceAccounts, referenceTo(account))
	}), err
}

// ServiceAccount returns the metadata of a ServiceAccount, or nil if there is none.
func (f *Fetcher) ServiceAccount(ctx context.Context, name types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	account := Partial("ServiceAccount")
	if err := f.get(ctx, name, account); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return account, nil
}

// RecordedServiceAccounts returns those as which blueprints record that their objects were applied.
func (f *Fetcher) RecordedServiceAccounts(ctx context.Context) ([]types.NamespacedName, error) {
	blueprints, err := f.Blueprints(ctx)
	if err != nil {
		return nil, err
	}
	var accounts []types.NamespacedName
	for i := range blueprints {
		for _, ref := range blueprints[i].Status.ServiceAccounts {
			accounts = append(accounts, keyOf(ref))
		}
	}
	return accounts, nil
}

func keyOf(ref v1alpha1.ServiceAccountReference) types.NamespacedName {
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

func referenceTo(account types.NamespacedName) v1alpha1.ServiceAccountReference {
	return v1alpha1.ServiceAccountReference{Namespace: account.Namespace, Name: account.Name}
}

// RenderingsOf returns the reports on an owner.
func (f *Fetcher) RenderingsOf(ctx context.Context, namespace string, owner types.UID) ([]v1alpha1.Rendering, error) {
	var list v1alpha1.RenderingList
	err := f.reader.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingFields{renderingsByOwner: string(owner)}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("reading Renderings of namespace %s: %w", namespace, err)
	}
	return list.Items, nil
}

// Blueprint returns the blueprint of that name, or nil.
func (f *Fetcher) Blueprint(ctx context.Context, name string) (*v1alpha1.GatewayClassBlueprint, error) {
	blueprint := &v1alpha1.GatewayClassBlueprint{}
	if err := f.get(ctx, types.NamespacedName{Name: name}, blueprint); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return blueprint, nil
}

// GatewaysIn returns the Gateways of a namespace that are of classes of ours.
func (f *Fetcher) GatewaysIn(ctx context.Context, namespace string) ([]gatewayv1.Gateway, error) {
	var list gatewayv1.GatewayList
	if err := f.reader.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading Gateways of namespace %s: %w", namespace, err)
	}
	var ours []gatewayv1.Gateway
	for i := range list.Items {
		class, err := f.Class(ctx, list.Items[i].Spec.GatewayClassName)
		if err != nil {
			return nil, err
		}
		if class != nil {
			ours = append(ours, list.Items[i])
		}
	}
	return ours, nil
}

// ListenerSetsIn returns the ListenerSets of a namespace.
func (f *Fetcher) ListenerSetsIn(ctx context.Context, namespace string) ([]gatewayv1.ListenerSet, error) {
	var list gatewayv1.ListenerSetList
	if err := f.reader.List(ctx, &list, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading ListenerSets of namespace %s: %w", namespace, err)
	}
	return list.Items, nil
}

// RoutesIn returns the routes of some kinds in a namespace.
func (f *Fetcher) RoutesIn(ctx context.Context, kinds []gatewayv1.Kind, namespace string) ([]gateway.Route, error) {
	return f.routesWith(ctx, kinds, client.InNamespace(namespace))
}

// Classes returns the GatewayClasses of ours.
func (f *Fetcher) Classes(ctx context.Context) ([]gatewayv1.GatewayClass, error) {
	var list gatewayv1.GatewayClassList
	if err := f.reader.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading GatewayClasses: %w", err)
	}
	var ours []gatewayv1.GatewayClass
	for i := range list.Items {
		if list.Items[i].Spec.ControllerName == v1alpha1.ControllerName {
			ours = append(ours, list.Items[i])
		}
	}
	return ours, nil
}

// GatewayAPIVersions returns the versions that the CRDs of Gateway API say they are of, in their annotation bundle-version, "" for one
// that says nothing.
func (f *Fetcher) GatewayAPIVersions(ctx context.Context) ([]string, error) {
	var crds metav1.PartialObjectMetadataList
	crds.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinitionList"))
	if err := f.reader.List(ctx, &crds, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("reading CustomResourceDefinitions: %w", err)
	}
	var versions []string
	for i := range crds.Items {
		if IsGatewayAPI(&crds.Items[i]) {
			versions = append(versions, crds.Items[i].Annotations[consts.BundleVersionAnnotation])
		}
	}
	return versions, nil
}

// Whole reads an object with all that the cache leaves out.
func (f *Fetcher) Whole(ctx context.Context, key types.NamespacedName, into client.Object) error {
	if err := f.live.Get(ctx, key, into); err != nil {
		return fmt.Errorf("reading %T %s: %w", into, key, err)
	}
	return nil
}

// IsGatewayAPI says whether a CustomResourceDefinition is one of Gateway API.
func IsGatewayAPI(crd metav1.Object) bool {
	return strings.HasSuffix(crd.GetName(), "."+gatewayv1.GroupName)
}
