package gateway

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/features"

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

	m := Merged{
		Gateway: s.Gateway, Accepted: accepted(s, f.support, f.listeners), Programmed: addressable(s.Gateway, f.support.features),
		Addresses:    supportedAddresses(s.Gateway, f.support.features),
		ListenerSets: make([]ListenerSet, 0, len(sets)),
	}
	if !m.Accepted.OK {
		f.keepUncertified()
	}
	m.TLS, m.ResolvedRefs = f.resolver.gatewayTLS(f.listeners)
	if f.resolver.frontend.insecure {
		m.InsecureFrontend = new(insecureFrontend)
	}
	letIn := listenerSetRule(s.Gateway)
	for _, set := range sets {
		switch {
		case !doors.admits(letIn, set.Namespace):
			m.ListenerSets = append(m.ListenerSets, f.shutOut(set))
		case !m.Accepted.OK:
			m.ListenerSets = append(m.ListenerSets, f.foldOrphan(set))
		default:
			m.ListenerSets = append(m.ListenerSets, f.foldSet(set))
		}
	}
	m.Listeners = f.listeners
	m.openWindows()
	markOverlaps(m.Listeners)
	m.Attachments = attachAll(&m, doors, f.resolver, s.Routes)
	settleRivals(&m)
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
	resolver  resolver
	doors     doorkeeper
	names     names
	listeners []Listener
	// held is what the accepted listeners of the objects before claim. A listener that was rejected, for whatever reason,
	// holds nothing against later ones: its port serves no traffic that they could disturb.
	held claims
	// inside is what the object at hand claims. It is kept to be used again.
	inside claims
	// usable is how many listeners are rendered so far.
	usable int
}

func newFolder(s Snapshot, sets []*gatewayv1.ListenerSet, doors doorkeeper) *folder {
	n := len(s.Gateway.Spec.Listeners)
	for _, set := range sets {
		n += len(set.Spec.Listeners)
	}
	supported := supportOf(s.Blueprint)
	return &folder{
		support:   supported,
		resolver:  newResolver(s, supported),
		doors:     doors,
		names:     make(names, n),
		listeners: make([]Listener, 0, n),
		held:      claims{counts: make(map[claim]int, 3*n), mixesTLS: supported.mixesTLS()},
		inside:    claims{counts: map[claim]int{}, mixesTLS: supported.mixesTLS()},
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
	clear(f.inside.counts)
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
	if f.refusesMode(l) {
		l.SupportedKinds = nil
	}
	l.Usable = l.Accepted.OK && l.served()
	if l.Usable && f.usable == f.support.maxListeners {
		l.Usable, l.Accepted = false, tooManyListeners
	}
	l.Programmed = l.programmed()
	if l.Accepted.OK {
		// Also while its certificate is missing: whoever comes later must not take over its hostname in the meantime.
		f.held.add(&l.Spec)
	}
	f.name(l)
}

// refusesMode says whether a listener is refused for where TLS ends: no kind of route can attach to it then, as with a protocol that
// is not supported. The GEPs are silent on it; the conformance tests TLSRouteListenerTerminateNotSupported and
// TLSRouteListenerMixedTerminationNotSupported demand it.
func (f *folder) refusesMode(l *Listener) bool {
	return !f.support.endsTLS(&l.Spec) || l.Conflicted && (f.held.mixed(&l.Spec) || f.inside.mixed(&l.Spec))
}

// keepUncertified has the Gateway's own listeners rendered as they are written, if none of them is usable, of which nothing is amiss
// but that no certificate that they may use can be read now: what serves them may have it still, and whoever renews it may have
// taken it away for a moment. Their verdicts stay, and so does that on the Gateway.
func (f *folder) keepUncertified() {
	if f.usable > 0 {
		return
	}
	clear(f.names)
	for i := range f.listeners {
		l := &f.listeners[i]
		if l.Accepted.OK && f.usable < f.support.maxListeners {
			l.Certificates = f.resolver.permittedCertificates(l)
			l.Usable = l.served()
		}
		f.name(l)
	}
}

// name gives a listener its unique name, or takes its own out of circulation.
func (f *folder) name(l *Listener) {
	if !l.Usable {
		f.names.reserve(l.Source)
		return
	}
	f.usable++
	l.Name = f.names.give(l.Source)
}

// served says whether a listener can do with what is left of its certificates: it has one, or had named none.
func (l *Listener) served() bool {
	return len(l.Certificates) > 0 || !terminates(&l.Spec) || len(l.Spec.TLS.CertificateRefs) == 0
}

// validity judges a listener by itself.
func (f *folder) validity(l *Listener) verdict.Verdict {
	switch {
	case len(f.support.kinds[l.Spec.Protocol]) == 0:
		return f.support.unsupported
	case !f.doors.understands(routeRule(l)):
		return selectorInvalid
	case speaksTLS(&l.Spec) && !f.support.knowsTLS(&l.Spec):
		return invalidTLSConfig
	case !f.support.endsTLS(&l.Spec):
		return terminationUnsupported
	case f.resolver.frontend.of(&l.Spec).hopeless:
		return noValidAuthority
	}
	return listenerAccepted
}

// listener copies a listener out of its object.
func (f *folder) listener(kind gatewayv1.Kind, object metav1.Object, spec *gatewayv1.Listener) Listener {
	l := Listener{Source: Source{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName(), SectionName: spec.Name}}
	spec.DeepCopyInto(&l.Spec)
	l.SupportedKinds, l.ResolvedRefs = f.support.routeKinds(&l.Spec)
	if d := f.resolver.frontend.of(&l.Spec); d.unresolved != nil {
		l.ResolvedRefs = *d.unresolved
	}
	certificates, unresolved := f.resolver.certificates(&l)
	if l.Certificates = certificates; unresolved != nil {
		l.ResolvedRefs = *unresolved
	}
	return l
}

// endsTLS says whether TLS can end at a listener for routes that know nothing of what is in it, should it have to.
func (s *support) endsTLS(l *gatewayv1.Listener) bool {
	return l.Protocol != gatewayv1.TLSProtocolType || !terminates(l) || s.features[features.SupportTLSRouteModeTerminate]
}

// knowsTLS says whether it is known how a listener speaks TLS: where TLS ends at it, it must have a certificate, or options that
// only the data plane understands, unless that has certificates of its own; HTTPS must end at it (Listener.TLS).
func (s *support) knowsTLS(l *gatewayv1.Listener) bool {
	switch tlsMode(l) {
	case gatewayv1.TLSModePassthrough:
		return l.Protocol == gatewayv1.TLSProtocolType
	case gatewayv1.TLSModeTerminate:
		return s.ownCertificates || len(l.TLS.CertificateRefs) > 0 || len(l.TLS.Options) > 0
	}
	return s.ownCertificates
}
