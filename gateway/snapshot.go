package gateway

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
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
	// Grants are the ReferenceGrants of every namespace that something of the above refers into. More do no harm.
	Grants []*gatewayv1.ReferenceGrant
	// Secrets and ConfigMaps say what is known of those that the Gateway and the ListenerSets refer to, and of no others. One that
	// is missing here does not exist.
	Secrets    map[types.NamespacedName]Certificate
	ConfigMaps map[types.NamespacedName]Certificate
	// Services are the Services that the routes refer to and that exist.
	Services map[types.NamespacedName]bool
	// Configs are the GatewayConfigs of the Gateway's namespace, by name, for spec.infrastructure.parametersRef.
	Configs map[string]bool
	// Policies are the candidates for the Gateway's values. Nothing in this package looks at them.
	Policies []v1alpha1.Policy
}

// Certificate says what is in a Secret or ConfigMap that a listener refers to, as far as it may be known: never the key itself.
type Certificate struct {
	// Problem says what is wrong with the content, in words for people and without any of it; empty if it can be used.
	Problem string
}
