package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// attached is a Parent in short.
type attached struct {
	// Verdict is the Accepted condition.
	Verdict string
	// Listeners accept the route: "namespace/name section".
	Listeners []string
	Hostnames []gatewayv1.Hostname
}

func attachedOf(m gateway.Merged, a gateway.Attachment) []attached {
	var out []attached
	for _, p := range a.Parents {
		short := attached{Verdict: short(p.Accepted), Hostnames: p.Hostnames}
		for _, i := range p.Listeners {
			source := m.Listeners[i].Source
			short.Listeners = append(short.Listeners, source.Namespace+"/"+source.Name+" "+string(source.SectionName))
		}
		out = append(out, short)
	}
	return out
}

// attachments of the one route of a snapshot, both as merged and as judged alone, which must be the same.
func attachments(t *testing.T, s gateway.Snapshot) []attached {
	t.Helper()
	m := merge(s)
	alone := m.Attach(s.Routes[0], complete(s))
	var merged gateway.Attachment
	if len(m.Attachments) > 0 {
		merged = m.Attachments[0]
	}
	if diff := cmp.Diff(attachedOf(m, alone), attachedOf(m, merged)); diff != "" {
		t.Errorf("a route judged alone and among others (-alone +merged):\n%s", diff)
	}
	return attachedOf(m, alone)
}

// TestParents covers R1 to R4: which listeners a parentRef reaches (GEP-1713, "Route Attachment").
func TestParents(t *testing.T) {
	gateways := gw(fromSame, listener("one", http, 80, ""), listener("two", http, 81, ""))
	sets := []*gatewayv1.ListenerSet{
		set("infra", "a", 1, listener("one", http, 82, ""), listener("three", http, 83, "")),
		set("infra", "b", 2, listener("one", http, 84, "")),
		set("elsewhere", "kept-out", 3, listener("one", http, 85, "")),
	}
	service := gatewayv1.ParentReference{Group: new(gatewayv1.Group("")), Kind: new(gatewayv1.Kind("Service")), Name: "gw"}
	otherGateway := gatewayv1.ParentReference{Name: "other"}
	foreignSet := toSet("infra", "a", "", 0)
	foreignSet.Group = new(gatewayv1.Group("example.com"))
	withoutNamespace := toGateway("one", 0)
	withoutNamespace.Namespace = nil
	emptySection := toGateway("", 0)
	emptySection.SectionName = new(gatewayv1.SectionName(""))

	yes := func(listeners ...string) attached { return attached{Verdict: "True/Accepted", Listeners: listeners} }
	no := attached{Verdict: "False/NoMatchingParent"}

	for name, c := range map[string]struct {
		parents []gatewayv1.ParentReference
		want    []attached
	}{
		"R1 a ListenerSet alone means all its listeners": {
			[]gatewayv1.ParentReference{toSet("infra", "a", "", 0)}, []attached{yes("infra/a one", "infra/a three")}},
		"R1 sectionName picks one listener of a ListenerSet": {
			[]gatewayv1.ParentReference{toSet("infra", "a", "three", 0)}, []attached{yes("infra/a three")}},
		"R1 port picks the listeners of a ListenerSet on that port": {
			[]gatewayv1.ParentReference{toSet("infra", "a", "", 82)}, []attached{yes("infra/a one")}},
		"R1 the section has the name that it has in its ListenerSet, not the unique one": {
			[]gatewayv1.ParentReference{toSet("infra", "b", "one", 0)}, []attached{yes("infra/b one")}},
		"R2 the Gateway alone means its own listeners only": {
			[]gatewayv1.ParentReference{toGateway("", 0)}, []attached{yes("infra/gw one", "infra/gw two")}},
		"R2 an empty sectionName is none": {
			[]gatewayv1.ParentReference{emptySection}, []attached{yes("infra/gw one", "infra/gw two")}},
		"R2 a parentRef without namespace means the route's": {
			[]gatewayv1.ParentReference{withoutNamespace}, []attached{yes("infra/gw one")}},
		"R3 a section of a ListenerSet is none of the Gateway": {
			[]gatewayv1.ParentReference{toGateway("three", 0)}, []attached{no}},
		"R3 a port of a ListenerSet is none of the Gateway": {
			[]gatewayv1.ParentReference{toGateway("", 83)}, []attached{no}},
		"R3 a section of the Gateway is none of a ListenerSet": {
			[]gatewayv1.ParentReference{toSet("infra", "a", "two", 0)}, []attached{no}},
		"R3 a section of one ListenerSet is none of another": {
			[]gatewayv1.ParentReference{toSet("infra", "b", "three", 0)}, []attached{no}},
		"R4 sectionName and port must both match": {
			[]gatewayv1.ParentReference{toGateway("one", 81)}, []attached{no}},
		"R4 a section that does not exist fails for that parentRef only": {
			[]gatewayv1.ParentReference{toGateway("none", 0), toSet("infra", "a", "one", 0)}, []attached{no, yes("infra/a one")}},
		"R4 a ListenerSet that is not let in has no listeners to offer": {
			[]gatewayv1.ParentReference{toSet("elsewhere", "kept-out", "", 0), toGateway("two", 81)}, []attached{no, yes("infra/gw two")}},
		"another Gateway, a ListenerSet that is not ours, another group and another kind are no concern of this Gateway": {
			[]gatewayv1.ParentReference{otherGateway, toSet("infra", "unknown", "", 0), foreignSet, service}, nil},
		"what concerns the Gateway is told from what does not": {
			[]gatewayv1.ParentReference{otherGateway, toGateway("two", 0), service}, []attached{yes("infra/gw two")}},
	} {
		t.Run(name, func(t *testing.T) {
			got := attachments(t, gateway.Snapshot{
				Gateway: gateways, ListenerSets: sets, Routes: []gateway.Route{route("infra", "route", nil, c.parents...)},
			})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("parents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAllowedRoutes covers R5, and in which order the reasons are told.
func TestAllowedRoutes(t *testing.T) {
	all, same, bySelector := gatewayv1.NamespacesFromAll, gatewayv1.NamespacesFromSame, gatewayv1.NamespacesFromSelector
	team := &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}
	byName := &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "team-a"}}
	grpc := func(r gateway.Route) gateway.Route { r.Kind = gateway.KindGRPCRoute; return r }
	plain := listener("l", http, 80, "")

	yes := attached{Verdict: "True/Accepted", Listeners: []string{"infra/gw l"}}
	yesInSet := attached{Verdict: "True/Accepted", Listeners: []string{"team-a/set l"}}
	no := attached{Verdict: "False/NotAllowedByListeners"}

	for name, c := range map[string]struct {
		own, inSet gatewayv1.Listener
		route      gateway.Route
		want       attached
	}{
		"R5 without allowedRoutes a route of the Gateway's namespace may attach": {
			own: plain, route: route("infra", "route", nil, toGateway("", 0)), want: yes},
		"R5 without allowedRoutes a route of another namespace may not": {
			own: plain, route: route("team-a", "route", nil, toGateway("", 0)), want: no},
		"R5 Same is the Gateway's namespace for the Gateway's listeners": {
			own: allowing(plain, same, nil), route: route("infra", "route", nil, toGateway("", 0)), want: yes},
		"R5 Same is the ListenerSet's namespace for its listeners": {
			own: listener("own", http, 81, ""), inSet: allowing(plain, same, nil),
			route: route("team-a", "route", nil, toSet("team-a", "set", "", 0)), want: yesInSet},
		"R5 Same keeps routes of the Gateway's namespace off a ListenerSet elsewhere": {
			own: listener("own", http, 81, ""), inSet: allowing(plain, same, nil),
			route: route("infra", "route", nil, toSet("team-a", "set", "", 0)), want: no},
		"R5 the default is Same for a ListenerSet too": {
			own: listener("own", http, 81, ""), inSet: plain,
			route: route("infra", "route", nil, toSet("team-a", "set", "", 0)), want: no},
		"R5 All takes routes of any namespace": {
			own: allowing(plain, all, nil), route: route("team-b", "route", nil, toGateway("", 0)), want: yes},
		"R5 Selector takes routes of namespaces with the labels": {
			own: allowing(plain, bySelector, team), route: route("team-a", "route", nil, toGateway("", 0)), want: yes},
		"R5 Selector takes no others": {
			own: allowing(plain, bySelector, team), route: route("team-b", "route", nil, toGateway("", 0)), want: no},
		"R5 Selector can go by the namespace's name": {
			own: allowing(plain, bySelector, byName), route: route("team-a", "route", nil, toGateway("", 0)), want: yes},
		"R5 Selector without a selector takes none": {
			own: allowing(plain, bySelector, nil), route: route("team-a", "route", nil, toGateway("", 0)), want: no},
		"R5 Selector takes none of a namespace that the snapshot does not know": {
			own: allowing(plain, bySelector, &metav1.LabelSelector{}), route: route("unknown", "route", nil, toGateway("", 0)), want: no},
		"R5 a kind that is not allowed may not attach": {
			own: allowing(plain, all, nil, gateway.KindGRPCRoute), route: route("infra", "route", nil, toGateway("", 0)), want: no},
		"R5 a kind that is allowed may": {
			own: allowing(plain, all, nil, gateway.KindGRPCRoute), route: grpc(route("infra", "route", nil, toGateway("", 0))), want: yes},
		"R5 a kind that does not fit the protocol may not": {
			own: allowing(listener("l", tcp, 80, ""), all, nil), route: route("infra", "route", nil, toGateway("", 0)), want: no},
		"R5 a listener of an unsupported protocol takes nothing": {
			own: allowing(listener("l", "INVALID", 80, ""), all, nil), route: route("infra", "route", nil, toGateway("", 0)), want: no},
		"R4 a missing section is told before what it would not allow": {
			own: plain, route: route("team-b", "route", nil, toGateway("none", 0)), want: attached{Verdict: "False/NoMatchingParent"}},
		"R6 not being allowed is told before having no hostname in common": {
			own:   listener("l", http, 80, "a.example.com"),
			route: route("team-b", "route", []gatewayv1.Hostname{"b.example.com"}, toGateway("", 0)), want: no},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.Snapshot{
				Blueprint: everything, Gateway: gw(fromAll, c.own), Routes: []gateway.Route{c.route},
				Namespaces: namespaces(map[string]labels.Set{"team-a": {"team": "a"}, "team-b": {"team": "b"}}, "infra", "team-a", "team-b"),
			}
			if c.inSet.Name != "" {
				s.ListenerSets = []*gatewayv1.ListenerSet{set("team-a", "set", 1, c.inSet)}
			}
			if diff := cmp.Diff([]attached{c.want}, attachments(t, s)); diff != "" {
				t.Errorf("parents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHostnameIntersection covers R6 (HTTPRouteSpec.Hostnames).
func TestHostnameIntersection(t *testing.T) {
	names := func(n ...gatewayv1.Hostname) []gatewayv1.Hostname { return n }
	for name, c := range map[string]struct {
		listeners []string // hostnames
		route     []gatewayv1.Hostname
		want      attached
	}{
		"R6 neither names any": {
			[]string{""}, nil, attached{"True/Accepted", []string{"infra/gw l0"}, nil}},
		"R6 the route names none and is served under the listener's": {
			[]string{"a.example.com"}, nil, attached{"True/Accepted", []string{"infra/gw l0"}, names("a.example.com")}},
		"R6 the listener names none and serves the route's, sorted and once each": {
			[]string{""}, names("b.example.com", "a.example.com", "b.example.com"),
			attached{"True/Accepted", []string{"infra/gw l0"}, names("a.example.com", "b.example.com")}},
		"R6 of the route's hostnames those of another domain are ignored": {
			[]string{"a.example.com"}, names("a.example.com", "a.example.net"), attached{"True/Accepted", []string{"infra/gw l0"}, names("a.example.com")}},
		"R6 a wildcard listener takes names of one label or more below it": {
			[]string{"*.example.com"}, names("a.example.com", "a.b.example.com", "example.com", "notexample.com"),
			attached{"True/Accepted", []string{"infra/gw l0"}, names("a.b.example.com", "a.example.com")}},
		"R6 a wildcard route is narrowed to the listener": {
			[]string{"a.example.com"}, names("*.example.com"), attached{"True/Accepted", []string{"infra/gw l0"}, names("a.example.com")}},
		"R6 of two wildcards the narrower holds": {
			[]string{"*.example.com"}, names("*.b.example.com"), attached{"True/Accepted", []string{"infra/gw l0"}, names("*.b.example.com")}},
		"R6 of two wildcards the narrower holds, the other way round": {
			[]string{"*.b.example.com"}, names("*.example.com"), attached{"True/Accepted", []string{"infra/gw l0"}, names("*.b.example.com")}},
		"R6 the apex is not below its wildcard": {
			[]string{"*.example.com"}, names("example.com"), attached{Verdict: "False/NoMatchingListenerHostname"}},
		"R6 nothing in common": {
			[]string{"a.example.com", "*.example.org"}, names("b.example.com"), attached{Verdict: "False/NoMatchingListenerHostname"}},
		"R6 one listener with a common hostname is enough": {
			[]string{"a.example.com", "*.example.org", "c.example.com"}, names("b.example.org", "c.example.com"),
			attached{"True/Accepted", []string{"infra/gw l1", "infra/gw l2"}, names("b.example.org", "c.example.com")}},
	} {
		t.Run(name, func(t *testing.T) {
			var listeners []gatewayv1.Listener
			for i, hostname := range c.listeners {
				listeners = append(listeners, listener("l"+string(rune('0'+i)), http, 80, hostname))
			}
			got := attachments(t, gateway.Snapshot{
				Gateway: gw(nil, listeners...), Routes: []gateway.Route{route("infra", "route", c.route, toGateway("", 0))},
			})
			if diff := cmp.Diff([]attached{c.want}, got); diff != "" {
				t.Errorf("parents (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttachedRoutes promises that attachedRoutes counts accepted routes, each once, whatever is thought of the listener
// itself (ListenerStatus.AttachedRoutes), and that a rejected listener yields no name and no hostname to render.
func TestAttachedRoutes(t *testing.T) {
	own := []gatewayv1.Listener{
		listener("one", http, 80, "a.example.com"), listener("two", http, 80, "a.example.com"), // in conflict
		listener("three", http, 80, "b.example.com"),
		listener("odd", "INVALID", 81, ""),
	}
	m := merge(gateway.Snapshot{
		Gateway:      gw(fromSame, own...),
		ListenerSets: []*gatewayv1.ListenerSet{set("infra", "set", 1, listener("four", http, 80, "b.example.com"))}, // in conflict
		Routes: []gateway.Route{
			route("infra", "all", nil, toGateway("", 0)),
			route("infra", "twice", nil, toGateway("three", 0), toGateway("three", 80), toSet("infra", "set", "", 0)),
			route("infra", "in-conflict", []gatewayv1.Hostname{"a.example.com"}, toGateway("", 0)),
			route("infra", "no-hostname", []gatewayv1.Hostname{"c.example.com"}, toGateway("", 0)),
			route("infra", "no-section", nil, toGateway("none", 0)),
			route("infra", "unsupported", nil, toGateway("odd", 0)),
			route("elsewhere", "not-allowed", nil, toGateway("", 0)),
		},
	})
	counts := map[gatewayv1.SectionName]int32{}
	for _, l := range m.Listeners {
		counts[l.Source.SectionName] = l.AttachedRoutes
	}
	if diff := cmp.Diff(map[gatewayv1.SectionName]int32{"one": 2, "two": 2, "three": 2, "odd": 0, "four": 1}, counts); diff != "" {
		t.Errorf("attachedRoutes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(int32(1), m.ListenerSets[0].Listeners[0].AttachedRoutes); diff != "" {
		t.Errorf("attachedRoutes as the set sees it (-want +got):\n%s", diff)
	}

	type reach struct {
		Verdict   string
		Names     []gatewayv1.SectionName
		Hostnames []gatewayv1.Hostname
	}
	got := map[string]reach{}
	for _, a := range m.Attachments {
		p := a.Parents[0]
		got[a.Route.Object.GetName()] = reach{short(p.Accepted), m.ListenerNames(p), p.Hostnames}
	}
	want := map[string]reach{
		"all":         {"True/Accepted", []gatewayv1.SectionName{"three"}, []gatewayv1.Hostname{"b.example.com"}},
		"twice":       {"True/Accepted", []gatewayv1.SectionName{"three"}, []gatewayv1.Hostname{"b.example.com"}},
		"in-conflict": {"True/Accepted", nil, nil},
		"no-hostname": {"False/NoMatchingListenerHostname", nil, nil},
		"no-section":  {"False/NoMatchingParent", nil, nil},
		"unsupported": {"False/NotAllowedByListeners", nil, nil},
		"not-allowed": {"False/NotAllowedByListeners", nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what a route reaches (-want +got):\n%s", diff)
	}
}

// TestAttachmentOrder promises one attachment a route, by kind, then the oldest first, then by namespace/name, and none for
// a route that concerns another Gateway.
func TestAttachmentOrder(t *testing.T) {
	older := route("z", "older", nil, toGateway("", 0))
	older.Object.SetCreationTimestamp(metav1.NewTime(epoch.Add(-1)))
	grpc := route("a", "a", nil, toGateway("", 0))
	grpc.Kind = gateway.KindGRPCRoute
	m := merge(gateway.Snapshot{
		Gateway: gw(nil, listener("l", http, 80, "")),
		Routes: []gateway.Route{
			route("b", "a", nil, toGateway("", 0)), route("a", "b", nil, toGateway("", 0)), older,
			route("a", "stranger", nil, gatewayv1.ParentReference{Name: "other"}), grpc,
		},
	})
	var got []string
	for _, a := range m.Attachments {
		got = append(got, string(a.Route.Kind)+" "+a.Route.Object.GetNamespace()+"/"+a.Route.Object.GetName())
	}
	want := []string{"GRPCRoute a/a", "HTTPRoute z/older", "HTTPRoute a/b", "HTTPRoute b/a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
}

// TestRouteParent covers the defaults of parentRefs, which whoever selects objects relies on.
func TestRouteParent(t *testing.T) {
	type resolved struct {
		Key gateway.ParentKey
		OK  bool
	}
	key := func(kind gatewayv1.Kind, namespace, name string) gateway.ParentKey {
		return gateway.ParentKey{Kind: kind, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	}
	for name, c := range map[string]struct {
		ref  gatewayv1.ParentReference
		want resolved
	}{
		"a name alone is a Gateway of the route's namespace": {
			gatewayv1.ParentReference{Name: "gw"}, resolved{key("Gateway", "here", "gw"), true}},
		"an empty namespace is the route's": {
			gatewayv1.ParentReference{Name: "gw", Namespace: new(gatewayv1.Namespace(""))}, resolved{key("Gateway", "here", "gw"), true}},
		"everything written out": {
			toSet("there", "set", "", 0), resolved{key("ListenerSet", "there", "set"), true}},
		"an empty group is the core group, which has no parents for us": {
			gatewayv1.ParentReference{Name: "gw", Group: new(gatewayv1.Group(""))}, resolved{key("Gateway", "here", "gw"), false}},
		"a Service is no parent for us": {
			gatewayv1.ParentReference{Name: "svc", Kind: new(gatewayv1.Kind("Service"))}, resolved{key("Service", "here", "svc"), false}},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := gateway.RouteParent(c.ref, "here")
			if diff := cmp.Diff(c.want, resolved{got, ok}); diff != "" {
				t.Errorf("parent (-want +got):\n%s", diff)
			}
		})
	}
}
