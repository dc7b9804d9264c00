package gateway

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// claims counts what listeners claim for themselves. Two listeners are distinct (GatewaySpec.Listeners, "Distinct
// Listeners") unless
//   - both are TCP, or both UDP, on one port;
//   - one is TCP and the other HTTP, HTTPS or TLS, on one port;
//   - both are HTTP, HTTPS or TLS, on one port and with the same hostname. A listener without hostname has the hostname "";
//   - both are TLS, on one port, TLS ends at one and passes through the other, and the data plane cannot have both: it does not
//     claim TLSRouteModeMixed.
//
// A protocol that Gateway API does not define claims nothing: how its traffic is told apart is unknown, and it is rejected
// as unsupported anyhow.
//
// Counting keeps the work linear in the number of listeners, where comparing each with each would not.
type claims struct {
	counts map[claim]int
	// mixesTLS says that the data plane can have TLS end and pass through on one port.
	mixesTLS bool
}

type claim struct {
	port     gatewayv1.PortNumber
	protocol gatewayv1.ProtocolType
	hostname gatewayv1.Hostname
}

// add counts what a listener claims.
func (c claims) add(l *gatewayv1.Listener) {
	switch {
	case byHostname(l.Protocol):
		hostname := hostnameOf(l)
		c.counts[claim{l.Port, anyHostname, ""}]++
		c.counts[claim{l.Port, oneHostname, hostname}]++
		c.counts[claim{l.Port, l.Protocol, hostname}]++
		if l.Protocol == gatewayv1.TLSProtocolType && !c.mixesTLS {
			c.counts[claim{l.Port, tlsEnds(terminates(l)), ""}]++
		}
	case l.Protocol == gatewayv1.TCPProtocolType, l.Protocol == gatewayv1.UDPProtocolType:
		c.counts[claim{l.Port, l.Protocol, ""}]++
	}
}

// tlsEnds is the key of the listeners on a port at which TLS ends, or of those through which it passes.
func tlsEnds(here bool) gatewayv1.ProtocolType {
	if here {
		return "TLS ends here"
	}
	return "TLS passes through"
}

// Not protocols, but keys beside them: all that are told apart by hostname, on a port whatever the hostname, and for one
// hostname whatever the protocol.
const (
	anyHostname gatewayv1.ProtocolType = "any hostname"
	oneHostname gatewayv1.ProtocolType = "one hostname"
)

// byHostname says whether traffic of a protocol is told apart by hostname.
func byHostname(p gatewayv1.ProtocolType) bool {
	return p == gatewayv1.HTTPProtocolType || p == gatewayv1.HTTPSProtocolType || p == gatewayv1.TLSProtocolType
}

// hostnameOf is the hostname that a listener serves; "" for all, and for protocols that know none.
func hostnameOf(l *gatewayv1.Listener) gatewayv1.Hostname {
	if l.Hostname == nil || !byHostname(l.Protocol) {
		return ""
	}
	return *l.Hostname
}

// conflict says why a listener is not distinct from those counted; "" if it is. Own is how often the listener was counted
// itself. Of two reasons the one that needs the larger change is told: ProtocolConflict.
func (c claims) conflict(l *gatewayv1.Listener, own int) gatewayv1.ListenerConditionReason {
	exact := claim{l.Port, l.Protocol, hostnameOf(l)}
	var otherProtocol bool
	switch {
	case byHostname(l.Protocol):
		sameHostname := c.counts[claim{l.Port, oneHostname, exact.hostname}]
		otherProtocol = c.counts[claim{l.Port, gatewayv1.TCPProtocolType, ""}] > 0 || sameHostname > c.counts[exact] || c.mixed(l)
	case l.Protocol == gatewayv1.TCPProtocolType:
		otherProtocol = c.counts[claim{l.Port, anyHostname, ""}] > 0
	}
	switch {
	case otherProtocol:
		return gatewayv1.ListenerReasonProtocolConflict
	case c.counts[exact] > own:
		return gatewayv1.ListenerReasonHostnameConflict
	}
	return ""
}

// mixed says whether TLS ends at a listener and passes through one of those counted on its port, or the other way round, though
// the data plane cannot have both.
func (c claims) mixed(l *gatewayv1.Listener) bool {
	return l.Protocol == gatewayv1.TLSProtocolType && c.counts[claim{l.Port, tlsEnds(!terminates(l)), ""}] > 0
}
