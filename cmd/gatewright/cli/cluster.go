package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/tools/pager"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/intake"
)

// requestsPerSecond replaces a limit that is made for controllers, which would make a person wait.
const requestsPerSecond = 200

// cluster reads from an API server, and never writes.
type cluster struct {
	client dynamic.Interface
	mapper meta.RESTMapper
	world  *world
}

// readCluster makes a world of the cluster of the kubeconfig. It is found as kubectl finds it.
func (o *inputOptions) readCluster(ctx context.Context) (*world, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: o.kubeContext, Context: clientcmdapi.Context{Namespace: o.namespace}}
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loading.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the cluster: %w; give files with -f, or set --kubeconfig or KUBECONFIG", err)
	}
	namespace, _, err := loading.Namespace()
	if err != nil {
		return nil, fmt.Errorf("finding the namespace: %w", err)
	}
	c, err := connect(config)
	if err != nil {
		return nil, err
	}
	c.world = &world{namespace: namespace, clusterScoped: c.clusterScoped, live: c}
	for _, kind := range intake.Kinds() {
		if err := c.take(ctx, kind); err != nil {
			return nil, err
		}
	}
	return c.world, nil
}

func connect(config *rest.Config) (*cluster, error) {
	config.QPS, config.Burst = requestsPerSecond, requestsPerSecond
	// What an API server has to say of versions is for who writes objects.
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &cluster{client: client, mapper: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(kinds))}, nil
}

// take takes in all objects of a kind.
func (c *cluster) take(ctx context.Context, kind intake.Kind) error {
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Versions[0], Resource: kind.Resource}
	err := c.each(ctx, resource, metav1.ListOptions{}, func(o *unstructured.Unstructured) error {
		// An API server may know fields that are newer than we are. The controller does not see them either.
		if _, err := intake.Add(&c.world.objects, o, ""); err != nil {
			return fmt.Errorf("%s %s/%s: %w", kind.Kind, o.GetNamespace(), o.GetName(), err)
		}
		return nil
	})
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the cluster does not serve %s %s; install the CRDs of Gateway API and of Gatewright", resource.GroupVersion(), kind.Kind)
	}
	return err
}

// ofKinds returns the objects of the kinds that carry our label. Kinds that one may not read (Secrets, mostly) are left out: what
// reads them is pending then, and the rest is of use all the same.
func (c *cluster) ofKinds(
	ctx context.Context, kinds []schema.GroupVersionKind,
) (live []*unstructured.Unstructured, notes []string, err error) {
	for _, kind := range kinds {
		mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if meta.IsNoMatchError(err) {
			// There can be no object of a kind that is not served. Who waits for one says so.
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("asking the cluster for %s: %w", kind.Kind, err)
		}
		options := metav1.ListOptions{LabelSelector: v1alpha1.LabelOwnerUID}
		err = c.each(ctx, mapping.Resource, options, func(o *unstructured.Unstructured) error {
			live = append(live, o)
			return nil
		})
		switch {
		case apierrors.IsForbidden(err):
			notes = append(notes, err.Error()+"; templates that read such objects stay pending")
		case err != nil:
			return nil, nil, err
		}
	}
	return live, notes, nil
}

// each hands out the objects of a resource in all namespaces, page by page.
func (c *cluster) each(
	ctx context.Context, resource schema.GroupVersionResource, options metav1.ListOptions, visit func(*unstructured.Unstructured) error,
) error {
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		list, err := c.client.Resource(resource).List(ctx, options)
		if err != nil {
			// A typed nil would be an object to the pager.
			return nil, err
		}
		return list, nil
	})
	err := pages.EachListItem(ctx, options, func(o runtime.Object) error {
		object, ok := o.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("the cluster lists %T among %s", o, resource.Resource)
		}
		return visit(object)
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", resource.GroupResource(), err)
	}
	return nil
}

// clusterScoped asks the API server. A kind that it does not know cannot be applied anyway.
func (c *cluster) clusterScoped(kind schema.GroupVersionKind) bool {
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return err == nil && mapping.Scope.Name() == meta.RESTScopeNameRoot
}
