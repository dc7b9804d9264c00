package gateway

import (
	"cmp"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/order"
)

// RivalKind returns the kind of routes that cannot share hostnames of a listener with routes of the given kind, and whether there
// is one. To judge a route, a Snapshot must hold those of its rivals that have a parent in common with it.
func RivalKind(kind gatewayv1.Kind) (gatewayv1.Kind, bool) {
	switch kind {
	case KindHTTPRoute:
		return KindGRPCRoute, true
	case KindGRPCRoute:
		return KindHTTPRoute, true
	}
	return "", false
}

// settleRivals takes listeners from HTTPRoutes and GRPCRoutes that have hostnames in common there with an accepted route of the
// other kind: the oldest of them keeps the listener, then the first by namespace/name (GRPCRouteSpec.Hostnames). A route that is
// left with no listener of a parent is not accepted by it.
func settleRivals(m *Merged) {
	var both []*Attachment
	kinds := map[gatewayv1.Kind]bool{}
	for i := range m.Attachments {
		if _, ok := RivalKind(m.Attachments[i].Route.Kind); ok {
			kinds[m.Attachments[i].Route.Kind] = true
			both = append(both, &m.Attachments[i])
		}
	}
	if len(kinds) < 2 {
		return
	}
	slices.SortStableFunc(both, func(a, b *Attachment) int {
		return cmp.Or(order.Compare(a.Route.Object, b.Route.Object), cmp.Compare(a.Route.Kind, b.Route.Kind))
	})
	taken := map[ground]*hostnameSet{}
	for _, a := range both {
		rival, _ := RivalKind(a.Route.Kind)
		for i := range a.Parents {
			p := &a.Parents[i]
			before := len(p.Listeners)
			p.Listeners = slices.DeleteFunc(p.Listeners, func(l int) bool {
				return taken[ground{l, rival}].intersects(m.common(l, a.Route))
			})
			if len(p.Listeners) < before {
				m.narrow(p, a.Route)
			}
		}
		// A route is no rival to itself, so what it takes counts only once all its parents are settled.
		for _, p := range a.Parents {
			for _, l := range p.Listeners {
				at := ground{l, a.Route.Kind}
				if taken[at] == nil {
					taken[at] = &hostnameSet{}
				}
				taken[at].add(m.common(l, a.Route))
			}
		}
	}
}

// ground is what routes of one kind have of one listener.
type ground struct {
	listener int
	kind     gatewayv1.Kind
}

// common are the hostnames that a route and a listener that accepts it have in common; none means all.
func (m *Merged) common(l int, r Route) []gatewayv1.Hostname {
	hostnames, _ := commonHostnames(hostnameOf(&m.Listeners[l].Spec), r.Hostnames)
	return hostnames
}

// narrow completes the verdict on a parent that lost listeners.
func (m *Merged) narrow(p *Parent, r Route) {
	if len(p.Listeners) == 0 {
		p.Listeners, p.Hostnames, p.Accepted = nil, nil, rivalAccepted
		return
	}
	p.Hostnames = m.hostnames(p.Listeners, r)
}

// hostnameSet is a set of hostnames that can be asked whether others intersect with it, in a time that does not depend on how many
// there are: beside the names it holds the domains that some name lies below.
type hostnameSet struct {
	all   bool
	names map[string]bool
	below map[string]bool
}

func (s *hostnameSet) add(hostnames []gatewayv1.Hostname) {
	if s.names == nil {
		s.names, s.below = map[string]bool{}, map[string]bool{}
	}
	s.all = s.all || len(hostnames) == 0
	for _, hostname := range hostnames {
		s.names[string(hostname)] = true
		for domain := range domainsAbove(hostname) {
			s.below[domain] = true
		}
	}
}

// intersects says whether a name stands for something that a name of the set stands for too. An empty list stands for everything.
func (s *hostnameSet) intersects(hostnames []gatewayv1.Hostname) bool {
	switch {
	case s == nil:
		return false
	case s.all, len(hostnames) == 0:
		return true
	}
	return slices.ContainsFunc(hostnames, s.has)
}

func (s *hostnameSet) has(hostname gatewayv1.Hostname) bool {
	if s.names[string(hostname)] {
		return true
	}
	if domain, ok := strings.CutPrefix(string(hostname), wildcard); ok && s.below[domain] {
		return true
	}
	for domain := range domainsAbove(hostname) {
		if s.names[wildcard+domain] {
			return true
		}
	}
	return false
}

// domainsAbove are the domains that a hostname lies below. For a wildcard its own domain is one of them.
func domainsAbove(hostname gatewayv1.Hostname) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		_, rest, more := strings.Cut(string(hostname), ".")
		for more && yield(rest) {
			_, rest, more = strings.Cut(rest, ".")
		}
	}
}
