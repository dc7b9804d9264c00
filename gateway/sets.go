package gateway

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

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

// rejectSet lists the listeners of a set that the Gateway lets in, without accepting any. Routes attach to them all the
// same, so that nothing is to be undone once the reason is gone.
func (f *folder) rejectSet(set *gatewayv1.ListenerSet, why verdict.Verdict) ListenerSet {
	out := ListenerSet{Object: set, Accepted: why, Programmed: why, First: len(f.listeners)}
	f.listeners = append(f.listeners, f.rejected(set, why)...)
	return out
}

// shutOut reports a set that the Gateway does not let in. Its listeners are no part of the Gateway: they stand in the
// result only for the set's own status.
func (f *folder) shutOut(set *gatewayv1.ListenerSet) ListenerSet {
	return ListenerSet{Object: set, Accepted: notAllowed, Programmed: notAllowed, First: -1, Listeners: f.rejected(set, notAllowed)}
}

// rejected copies the listeners of a set, all with the same verdict.
func (f *folder) rejected(set *gatewayv1.ListenerSet, why verdict.Verdict) []Listener {
	var out []Listener
	for _, spec := range entries(set) {
		l := f.listener(KindListenerSet, set, &spec)
		l.Accepted = why
		l.Programmed = l.programmed()
		out = append(out, l)
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
