package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// TestPrecedence covers the order of the merged list and the names in it (GEP-1713, "Listener Precedence" and "Listener
// Validation").
func TestPrecedence(t *testing.T) {
	for name, c := range map[string]struct {
		own  []gatewayv1.Listener
		sets []*gatewayv1.ListenerSet
		want []string
	}{
		"P1 the Gateway's own listeners come first, then those of the oldest set": {
			own: []gatewayv1.Listener{listener("own-2", http, 82, ""), listener("own-1", http, 81, "")},
			sets: []*gatewayv1.ListenerSet{
				set("infra", "younger", 2, listener("younger", http, 84, "")),
				set("infra", "older", 1, listener("older", http, 83, "")),
			},
			want: []string{
				"Gateway infra/gw own-2 = own-2: True/Accepted",
				"Gateway infra/gw own-1 = own-1: True/Accepted",
				"ListenerSet infra/older older = older: True/Accepted",
				"ListenerSet infra/younger younger = younger: True/Accepted",
			},
		},
		"P1 sets of one age are ordered by namespace/name": {
			own: []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{
				set("b", "a", 1, listener("three", http, 83, "")),
				set("a", "b", 1, listener("two", http, 82, "")),
				set("a", "a", 1, listener("one", http, 81, "")),
			},
			want: []string{
				"Gateway infra/gw own = own: True/Accepted",
				"ListenerSet a/a one = one: True/Accepted",
				"ListenerSet a/b two = two: True/Accepted",
				"ListenerSet b/a three = three: True/Accepted",
			},
		},
		"P1 a set that is older than the Gateway still comes after it": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "same.example.com")},
			sets: []*gatewayv1.ListenerSet{set("infra", "old", -5, listener("theirs", http, 80, "same.example.com"))},
			want: []string{
				"Gateway infra/gw own = own: True/Accepted",
				"ListenerSet infra/old theirs: False/HostnameConflict conflicted",
			},
		},
		"P3 one name in a Gateway and two sets works": {
			own: []gatewayv1.Listener{listener("http", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{
				set("infra", "a", 1, listener("http", http, 81, "")),
				set("infra", "b", 2, listener("http", http, 82, "")),
			},
			want: []string{
				"Gateway infra/gw http = http: True/Accepted",
				"ListenerSet infra/a http = http-47e106f39e: True/Accepted",
				"ListenerSet infra/b http = http-f316a5286f: True/Accepted",
			},
		},
		"P4 rejected listeners get no name and stay in the list for their status": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "a", 1, listener("odd", "example.com/odd", 81, ""))},
			want: []string{
				"Gateway infra/gw own = own: True/Accepted",
				"ListenerSet infra/a odd: False/UnsupportedProtocol",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Gateway: gw(fromAll, c.own...), ListenerSets: c.sets})
			if diff := cmp.Diff(c.want, outcomeOf(m).Listeners); diff != "" {
				t.Errorf("listeners (-want +got):\n%s", diff)
			}
		})
	}
}

// TestConflicts covers C1 to C6 and C9 (GatewaySpec.Listeners, "Distinct Listeners"; GEP-1713, "Listener and ListenerSet
// Conflicts").
func TestConflicts(t *testing.T) {
	a := func(name string, protocol gatewayv1.ProtocolType, port int32) gatewayv1.Listener {
		return listener(name, protocol, port, "a.example.com")
	}
	for name, c := range map[string]struct {
		blueprint *v1alpha1.GatewayClassBlueprint
		own       []gatewayv1.Listener
		sets      []*gatewayv1.ListenerSet
		want      outcome
	}{
		"C1 C2 C4 C5 the first in precedence keeps the hostname, and a set without other listeners is not attached": {
			own:  []gatewayv1.Listener{a("own", http, 80)},
			sets: []*gatewayv1.ListenerSet{set("infra", "set", 1, a("theirs", http, 80))},
			want: outcome{
				Gateway:   "True/Accepted",
				Listeners: []string{"Gateway infra/gw own = own: True/Accepted", "ListenerSet infra/set theirs: False/HostnameConflict conflicted"},
				Sets:      []string{"infra/set: False/ListenersNotValid, False/ListenersNotValid"},
			},
		},
		"P2 C1 C4 of two sets the older keeps the hostname, and a set with another valid listener stays attached": {
			own: []gatewayv1.Listener{listener("own", http, 8080, "")},
			sets: []*gatewayv1.ListenerSet{
				set("infra", "younger", 2, a("same", http, 80), listener("other", http, 80, "b.example.com")),
				set("infra", "older", 1, a("same", http, 80)),
			},
			want: outcome{
				Gateway: "True/Accepted",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted",
					"ListenerSet infra/older same = same: True/Accepted",
					"ListenerSet infra/younger same: False/HostnameConflict conflicted",
					"ListenerSet infra/younger other = other: True/Accepted",
				},
				Sets: []string{
					"attached infra/older: True/Accepted, True/Programmed",
					"attached infra/younger: True/ListenersNotValid, True/Programmed",
				},
				Attached: 2,
			},
		},
		"C2 C3 a TCP listener on a port of HTTP is in conflict before it is unsupported": {
			own:  []gatewayv1.Listener{a("own", http, 80)},
			sets: []*gatewayv1.ListenerSet{set("infra", "set", 1, listener("raw", tcp, 80, ""))},
			want: outcome{
				Gateway:   "True/Accepted",
				Listeners: []string{"Gateway infra/gw own = own: True/Accepted", "ListenerSet infra/set raw: False/ProtocolConflict conflicted"},
				Sets:      []string{"infra/set: False/ListenersNotValid, False/ListenersNotValid"},
			},
		},
		"C3 a listener of an unsupported protocol holds nothing against later objects": {
			own:  []gatewayv1.Listener{listener("own", http, 8080, ""), listener("raw", tcp, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "set", 1, a("theirs", http, 80))},
			want: outcome{
				Gateway: "True/ListenersNotValid",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted", "Gateway infra/gw raw: False/UnsupportedProtocol",
					"ListenerSet infra/set theirs = theirs: True/Accepted",
				},
				Sets: []string{"attached infra/set: True/Accepted, True/Programmed"}, Attached: 1,
			},
		},
		"C3 protocols that Gateway API does not define are unsupported, never in conflict": {
			own: []gatewayv1.Listener{a("own", http, 80), listener("odd-1", "example.com/odd", 80, "a.example.com"), listener("odd-2", "INVALID", 80, "")},
			want: outcome{
				Gateway: "True/ListenersNotValid",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted",
					"Gateway infra/gw odd-1: False/UnsupportedProtocol", "Gateway infra/gw odd-2: False/UnsupportedProtocol",
				},
			},
		},
		"C6 within one set there is no winner, and its other listeners are untouched": {
			own: []gatewayv1.Listener{listener("own", http, 8080, "")},
			sets: []*gatewayv1.ListenerSet{
				set("infra", "set", 1, a("one", http, 80), a("two", http, 80), listener("three", http, 80, "b.example.com")),
			},
			want: outcome{
				Gateway: "True/Accepted",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted",
					"ListenerSet infra/set one: False/HostnameConflict conflicted",
					"ListenerSet infra/set two: False/HostnameConflict conflicted",
					"ListenerSet infra/set three = three: True/Accepted",
				},
				Sets: []string{"attached infra/set: True/ListenersNotValid, True/Programmed"}, Attached: 1,
			},
		},
		"C6 within the Gateway there is no winner, and a Gateway without a distinct listener is not accepted": {
			own:  []gatewayv1.Listener{a("one", http, 80), listener("two", tcp, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "set", 1, listener("theirs", http, 8080, ""))},
			want: outcome{
				Gateway: "False/ListenersNotValid",
				Listeners: []string{
					"Gateway infra/gw one: False/ProtocolConflict conflicted", "Gateway infra/gw two: False/ProtocolConflict conflicted",
					"ListenerSet infra/set theirs = theirs: False/ParentNotAccepted",
				},
				Sets: []string{"infra/set: False/ParentNotAccepted, False/ParentNotAccepted"},
			},
		},
		"C6 what loses to an earlier object does not count against its siblings": {
			own:  []gatewayv1.Listener{a("own", http, 80)},
			sets: []*gatewayv1.ListenerSet{set("infra", "set", 1, listener("raw", tcp, 80, ""), listener("theirs", http, 80, "b.example.com"))},
			want: outcome{
				Gateway: "True/Accepted",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted",
					"ListenerSet infra/set raw: False/ProtocolConflict conflicted",
					"ListenerSet infra/set theirs = theirs: True/Accepted",
				},
				Sets: []string{"attached infra/set: True/ListenersNotValid, True/Programmed"}, Attached: 1,
			},
		},
		"C6 what no one of a set won is free for a younger set": {
			own: []gatewayv1.Listener{listener("own", http, 8080, "")},
			sets: []*gatewayv1.ListenerSet{
				set("infra", "older", 1, a("one", http, 80), a("two", http, 80)),
				set("infra", "younger", 2, a("three", http, 80)),
			},
			want: outcome{
				Gateway: "True/Accepted",
				Listeners: []string{
					"Gateway infra/gw own = own: True/Accepted",
					"ListenerSet infra/older one: False/HostnameConflict conflicted",
					"ListenerSet infra/older two: False/HostnameConflict conflicted",
					"ListenerSet infra/younger three = three: True/Accepted",
				},
				Sets: []string{
					"infra/older: False/ListenersNotValid, False/ListenersNotValid",
					"attached infra/younger: True/Accepted, True/Programmed",
				},
				Attached: 1,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Blueprint: c.blueprint, Gateway: gw(fromAll, c.own...), ListenerSets: c.sets})
			if diff := cmp.Diff(c.want, outcomeOf(m)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// TestC9Distinct promises C9 for each pair of protocols: what a listener is told that comes after another.
func TestC9Distinct(t *testing.T) {
	const (
		fine     = "True/Accepted"
		hostname = "False/HostnameConflict"
		protocol = "False/ProtocolConflict"
	)
	for name, c := range map[string]struct {
		first, second gatewayv1.Listener
		want          string
	}{
		"HTTP, same port and hostname":                         {listener("x", http, 80, "a.com"), listener("y", http, 80, "a.com"), hostname},
		"HTTP, same port, no hostname":                         {listener("x", http, 80, ""), listener("y", http, 80, ""), hostname},
		"HTTP, same port, one without hostname":                {listener("x", http, 80, ""), listener("y", http, 80, "a.com"), fine},
		"HTTP, same port, other hostname":                      {listener("x", http, 80, "a.com"), listener("y", http, 80, "b.com"), fine},
		"HTTP, same port, a wildcard over the other":           {listener("x", http, 80, "*.a.com"), listener("y", http, 80, "b.a.com"), fine},
		"HTTP, other port, same hostname":                      {listener("x", http, 80, "a.com"), listener("y", http, 81, "a.com"), fine},
		"HTTPS, same port and hostname":                        {listener("x", https, 443, "a.com"), listener("y", https, 443, "a.com"), hostname},
		"TLS, same port and hostname":                          {listener("x", tls, 443, "a.com"), listener("y", tls, 443, "a.com"), hostname},
		"HTTPS and TLS, same port and hostname":                {listener("x", https, 443, "a.com"), listener("y", tls, 443, "a.com"), protocol},
		"HTTPS and TLS, same port, other hostname":             {listener("x", https, 443, "a.com"), listener("y", tls, 443, "b.com"), fine},
		"HTTP and HTTPS, same port and hostname":               {listener("x", http, 80, "a.com"), listener("y", https, 80, "a.com"), protocol},
		"HTTP and HTTPS, same port, other hostname":            {listener("x", http, 80, "a.com"), listener("y", https, 80, "b.com"), fine},
		"HTTP and HTTPS, other port, same hostname":            {listener("x", http, 80, "a.com"), listener("y", https, 443, "a.com"), fine},
		"TCP, same port":                                       {listener("x", tcp, 80, ""), listener("y", tcp, 80, ""), hostname},
		"TCP, same port, hostnames that mean nothing to TCP":   {listener("x", tcp, 80, "a.com"), listener("y", tcp, 80, "b.com"), hostname},
		"TCP, other port":                                      {listener("x", tcp, 80, ""), listener("y", tcp, 81, ""), fine},
		"UDP, same port":                                       {listener("x", udp, 53, ""), listener("y", udp, 53, ""), hostname},
		"UDP, other port":                                      {listener("x", udp, 53, ""), listener("y", udp, 54, ""), fine},
		"TCP and UDP, same port":                               {listener("x", tcp, 53, ""), listener("y", udp, 53, ""), fine},
		"UDP and HTTPS, same port":                             {listener("x", udp, 443, ""), listener("y", https, 443, "a.com"), fine},
		"TCP and HTTP, same port":                              {listener("x", tcp, 80, ""), listener("y", http, 80, "a.com"), protocol},
		"HTTP and TCP, same port":                              {listener("x", http, 80, "a.com"), listener("y", tcp, 80, ""), protocol},
		"TCP and HTTPS, same port":                             {listener("x", tcp, 443, ""), listener("y", https, 443, ""), protocol},
		"TLS and TCP, same port":                               {listener("x", tls, 443, "a.com"), listener("y", tcp, 443, ""), protocol},
		"TCP and HTTP, other port":                             {listener("x", tcp, 80, ""), listener("y", http, 81, ""), fine},
		"an empty hostname is no hostname":                     {emptyHostname(listener("x", http, 80, "")), listener("y", http, 80, ""), hostname},
		"tls settings make no difference (HTTPS, both anyhow)": {withTLS(listener("x", https, 443, "a.com")), listener("y", https, 443, "a.com"), hostname},
	} {
		t.Run(name, func(t *testing.T) {
			apart := merge(gateway.Snapshot{
				Blueprint: layer4, Gateway: gw(fromAll, c.first),
				ListenerSets: []*gatewayv1.ListenerSet{set("infra", "set", 1, c.second)},
			})
			got := []string{short(apart.Listeners[0].Accepted), short(apart.Listeners[1].Accepted)}
			if diff := cmp.Diff([]string{fine, c.want}, got); diff != "" {
				t.Errorf("in two objects (-want +got):\n%s", diff)
			}
			together := merge(gateway.Snapshot{Blueprint: layer4, Gateway: gw(fromAll, c.first, c.second)})
			got = []string{short(together.Listeners[0].Accepted), short(together.Listeners[1].Accepted)}
			if diff := cmp.Diff([]string{c.want, c.want}, got); diff != "" {
				t.Errorf("in one object (-want +got):\n%s", diff)
			}
		})
	}
}

func emptyHostname(l gatewayv1.Listener) gatewayv1.Listener {
	l.Hostname = new(gatewayv1.Hostname(""))
	return l
}

func withTLS(l gatewayv1.Listener) gatewayv1.Listener {
	l.TLS = &gatewayv1.ListenerTLSConfig{
		Mode: new(gatewayv1.TLSModeTerminate), CertificateRefs: []gatewayv1.SecretObjectReference{{Name: "cert"}},
	}
	return l
}

// TestC7ConflictEnds promises C7: when the winner goes, the loser takes its place, and the route that was attached to it all
// the while is served.
func TestC7ConflictEnds(t *testing.T) {
	older := set("infra", "older", 1, listener("same", http, 80, "a.example.com"))
	younger := set("team", "younger", 2, listener("same", http, 80, "a.example.com"))
	s := gateway.Snapshot{
		Gateway:      gw(fromAll, listener("own", http, 8080, "")),
		ListenerSets: []*gatewayv1.ListenerSet{older, younger},
		Routes:       []gateway.Route{route("team", "route", nil, toSet("team", "younger", "", 0))},
	}
	type state struct {
		Loser    string
		Route    string
		Names    []gatewayv1.SectionName
		Attached int32
	}
	observe := func() state {
		m := merge(s)
		parent := m.Attachments[0].Parents[0]
		last := m.Listeners[len(m.Listeners)-1]
		return state{line(last), short(parent.Accepted), m.ListenerNames(parent), last.AttachedRoutes}
	}
	during := state{"ListenerSet team/younger same: False/HostnameConflict conflicted", "True/Accepted", nil, 1}
	if diff := cmp.Diff(during, observe()); diff != "" {
		t.Errorf("while the conflict lasts (-want +got):\n%s", diff)
	}
	s.ListenerSets = s.ListenerSets[1:]
	after := state{"ListenerSet team/younger same = same: True/Accepted", "True/Accepted", []gatewayv1.SectionName{"same"}, 1}
	if diff := cmp.Diff(after, observe()); diff != "" {
		t.Errorf("once the winner is gone (-want +got):\n%s", diff)
	}
}

// TestSummaries promises that a Gateway and a ListenerSet name which of their own listeners are left out, a few at most.
func TestSummaries(t *testing.T) {
	var odd []gatewayv1.Listener
	for i := range 7 {
		odd = append(odd, listener("odd-"+string(rune('0'+i)), "INVALID", int32(81+i), ""))
	}
	m := merge(gateway.Snapshot{
		Gateway: gw(fromSame, listener("l", http, 80, ""), odd[0]),
		ListenerSets: []*gatewayv1.ListenerSet{
			set("infra", "none", 1, listener("x", http, 80, ""), odd[1]),
			set("infra", "many", 2, odd...),
			set("infra", "all", 3, listener("l", http, 90, "")),
		},
	})
	got := []string{m.Accepted.Message}
	for _, s := range m.ListenerSets {
		got = append(got, s.Accepted.Message)
	}
	want := []string{
		"1 of 2 listeners are valid; left out are odd-0 (UnsupportedProtocol); their conditions in status.listeners say why",
		"0 of 2 listeners are valid; left out are x (HostnameConflict), odd-1 (UnsupportedProtocol); their conditions in status.listeners say why",
		"0 of 7 listeners are valid; left out are odd-0 (UnsupportedProtocol), odd-1 (UnsupportedProtocol), odd-2 (UnsupportedProtocol), " +
			"odd-3 (UnsupportedProtocol), odd-4 (UnsupportedProtocol) and 2 more; their conditions in status.listeners say why",
		"all listeners of the ListenerSet are valid",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// TestC8MessagesLeakNothing promises C8, and that no message repeats what a tenant wrote: strings planted everywhere but in
// listener names, which an object's own summary may repeat, turn up in no message at all.
func TestC8MessagesLeakNothing(t *testing.T) {
	const canary = "canary"
	odd := listener("odd", "canary.example.com/canary", 81, "canary.example.com")
	kinds := allowing(listener("kinds", http, 82, "canary.example.com"), gatewayv1.NamespacesFromAll, nil, "canaryKind")
	broken := allowing(listener("broken", http, 83, "canary.example.com"), gatewayv1.NamespacesFromSelector,
		&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "canary", Operator: "canary", Values: []string{"canary"}}}})
	same := listener("same", http, 80, "canary.example.com")
	raw := listener("raw", tcp, 80, "")
	far := withCertificates(listener("far", https, 443, "canary.example.com"), secretRef("canary", "canary"), secretRef("", "canary"))
	parent := gw(fromSame, same, odd, kinds, broken, far)
	parent.Spec.TLS = frontend(authorityRef("canary", "", "canary"), authorityRef("ConfigMap", "canary", "canary"))
	parent.Spec.TLS.Backend = &gatewayv1.GatewayBackendTLS{ClientCertificateRef: new(secretRef("canary", "canary"))}
	parent.Spec.Addresses = []gatewayv1.GatewaySpecAddress{address("Hostname", "")}
	m := merge(gateway.Snapshot{
		Gateway: parent,
		Secrets: map[types.NamespacedName]gateway.Certificate{}, Services: map[types.NamespacedName]bool{},
		ListenerSets: []*gatewayv1.ListenerSet{
			set("infra", "canary-1", 1, same, raw, odd, kinds, broken, far),
			set("infra", "canary-2", 1, listener("x", http, 84, "canary.example.com"), listener("y", http, 84, "canary.example.com")),
			set("canary", "canary-3", 1, same),
		},
		Routes: []gateway.Route{
			route("infra", "canary-1", []gatewayv1.Hostname{"canary.example.org"}, toGateway("", 0), toGateway("canary-none", 0)),
			route("canary", "canary-2", nil, toGateway("", 0), toSet("canary", "canary-3", "", 0)),
			routesTo(t, true, backendRef("canary", "canary"), backendRef("", "canary"))[0],
			routesTo(t, true, backendRef("", "canary"))[0],
		},
	})
	messages := []string{m.Accepted.Message, m.Programmed.Message, m.ResolvedRefs.Message}
	for _, l := range m.Listeners {
		messages = append(messages, l.Accepted.Message, l.ResolvedRefs.Message, l.Programmed.Message)
	}
	for _, s := range m.ListenerSets {
		messages = append(messages, s.Accepted.Message, s.Programmed.Message)
		for _, l := range s.Listeners {
			messages = append(messages, l.Accepted.Message, l.ResolvedRefs.Message)
		}
	}
	for _, a := range m.Attachments {
		messages = append(messages, a.ResolvedRefs.Message)
		for _, p := range a.Parents {
			messages = append(messages, p.Accepted.Message)
		}
	}
	for _, message := range messages {
		if message == "" || strings.Contains(message, canary) {
			t.Errorf("a message is empty or repeats what a tenant wrote: %q", message)
		}
	}
	want := "conflicts with other listeners attached to the same Gateway; use another port or hostname"
	if diff := cmp.Diff(want, m.ListenerSets[1].Listeners[0].Accepted.Message); diff != "" {
		t.Errorf("message of a conflict (-want +got):\n%s", diff)
	}
}

// TestRouteKinds covers which protocols a blueprint supports and which kinds of routes a listener then takes
// (ListenerStatus.SupportedKinds).
func TestRouteKinds(t *testing.T) {
	all := gatewayv1.NamespacesFromAll
	foreign := allowing(listener("l", http, 80, ""), all, nil, gateway.KindHTTPRoute)
	foreign.AllowedRoutes.Kinds[0].Group = new(gatewayv1.Group("example.com"))
	explicit := allowing(listener("l", http, 80, ""), all, nil, gateway.KindHTTPRoute)
	explicit.AllowedRoutes.Kinds[0].Group = new(gatewayv1.Group(gatewayv1.GroupName))
	for name, c := range map[string]struct {
		blueprint *v1alpha1.GatewayClassBlueprint
		listener  gatewayv1.Listener
		want      []string // Accepted, ResolvedRefs, then the supported kinds
	}{
		"HTTP takes HTTPRoutes, whatever the blueprint": {
			nil, listener("l", http, 80, ""), []string{"True/Accepted", "True/ResolvedRefs", "HTTPRoute"}},
		"HTTPS takes HTTPRoutes, whatever the blueprint": {
			nil, listener("l", https, 443, ""), []string{"True/Accepted", "True/ResolvedRefs", "HTTPRoute"}},
		"HTTP takes GRPCRoutes too if the blueprint has a template for them": {
			everything, listener("l", http, 80, ""), []string{"True/Accepted", "True/ResolvedRefs", "HTTPRoute", "GRPCRoute"}},
		"TLS is not supported without a template for TLSRoutes": {
			nil, listener("l", tls, 443, ""), []string{"False/UnsupportedProtocol", "True/ResolvedRefs"}},
		"TLS takes TLSRoutes": {
			everything, listener("l", tls, 443, ""), []string{"True/Accepted", "True/ResolvedRefs", "TLSRoute"}},
		"TCP is not supported without a template for TCPRoutes": {
			nil, listener("l", tcp, 80, ""), []string{"False/UnsupportedProtocol", "True/ResolvedRefs"}},
		"TCP takes TCPRoutes": {
			everything, listener("l", tcp, 80, ""), []string{"True/Accepted", "True/ResolvedRefs", "TCPRoute"}},
		"UDP is not supported without a template for UDPRoutes": {
			nil, listener("l", udp, 53, ""), []string{"False/UnsupportedProtocol", "True/ResolvedRefs"}},
		"UDP takes UDPRoutes": {
			everything, listener("l", udp, 53, ""), []string{"True/Accepted", "True/ResolvedRefs", "UDPRoute"}},
		"another protocol is never supported": {
			everything, listener("l", "example.com/odd", 80, ""), []string{"False/UnsupportedProtocol", "True/ResolvedRefs"}},
		"R5 allowedRoutes narrow the kinds": {
			everything, allowing(listener("l", http, 80, ""), all, nil, gateway.KindGRPCRoute), []string{"True/Accepted", "True/ResolvedRefs", "GRPCRoute"}},
		"R5 the group may be written out": {
			nil, explicit, []string{"True/Accepted", "True/ResolvedRefs", "HTTPRoute"}},
		"R5 an unknown kind leaves the valid ones": {
			nil, allowing(listener("l", http, 80, ""), all, nil, "InvalidRoute", gateway.KindHTTPRoute, gateway.KindHTTPRoute),
			[]string{"True/Accepted", "False/InvalidRouteKinds", "HTTPRoute"}},
		"R5 a kind of another group is unknown": {
			nil, foreign, []string{"True/Accepted", "False/InvalidRouteKinds"}},
		"R5 a kind that does not fit the protocol is unknown": {
			everything, allowing(listener("l", tls, 443, ""), all, nil, gateway.KindHTTPRoute), []string{"True/Accepted", "False/InvalidRouteKinds"}},
		"R5 a kind without template is unknown": {
			nil, allowing(listener("l", http, 80, ""), all, nil, gateway.KindGRPCRoute), []string{"True/Accepted", "False/InvalidRouteKinds"}},
		"a selector that cannot be read is told to the listener's owner": {
			nil, allowing(listener("l", http, 80, ""), gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{
				MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Like"}},
			}), []string{"False/UnsupportedValue", "True/ResolvedRefs", "HTTPRoute"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Blueprint: c.blueprint, Gateway: gw(nil, c.listener)})
			l := m.Listeners[0]
			got := []string{short(l.Accepted), short(l.ResolvedRefs)}
			for _, kind := range l.SupportedKinds {
				if *kind.Group != gatewayv1.GroupName {
					t.Errorf("group of %s is %s", kind.Kind, *kind.Group)
				}
				got = append(got, string(kind.Kind))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Accepted, ResolvedRefs and kinds (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnsupportedProtocolMessage promises that the message says what to write instead.
func TestUnsupportedProtocolMessage(t *testing.T) {
	m := merge(gateway.Snapshot{Blueprint: everything, Gateway: gw(nil, listener("l", "INVALID", 80, ""))})
	want := "the GatewayClass does not support the protocol of this listener; it supports HTTP, HTTPS, TLS, TCP, UDP"
	if diff := cmp.Diff(want, m.Listeners[0].Accepted.Message); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

// TestGatewayListeners promises S2: the Gateway's status is about its own listeners, all of them.
func TestGatewayListeners(t *testing.T) {
	m := merge(gateway.Snapshot{
		Gateway:      gw(fromAll, listener("own", http, 80, ""), listener("odd", "INVALID", 81, "")),
		ListenerSets: []*gatewayv1.ListenerSet{set("infra", "set", 1, listener("theirs", http, 82, ""))},
	})
	var got []string
	for _, l := range m.GatewayListeners() {
		got = append(got, line(l))
	}
	want := []string{"Gateway infra/gw own = own: True/Accepted", "Gateway infra/gw odd: False/UnsupportedProtocol"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listeners (-want +got):\n%s", diff)
	}
}
