package gateway

import (
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// markOverlaps sets OverlappingTLS on the usable listeners that speak TLS on one port and whose hostnames overlap, so that a client
// that uses a connection again may end at another listener than the one whose certificate it was shown
// (ListenerConditionOverlappingTLSConfig). Usable listeners never have the same hostname on one port, so one hostname overlaps
// another if it is below the other's wildcard; no hostname overlaps all. Looking for the wildcards above each hostname keeps the
// work linear in the number of listeners. What certificates say is not looked at.
func markOverlaps(listeners []Listener) {
	at := make(map[served]int, len(listeners))
	onPort := map[gatewayv1.PortNumber]int{}
	for i := range listeners {
		if l := &listeners[i]; l.Usable && speaksTLS(&l.Spec) {
			at[servedBy(&l.Spec)] = i
			onPort[l.Spec.Port]++
		}
	}
	found := overlappingHostnames // a copy, shared by all that it is about
	for names, i := range at {
		if names.all() && onPort[names.port] > 1 {
			listeners[i].OverlappingTLS = &found
		}
		for above := names; !above.all(); {
			above = above.above()
			if other, overlaps := at[above]; overlaps {
				listeners[i].OverlappingTLS, listeners[other].OverlappingTLS = &found, &found
			}
		}
	}
}

func speaksTLS(l *gatewayv1.Listener) bool {
	return l.Protocol == gatewayv1.HTTPSProtocolType || l.Protocol == gatewayv1.TLSProtocolType
}

// served are the names that a listener serves on a port: a domain, or all that is below it, for which the domain "" is everything.
type served struct {
	port   gatewayv1.PortNumber
	domain string
	below  bool
}

func servedBy(l *gatewayv1.Listener) served {
	domain, below := strings.CutPrefix(string(hostnameOf(l)), wildcard)
	return served{l.Port, domain, below || domain == ""}
}

// all says that it is every name.
func (s served) all() bool { return s.domain == "" }

// above are the next more names that have a wildcard for them: one label less, and all that is below.
func (s served) above() served {
	_, rest, _ := strings.Cut(s.domain, ".")
	return served{s.port, rest, true}
}
