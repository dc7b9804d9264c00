package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// Values are what is known of a Gateway's values, for the conditions that name the policies behind them.
type Values struct {
	// Gateway are the values of the Gateway, and Listeners those of each merged listener; nothing for a rejected one.
	Gateway   values.Effective
	Listeners []values.Effective
}

// listener returns what has a part in the values of a merged listener.
func (v Values) listener(i int) []values.Contribution {
	if i < 0 || i >= len(v.Listeners) {
		return nil
	}
	return v.Listeners[i].Contributions
}

// Gateway fills in a Gateway's status. Conditions of others stay, on the Gateway and on its listeners.
func Gateway(gw *gatewayv1.Gateway, m gateway.Merged, v Values, o Outcome) {
	s := &gw.Status
	Set(&s.Conditions, string(gatewayv1.GatewayConditionAccepted), m.Accepted, gw.Generation)
	programmed := gatewayProgrammed(m, o)
	Set(&s.Conditions, string(gatewayv1.GatewayConditionProgrammed), programmed, gw.Generation)
	SetOrRemove(&s.Conditions, string(gatewayv1.GatewayConditionResolvedRefs), m.ResolvedRefs, gw.Generation)
	SetOrRemove(&s.Conditions, string(gatewayv1.GatewayConditionInsecureFrontendValidationMode), m.InsecureFrontend, gw.Generation)
	Affected(&s.Conditions, v.Gateway.Contributions, gw.Generation)
	if o.Failed == nil && o.AddressPending == "" {
		s.Addresses = o.Addresses
	}
	attached := m.AttachedListenerSets()
	s.AttachedListenerSets = &attached

	before := s.Listeners
	s.Listeners = nil
	for i, l := range m.GatewayListeners() {
		entry := gatewayv1.ListenerStatus{Name: l.Source.SectionName}
		if i := slices.IndexFunc(before, func(e gatewayv1.ListenerStatus) bool { return e.Name == entry.Name }); i >= 0 {
			entry.Conditions = before[i].Conditions
		}
		entry.SupportedKinds = l.SupportedKinds
		entry.AttachedRoutes = l.AttachedRoutes
		listener(&entry.Conditions, l, programmed, gw.Generation)
		Affected(&entry.Conditions,
			between(v.listener(i), values.LevelGatewayListenersSelected, values.LevelGatewayListener), gw.Generation)
		s.Listeners = append(s.Listeners, entry)
	}
}

// GatewayWaiting fills in the status of a Gateway that cannot be looked at yet: what was reported of it before stays, and a
// Gateway of which nothing was reported yet says what it waits for.
func GatewayWaiting(gw *gatewayv1.Gateway, why verdict.Verdict) {
	accepted := meta.FindStatusCondition(gw.Status.Conditions, string(gatewayv1.GatewayConditionAccepted))
	if accepted == nil || accepted.Status == metav1.ConditionUnknown {
		SetUnknown(&gw.Status.Conditions, string(gatewayv1.GatewayConditionAccepted), why, gw.Generation)
		SetUnknown(&gw.Status.Conditions, string(gatewayv1.GatewayConditionProgrammed), why, gw.Generation)
		return
	}
	Set(&gw.Status.Conditions, string(gatewayv1.GatewayConditionProgrammed), why, gw.Generation)
}

// gatewayProgrammed is the condition of that name. That the data plane has put the Gateway at other addresses than those asked for is
// told as soon as it says so itself or is ready.
func gatewayProgrammed(m gateway.Merged, o Outcome) verdict.Verdict {
	switch {
	case !m.Accepted.OK:
		return verdict.No(string(gatewayv1.GatewayReasonInvalid), "the Gateway is not accepted: %s", m.Accepted.Message)
	case !m.Programmed.OK:
		return m.Programmed
	}
	programmed := o.Programmed()
	if programmed.OK || programmed.Reason == string(gatewayv1.GatewayReasonAddressNotUsable) {
		if assigned := gateway.AddressesAssigned(m.Gateway, o.Addresses); !assigned.OK {
			return assigned
		}
	}
	return programmed
}

// ListenerSet fills in a ListenerSet's status. programmed is what its Gateway says of the rendered objects.
func ListenerSet(ls *gatewayv1.ListenerSet, m gateway.ListenerSet, v Values, programmed verdict.Verdict) {
	s := &ls.Status
	own := m.Programmed
	if own.OK && !programmed.OK {
		own = verdict.No(string(gatewayv1.ListenerSetReasonPending), "what implements the parent Gateway is not ready yet")
	}
	Set(&s.Conditions, string(gatewayv1.ListenerSetConditionAccepted), m.Accepted, ls.Generation)
	Set(&s.Conditions, string(gatewayv1.ListenerSetConditionProgrammed), own, ls.Generation)

	var all []values.Contribution
	before := s.Listeners
	s.Listeners = nil
	for i, l := range m.Listeners {
		entry := gatewayv1.ListenerEntryStatus{Name: l.Source.SectionName}
		if i := slices.IndexFunc(before, func(e gatewayv1.ListenerEntryStatus) bool { return e.Name == entry.Name }); i >= 0 {
			entry.Conditions = before[i].Conditions
		}
		entry.SupportedKinds = l.SupportedKinds
		entry.AttachedRoutes = l.AttachedRoutes
		listener(&entry.Conditions, l, own, ls.Generation)
		// The listeners of a set that is not let in are not merged, and nobody has a part in their values.
		var of []values.Contribution
		if m.First >= 0 {
			of = v.listener(m.First + i)
		}
		all = append(all, between(of, values.LevelListenerSetNamespace, values.LevelListenerSet)...)
		Affected(&entry.Conditions,
			between(of, values.LevelListenerSetListenersSelected, values.LevelListenerSetListener), ls.Generation)
		s.Listeners = append(s.Listeners, entry)
	}
	Affected(&s.Conditions, all, ls.Generation)
}

// ListenerSetWaiting fills in the status of a ListenerSet whose Gateway cannot be looked at yet, as GatewayWaiting does: a set that
// was not accepted before is not, as long as its Gateway is not.
func ListenerSetWaiting(ls *gatewayv1.ListenerSet) {
	accepted := meta.FindStatusCondition(ls.Status.Conditions, string(gatewayv1.ListenerSetConditionAccepted))
	why := verdict.No(string(gatewayv1.ListenerSetReasonPending), "what implements the parent Gateway is not ready yet")
	if accepted == nil || accepted.Status == metav1.ConditionUnknown ||
		accepted.Reason == string(gatewayv1.ListenerSetReasonParentNotAccepted) {
		why = verdict.No(string(gatewayv1.ListenerSetReasonParentNotAccepted),
			"the Gateway is not accepted yet, so neither are its ListenerSets; its own conditions say why")
		Set(&ls.Status.Conditions, string(gatewayv1.ListenerSetConditionAccepted), why, ls.Generation)
	}
	Set(&ls.Status.Conditions, string(gatewayv1.ListenerSetConditionProgrammed), why, ls.Generation)
}

// listener fills in the conditions of one listener, of a Gateway or of a ListenerSet: the types and reasons are the same.
func listener(conditions *[]metav1.Condition, l gateway.Listener, programmed verdict.Verdict, generation int64) {
	Set(conditions, string(gatewayv1.ListenerConditionAccepted), l.Accepted, generation)
	Set(conditions, string(gatewayv1.ListenerConditionResolvedRefs), l.ResolvedRefs, generation)
	Set(conditions, string(gatewayv1.ListenerConditionProgrammed), listenerProgrammed(l, programmed), generation)
	var conflicted *verdict.Verdict
	if l.Conflicted {
		conflicted = new(verdict.Yes(l.Accepted.Reason, l.Accepted.Message))
	}
	SetOrRemove(conditions, string(gatewayv1.ListenerConditionConflicted), conflicted, generation)
	SetOrRemove(conditions, string(gatewayv1.ListenerConditionOverlappingTLSConfig), l.OverlappingTLS, generation)
}

func listenerProgrammed(l gateway.Listener, programmed verdict.Verdict) verdict.Verdict {
	switch {
	case !l.Programmed.OK:
		return l.Programmed
	case !programmed.OK:
		return verdict.No(string(gatewayv1.ListenerReasonPending), "what implements the Gateway is not ready yet")
	}
	return verdict.Yes(string(gatewayv1.ListenerReasonProgrammed), "the listener is rendered and ready")
}
