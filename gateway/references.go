package gateway

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// refersOnlyHome says whether all certificates of a listener are in the namespace of the object that the listener comes from.
// A reference into another namespace needs the consent of that namespace (GEP-709), asked for in the name of the listener's own
// object (GEP-1713, "ReferenceGrant"); since consent is not read yet, there is none. What is merged into one Gateway would
// otherwise let a ListenerSet use the certificates of its Gateway's namespace.
func refersOnlyHome(l *Listener) bool {
	if l.Spec.TLS == nil {
		return true
	}
	for _, ref := range l.Spec.TLS.CertificateRefs {
		if namespaceOr(ref.Namespace, l.Source.Namespace) != l.Source.Namespace {
			return false
		}
	}
	return true
}

// usable says whether a listener can be rendered: it is accepted, and may use what it refers to.
func (l *Listener) usable() bool {
	return l.Accepted.OK && l.ResolvedRefs.Reason != string(gatewayv1.ListenerReasonRefNotPermitted)
}
