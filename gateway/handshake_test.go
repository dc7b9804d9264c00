package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// TestHandshake covers which ListenerSets a Gateway lets in, and what they are told (GEP-1713, "Handshake").
func TestHandshake(t *testing.T) {
	own := listener("own", http, 80, "own.example.com")
	theirs := listener("theirs", http, 80, "theirs.example.com")
	selecting := letIn(gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}})
	broken := letIn(gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Like"}},
	})
	elsewhere := set("infra", "set", 1, theirs)
	elsewhere.Spec.ParentRef.Name = "another"
	noGateway := set("infra", "set", 1, theirs)
	noGateway.Spec.ParentRef.Kind = new(gatewayv1.Kind("Service"))
	noGroup := set("infra", "set", 1, theirs)
	noGroup.Spec.ParentRef.Group = new(gatewayv1.Group("example.com"))
	defaulted := set("infra", "set", 1, theirs)
	defaulted.Spec.ParentRef.Namespace = nil

	in := func(namespace string) outcome {
		return outcome{
			Gateway: "True/Accepted",
			Listeners: []string{
				"Gateway infra/gw own = own: True/Accepted",
				"ListenerSet " + namespace + "/set theirs = theirs: True/Accepted",
			},
			Sets:     []string{"attached " + namespace + "/set: True/Accepted, True/Programmed"},
			Attached: 1,
		}
	}
	out := func(namespace string) outcome {
		return outcome{
			Gateway:   "True/Accepted",
			Listeners: []string{"Gateway infra/gw own = own: True/Accepted"},
			Sets:      []string{namespace + "/set: False/NotAllowed, False/NotAllowed"},
		}
	}
	notOurs := outcome{Gateway: "True/Accepted", Listeners: []string{"Gateway infra/gw own = own: True/Accepted"}}

	for name, c := range map[string]struct {
		allowed    *gatewayv1.AllowedListeners
		set        *gatewayv1.ListenerSet
		namespaces map[string]labels.Set
		want       outcome
	}{
		"H1 without allowedListeners no set is let in": {
			set: set("infra", "set", 1, theirs), want: out("infra")},
		"H1 an empty allowedListeners lets no set in": {
			allowed: &gatewayv1.AllowedListeners{}, set: set("infra", "set", 1, theirs), want: out("infra")},
		"H1 namespaces without from let no set in": {
			allowed: &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{}}, set: set("infra", "set", 1, theirs), want: out("infra")},
		"H1 None lets no set in": {
			allowed: fromNone, set: set("infra", "set", 1, theirs), want: out("infra")},
		"H2 Same lets in a set of the Gateway's namespace": {
			allowed: fromSame, set: set("infra", "set", 1, theirs), want: in("infra")},
		"H2 Same keeps out a set of another namespace": {
			allowed: fromSame, set: set("team-a", "set", 1, theirs), want: out("team-a")},
		"H3 Selector lets in a set whose namespace has the labels": {
			allowed: selecting, set: set("team-a", "set", 1, theirs),
			namespaces: map[string]labels.Set{"team-a": {"team": "a"}}, want: in("team-a")},
		"H3 Selector keeps out a set whose namespace has other labels": {
			allowed: selecting, set: set("team-a", "set", 1, theirs),
			namespaces: map[string]labels.Set{"team-a": {"team": "b"}}, want: out("team-a")},
		"H3 Selector does not let in the Gateway's own namespace unless it has the labels": {
			allowed: selecting, set: set("infra", "set", 1, theirs),
			namespaces: map[string]labels.Set{"infra": {}}, want: out("infra")},
		"H3 an empty selector lets in every namespace that exists": {
			allowed: letIn(gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{}), set: set("team-a", "set", 1, theirs),
			namespaces: map[string]labels.Set{"team-a": {}}, want: in("team-a")},
		"H3 a namespace that is not in the snapshot is selected by no selector": {
			allowed: letIn(gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{}), set: set("team-a", "set", 1, theirs), want: out("team-a")},
		"H3 Selector without a selector lets no set in": {
			allowed: letIn(gatewayv1.NamespacesFromSelector, nil), set: set("team-a", "set", 1, theirs),
			namespaces: map[string]labels.Set{"team-a": {}}, want: out("team-a")},
		"H3 a selector that cannot be read lets no set in": {
			allowed: broken, set: set("team-a", "set", 1, theirs),
			namespaces: map[string]labels.Set{"team-a": {"team": "a"}}, want: out("team-a")},
		"H4 All lets in a set of any namespace": {
			allowed: fromAll, set: set("team-a", "set", 1, theirs), want: in("team-a")},
		"H5 a set of another Gateway is not ours": {
			allowed: fromAll, set: elsewhere, want: notOurs},
		"H5 a set whose parent is of another kind is not ours": {
			allowed: fromAll, set: noGateway, want: notOurs},
		"H5 a set whose parent is of another group is not ours": {
			allowed: fromAll, set: noGroup, want: notOurs},
		"H6 a parentRef without namespace means the set's own": {
			allowed: fromSame, set: defaulted, want: in("infra")},
	} {
		t.Run(name, func(t *testing.T) {
			got := merge(gateway.Snapshot{
				Gateway: gw(c.allowed, own), ListenerSets: []*gatewayv1.ListenerSet{c.set}, Namespaces: c.namespaces,
			})
			if diff := cmp.Diff(c.want, outcomeOf(got)); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

// TestH7HandshakeEnds promises H7: what allowedListeners no longer allows is detached, with its listeners and their routes.
func TestH7HandshakeEnds(t *testing.T) {
	s := gateway.Snapshot{
		Gateway: gw(fromAll, listener("own", http, 80, "own.example.com")),
		ListenerSets: []*gatewayv1.ListenerSet{
			set("team-a", "set", 1, listener("theirs", http, 80, "theirs.example.com")),
		},
		Routes: []gateway.Route{route("team-a", "route", nil, toSet("team-a", "set", "", 0))},
	}
	type state struct {
		Outcome   outcome
		Effective int
		Route     string
		Hostnames gateway.Hostnames
	}
	observe := func() state {
		m := merge(s)
		return state{outcomeOf(m), len(m.EffectiveGateway().Spec.Listeners), short(m.Attachments[0].Parents[0].Accepted), m.Hostnames}
	}
	attached := state{
		Outcome: outcome{
			Gateway: "True/Accepted",
			Listeners: []string{
				"Gateway infra/gw own = own: True/Accepted", "ListenerSet team-a/set theirs = theirs: True/Accepted",
			},
			Sets: []string{"attached team-a/set: True/Accepted, True/Programmed"}, Attached: 1,
		},
		Effective: 2,
		Route:     "True/Accepted",
		Hostnames: gateway.Hostnames{
			Union:        []string{"own.example.com", "theirs.example.com"},
			Intersection: []string{"own.example.com", "theirs.example.com"},
		},
	}
	detached := state{
		Outcome: outcome{
			Gateway:   "True/Accepted",
			Listeners: []string{"Gateway infra/gw own = own: True/Accepted"},
			Sets:      []string{"team-a/set: False/NotAllowed, False/NotAllowed"},
		},
		Effective: 1,
		Route:     "False/NoMatchingParent",
		Hostnames: gateway.Hostnames{Union: []string{"own.example.com"}, Intersection: []string{"own.example.com"}},
	}

	if diff := cmp.Diff(attached, observe()); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	s.Gateway.Spec.AllowedListeners = fromSame
	if diff := cmp.Diff(detached, observe()); diff != "" {
		t.Errorf("after allowedListeners changed (-want +got):\n%s", diff)
	}
	s.Gateway.Spec.AllowedListeners = fromAll
	s.ListenerSets[0].Spec.ParentRef.Name = "another"
	gone := merge(s)
	if diff := cmp.Diff([]gateway.Attachment(nil), gone.Attachments); diff != "" {
		t.Errorf("routes of a set that went elsewhere (-want +got):\n%s", diff)
	}
}

// TestSetStatus promises S1 and S2: a set's conditions sum up its own listeners, each of which has a verdict of its own,
// unless the Gateway does not let it in or is not accepted itself.
func TestSetStatus(t *testing.T) {
	good := listener("good", http, 80, "good.example.com")
	bad := listener("bad", "example.com/odd", 81, "")
	for name, c := range map[string]struct {
		gateway *gatewayv1.Gateway
		set     *gatewayv1.ListenerSet
		want    []string // the set, then its listeners
	}{
		"S1 all listeners valid": {
			gateway: gw(fromAll, listener("own", http, 80, "")), set: set("infra", "set", 1, good),
			want: []string{"attached True/Accepted True/Programmed", "ListenerSet infra/set good = good: True/Accepted"}},
		"S1 some listeners valid (C4)": {
			gateway: gw(fromAll, listener("own", http, 80, "")), set: set("infra", "set", 1, bad, good),
			want: []string{"attached True/ListenersNotValid True/Programmed",
				"ListenerSet infra/set bad: False/UnsupportedProtocol", "ListenerSet infra/set good = good: True/Accepted"}},
		"S1 no listener valid (C4)": {
			gateway: gw(fromAll, listener("own", http, 80, "")), set: set("infra", "set", 1, bad),
			want: []string{"False/ListenersNotValid False/ListenersNotValid", "ListenerSet infra/set bad: False/UnsupportedProtocol"}},
		"S1 the Gateway is not accepted": {
			gateway: gw(fromAll, bad), set: set("infra", "set", 1, good),
			want: []string{"False/ParentNotAccepted False/ParentNotAccepted", "ListenerSet infra/set good = good: False/ParentNotAccepted"}},
		"S1 not being allowed is told before the Gateway not being accepted": {
			gateway: gw(fromNone, bad), set: set("infra", "set", 1, good),
			want: []string{"False/NotAllowed False/NotAllowed", "ListenerSet infra/set good: False/NotAllowed"}},
		"S2 the listeners of a set that is not let in have verdicts too": {
			gateway: gw(fromNone, listener("own", http, 80, "")), set: set("infra", "set", 1, good, bad),
			want: []string{"False/NotAllowed False/NotAllowed",
				"ListenerSet infra/set good: False/NotAllowed", "ListenerSet infra/set bad: False/NotAllowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Gateway: c.gateway, ListenerSets: []*gatewayv1.ListenerSet{c.set}})
			s := m.ListenerSets[0]
			attached := ""
			if s.Attached {
				attached = "attached "
			}
			got := []string{attached + short(s.Accepted) + " " + short(s.Programmed)}
			for _, l := range s.Listeners {
				got = append(got, line(l))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("set and listeners (-want +got):\n%s", diff)
			}
		})
	}
}
