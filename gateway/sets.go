package gateway

import gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

// foldSet folds in a ListenerSet that the Gateway lets in. The set is attached if at least one of its listeners is valid.
func (f *folder) foldSet(set *gatewayv1.ListenerSet) ListenerSet {
	first := len(f.listeners)
	f.fold(KindListenerSet, set, entries(set))
	out := ListenerSet{Object: set, First: first}
	out.Accepted = summary(f.listeners[first:], setAccepted)
	out.Programmed = out.Accepted
	if out.Accepted.OK {
		out.Attached, out.Programmed = true, setProgrammed
	}
	return out
}

// foldOrphan folds in a set that the Gateway lets in, but that is not accepted, since the Gateway itself is not (GEP-1713, "ListenerSet
// Conditions"). Its listeners are told the same, whatever else there is to say of them. Those that would be valid are usable all the
// same: what its owner did wrong must not take down what runs for others. Routes attach to them, too.
func (f *folder) foldOrphan(set *gatewayv1.ListenerSet) ListenerSet {
	out := f.foldSet(set)
	out.Attached, out.Accepted, out.Programmed = false, parentNotAccepted, parentNotAccepted
	for i := range f.listeners[out.First:] {
		l := &f.listeners[out.First+i]
		l.Conflicted, l.Accepted = false, parentNotAccepted
		l.Programmed = l.programmed()
	}
	return out
}

// shutOut reports a set that the Gateway does not let in. Its listeners are no part of the Gateway: they stand in the
// result only for the set's own status.
func (f *folder) shutOut(set *gatewayv1.ListenerSet) ListenerSet {
	out := ListenerSet{Object: set, Accepted: notAllowed, Programmed: notAllowed, First: -1}
	for _, spec := range entries(set) {
		l := f.listener(KindListenerSet, set, &spec)
		l.Accepted = notAllowed
		l.Programmed = l.programmed()
		out.Listeners = append(out.Listeners, l)
	}
	return out
}

// entries returns the listeners of a set as those of a Gateway. They share everything that is behind a pointer.
func entries(set *gatewayv1.ListenerSet) []gatewayv1.Listener {
	out := make([]gatewayv1.Listener, 0, len(set.Spec.Listeners))
	for _, e := range set.Spec.Listeners {
		out = append(out, gatewayv1.Listener(e))
	}
	return out
}
