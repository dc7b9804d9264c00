package gateway

import (
	"math"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/features"

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

// support is what a blueprint supports.
type support struct {
	features featureSet
	// kinds of routes by protocol. A protocol without any is not supported.
	kinds       map[gatewayv1.ProtocolType][]gatewayv1.Kind
	unsupported verdict.Verdict
	// backends are the kinds, besides Service, that routes may refer to; backendNames names all for people.
	backends     map[groupKind]bool
	backendNames string
	// ownCertificates says that listeners need not name certificates.
	ownCertificates bool
	// maxListeners is how many listeners a Gateway may have.
	maxListeners int
}

type groupKind struct {
	group gatewayv1.Group
	kind  gatewayv1.Kind
}

// supportOf derives what a blueprint supports. The name of a kind of routes is also that of the feature to support it.
func supportOf(b *v1alpha1.GatewayClassBlueprint) support {
	s := support{features: featuresOf(b), kinds: map[gatewayv1.ProtocolType][]gatewayv1.Kind{}, maxListeners: math.MaxInt}
	s.data(b)
	var protocols []gatewayv1.ProtocolType
	for _, p := range protocolKinds {
		for _, kind := range p.kinds {
			if s.features[features.FeatureName(kind)] {
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

// data takes over what spec.supports says beside features.
func (s *support) data(b *v1alpha1.GatewayClassBlueprint) {
	names := []gatewayv1.Kind{kindService}
	if b != nil && b.Spec.Supports != nil {
		s.ownCertificates = b.Spec.Supports.OwnCertificates
		s.maxListeners = int(valueOr(b.Spec.Supports.MaxListeners, math.MaxInt32))
		s.backends = make(map[groupKind]bool, len(b.Spec.Supports.BackendKinds))
		for _, permitted := range b.Spec.Supports.BackendKinds {
			kind := groupKind{gatewayv1.Group(permitted.Group), gatewayv1.Kind(permitted.Kind)}
			s.backends[kind] = true
			names = append(names, kind.kind)
		}
	}
	s.backendNames = list(names)
}

// mixesTLS says whether TLS may end at one listener of protocol TLS and pass through another on the same port. Where it can end at
// none, there is nothing to mix.
func (s *support) mixesTLS() bool {
	return s.features[features.SupportTLSRouteModeMixed] || !s.features[features.SupportTLSRouteModeTerminate]
}

// routeKinds returns the kinds of routes that may attach to a listener, and its ResolvedRefs condition as far as they decide it:
// kinds that were asked for and are not supported are left out and make it false (ListenerStatus.SupportedKinds).
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
