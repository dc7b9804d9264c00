package gateway

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/order"
	"github.com/gatewright/gatewright/internal/verdict"
)

// Merge folds the ListenerSets of a snapshot into its Gateway and attaches the routes (GEP-1713). It is total: what is
// wrong becomes a verdict. It changes nothing of the snapshot, and the result does not depend on the order of its lists.
// The work is linear in the number of listeners, and for each route in that of the listeners of its parents.
func Merge(s Snapshot) Merged {
	sets := setsOf(s.Gateway, s.ListenerSets)
	doors := newDoorkeeper(s.Namespaces)
	f := newFolder(s, sets, doors)
	f.fold(KindGateway, s.Gateway, s.Gateway.Spec.Listeners)

	m := Merged{Gateway: s.Gateway, Accepted: accepted(s.Gateway, f.listeners), ListenerSets: make([]ListenerSet, 0, len(sets))}
	letIn := listenerSetRule(s.Gateway)
	for _, set := range sets {
		switch {
		case !doors.admits(letIn, set.Namespace):
			m.ListenerSets = append(m.ListenerSets, f.shutOut(set))
		case !m.Accepted.OK:
			m.ListenerSets = append(m.ListenerSets, f.rejectSet(set, parentNotAccepted))
		default:
			m.ListenerSets = append(m.ListenerSets, f.foldSet(set))
		}
	}
	m.Listeners = f.listeners
	m.openWindows()
	m.Attachments = attachAll(&m, doors, s.Routes)
	m.countRoutes()
	m.Hostnames = m.HostnamesWith(m.Attachments...)
	return m
}

// setsOf returns, in order of precedence, the ListenerSets whose parent is the Gateway.
func setsOf(gw *gatewayv1.Gateway, all []*gatewayv1.ListenerSet) []*gatewayv1.ListenerSet {
	key := types.NamespacedName{Namespace: gw.Namespace, Name: gw.Name}
	var sets []*gatewayv1.ListenerSet
	for _, set := range all {
		if parent, ok := ParentGateway(set); ok && parent == key {
			sets = append(sets, set)
		}
	}
	return order.Sorted(sets)
}

// folder folds the listeners of one object after another, in order of precedence, into one list.
type folder struct {
	support   support
	doors     doorkeeper
	names     names
	listeners []Listener
	// held is what the accepted listeners of the objects before claim. A listener that was rejected, for whatever reason,
	// holds nothing against later ones: its port serves no traffic that they could disturb.
	held claims
	// inside is what the object at hand claims. It is kept to be used again.
	inside claims
}

func newFolder(s Snapshot, sets []*gatewayv1.ListenerSet, doors doorkeeper) *folder {
	n := len(s.Gateway.Spec.Listeners)
	for _, set := range sets {
		n += len(set.Spec.Listeners)
	}
	return &folder{
		support:   supportOf(s.Blueprint),
		doors:     doors,
		names:     make(names, n),
		listeners: make([]Listener, 0, n),
		held:      make(claims, 3*n),
		inside:    claims{},
	}
}

// fold judges the listeners of one object and appends them. Conflicts come first, protocols after: TCP and HTTP on one port
// are in conflict even where TCP is not supported. Against objects of higher precedence a listener simply loses; within the
// object there is no winner, and both are rejected (GatewaySpec.Listeners, "Handling indistinct Listeners").
func (f *folder) fold(kind gatewayv1.Kind, object metav1.Object, specs []gatewayv1.Listener) {
	first := len(f.listeners)
	for i := range specs {
		f.listeners = append(f.listeners, f.listener(kind, object, &specs[i]))
	}
	listeners := f.listeners[first:]
	clear(f.inside)
	for i := range listeners {
		l := &listeners[i]
		if reason := f.held.conflict(&l.Spec, 0); reason != "" {
			l.Conflicted, l.Accepted = true, conflictVerdict(reason, false)
			continue
		}
		f.inside.add(&l.Spec)
	}
	for i := range listeners {
		f.judge(&listeners[i])
	}
}

// judge completes the verdict on a listener that lost to none before its object, and names it.
func (f *folder) judge(l *Listener) {
	if !l.Conflicted {
		if reason := f.inside.conflict(&l.Spec, 1); reason != "" {
			l.Conflicted, l.Accepted = true, conflictVerdict(reason, true)
		} else {
			l.Accepted = f.validity(l)
		}
	}
	if l.Usable = l.usable(); !l.Usable {
		f.names.reserve(l.Source)
		return
	}
	l.Name = f.names.give(l.Source)
	f.held.add(&l.Spec)
}

// validity judges a listener by itself.
func (f *folder) validity(l *Listener) verdict.Verdict {
	switch {
	case len(f.support.kinds[l.Spec.Protocol]) == 0:
		return f.support.unsupported
	case !f.doors.understands(routeRule(l)):
		return selectorInvalid
	}
	return listenerAccepted
}

// listener copies a listener out of its object.
func (f *folder) listener(kind gatewayv1.Kind, object metav1.Object, spec *gatewayv1.Listener) Listener {
	l := Listener{Source: Source{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), SectionName: spec.Name}}
	spec.DeepCopyInto(&l.Spec)
	l.SupportedKinds, l.ResolvedRefs = f.support.routeKinds(&l.Spec)
	if !refersOnlyHome(&l) {
		l.ResolvedRefs = refNotPermitted
	}
	return l
}
