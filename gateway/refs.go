package gateway

import (
	"cmp"

	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Kinds of Gateway API that the package tells apart.
const (
	KindGateway     gatewayv1.Kind = "Gateway"
	KindListenerSet gatewayv1.Kind = "ListenerSet"
	KindHTTPRoute   gatewayv1.Kind = "HTTPRoute"
	KindGRPCRoute   gatewayv1.Kind = "GRPCRoute"
	KindTLSRoute    gatewayv1.Kind = "TLSRoute"
	KindTCPRoute    gatewayv1.Kind = "TCPRoute"
	KindUDPRoute    gatewayv1.Kind = "UDPRoute"

	kindReferenceGrant gatewayv1.Kind = "ReferenceGrant"
)

// ParentKey names an object that routes can attach to.
type ParentKey struct {
	// Kind is KindGateway or KindListenerSet.
	Kind gatewayv1.Kind
	types.NamespacedName
}

// RouteParent resolves a parentRef of a route in the given namespace, with Gateway API's defaults for what it leaves out.
// It is false for a parent that is neither a Gateway nor a ListenerSet, such as a Service.
func RouteParent(ref gatewayv1.ParentReference, routeNamespace string) (ParentKey, bool) {
	key := ParentKey{
		Kind:           valueOr(ref.Kind, KindGateway),
		NamespacedName: types.NamespacedName{Namespace: namespaceOr(ref.Namespace, routeNamespace), Name: string(ref.Name)},
	}
	known := key.Kind == KindGateway || key.Kind == KindListenerSet
	return key, known && valueOr(ref.Group, gatewayv1.GroupName) == gatewayv1.GroupName
}

// ParentGateway names the Gateway that a ListenerSet wants to be folded into. It is false if its parentRef is no Gateway.
func ParentGateway(ls *gatewayv1.ListenerSet) (types.NamespacedName, bool) {
	ref := ls.Spec.ParentRef
	isGateway := valueOr(ref.Kind, KindGateway) == KindGateway && valueOr(ref.Group, gatewayv1.GroupName) == gatewayv1.GroupName
	return types.NamespacedName{Namespace: namespaceOr(ref.Namespace, ls.Namespace), Name: string(ref.Name)}, isGateway
}

// parametersName names the GatewayConfig that a Gateway refers to in spec.infrastructure.parametersRef. It is false for one that
// refers to nothing, or to another kind: a GatewayConfig of its own namespace is all that can be meant.
func parametersName(gw *gatewayv1.Gateway) (string, bool) {
	if gw.Spec.Infrastructure == nil || gw.Spec.Infrastructure.ParametersRef == nil {
		return "", false
	}
	ref := gw.Spec.Infrastructure.ParametersRef
	return ref.Name, ref.Group == v1alpha1.GroupName && ref.Kind == v1alpha1.KindGatewayConfig
}

// tlsMode is where TLS ends that a listener speaks; "" for one without tls settings.
func tlsMode(l *gatewayv1.Listener) gatewayv1.TLSModeType {
	if l.TLS == nil {
		return ""
	}
	return cmp.Or(valueOr(l.TLS.Mode, ""), gatewayv1.TLSModeTerminate)
}

// terminates says whether TLS ends at a listener, so that its certificates are used; with mode Passthrough they are ignored
// (ListenerTLSConfig.Mode).
func terminates(l *gatewayv1.Listener) bool { return tlsMode(l) == gatewayv1.TLSModeTerminate }

func valueOr[T any](p *T, fallback T) T {
	if p == nil {
		return fallback
	}
	return *p
}

// namespaceOr takes an empty namespace for one that was left out, as the API's CEL rules do.
func namespaceOr(p *gatewayv1.Namespace, fallback string) string {
	if p == nil || *p == "" {
		return fallback
	}
	return string(*p)
}
