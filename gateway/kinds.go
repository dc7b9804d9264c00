package gateway

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

// protocolKinds are the kinds of routes that Gateway API knows for a protocol, in the order in which they are reported.
var protocolKinds = []struct {
	protocol gatewayv1.ProtocolType
	kinds    []gatewayv1.Kind
}{
	{gatewayv1.HTTPProtocolType, []gatewayv1.Kind{KindHTTPRoute, KindGRPCRoute}},
	{gatewayv1.HTTPSProtocolType, []gatewayv1.Kind{KindHTTPRoute, KindGRPCRoute}},
	{gatewayv1.TLSProtocolType, []gatewayv1.Kind{KindTLSRoute}},
	{gatewayv1.TCPProtocolType, []gatewayv1.Kind{KindTCPRoute}},
	{gatewayv1.UDPProtocolType, []gatewayv1.Kind{KindUDPRoute}},
}

// support is what a blueprint supports: kinds of routes by protocol. A protocol without any is not supported.
type support struct {
	kinds       map[gatewayv1.ProtocolType][]gatewayv1.Kind
	unsupported verdict.Verdict
}

// supportOf derives from a blueprint's templates what it supports. HTTPRoutes are always supported: many blueprints put
// them into the objects of their Gateway and render nothing for the route itself.
func supportOf(b *v1alpha1.GatewayClassBlueprint) support {
	var spec v1alpha1.GatewayClassBlueprintSpec
	if b != nil {
		spec = b.Spec
	}
	has := map[gatewayv1.Kind]bool{
		KindHTTPRoute: true,
		KindGRPCRoute: spec.GRPCRouteTemplate != nil,
		KindTLSRoute:  spec.TLSRouteTemplate != nil,
		KindTCPRoute:  spec.TCPRouteTemplate != nil,
		KindUDPRoute:  spec.UDPRouteTemplate != nil,
	}
	s := support{kinds: map[gatewayv1.ProtocolType][]gatewayv1.Kind{}}
	var protocols []gatewayv1.ProtocolType
	for _, p := range protocolKinds {
		for _, kind := range p.kinds {
			if has[kind] {
				s.kinds[p.protocol] = append(s.kinds[p.protocol], kind)
			}
		}
		if len(s.kinds[p.protocol]) > 0 {
			protocols = append(protocols, p.protocol)
		}
	}
	s.unsupported = unsupportedProtocol(list(protocols))
	return s
}

// routeKinds returns the kinds of routes that may attach to a listener, and its ResolvedRefs condition: kinds that were
// asked for and are not supported are left out and make it false (ListenerStatus.SupportedKinds).
func (s support) routeKinds(l *gatewayv1.Listener) ([]gatewayv1.RouteGroupKind, verdict.Verdict) {
	supported := s.kinds[l.Protocol]
	if l.AllowedRoutes == nil || len(l.AllowedRoutes.Kinds) == 0 {
		return groupKinds(supported), refsResolved
	}
	var kinds []gatewayv1.Kind
	resolved := refsResolved
	for _, asked := range l.AllowedRoutes.Kinds {
		switch {
		case valueOr(asked.Group, gatewayv1.GroupName) != gatewayv1.GroupName, !slices.Contains(supported, asked.Kind):
			resolved = invalidRouteKinds(list(supported))
		case !slices.Contains(kinds, asked.Kind):
			kinds = append(kinds, asked.Kind)
		}
	}
	return groupKinds(kinds), resolved
}

func groupKinds(kinds []gatewayv1.Kind) []gatewayv1.RouteGroupKind {
	out := make([]gatewayv1.RouteGroupKind, 0, len(kinds))
	for _, kind := range kinds {
		out = append(out, gatewayv1.RouteGroupKind{Group: new(gatewayv1.Group(gatewayv1.GroupName)), Kind: kind})
	}
	return out
}

// list writes words for people: "A, B", or "none".
func list[T ~string](words []T) string {
	if len(words) == 0 {
		return "none"
	}
	var b strings.Builder
	for i, word := range words {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(word))
	}
	return b.String()
}
