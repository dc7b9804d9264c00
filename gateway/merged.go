package gateway

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// Merged is a Gateway with its ListenerSets folded in and its routes attached.
type Merged struct {
	// Gateway is the Gateway as it was given, not a copy. EffectiveGateway is the one that templates see.
	Gateway *gatewayv1.Gateway
	// Accepted is the Gateway's own condition of that name. Only its own listeners count (GEP-1713, "ListenerSet
	// Conditions"). The reason is Accepted, UnsupportedAddress, InvalidParameters, or ListenersNotValid: in favour if some of them
	// are valid, against if none is.
	Accepted verdict.Verdict
	// Programmed is the Gateway's own condition of that name as far as merging decides it. A verdict in favour means that nothing
	// here stands against it.
	Programmed verdict.Verdict
	// ResolvedRefs is the Gateway's own condition of that name; nil if the Gateway refers to nothing that it is about.
	ResolvedRefs *verdict.Verdict
	// InsecureFrontend is the Gateway's condition InsecureFrontendValidationMode, which is never False; nil if there is none.
	InsecureFrontend *verdict.Verdict
	// Addresses are copies of those in the Gateway's spec.addresses that are supported.
	Addresses []gatewayv1.GatewaySpecAddress
	// TLS is a copy of the Gateway's spec.tls without the references that cannot be used.
	TLS *gatewayv1.GatewayTLSConfig
	// Listeners are those of the Gateway, then those of the ListenerSets that it lets in, in order of precedence, accepted
	// or not. The Gateway's own are the first len(Gateway.Spec.Listeners).
	Listeners []Listener
	// ListenerSets are all that name the Gateway as their parent, in order of precedence.
	ListenerSets []ListenerSet
	// Attachments holds one for each route that names the Gateway or one of the ListenerSets, by kind, then the oldest
	// first, then by namespace/name.
	Attachments []Attachment
	// Hostnames are the names that the usable listeners serve.
	Hostnames Hostnames
}

// Source says which object a listener comes from.
type Source struct {
	// Kind is KindGateway or KindListenerSet.
	Kind gatewayv1.Kind
	// Namespace and Name of the object.
	Namespace, Name string
	// SectionName is the listener's name in that object.
	SectionName gatewayv1.SectionName
}

// Listener is a listener of the Gateway or of one of its ListenerSets.
type Listener struct {
	// Name is unique among the merged listeners and a valid section name; empty unless the listener is usable.
	Name gatewayv1.SectionName
	// Source is where the listener comes from.
	Source Source
	// Spec is a copy of the listener as it was written, its name included. What it leaves out or calls Same is relative to
	// the namespace of its source.
	Spec gatewayv1.Listener
	// Accepted is the listener's condition of that name.
	Accepted verdict.Verdict
	// Conflicted says that the condition of that name is True. Accepted then has the reason and message of all three of
	// Accepted, Programmed and Conflicted.
	Conflicted bool
	// Programmed is the listener's condition of that name as far as merging decides it. A verdict in favour means that nothing here
	// stands against it: whether the rendered objects are ready is for the caller to add.
	Programmed verdict.Verdict
	// ResolvedRefs is the listener's condition of that name. It may be against a listener that is usable, since some of what it
	// refers to is enough: some kinds of routes, one of several certificates.
	ResolvedRefs verdict.Verdict
	// Usable says that the listener is rendered: it is accepted, and has a certificate if it needs one. Under a Gateway that is not
	// accepted, of which what runs already goes on, those of ListenerSets are usable that would be accepted if it were; and of its own,
	// if all lack something, those that lack nothing but a certificate that can be read. Withdrawal counts: what is not asked for or
	// not permitted any more is never usable.
	Usable bool
	// Certificates are those of spec.tls.certificateRefs that can be used, as written; none where TLS does not end at the listener. Of a
	// usable listener that lacks one that can be read, they are those that it may use.
	Certificates []gatewayv1.SecretObjectReference
	// OverlappingTLS is the listener's condition OverlappingTLSConfig, which is never False; nil if there is none.
	OverlappingTLS *verdict.Verdict
	// SupportedKinds are the kinds of routes that may attach.
	SupportedKinds []gatewayv1.RouteGroupKind
	// AttachedRoutes counts the routes that the listener accepts, whatever is thought of the listener itself.
	AttachedRoutes int32
}

// ListenerSet is a ListenerSet that names the Gateway as its parent.
type ListenerSet struct {
	// Object is the ListenerSet as it was given, not a copy.
	Object *gatewayv1.ListenerSet
	// Attached says that the set counts in the Gateway's status.attachedListenerSets.
	Attached bool
	// Accepted is the set's condition of that name.
	Accepted verdict.Verdict
	// Programmed is the set's condition of that name as far as merging decides it. A verdict in favour means that nothing
	// here stands against it: whether the rendered objects are ready is for the caller to add.
	Programmed verdict.Verdict
	// Listeners are the set's own, for its status, accepted or not. They are a window on Merged.Listeners, unless the
	// Gateway does not let the set in.
	Listeners []Listener
	// First is the index in Merged.Listeners of the set's first listener; -1 if the Gateway does not let the set in.
	First int
}

// Attachment says what became of a route.
type Attachment struct {
	Route Route
	// ResolvedRefs is the condition of that name, the same for all parents and set whether or not they accept the route.
	ResolvedRefs verdict.Verdict
	// Parents are those parentRefs that concern the Gateway or its ListenerSets, in the order of the route.
	Parents []Parent
}

// Parent says what became of one parentRef of a route.
type Parent struct {
	// Ref is the parentRef as written.
	Ref gatewayv1.ParentReference
	// Key is the object that it names.
	Key ParentKey
	// Accepted is the condition of that name for this parent.
	Accepted verdict.Verdict
	// Listeners are the indexes in Merged.Listeners of those that accept the route, in order. A listener that is itself
	// rejected may be among them; Merged.ListenerNames leaves those out.
	Listeners []int
	// Hostnames are the names that the route and the usable ones of Listeners have in common, sorted; empty where the route and one
	// of these listeners name none, so that there is no end to them, and where no listener is usable.
	Hostnames []gatewayv1.Hostname
}

// Hostnames are sorted lists of hostnames without duplicates.
type Hostnames struct {
	// Union holds the hostnames of all usable listeners, and of accepted routes those that intersect the usable listeners that they
	// attach to.
	Union []string
	// Intersection is Union without the names that a wildcard in it covers, as a certificate would: exactly one label
	// deep, so that *.example.com covers a.example.com, but neither a.b.example.com nor example.com.
	Intersection []string
}

// GatewayListeners returns the Gateway's own listeners, for its status, accepted or not.
func (m Merged) GatewayListeners() []Listener {
	own := len(m.Gateway.Spec.Listeners)
	return m.Listeners[:own:own]
}

// AttachedListenerSets is the Gateway's status.attachedListenerSets.
func (m Merged) AttachedListenerSets() int32 {
	var n int32
	for i := range m.ListenerSets {
		if m.ListenerSets[i].Attached {
			n++
		}
	}
	return n
}

// ListenerNames returns the unique names of the usable listeners that accept a route by this parentRef, in order of
// precedence. It is empty for a route that is accepted, but by listeners only that are not usable.
func (m Merged) ListenerNames(p Parent) []gatewayv1.SectionName {
	var names []gatewayv1.SectionName
	for _, i := range p.Listeners {
		if name := m.Listeners[i].Name; name != "" {
			names = append(names, name)
		}
	}
	return names
}
