package gateway

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/certificate"
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
	// Routes are those with a parentRef to the Gateway or to one of ListenerSets, or only some of them with all their rivals; see
	// RivalKind.
	Routes []Route
	// Namespaces holds the labels of every namespace that holds one of the above. A namespace that is missing here is
	// selected by no selector.
	Namespaces map[string]labels.Set
	// Grants are the ReferenceGrants of every namespace that something of the above refers into; see References. More do no harm.
	Grants []*gatewayv1.ReferenceGrant
	// Secrets and ConfigMaps say what is known of those that the Gateway and the ListenerSets refer to; see References. One that is
	// missing here does not exist.
	Secrets    map[types.NamespacedName]Certificate
	ConfigMaps map[types.NamespacedName]Certificate
	// Services are the Services that the routes refer to and that exist; see References.
	Services map[types.NamespacedName]bool
	// Configs are the GatewayConfigs of the Gateway's namespace, by name, for spec.infrastructure.parametersRef.
	Configs map[string]bool
	// Policies are the candidates for the Gateway's values. Nothing in this package looks at them.
	Policies []v1alpha1.Policy
}

// Certificate says what is in a Secret or ConfigMap that is referred to, as far as it may be known: never the content itself. A
// problem is told in words for people and without any of the content; it is empty if there is none. CertificateOf and
// AuthoritiesOf make one.
type Certificate struct {
	// KeyPair is what stands against using it as a certificate with its key. A ConfigMap is never asked.
	KeyPair string
	// Authorities is what stands against using it as certificates of authorities.
	Authorities string
}

// CertificateOf judges a Secret.
func CertificateOf(secret *corev1.Secret) Certificate {
	return Certificate{KeyPair: certificate.KeyPair(secret), Authorities: certificate.Authorities(secret)}
}

// AuthoritiesOf judges a ConfigMap.
func AuthoritiesOf(config *corev1.ConfigMap) Certificate {
	return Certificate{Authorities: certificate.AuthoritiesOf(config)}
}
