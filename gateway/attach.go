package gateway

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/order"
	"github.com/gatewright/gatewright/internal/verdict"
)

// Attach judges one route by itself, with the snapshot that m was made of, as if it had no rivals. It changes nothing of m: the
// counts of attached routes stay as they are. Parents of the result is empty if the route names neither the Gateway nor one of
// its ListenerSets.
func (m Merged) Attach(r Route, s Snapshot) Attachment {
	return newAttacher(&m, newDoorkeeper(s.Namespaces), newResolver(s, supportOf(s.Blueprint))).attach(r)
}

// attachAll judges the routes and sorts the result. Routes that concern nothing of m are left out.
func attachAll(m *Merged, doors doorkeeper, refs resolver, routes []Route) []Attachment {
	a := newAttacher(m, doors, refs)
	var out []Attachment
	for _, r := range routes {
		if attachment := a.attach(r); len(attachment.Parents) > 0 {
			out = append(out, attachment)
		}
	}
	slices.SortStableFunc(out, func(x, y Attachment) int {
		return cmp.Or(cmp.Compare(x.Route.Kind, y.Route.Kind), order.Compare(x.Route.Object, y.Route.Object))
	})
	return out
}

// attacher attaches routes to the listeners of their parents.
//
// A parentRef that names the Gateway reaches the Gateway's own listeners only, one that names a ListenerSet those of that
// set only (GEP-1713, "Route Attachment"); sectionName and port narrow that down, by the names and ports as the parent's
// owner wrote them. Of the listeners so selected those accept the route whose allowedRoutes do, and whose hostname
// intersects with the route's; one is enough (ParentReference.SectionName).
//
// What is thought of a listener itself does not matter (ListenerStatus.AttachedRoutes): a route stays attached to a
// listener that is in conflict, and is served without delay once the conflict ends.
//
// If no listener accepts the route, the reason tells how far the one that came farthest got: none selected is
// NoMatchingParent, none that allows it is NotAllowedByListeners, none with a common hostname NoMatchingListenerHostname.
type attacher struct {
	m        *Merged
	doors    doorkeeper
	resolver resolver
	// sets maps a ListenerSet to its index in m.ListenerSets.
	sets map[types.NamespacedName]int
}

func newAttacher(m *Merged, doors doorkeeper, refs resolver) attacher {
	a := attacher{m: m, doors: doors, resolver: refs, sets: make(map[types.NamespacedName]int, len(m.ListenerSets))}
	for i := range m.ListenerSets {
		set := m.ListenerSets[i].Object
		a.sets[types.NamespacedName{Namespace: set.Namespace, Name: set.Name}] = i
	}
	return a
}

func (a attacher) attach(r Route) Attachment {
	out := Attachment{Route: r}
	for _, ref := range r.ParentRefs {
		key, ok := RouteParent(ref, r.Object.GetNamespace())
		if !ok {
			continue
		}
		if listeners, first, concerned := a.listenersOf(key); concerned {
			parent := Parent{Ref: ref, Key: key}
			if first < 0 {
				parent.Accepted = parentNotIn
			} else {
				a.judge(&parent, r, listeners, first)
			}
			out.Parents = append(out.Parents, parent)
		}
	}
	if len(out.Parents) > 0 {
		out.ResolvedRefs = a.resolver.backends(r)
	}
	return out
}

// listenersOf returns the listeners of a parent, and the index in the merged list of the first of them; -1 if the Gateway
// does not let the parent in. It is false for a parent that has nothing to do with the Gateway.
func (a attacher) listenersOf(key ParentKey) (listeners []Listener, first int, concerned bool) {
	if key.Kind == KindListenerSet {
		i, ok := a.sets[key.NamespacedName]
		if !ok {
			return nil, 0, false
		}
		set := &a.m.ListenerSets[i]
		return set.Listeners, set.First, true
	}
	gw := a.m.Gateway
	return a.m.GatewayListeners(), 0, key.Namespace == gw.Namespace && key.Name == gw.Name
}

// judge completes a parent, given the parent's listeners and the index in the merged list of the first of them.
func (a attacher) judge(p *Parent, r Route, listeners []Listener, first int) {
	selected, allowed := false, false
	for i := range listeners {
		l := &listeners[i]
		if !selects(p.Ref, &l.Spec) {
			continue
		}
		selected = true
		if !a.allows(l, r) {
			continue
		}
		allowed = true
		if _, ok := commonHostnames(hostnameOf(&l.Spec), r.Hostnames); ok {
			p.Listeners = append(p.Listeners, first+i)
		}
	}
	p.Hostnames = a.m.hostnames(p.Listeners, r)
	p.Accepted = attachVerdict(selected, allowed, len(p.Listeners) > 0)
}

// hostnames are those that a route and the usable ones of some listeners have in common, sorted; none if one of these and the route
// name none.
func (m *Merged) hostnames(listeners []int, r Route) []gatewayv1.Hostname {
	var hostnames []gatewayv1.Hostname
	for _, l := range listeners {
		if !m.Listeners[l].Usable {
			continue
		}
		common := m.common(l, r)
		if len(common) == 0 {
			return nil
		}
		hostnames = append(hostnames, common...)
	}
	slices.Sort(hostnames)
	return slices.Compact(hostnames)
}

func attachVerdict(selected, allowed, accepted bool) verdict.Verdict {
	switch {
	case accepted:
		return routeAccepted
	case allowed:
		return noMatchingHostname
	case selected:
		return notAllowedByListeners
	}
	return noSuchListener
}

// selects says whether a parentRef, known to name the listener's parent, means this listener.
func selects(ref gatewayv1.ParentReference, l *gatewayv1.Listener) bool {
	section, port := valueOr(ref.SectionName, ""), valueOr(ref.Port, 0)
	return (section == "" || section == l.Name) && (port == 0 || port == l.Port)
}

// allows says whether a listener's allowedRoutes let a route in.
func (a attacher) allows(l *Listener, r Route) bool {
	kind := slices.ContainsFunc(l.SupportedKinds, func(k gatewayv1.RouteGroupKind) bool { return k.Kind == r.Kind })
	return kind && a.doors.admits(routeRule(l), r.Object.GetNamespace())
}

// openWindows lets each ListenerSet see its listeners in the merged list, so that what is said of them is said once.
func (m *Merged) openWindows() {
	for i := range m.ListenerSets {
		if set := &m.ListenerSets[i]; set.First >= 0 {
			end := set.First + len(set.Object.Spec.Listeners)
			set.Listeners = m.Listeners[set.First:end:end]
		}
	}
}

// countRoutes counts, for each listener, the routes that it accepts: each once, however many of its parentRefs do.
func (m *Merged) countRoutes() {
	last := make([]int, len(m.Listeners)) // the number, from 1, of the route that was counted last
	for i, attachment := range m.Attachments {
		for _, parent := range attachment.Parents {
			for _, l := range parent.Listeners {
				if last[l] != i+1 {
					last[l] = i + 1
					m.Listeners[l].AttachedRoutes++
				}
			}
		}
	}
}
