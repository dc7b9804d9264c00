package gateway

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Snapshot is everything that may be known about one Gateway. What is not in it does not exist. Gateway must be set;
// everything else may be missing. The lists may come in any order.
type Snapshot struct {
	// Class is the Gateway's GatewayClass.
	Class *gatewayv1.GatewayClass
	// Blueprint is what the class refers to. It decides which kinds of routes are supported.
	Blueprint *v1alpha1.GatewayClassBlueprint
	// Gateway is what the snapshot is about.
	Gateway *gatewayv1.Gateway
	// ListenerSets are those whose parentRef names the Gateway, whether or not it lets them in.
	ListenerSets []*gatewayv1.ListenerSet
	// Routes are those with a parentRef to the Gateway or to one of ListenerSets.
	Routes []Route
	// Namespaces holds the labels of every namespace that holds one of the above. A namespace that is missing here is
	// selected by no selector.
	Namespaces map[string]labels.Set
	// Policies are the candidates for the Gateway's values. Nothing in this package looks at them.
	Policies []v1alpha1.Policy
}

// Route is a route of any kind, reduced to what attachment needs.
type Route struct {
	// Kind of the route, in group gateway.networking.k8s.io.
	Kind gatewayv1.Kind
	// Object is the typed route.
	Object metav1.Object
	// ParentRefs of the route, as written.
	ParentRefs []gatewayv1.ParentReference
	// Hostnames of the route; empty means all, and always so for kinds that have none.
	Hostnames []gatewayv1.Hostname
}

// HTTPRoute reduces an HTTPRoute to what attachment needs. The result shares its lists with the route.
func HTTPRoute(r *gatewayv1.HTTPRoute) Route {
	return Route{Kind: KindHTTPRoute, Object: r, ParentRefs: r.Spec.ParentRefs, Hostnames: r.Spec.Hostnames}
}
