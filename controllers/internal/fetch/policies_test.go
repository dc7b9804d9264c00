package fetch

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// counting is a cache that counts the lists of policies, by kind and namespace; "" stands for all namespaces. It has a policy of
// each kind in every namespace, and what it is given.
type counting struct {
	client.Client
	sets   []gatewayv1.ListenerSet
	routes []gatewayv1.HTTPRoute
	listed map[string]int
}

func (c *counting) Scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = gatewayv1.Install(s) // it has no errors for types that it knows
	return s
}

func (c *counting) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if namespace, ok := into.(*corev1.Namespace); ok {
		namespace.Name = key.Name
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func (c *counting) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	namespace := (&client.ListOptions{}).ApplyOptions(options).Namespace
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "p"}
	switch list := into.(type) {
	case *gatewayv1.ListenerSetList:
		list.Items = c.sets
	case *gatewayv1.HTTPRouteList:
		list.Items = c.routes
	case *v1alpha1.GatewayConfigList:
		c.listed["GatewayConfig/"+namespace]++
		list.Items = []v1alpha1.GatewayConfig{{ObjectMeta: meta}}
	case *v1alpha1.GatewayClassConfigList:
		c.listed["GatewayClassConfig/"+namespace]++
		list.Items = []v1alpha1.GatewayClassConfig{{ObjectMeta: meta}}
	}
	return nil
}

// There may be policies in thousands of namespaces. Those of the namespaces on a path are all that may count for it.
func TestPoliciesOfOtherNamespacesAreNotLookedAt(t *testing.T) {
	namespace := gatewayv1.Namespace("team")
	set := gatewayv1.ListenerSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "sets", Name: "extra"},
		Spec:       gatewayv1.ListenerSetSpec{ParentRef: gatewayv1.ParentGatewayReference{Namespace: &namespace, Name: "edge"}},
	}
	route := gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "web"}}
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "public"}}
	gw := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "edge"}}
	ofGateway := func(f *Fetcher) (gateway.Snapshot, error) { return f.Gateway(t.Context(), class, gw) }
	ofRoute := func(f *Fetcher) (gateway.Snapshot, error) {
		return f.Route(t.Context(), class, gw, gateway.HTTPRoute(&route))
	}
	for name, c := range map[string]struct {
		fetch func(*Fetcher) (gateway.Snapshot, error)
		cache counting
		// namespaces are those on the path.
		namespaces []string
	}{
		"a Gateway alone":                  {ofGateway, counting{}, []string{"system", "team"}},
		"a Gateway with all that joins it": {ofGateway, counting{sets: []gatewayv1.ListenerSet{set}, routes: []gatewayv1.HTTPRoute{route}}, []string{"apps", "sets", "system", "team"}},
		"a route":                          {ofRoute, counting{sets: []gatewayv1.ListenerSet{set}}, []string{"apps", "sets", "system", "team"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.cache.listed = map[string]int{}
			snapshot, err := c.fetch(New(&c.cache, &c.cache, "system"))
			if err != nil {
				t.Fatal(err)
			}
			want, wantPolicies := map[string]int{}, []string{}
			for _, kind := range []string{"GatewayClassConfig", "GatewayConfig"} {
				for _, namespace := range c.namespaces {
					want[kind+"/"+namespace] = 1
					wantPolicies = append(wantPolicies, kind+"/"+namespace)
				}
			}
			if diff := cmp.Diff(want, c.cache.listed); diff != "" {
				t.Errorf("lists (-want +got)\n%s", diff)
			}
			policies := []string{}
			for _, p := range snapshot.Policies {
				policies = append(policies, p.PolicyKind()+"/"+p.GetNamespace())
			}
			slices.Sort(policies)
			if diff := cmp.Diff(wantPolicies, policies); diff != "" {
				t.Errorf("policies (-want +got)\n%s", diff)
			}
		})
	}
}
