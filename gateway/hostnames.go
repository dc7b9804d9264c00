package gateway

import (
	"maps"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

const wildcard = "*."

// HostnamesWith collects what the usable listeners serve, and these routes on them. What a route renders may depend on the
// listeners and on the route, but not on the other routes, or each would have to be looked at whenever another changes.
func (m *Merged) HostnamesWith(attachments ...Attachment) Hostnames {
	names := map[string]struct{}{}
	for i := range m.Listeners {
		if hostname := hostnameOf(&m.Listeners[i].Spec); hostname != "" && m.Listeners[i].Usable {
			names[string(hostname)] = struct{}{}
		}
	}
	for _, attachment := range attachments {
		for _, parent := range attachment.Parents {
			for _, hostname := range parent.Hostnames {
				names[string(hostname)] = struct{}{}
			}
		}
	}
	union := slices.Sorted(maps.Keys(names))
	return Hostnames{Union: union, Intersection: uncovered(union)}
}

// uncovered returns the names that no wildcard among them covers exactly one label deep. A wildcard is covered by none: it
// stands for more than one label.
func uncovered(union []string) []string {
	var out []string
	for _, name := range union {
		_, domain, _ := strings.Cut(name, ".")
		if _, covered := slices.BinarySearch(union, wildcard+domain); !covered || strings.HasPrefix(name, wildcard) {
			out = append(out, name)
		}
	}
	return out
}

// commonHostnames returns the names that a listener's hostname and a route's hostnames have in common, and whether the two
// intersect at all (HTTPRouteSpec.Hostnames). Where one side names none, which means all, it is what the other names.
func commonHostnames(listener gatewayv1.Hostname, route []gatewayv1.Hostname) ([]gatewayv1.Hostname, bool) {
	switch {
	case listener == "":
		return route, true
	case len(route) == 0:
		return []gatewayv1.Hostname{listener}, true
	}
	var common []gatewayv1.Hostname
	for _, hostname := range route {
		switch {
		case matches(listener, hostname):
			common = append(common, hostname)
		case matches(hostname, listener):
			common = append(common, listener)
		}
	}
	return common, len(common) > 0
}

// matches says whether a pattern stands for everything that a name stands for. The wildcard of Gateway API is a suffix
// match over one label or more.
func matches(pattern, name gatewayv1.Hostname) bool {
	return pattern == name ||
		strings.HasPrefix(string(pattern), wildcard) && strings.HasSuffix(string(name), string(pattern[1:]))
}
