package controllers

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
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

// CacheOptions say what the manager's cache is to hold of each kind.
func CacheOptions() cache.Options {
	// Nobody asks who manages which field of what users and we write, and it may be the larger part of it. An update that says
	// nothing of it changes nothing of it.
	return cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
}

// Setup adds the controllers to a manager whose scheme is that of Scheme. It reads nothing from the cluster yet.
func Setup(ctx context.Context, mgr manager.Manager, o Options) error {
	if err := fetch.Index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	// Strict: a field that a kind does not have is a mistake in a template, and must be heard of instead of being dropped.
	strict := client.WithFieldValidation(mgr.GetClient(), metav1.FieldValidationStrict)
	applier := apply.New(strict, mgr.GetAPIReader())
	children, err := newChildren(mgr, applier)
	if err != nil {
		return err
	}
	s := &shell{
		client:   mgr.GetClient(),
		fetch:    fetch.New(mgr.GetClient(), o.ControllerNamespace),
		children: children,
		applier:  applier,
		programs: newPrograms(), policies: newPolicies(), reaches: newReaches(),
		written: newWritten(), counts: newCounts(), postponed: newPostponed(),
		events:              mgr.GetEventRecorder("gatewright"),
		controllerNamespace: o.ControllerNamespace,
	}
	for _, setup := range []func(manager.Manager, controller.Options) error{
		s.setupGatewayClass, s.setupBlueprint, s.setupGateway, s.setupListenerSet, s.setupHTTPRoute, s.setupPolicies,
	} {
		options := controller.Options{
			MaxConcurrentReconciles: o.MaxConcurrentReconciles,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](minBackoff, maxBackoff),
		}
		if err := setup(mgr, options); err != nil {
			return err
		}
	}
	return nil
}

// How soon, and how late at the latest, what failed is tried again without an event.
const (
	minBackoff = 500 * time.Millisecond
	maxBackoff = 5 * time.Minute
)

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
		DefaultTransform:     watch.KeepOurFields,
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
	return watch.NewChildren(labelled, mgr.GetAPIReader(), mgr.GetRESTMapper(), applier.Knows), nil
}

// specChanged passes what users change, and drops what controllers report.
var specChanged = builder.WithPredicates(predicate.Or(
	predicate.GenerationChangedPredicate{}, predicate.LabelChangedPredicate{}, predicate.AnnotationChangedPredicate{}, deletionChanged,
))

func on[T client.Object](wakes func(context.Context, T) []ctrl.Request) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
		return wakes(ctx, o.(T))
	})
}

func (s *shell) setupGatewayClass(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("gatewayclass").WithOptions(o).
		For(&gatewayv1.GatewayClass{}).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.classesOfBlueprint), specChanged).
		Watches(&gatewayv1.Gateway{}, on(classOfGateway), builder.WithPredicates(existenceChanged)).
		Watches(&v1alpha1.GatewayClassConfig{}, on(s.classesOfPolicy), specChanged).
		Complete(&gatewayClassReconciler{s})
}

func (s *shell) setupBlueprint(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("gatewayclassblueprint").WithOptions(o).
		For(&v1alpha1.GatewayClassBlueprint{}).
		Watches(&gatewayv1.GatewayClass{}, on(blueprintOfClass), specChanged).
		Watches(&gatewayv1.Gateway{}, on(s.blueprintOfGateway), builder.WithPredicates(existenceChanged)).
		WatchesRawSource(s.children.Source(v1alpha1.KindGatewayClassBlueprint)).
		Complete(&blueprintReconciler{s})
}

func (s *shell) setupGateway(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("gateway").WithOptions(o).
		For(&gatewayv1.Gateway{}, builder.WithPredicates(s.written.news())).
		Owns(&v1alpha1.Rendering{}, builder.WithPredicates(s.written.news())).
		Watches(&gatewayv1.GatewayClass{}, on(s.gatewaysOfClass), specChanged).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.gatewaysOfBlueprint), builder.WithPredicates(blueprintChanged)).
		Watches(&gatewayv1.ListenerSet{}, on(gatewayOfListenerSet), builder.WithPredicates(s.written.news())).
		Watches(&gatewayv1.HTTPRoute{}, on(s.gatewaysOfHTTPRoute), specChanged).
		Watches(&corev1.Namespace{}, on(s.gatewaysOfNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&v1alpha1.GatewayClassConfig{}, on(s.gatewaysOfPolicy), specChanged).
		Watches(&v1alpha1.GatewayConfig{}, on(s.gatewaysOfPolicy), specChanged).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, s.onCRD(s.gatewaysOfCRD), builder.OnlyMetadata).
		WatchesRawSource(s.children.Source(string(gateway.KindGateway))).
		Complete(&gatewayReconciler{s})
}

func (s *shell) setupListenerSet(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("listenerset").WithOptions(o).
		For(&gatewayv1.ListenerSet{}, specChanged).
		Watches(&gatewayv1.Gateway{}, on(s.listenerSetsOfGateway), specChanged).
		Watches(&gatewayv1.GatewayClass{}, on(s.listenerSetsOfClass), specChanged).
		Complete(&listenerSetReconciler{s})
}

func (s *shell) setupHTTPRoute(mgr manager.Manager, o controller.Options) error {
	return ctrl.NewControllerManagedBy(mgr).Named("httproute").WithOptions(o).
		For(&gatewayv1.HTTPRoute{}, builder.WithPredicates(s.written.news())).
		Owns(&v1alpha1.Rendering{}, builder.WithPredicates(s.written.news())).
		Watches(&gatewayv1.Gateway{}, on(s.httpRoutesOfGateway), specChanged).
		Watches(&gatewayv1.GatewayClass{}, on(s.httpRoutesOfClass), specChanged).
		Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.httpRoutesOfBlueprint), builder.WithPredicates(blueprintChanged)).
		Watches(&gatewayv1.ListenerSet{}, on(s.httpRoutesOfListenerSet), specChanged).
		Watches(&corev1.Namespace{}, on(s.httpRoutesOfNamespace), builder.WithPredicates(predicate.LabelChangedPredicate{})).
		Watches(&v1alpha1.GatewayClassConfig{}, on(s.httpRoutesOfPolicy), specChanged).
		Watches(&v1alpha1.GatewayConfig{}, on(s.httpRoutesOfPolicy), specChanged).
		Watches(&apiextensionsv1.CustomResourceDefinition{}, s.onCRD(s.httpRoutesOfCRD), builder.OnlyMetadata).
		WatchesRawSource(s.children.Source(string(gateway.KindHTTPRoute))).
		Complete(&httpRouteReconciler{s})
}

func (s *shell) setupPolicies(mgr manager.Manager, o controller.Options) error {
	for name, empty := range map[string]func() v1alpha1.Policy{
		"gatewayclassconfig": func() v1alpha1.Policy { return &v1alpha1.GatewayClassConfig{} },
		"gatewayconfig":      func() v1alpha1.Policy { return &v1alpha1.GatewayConfig{} },
	} {
		kind := empty().PolicyKind()
		err := ctrl.NewControllerManagedBy(mgr).Named(name).WithOptions(o).
			For(empty().(client.Object)).
			Watches(&gatewayv1.Gateway{}, on(s.policiesOfGateway(kind)), specChanged).
			Watches(&gatewayv1.GatewayClass{}, on(s.policiesOfClass(kind)), specChanged).
			Watches(&gatewayv1.ListenerSet{}, on(s.policiesOfListenerSet(kind)), specChanged).
			Watches(&gatewayv1.HTTPRoute{}, on(s.policiesOfRoute(kind)), specChanged).
			Watches(&corev1.Namespace{}, on(s.policiesOfNamespace(kind)), builder.WithPredicates(predicate.LabelChangedPredicate{})).
			Watches(&v1alpha1.GatewayClassBlueprint{}, on(s.policiesOfBlueprint(kind)), builder.WithPredicates(blueprintChanged)).
			Watches(&v1alpha1.GatewayClassConfig{}, on(s.policiesBeside(kind)), specChanged).
			Watches(&v1alpha1.GatewayConfig{}, on(s.policiesBeside(kind)), specChanged).
			Complete(&policyReconciler{shell: s, empty: empty})
		if err != nil {
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
	options := ctrl.Options{Scheme: scheme, Cache: CacheOptions()}
	adjust(&options)
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return mgr, Setup(context.Background(), mgr, o)
}
