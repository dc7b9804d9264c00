package controllers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/controllers/internal/fetch"
	"github.com/gatewright/gatewright/controllers/internal/watch"
	"github.com/gatewright/gatewright/gateway"
)

// Options are what the manager's flags say about the controllers.
type Options struct {
	// ControllerNamespace is where GatewayClassConfigs reach all Gateways of a class.
	ControllerNamespace string
	// MaxConcurrentReconciles is how many Gateways, and how many routes, are worked on at once.
	MaxConcurrentReconciles int
}

// Scheme returns a scheme with every kind that the controllers handle as a Go type.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, gatewayv1.Install, apiextensionsv1.AddToScheme, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building the scheme: %w", err)
		}
	}
	return scheme, nil
}

// Setup adds the controllers to a manager whose scheme is that of Scheme. It reads nothing from the cluster yet.
func Setup(ctx context.Context, mgr manager.Manager, o Options) error {
	for _, required := range []client.Object{&gatewayv1.GatewayClass{}, &gatewayv1.Gateway{}, &v1alpha1.Rendering{}} {
		if err := fetch.Index(ctx, mgr.GetFieldIndexer(), required); err != nil {
			return err
		}
	}
	optional, err := newOptional(mgr)
	if err != nil {
		return err
	}
	fetcher := fetch.New(optional, mgr.GetAPIReader(), o.ControllerNamespace)
	impersonating := client.Options{Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper()}
	applier := apply.New(apply.NewClients(mgr.GetClient(), mgr.GetConfig(), impersonating, fetcher), mgr.GetAPIReader())
	children, err := newChildren(mgr, applier)
	if err != nil {
		return err
	}
	s := &shell{
		client:   mgr.GetClient(),
		fetch:    fetcher,
		optional: optional,
		children: children,
		applier:  applier,
		programs: newPrograms(), policies: newPolicies(), reaches: newReaches(),
		written: newWritten(), counts: newCounts(), postponed: newPostponed(), blocked: newBlocked(),
		served:              make(chan event.GenericEvent),
		events:              mgr.GetEventRecorder("gatewright"),
		controllerNamespace: o.ControllerNamespace,
	}
	setups := []func(manager.Manager, controller.Options) error{
		s.setupKinds, s.setupGatewayClass, s.setupBlueprint, s.setupGateway, s.setupListenerSet, s.setupPolicies,
	}
	for _, empty := range optionalKinds {
		if route, isRoute := gateway.RouteOf(empty); isRoute {
			setups = append(setups, (&routeReconciler{shell: s, kind: route.Kind, empty: empty}).setup)
		}
	}
	for _, setup := range setups {
		options := controller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			RateLimiter:             newBackoff(),
		}
		if err := setup(mgr, options); err != nil {
			return err
		}
	}
	return nil
}

// newChildren makes the watcher of rendered objects, with a cache of its own that holds nothing but objects with our label.
func newChildren(mgr manager.Manager, applier *apply.Applier) (*watch.Children, error) {
	owned, err := labels.NewRequirement(v1alpha1.LabelOwnerUID, selection.Exists, nil)
	if err != nil {
		return nil, fmt.Errorf("selecting rendered objects: %w", err)
	}
	share := true
	labelled, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		DefaultLabelSelector: labels.NewSelector().Add(*owned),
		DefaultTransform:     watch.Slim,
		// Whoever reads from this cache takes care not to change what it gets.
		DefaultUnsafeDisableDeepCopy: &share,
		ReaderFailOnMissingInformer:  true,
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of rendered objects: %w", err)
	}
	if err := mgr.Add(labelled); err != nil {
		return nil, fmt.Errorf("adding the cache of rendered objects: %w", err)
	}
	return watch.NewChildren(labelled, mgr.GetAPIReader(), mgr.GetRESTMapper(), applier), nil
}

// optionalKinds are those that not every installation of Gateway API has, or not in a version that is known here.
var optionalKinds = []client.Object{
	&gatewayv1.ListenerSet{}, &gatewayv1.ReferenceGrant{},
	&gatewayv1.HTTPRoute{}, &gatewayv1.GRPCRoute{}, &gatewayv1.TLSRoute{}, &gatewayv1.TCPRoute{}, &gatewayv1.UDPRoute{},
}

func newOptional(mgr manager.Manager) (*watch.Optional, error) {
	index := func(ctx context.Context, object client.Object) error {
		return fetch.Index(ctx, mgr.GetFieldIndexer(), object)
	}
	return watch.NewOptional(mgr.GetCache(), mgr.GetAPIReader(), mgr.GetScheme(), index, optionalKinds...)
}

// specChange passes what users change, and drops what controllers report.
var specChange = predicate.Or(
	predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletionChanged,
)

var specChanged = builder.WithPredicates(specChange)

func on[T client.Object](wakes func(context.Context, T) []ctrl.Request) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
		return wakes(ctx, o.(T))
	})
}

func (s *shell) setupKinds(mgr manager.Manager, o controller.Options) error {
	ours := predicate.NewPredicateFuncs(func(crd client.Object) bool { return s.optional.Has(crd.GetName()) })
	return ctrl.NewControllerManagedBy(mgr).Named("customresourcedefinition").WithOptions(o).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, &handler.EnqueueRequestForObject{}, builder.OnlyMetadata,
			builder.WithPredicates(ours, predicate.ResourceVersionChangedPredicate{})).
		Complete(&kindsReconciler{shell: s, live: mgr.GetAPIReader()})
}

func (s *shell) setupGatewayClass(mgr manager.Manager, o controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("gatewayclass").WithOptions(o)
	for _, kind := range optionalKinds {
		// Nothing that happens to them counts. But it is waited until it is known whether they are served.
		b = b.WatchesRawSource(s.optional.Source(kind, handler.Funcs{}))
	}
	return b.For(&gatewayv1.GatewayClass{}).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.classesOfBlueprint), specChanged).
		Watches(&gatewayv1.Gateway{}, on(classOfGateway), builder.WithPredicates(existenceChanged)).
		Watches(&v1alpha1.GatewayClassConfig{}, on(s.classesOfPolicy), specChanged).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, on(s.classesOfCRD), builder.OnlyMetadata,
			builder.WithPredicates(versionChanged)).
		WatchesRawSource(source.Channel(s.served, on(s.classesOfCRD))).
		Complete(&gatewayClassReconciler{s})
}

func (s *shell) setupBlueprint(mgr manager.Manager, o controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("gatewayclassblueprint").WithOptions(o).
		For(&v1alpha1.GatewayClassBlueprint{}).
		Watches(&gatewayv1.GatewayClass{}, on(blueprintOfClass), specChanged).
		Watches(&gatewayv1.Gateway{}, on(s.blueprintOfGateway), builder.WithPredicates(existenceChanged)).
		WatchesRawSource(s.children.Source(v1alpha1.KindGatewayClassBlueprint))
	return s.watchServiceAccounts(b, itself[*v1alpha1.GatewayClassBlueprint]).Complete(&blueprintReconciler{s})
}

func (s *shell) setupGateway(mgr manager.Manager, o controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).Named("gateway").WithOptions(o).
		For(&gatewayv1.Gateway{}, builder.WithPredicates(s.written.news())).
		Owns(&v1alpha1.Rendering{}, builder.WithPredicates(s.written.news())).
		Watches(&gatewayv1.GatewayClass{}, on(s.gatewaysOfClass), specChanged).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.gatewaysOfBlueprint), builder.WithPredicates(blueprintChanged)).
		WatchesRawSource(s.optional.Source(&gatewayv1.ListenerSet{}, on(gatewayOfListenerSet), s.written.news())).
		Watches(&corev1.Namespace{}, on(s.gatewaysOfNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&v1alpha1.GatewayClassConfig{}, on(s.gatewaysOfPolicy), specChanged).
		Watches(&v1alpha1.GatewayConfig{}, on(s.gatewaysOfPolicy), specChanged).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, s.onCRD(s.gatewaysOfCRD), builder.OnlyMetadata).
		WatchesRawSource(s.optional.Source(&gatewayv1.ReferenceGrant{}, on(s.gatewaysOfGrant), specChange)).
		WatchesRawSource(s.children.Source(string(gateway.KindGateway)))
	b = s.watchCertificates(b, func(_ context.Context, gateways []ctrl.Request) []ctrl.Request { return gateways })
	b = s.watchServiceAccounts(b, s.gatewaysOfBlueprint)
	return s.watchRoutes(b, s.gatewaysOfRoute).Complete(&gatewayReconciler{s})
}

// watchCertificates has what Gateways and ListenerSets refer to wake what the Gateways wake in turn.
func (s *shell) watchCertificates(b *builder.Builder, wakes func(context.Context, []ctrl.Request) []ctrl.Request) *builder.Builder {
	return b.
		Watches(&corev1.Secret{}, on(then(s.gatewaysOfSecret, wakes)), builder.WithPredicates(certificateChanged)).
		Watches(&corev1.ConfigMap{}, on(then(s.gatewaysOfConfigMap, wakes)), builder.OnlyMetadata,
			builder.WithPredicates(predicate.ResourceVersionChangedPredicate{}))
}

// watchRoutes has routes of all kinds wake somebody.
func (s *shell) watchRoutes(b *builder.Builder, wakes func(context.Context, gateway.Route) []ctrl.Request) *builder.Builder {
	handler := on(func(ctx context.Context, object client.Object) []ctrl.Request {
		route, _ := gateway.RouteOf(object)
		return wakes(ctx, route)
	})
	for _, object := range optionalKinds {
		if _, isRoute := gateway.RouteOf(object); isRoute {
			b = b.WatchesRawSource(s.optional.Source(object, handler, specChange))
		}
	}
	return b
}

func (s *shell) setupListenerSet(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("listenerset").WithOptions(o).
		WatchesRawSource(s.optional.Source(&gatewayv1.ListenerSet{}, &handler.EnqueueRequestForObject{}, specChange)).
		Watches(&gatewayv1.Gateway{}, on(s.listenerSetsOfGateway), specChanged).
		Watches(&gatewayv1.GatewayClass{}, on(s.listenerSetsOfClass), specChanged).
		Complete(&listenerSetReconciler{s})
}

func (r *routeReconciler) setup(mgr manager.Manager, o controller.Options) error {
	b := ctrl.NewControllerManagedBy(mgr).Named(strings.ToLower(string(r.kind))).WithOptions(o).
		WatchesRawSource(r.optional.Source(r.empty, &handler.EnqueueRequestForObject{}, r.written.news())).
		Watches(&v1alpha1.Rendering{}, on(r.ofRendering), builder.WithPredicates(r.written.news())).
		Watches(&gatewayv1.Gateway{}, on(then(itself[*gatewayv1.Gateway], r.under)), specChanged).
		Watches(&gatewayv1.GatewayClass{}, on(then(r.gatewaysOfClass, r.under)), specChanged).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(then(r.gatewaysOfBlueprint, r.under)), builder.WithPredicates(blueprintChanged)).
		WatchesRawSource(r.optional.Source(&gatewayv1.ListenerSet{}, on(r.ofListenerSet), specChange)).
		Watches(&corev1.Namespace{}, on(r.ofNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&v1alpha1.GatewayClassConfig{}, on(r.ofPolicy), specChanged).
		Watches(&v1alpha1.GatewayConfig{}, on(r.ofPolicy), specChanged).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, r.onCRD(then(r.gatewaysOfCRD, r.under)), builder.OnlyMetadata).
		WatchesRawSource(r.optional.Source(&gatewayv1.ReferenceGrant{}, on(r.ofGrant), specChange)).
		Watches(&corev1.Service{}, on(r.ofService), builder.OnlyMetadata, builder.WithPredicates(comesOrGoes)).
		WatchesRawSource(r.children.Source(string(r.kind)))
	b = r.watchServiceAccounts(b, then(r.gatewaysOfBlueprint, r.under))
	return r.watchCertificates(b, r.under).Complete(r)
}

func (s *shell) setupPolicies(mgr manager.Manager, o controller.Options) error {
	for name, empty := range map[string]func() v1alpha1.Policy{
		"gatewayclassconfig": func() v1alpha1.Policy { return &v1alpha1.GatewayClassConfig{} },
		"gatewayconfig":      func() v1alpha1.Policy { return &v1alpha1.GatewayConfig{} },
	} {
		kind := empty().PolicyKind()
		around := func(ctx context.Context, gateways []ctrl.Request) []ctrl.Request {
			return s.policiesAround(ctx, kind, gateways)
		}
		b := ctrl.NewControllerManagedBy(mgr).Named(name).WithOptions(o).
			For(empty().(client.Object)).
			Watches(&gatewayv1.Gateway{}, on(s.policiesOfGateway(kind)), specChanged).
			Watches(&gatewayv1.GatewayClass{}, on(s.policiesOfClass(kind)), specChanged).
			WatchesRawSource(s.optional.Source(&gatewayv1.ListenerSet{}, on(s.policiesOfListenerSet(kind)), specChange)).
			Watches(&corev1.Namespace{}, on(s.policiesOfNamespace(kind)), builder.WithPredicates(predicate.LabelChangedPredicate{})).
			Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.policiesOfBlueprint(kind)), builder.WithPredicates(blueprintChanged)).
			Watches(&v1alpha1.GatewayClassConfig{}, on(s.policiesBeside(kind)), specChanged).
			Watches(&v1alpha1.GatewayConfig{}, on(s.policiesBeside(kind)), specChanged).
			WatchesRawSource(s.optional.Source(&gatewayv1.ReferenceGrant{}, on(then(s.gatewaysOfGrant, around)), specChange))
		b = s.watchCertificates(b, around)
		if err := s.watchRoutes(b, s.policiesOfRoute(kind)).Complete(&policyReconciler{shell: s, empty: empty}); err != nil {
			return err
		}
	}
	return nil
}

// NewManager returns a manager with all controllers, not started yet. adjust may change what concerns the process rather than the
// controllers: addresses, leader election.
func NewManager(config *rest.Config, o Options, adjust func(*ctrl.Options)) (manager.Manager, error) {
	scheme, err := Scheme()
	if err != nil {
		return nil, err
	}
	options := ctrl.Options{Scheme: scheme, Cache: fetch.CacheOptions()}
	adjust(&options)
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return mgr, Setup(context.Background(), mgr, o)
}
