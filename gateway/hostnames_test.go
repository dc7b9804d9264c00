package gateway_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// TestHostnames covers .Hostnames of accepted listeners and of accepted routes.
func TestHostnames(t *testing.T) {
	for name, c := range map[string]struct {
		own    []gatewayv1.Listener
		inSet  []gatewayv1.Listener
		routes []gateway.Route
		want   gateway.Hostnames
	}{
		"without any hostname there are none": {
			own: []gatewayv1.Listener{listener("l", http, 80, "")}},
		"those of all accepted listeners, sorted, once each, a ListenerSet's included": {
			own: []gatewayv1.Listener{
				listener("b", http, 80, "b.example.com"), listener("a", http, 80, "a.example.com"), listener("s", https, 443, "a.example.com"),
			},
			inSet: []gatewayv1.Listener{listener("c", http, 80, "c.example.com")},
			want: gateway.Hostnames{
				Union: []string{"a.example.com", "b.example.com", "c.example.com"}, Intersection: []string{"a.example.com", "b.example.com", "c.example.com"},
			}},
		"those of rejected listeners are left out": {
			own: []gatewayv1.Listener{
				listener("l", http, 80, "a.example.com"), listener("odd", "INVALID", 81, "b.example.com"),
				listener("x", http, 82, "c.example.com"), listener("y", http, 82, "c.example.com"),
			},
			want: gateway.Hostnames{Union: []string{"a.example.com"}, Intersection: []string{"a.example.com"}}},
		"those of a route, as far as its listeners have them too": {
			own:    []gatewayv1.Listener{listener("any", http, 80, ""), listener("some", http, 81, "*.example.com")},
			routes: []gateway.Route{route("infra", "r", []gatewayv1.Hostname{"a.example.com", "a.example.net"}, toGateway("some", 0))},
			want:   gateway.Hostnames{Union: []string{"*.example.com", "a.example.com"}, Intersection: []string{"*.example.com"}}},
		"those of a rejected route are left out": {
			own:    []gatewayv1.Listener{listener("l", http, 80, "")},
			routes: []gateway.Route{route("elsewhere", "r", []gatewayv1.Hostname{"a.example.com"}, toGateway("", 0))}},
		"a wildcard covers exactly one label, not the apex": {
			own: []gatewayv1.Listener{listener("l", http, 80, "")},
			routes: []gateway.Route{route("infra", "r", []gatewayv1.Hostname{
				"*.example.com", "example.com", "a.example.com", "a.b.example.com", "aexample.com",
			}, toGateway("", 0))},
			want: gateway.Hostnames{
				Union:        []string{"*.example.com", "a.b.example.com", "a.example.com", "aexample.com", "example.com"},
				Intersection: []string{"*.example.com", "a.b.example.com", "aexample.com", "example.com"},
			}},
		"a wildcard covers no other wildcard": {
			own: []gatewayv1.Listener{listener("l", http, 80, "")},
			routes: []gateway.Route{route("infra", "r", []gatewayv1.Hostname{
				"*.example.com", "*.b.example.com", "a.b.example.com", "b.example.com",
			}, toGateway("", 0))},
			want: gateway.Hostnames{
				Union:        []string{"*.b.example.com", "*.example.com", "a.b.example.com", "b.example.com"},
				Intersection: []string{"*.b.example.com", "*.example.com"},
			}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.Snapshot{Gateway: gw(fromSame, c.own...), Routes: c.routes}
			if c.inSet != nil {
				s.ListenerSets = []*gatewayv1.ListenerSet{set("infra", "set", 1, c.inSet...)}
			}
			if diff := cmp.Diff(c.want, merge(s).Hostnames); diff != "" {
				t.Errorf("hostnames (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostnamesByBruteForce promises that, for random listeners and routes, what is found in common is what listing every
// single name finds, and that the union and the intersection are what their definitions say.
func TestHostnamesByBruteForce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func(atMost int) []string {
		var out []string
		for range random.IntN(atMost + 1) {
			labels := make([]string, 1+random.IntN(3))
			for i := range labels {
				labels[i] = string(rune('a' + random.IntN(2)))
			}
			if random.IntN(2) == 0 {
				labels[0] = "*"
			}
			out = append(out, strings.Join(append(labels, "c"), "."))
		}
		return out
	}
	for range 3000 {
		checkHostnames(t, append(some(3), ""), some(4))
		checkHostnames(t, append(some(3), "c"), some(4))
		if t.Failed() {
			return
		}
	}
}

// FuzzHostnames checks the same for arbitrary names.
func FuzzHostnames(f *testing.F) {
	f.Add("a.example.com", "*.example.com", "*.com", "b.example.com")
	f.Add("", "example.com", "*.example.com", "a.b.example.com")
	f.Add("*.example.com", "*.a.example.com", "*.example.com", "example.com")
	f.Add("x.y.example.com", "*.y.example.com", "x.example.com", "*.x.example.com")
	f.Add("localhost", "*.localhost", "a.localhost", "localhost")
	f.Fuzz(func(t *testing.T, listener1, listener2, route1, route2 string) {
		var routes []string
		for _, hostname := range []string{route1, route2} {
			if hostname != "" {
				routes = append(routes, hostname)
			}
		}
		for _, hostname := range append([]string{listener1, listener2}, routes...) {
			if hostname != "" && (len(hostname) > 253 || !hostnamePattern.MatchString(hostname)) {
				return // the API server lets no such name in
			}
		}
		checkHostnames(t, []string{listener1, listener2}, routes)
	})
}

var hostnamePattern = regexp.MustCompile(`^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// checkHostnames merges a Gateway that has a listener for each hostname ("" for none), on ports of their own, and one route,
// and compares with a naive account of what must come out.
func checkHostnames(t *testing.T, listeners, hostnames []string) {
	t.Helper()
	var own []gatewayv1.Listener
	for i, hostname := range listeners {
		own = append(own, listener("l"+string(rune('a'+i)), http, int32(i+1), hostname))
	}
	var asked []gatewayv1.Hostname
	for _, hostname := range hostnames {
		asked = append(asked, gatewayv1.Hostname(hostname))
	}
	m := merge(gateway.Snapshot{Gateway: gw(nil, own...), Routes: []gateway.Route{route("infra", "r", asked, toGateway("", 0))}})

	var accepting []int
	union := map[string]bool{}
	for i, l := range listeners {
		if l != "" {
			union[l] = true
		}
		common, ok := naiveCommon(l, hostnames)
		if !ok {
			continue
		}
		accepting = append(accepting, i)
		for _, name := range common {
			union[name] = true
		}
	}
	if diff := cmp.Diff(accepting, m.Attachments[0].Parents[0].Listeners); diff != "" {
		t.Errorf("listeners %q that accept a route for %q (-want +got):\n%s", listeners, hostnames, diff)
	}
	if diff := cmp.Diff(naiveHostnames(union), m.Hostnames); diff != "" {
		t.Errorf("hostnames of listeners %q with a route for %q (-want +got):\n%s", listeners, hostnames, diff)
	}
}

// naiveCommon lists, over a sample of names large enough to tell all patterns at hand apart, what each stands for.
func naiveCommon(listener string, route []string) ([]string, bool) {
	if listener == "" {
		return route, true
	}
	if len(route) == 0 {
		return []string{listener}, true
	}
	var sample []string
	for _, pattern := range append([]string{listener}, route...) {
		if domain, ok := strings.CutPrefix(pattern, "*."); ok {
			sample = append(sample, "x."+domain, "x.y."+domain)
		} else {
			sample = append(sample, pattern)
		}
	}
	var common []string
	for _, r := range route {
		ofListener, ofRoute := standsFor(listener, sample), standsFor(r, sample)
		both := intersect(ofListener, ofRoute)
		switch {
		case len(both) == 0:
		case len(both) == len(ofRoute):
			common = append(common, r)
		case len(both) == len(ofListener):
			common = append(common, listener)
		}
	}
	return common, len(common) > 0
}

func standsFor(pattern string, sample []string) map[string]bool {
	out := map[string]bool{}
	labels := strings.Split(pattern, ".")
	for _, name := range sample {
		of := strings.Split(name, ".")
		if labels[0] == "*" {
			below := len(of) - (len(labels) - 1)
			if below >= 1 && slices.Equal(of[below:], labels[1:]) {
				out[name] = true
			}
		} else if slices.Equal(of, labels) {
			out[name] = true
		}
	}
	return out
}

func intersect(a, b map[string]bool) map[string]bool {
	out := map[string]bool{}
	for name := range a {
		if b[name] {
			out[name] = true
		}
	}
	return out
}

func naiveHostnames(union map[string]bool) gateway.Hostnames {
	var out gateway.Hostnames
	for name := range union {
		out.Union = append(out.Union, name)
		labels := strings.Split(name, ".")
		covered := false
		for other := range union {
			of := strings.Split(other, ".")
			if of[0] == "*" && labels[0] != "*" && slices.Equal(of[1:], labels[1:]) {
				covered = true
			}
		}
		if !covered {
			out.Intersection = append(out.Intersection, name)
		}
	}
	slices.Sort(out.Union)
	slices.Sort(out.Intersection)
	return out
}
