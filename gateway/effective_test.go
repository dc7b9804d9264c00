package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// TestEffectiveGateway promises the Gateway as templates see it: accepted listeners only, under unique names, and those of
// ListenerSets elsewhere meaning what they meant there.
func TestEffectiveGateway(t *testing.T) {
	bySelector := gatewayv1.NamespacesFromSelector
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	teamA := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "team-a"}}
	named := func(l gatewayv1.Listener, name gatewayv1.SectionName) gatewayv1.Listener { l.Name = name; return l }
	kinds := listener("kinds", http, 85, "")
	kinds.AllowedRoutes = &gatewayv1.AllowedRoutes{Kinds: []gatewayv1.RouteGroupKind{{Kind: gateway.KindHTTPRoute}}}
	kindsFromTeamA := allowing(kinds, bySelector, teamA, gateway.KindHTTPRoute)

	for name, c := range map[string]struct {
		own  []gatewayv1.Listener
		sets []*gatewayv1.ListenerSet
		want []gatewayv1.Listener
	}{
		"own listeners stay as they are, without the rejected ones": {
			own:  []gatewayv1.Listener{withTLS(listener("s", https, 443, "")), listener("odd", "INVALID", 81, ""), listener("l", http, 80, "")},
			want: []gatewayv1.Listener{withTLS(listener("s", https, 443, "")), listener("l", http, 80, "")}},
		"listeners of a ListenerSet of the same namespace get their unique names": {
			own:  []gatewayv1.Listener{listener("http", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "a", 1, withTLS(listener("http", https, 443, "a.example.com")))},
			want: []gatewayv1.Listener{listener("http", http, 80, ""), withTLS(listener("http-47e106f39e", https, 443, "a.example.com"))}},
		"the default of allowedRoutes becomes the namespace of the ListenerSet": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("team-a", "a", 1, listener("l", http, 81, ""))},
			want: []gatewayv1.Listener{listener("own", http, 80, ""), allowing(listener("l", http, 81, ""), bySelector, teamA)}},
		"Same becomes the namespace of the ListenerSet": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("team-a", "a", 1, allowing(listener("l", http, 81, ""), gatewayv1.NamespacesFromSame, nil))},
			want: []gatewayv1.Listener{listener("own", http, 80, ""), allowing(listener("l", http, 81, ""), bySelector, teamA)}},
		"allowed kinds are kept when Same is spelled out": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("team-a", "a", 1, kinds)},
			want: []gatewayv1.Listener{listener("own", http, 80, ""), kindsFromTeamA}},
		"of allowed kinds, those that are supported": {
			own:  []gatewayv1.Listener{allowing(listener("l", http, 80, ""), bySelector, team, gateway.KindTCPRoute, gateway.KindHTTPRoute)},
			want: []gatewayv1.Listener{allowing(listener("l", http, 80, ""), bySelector, team, gateway.KindHTTPRoute)}},
		"All and Selector mean the same everywhere": {
			own: []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("team-a", "a", 1,
				allowing(listener("all", http, 81, ""), gatewayv1.NamespacesFromAll, nil), allowing(listener("some", http, 82, ""), bySelector, team))},
			want: []gatewayv1.Listener{
				listener("own", http, 80, ""),
				allowing(listener("all", http, 81, ""), gatewayv1.NamespacesFromAll, nil), allowing(listener("some", http, 82, ""), bySelector, team),
			}},
		"a certificateRef without namespace means the ListenerSet's, and one into another namespace is not followed": {
			own: []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("team-a", "a", 1,
				allowing(withTLS(listener("l", https, 443, "")), gatewayv1.NamespacesFromAll, nil),
				allowing(certIn(listener("m", https, 444, ""), "certs"), gatewayv1.NamespacesFromAll, nil))},
			want: []gatewayv1.Listener{
				listener("own", http, 80, ""),
				allowing(certIn(named(listener("", https, 443, ""), "l"), "team-a"), gatewayv1.NamespacesFromAll, nil),
			}},
		"a Gateway of which no listener is usable has none to render": {
			own:  []gatewayv1.Listener{listener("odd", "INVALID", 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "a", 1, listener("l", "INVALID", 81, ""))},
			want: []gatewayv1.Listener{}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Gateway: gw(fromAll, c.own...), ListenerSets: c.sets})
			want := gw(fromAll, c.want...)
			if c.want != nil && len(c.want) == 0 {
				want.Spec.Listeners = c.want
			}
			if diff := cmp.Diff(want, m.EffectiveGateway()); diff != "" {
				t.Errorf("Gateway (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNothingIsShared promises that neither the merged listeners nor the effective Gateway share memory with the objects
// that they were made of, nor with each other.
func TestNothingIsShared(t *testing.T) {
	rich := allowing(withTLS(listener("l", https, 443, "a.example.com")), gatewayv1.NamespacesFromSelector,
		&metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}, gateway.KindHTTPRoute)
	s := gateway.Snapshot{
		Gateway:      gw(fromAll, rich),
		ListenerSets: []*gatewayv1.ListenerSet{set("team-a", "a", 1, *withPort(rich, 444))},
	}
	before := clone(s)
	m := merge(s)
	effective := m.EffectiveGateway()
	for i := range effective.Spec.Listeners {
		scribble(&effective.Spec.Listeners[i])
	}
	if diff := cmp.Diff(merge(before).Listeners, m.Listeners); diff != "" {
		t.Errorf("merged listeners after the effective Gateway was changed (-before +after):\n%s", diff)
	}
	for i := range m.Listeners {
		scribble(&m.Listeners[i].Spec)
		*m.Listeners[i].SupportedKinds[0].Group = "changed"
	}
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("snapshot after the result was changed (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(merge(before), merge(s)); diff != "" {
		t.Errorf("a second merge after the result of the first was changed (-before +after):\n%s", diff)
	}
}

func withPort(l gatewayv1.Listener, port int32) *gatewayv1.Listener {
	out := l.DeepCopy()
	out.Port = port
	return out
}

func scribble(l *gatewayv1.Listener) {
	*l.Hostname = "changed"
	*l.TLS.Mode = "changed"
	l.TLS.CertificateRefs[0].Name = "changed"
	*l.AllowedRoutes.Namespaces.From = "changed"
	l.AllowedRoutes.Namespaces.Selector.MatchLabels["team"] = "changed"
	l.AllowedRoutes.Kinds[0].Kind = "changed"
}
