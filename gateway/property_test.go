package gateway_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// TestMergeProperties promises for random snapshots what checkMerge checks.
func TestMergeProperties(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 1500 {
		data := make([]byte, 8+random.IntN(120))
		for j := range data {
			data[j] = byte(random.UintN(256))
		}
		checkMerge(t, data)
		if t.Failed() {
			t.Fatalf("failed in round %d with %#v", i, data)
		}
	}
}

// FuzzListenerMerge checks the same for snapshots that the fuzzer makes up.
func FuzzListenerMerge(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("one listener"))
	f.Add([]byte{0, 3, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0, 5, 0, 0, 6, 0, 0})
	f.Add([]byte{255, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2, 1, 128, 64, 32, 16, 200, 100, 50, 25})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 512 {
			checkMerge(t, data)
		}
	})
}

// checkMerge makes a snapshot of the data and checks that Merge leaves it alone, does not care for the order of its lists,
// agrees with a naive account of the rules, and that the result is consistent in itself.
func checkMerge(t *testing.T, data []byte) {
	t.Helper()
	s := snapshotOf(data)
	before := clone(s)
	m := merge(s)
	if diff := cmp.Diff(before, s); diff != "" {
		t.Errorf("the snapshot was changed (-before +after):\n%s", diff)
	}
	random := rand.New(rand.NewPCG(uint64(len(data)), 5))
	shuffled := clone(s)
	random.Shuffle(len(shuffled.ListenerSets), reflect.Swapper(shuffled.ListenerSets))
	random.Shuffle(len(shuffled.Routes), reflect.Swapper(shuffled.Routes))
	if diff := cmp.Diff(m, merge(shuffled)); diff != "" {
		t.Errorf("the result depends on the order of the input (-one +other):\n%s", diff)
	}
	if diff := cmp.Diff(naiveMerge(s), verdictsOf(m)); diff != "" {
		t.Errorf("verdicts (-naive +got):\n%s", diff)
	}
	checkListeners(t, m)
	checkAttachments(t, s, m)
}

// checkListeners checks what must hold among the merged listeners.
func checkListeners(t *testing.T, m gateway.Merged) {
	t.Helper()
	names := map[gatewayv1.SectionName]bool{}
	var accepted []gateway.Listener
	for _, l := range m.Listeners {
		if l.Conflicted && l.Accepted.OK {
			t.Errorf("%s is both accepted and in conflict", line(l))
		}
		if (l.Name != "") != l.Usable {
			t.Errorf("%s has a name without being usable, or the reverse", line(l))
		}
		if l.Usable && !l.Accepted.OK && (m.Accepted.OK || l.Source.Kind != gateway.KindListenerSet || l.Accepted.Reason != "ParentNotAccepted") {
			t.Errorf("%s is usable without being accepted, and not for the sake of its Gateway", line(l))
		}
		if !l.Usable {
			continue
		}
		if names[l.Name] || len(l.Name) > 253 || !sectionName.MatchString(string(l.Name)) {
			t.Errorf("%s: the name is not unique or not valid", line(l))
		}
		names[l.Name] = true
		for _, other := range accepted {
			if clash(other.Spec, l.Spec) != "" {
				t.Errorf("%s and %s are accepted and not distinct", line(other), line(l))
			}
		}
		accepted = append(accepted, l)
	}
	for i, set := range m.ListenerSets {
		if set.First >= 0 && len(set.Listeners) > 0 && &set.Listeners[0] != &m.Listeners[set.First] {
			t.Errorf("ListenerSet %d does not see its listeners in the merged list", i)
		}
	}
	if got := len(m.EffectiveGateway().Spec.Listeners); got != len(accepted) {
		t.Errorf("the effective Gateway has %d listeners, %d are accepted", got, len(accepted))
	}
}

// checkAttachments checks that a route is judged alone as among others, and that routes are counted.
func checkAttachments(t *testing.T, s gateway.Snapshot, m gateway.Merged) {
	t.Helper()
	counts := make([]int32, len(m.Listeners))
	rivals := rivalsOf(s, m)
	for _, a := range m.Attachments {
		if diff := cmp.Diff(rivals[nameOf(a.Route)], attachedOf(m, a)); diff != "" {
			t.Errorf("%s (-naive +got):\n%s", nameOf(a.Route), diff)
		}
		reached := map[int]bool{}
		for _, p := range a.Parents {
			if p.Accepted.OK != (len(p.Listeners) > 0) {
				t.Errorf("%s/%s: verdict %s with listeners %v", a.Route.Object.GetNamespace(), a.Route.Object.GetName(), short(p.Accepted), p.Listeners)
			}
			for _, l := range p.Listeners {
				reached[l] = true
				if source := m.Listeners[l].Source; source.Kind != p.Key.Kind || source.Namespace != p.Key.Namespace || source.Name != p.Key.Name {
					t.Errorf("a parentRef to %v reaches a listener of %v", p.Key, source)
				}
			}
		}
		for l := range reached {
			counts[l]++
		}
	}
	for i, l := range m.Listeners {
		if l.AttachedRoutes != counts[i] {
			t.Errorf("%s counts %d routes, %d are attached", line(l), l.AttachedRoutes, counts[i])
		}
	}
}

func nameOf(r gateway.Route) string {
	return string(r.Kind) + " " + r.Object.GetNamespace() + "/" + r.Object.GetName()
}

// rivalsOf says what becomes of each route, by judging each alone and then letting the older ones of the other kind have what
// both could have.
func rivalsOf(s gateway.Snapshot, m gateway.Merged) map[string][]attached {
	routes := slices.Clone(s.Routes)
	slices.SortFunc(routes, func(a, b gateway.Route) int {
		x, y := a.Object, b.Object
		if c := x.GetCreationTimestamp().Compare(y.GetCreationTimestamp().Time); c != 0 {
			return c
		}
		return cmpStrings(x.GetNamespace()+"/"+x.GetName(), y.GetNamespace()+"/"+y.GetName())
	})
	type holder struct {
		kind      gatewayv1.Kind
		listener  int
		hostnames []gatewayv1.Hostname
	}
	var held []holder
	out := map[string][]attached{}
	for _, r := range routes {
		alone := m.Attach(r, complete(s))
		var mine []holder
		for i := range alone.Parents {
			p := &alone.Parents[i]
			var kept []int
			var hostnames []gatewayv1.Hostname
			endless := false
			for _, l := range p.Listeners {
				common := commonNames(m.Listeners[l].Spec.Hostname, r.Hostnames)
				if slices.ContainsFunc(held, func(h holder) bool {
					return h.kind != r.Kind && h.listener == l && overlap(h.hostnames, common)
				}) {
					continue
				}
				kept = append(kept, l)
				mine = append(mine, holder{r.Kind, l, common})
				if m.Listeners[l].Usable {
					hostnames, endless = append(hostnames, common...), endless || len(common) == 0
				}
			}
			if len(kept) == 0 && p.Accepted.OK {
				p.Accepted.OK, p.Accepted.Reason = false, "HostnameConflict"
			}
			slices.Sort(hostnames)
			if p.Listeners, p.Hostnames = kept, slices.Compact(hostnames); endless {
				p.Hostnames = nil
			}
		}
		held = append(held, mine...)
		out[nameOf(r)] = attachedOf(m, alone)
	}
	return out
}

func cmpStrings(a, b string) int { return slices.Compare([]string{a}, []string{b}) }

// commonNames are those of the names of a route that a listener serves, or the listener's own where a route's name stands for it.
func commonNames(listener *gatewayv1.Hostname, route []gatewayv1.Hostname) []gatewayv1.Hostname {
	if listener == nil {
		return route
	}
	if len(route) == 0 {
		return []gatewayv1.Hostname{*listener}
	}
	var out []gatewayv1.Hostname
	for _, name := range route {
		switch {
		case reaches(*listener, name):
			out = append(out, name)
		case reaches(name, *listener):
			out = append(out, *listener)
		}
	}
	return out
}

// overlap compares each with each; no names are all.
func overlap(a, b []gatewayv1.Hostname) bool {
	if len(a) == 0 || len(b) == 0 {
		return true
	}
	return slices.ContainsFunc(a, func(x gatewayv1.Hostname) bool {
		return slices.ContainsFunc(b, func(y gatewayv1.Hostname) bool { return reaches(x, y) || reaches(y, x) })
	})
}

func reaches(pattern, name gatewayv1.Hostname) bool {
	return pattern == name || strings.HasPrefix(string(pattern), "*.") && strings.HasSuffix(string(name), string(pattern[1:]))
}

// snapshotOf makes a snapshot of any data: few ports, hostnames and names, so that much collides.
func snapshotOf(data []byte) gateway.Snapshot {
	next := func(n int) int {
		if len(data) == 0 {
			return 0
		}
		b := int(data[0])
		data = data[1:]
		return b % n
	}
	protocols := []gatewayv1.ProtocolType{http, http, https, tls, tcp, udp, "example.com/odd"}
	hostnames := []string{"", "a.example.com", "b.example.com", "*.example.com", "*.a.example.com"}
	names := []string{"http", "https", "a.b", "http-47e106f39e"}
	places := []string{"infra", "team-a", "team-b"}
	allowed := []*gatewayv1.AllowedListeners{
		fromAll, fromAll, fromSame, fromNone, letIn(gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "a"}}),
	}
	listeners := func(n int) []gatewayv1.Listener {
		var out []gatewayv1.Listener
		for i := range n {
			l := listener(fmt.Sprintf("%s%d", names[next(len(names))], i), protocols[next(len(protocols))], int32(80+next(2)), hostnames[next(len(hostnames))])
			if i == 0 {
				l.Name = gatewayv1.SectionName(names[next(len(names))]) // so that it collides between objects
			}
			switch next(3) {
			case 0:
				l = allowing(l, gatewayv1.NamespacesFromAll, nil)
			case 1:
				l = allowing(l, gatewayv1.NamespacesFromSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"team": "b"}}, gateway.KindHTTPRoute)
			}
			out = append(out, l)
		}
		return out
	}
	blueprints := []*v1alpha1.GatewayClassBlueprint{nil, everything}
	s := gateway.Snapshot{
		Blueprint:  blueprints[next(2)],
		Gateway:    gw(allowed[next(len(allowed))], listeners(1+next(4))...),
		Namespaces: namespaces(nil, places...),
	}
	s.Namespaces["team-a"]["team"], s.Namespaces["team-b"]["team"] = "a", "b"
	for i := range next(7) {
		s.ListenerSets = append(s.ListenerSets, set(places[next(3)], fmt.Sprintf("set-%d", i), next(3), listeners(1+next(4))...))
	}
	for i := range next(6) {
		var asked []gatewayv1.Hostname
		for range next(3) {
			asked = append(asked, gatewayv1.Hostname(hostnames[1+next(len(hostnames)-1)]))
		}
		parents := []gatewayv1.ParentReference{toGateway([]string{"", "http", "https"}[next(3)], int32([]int{0, 0, 80}[next(3)]))}
		for _, ls := range s.ListenerSets {
			if next(3) == 0 {
				parents = append(parents, toSet(ls.Namespace, ls.Name, "", 0))
			}
		}
		kind := []gatewayv1.Kind{gateway.KindHTTPRoute, gateway.KindHTTPRoute, gateway.KindGRPCRoute}[next(3)]
		r := ofKind(kind, fmt.Sprintf("route-%d", i), next(3), asked, parents...)
		r.Object.SetNamespace(places[next(3)])
		s.Routes = append(s.Routes, r)
	}
	return s
}

func clone(s gateway.Snapshot) gateway.Snapshot {
	out := s
	out.Gateway = s.Gateway.DeepCopy()
	out.ListenerSets, out.Routes = nil, nil
	for _, ls := range s.ListenerSets {
		out.ListenerSets = append(out.ListenerSets, ls.DeepCopy())
	}
	for _, r := range s.Routes {
		copied, _ := gateway.RouteOf(r.Object.(runtime.Object).DeepCopyObject().(metav1.Object))
		out.Routes = append(out.Routes, copied)
	}
	out.Namespaces = maps.Clone(s.Namespaces)
	for name, set := range out.Namespaces {
		out.Namespaces[name] = maps.Clone(set)
	}
	return out
}

// verdictsOf lists what naiveMerge predicts: the reason for each listener by where it comes from.
func verdictsOf(m gateway.Merged) map[string]string {
	out := map[string]string{}
	for _, l := range m.Listeners {
		out[fmt.Sprint(l.Source)] = short(l.Accepted)
	}
	return out
}

// naiveMerge judges listeners by comparing each with each, in the words of the rules.
func naiveMerge(s gateway.Snapshot) map[string]string {
	type object struct {
		kind            gatewayv1.Kind
		namespace, name string
		listeners       []gatewayv1.Listener
	}
	objects := []object{{gateway.KindGateway, "infra", "gw", s.Gateway.Spec.Listeners}}
	sets := slices.Clone(s.ListenerSets)
	slices.SortFunc(sets, func(a, b *gatewayv1.ListenerSet) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return slices.Compare([]string{a.Namespace + "/" + a.Name}, []string{b.Namespace + "/" + b.Name})
	})
	for _, ls := range sets {
		rule := s.Gateway.Spec.AllowedListeners.Namespaces
		in := map[gatewayv1.FromNamespaces]bool{"All": true, "Same": ls.Namespace == "infra", "Selector": ls.Namespace == "team-a"}[*rule.From]
		if !in {
			continue
		}
		o := object{gateway.KindListenerSet, ls.Namespace, ls.Name, nil}
		for _, e := range ls.Spec.Listeners {
			o.listeners = append(o.listeners, gatewayv1.Listener{Name: e.Name, Hostname: e.Hostname, Port: e.Port, Protocol: e.Protocol})
		}
		objects = append(objects, o)
	}

	out := map[string]string{}
	var earlier []gatewayv1.Listener
	gatewayAccepted := false
	for _, o := range objects {
		reasons := make([]string, len(o.listeners))
		for i, l := range o.listeners {
			for _, e := range earlier {
				reasons[i] = worse(reasons[i], clash(l, e))
			}
		}
		lost := slices.Clone(reasons)
		for i, l := range o.listeners {
			for j, other := range o.listeners {
				if i != j && lost[i] == "" && lost[j] == "" {
					reasons[i] = worse(reasons[i], clash(l, other))
				}
			}
		}
		for i, l := range o.listeners {
			result := "False/" + reasons[i]
			switch {
			case o.kind == gateway.KindListenerSet && !gatewayAccepted:
				result = "False/ParentNotAccepted"
			case reasons[i] == "" && (s.Blueprint == nil && l.Protocol != http && l.Protocol != https || l.Protocol == "example.com/odd"):
				result = "False/UnsupportedProtocol"
			case reasons[i] == "":
				result = "True/Accepted"
				earlier = append(earlier, l)
			}
			out[fmt.Sprint(gateway.Source{Kind: o.kind, Namespace: o.namespace, Name: o.name, SectionName: l.Name})] = result
			gatewayAccepted = gatewayAccepted || o.kind == gateway.KindGateway && result == "True/Accepted"
		}
	}
	return out
}

// worse picks the reason that is told if there are two.
func worse(a, b string) string {
	if a == "ProtocolConflict" || b == "" {
		return a
	}
	return b
}

// clash says why two listeners are not distinct, in the words of C9 and C2; "" if they are.
func clash(a, b gatewayv1.Listener) string {
	isWeb := func(l gatewayv1.Listener) bool { return l.Protocol == http || l.Protocol == https || l.Protocol == tls }
	hostname := func(l gatewayv1.Listener) gatewayv1.Hostname {
		if l.Hostname == nil {
			return ""
		}
		return *l.Hostname
	}
	switch {
	case a.Port != b.Port:
		return ""
	case isWeb(a) && isWeb(b) && hostname(a) != hostname(b):
		return ""
	case isWeb(a) && isWeb(b) && a.Protocol == b.Protocol:
		return "HostnameConflict"
	case isWeb(a) && isWeb(b):
		return "ProtocolConflict"
	case isWeb(a) && b.Protocol == tcp, a.Protocol == tcp && isWeb(b):
		return "ProtocolConflict"
	case a.Protocol == b.Protocol && (a.Protocol == tcp || a.Protocol == udp):
		return "HostnameConflict"
	}
	return ""
}
