package gateway

import (
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
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
