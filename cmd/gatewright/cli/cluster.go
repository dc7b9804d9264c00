package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

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
	// unserved are the kinds that the cluster does not serve.
	unserved []string
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
	if err := c.takeAll(ctx); err != nil {
		return nil, err
	}
	return c.world, nil
}

// takeAll takes in all objects that play a part.
func (c *cluster) takeAll(ctx context.Context) error {
	for _, kind := range intake.Kinds() {
		// Of what is only of interest where somebody refers to it there may be far too much, and much that is nobody's business.
		if !byReference(kind) {
			if err := c.take(ctx, kind); err != nil {
				return err
			}
		}
	}
	c.noteUnserved()
	return c.takeReferences(ctx)
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

// take takes in all objects of a kind, in the best of its versions that is served. Services that may not be read are taken to be
// there, as everything is that is referred to and was not looked for.
func (c *cluster) take(ctx context.Context, kind intake.Kind) error {
	var err error
	for _, version := range kind.Versions {
		resource := schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: kind.Resource}
		err = c.each(ctx, resource, metav1.ListOptions{}, func(o *unstructured.Unstructured) error { return c.add(kind, o) })
		if !apierrors.IsNotFound(err) {
			break
		}
	}
	switch {
	case err == nil:
		c.complete(kind)
		return nil
	case apierrors.IsNotFound(err) && essential(kind):
		return fmt.Errorf("the cluster does not serve %s %s; install the CRDs of Gateway API and of Gatewright",
			schema.GroupVersion{Group: kind.Group, Version: kind.Versions[0]}, kind.Kind)
	case apierrors.IsNotFound(err):
		c.unserved = append(c.unserved, kind.Kind)
		return nil
	case apierrors.IsForbidden(err) && !essential(kind):
		c.note("%v; what follows is without them", err)
		return nil
	}
	return err
}

// noteUnserved says which kinds were not read since the cluster does not serve them in the versions that are known here.
func (c *cluster) noteUnserved() {
	if len(c.unserved) > 0 {
		c.note("the cluster does not serve %s, or only in other versions; what follows is without them", strings.Join(c.unserved, ", "))
	}
}

// essential says whether nothing true can be said without the objects of a kind. Without its policies, a Gateway has other values.
func essential(kind intake.Kind) bool {
	return kind.Group == v1alpha1.GroupName || slices.Contains([]string{"GatewayClass", "Gateway"}, kind.Kind)
}

// add takes an object in. An API server may know fields that are newer than we are. The controller does not see them either.
func (c *cluster) add(kind intake.Kind, o *unstructured.Unstructured) error {
	if _, err := intake.Add(&c.world.objects, o, ""); err != nil {
		return fmt.Errorf("%s %s/%s: %w", kind.Kind, o.GetNamespace(), o.GetName(), err)
	}
	return nil
}

// complete notes that what was not found of a kind is not there.
func (c *cluster) complete(kind intake.Kind) {
	c.world.objects.Complete = append(c.world.objects.Complete, gatewayv1.Kind(kind.Kind))
}

func (c *cluster) note(format string, args ...any) {
	c.world.notes = append(c.world.notes, fmt.Sprintf(format, args...))
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
