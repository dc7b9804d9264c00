package gateway

import (
	"fmt"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// The verdicts stand together so that each reason and message is spelled once. Those about conflicts and about what a
// Gateway lets in are read by tenants of other namespaces: they name no sibling and no parent (GEP-1713, "Listener and
// ListenerSet Conflicts").
var (
	gatewayAccepted = verdict.Yes(string(gatewayv1.GatewayReasonAccepted), "all listeners of the Gateway are valid")

	invalidParameters = verdict.No(string(gatewayv1.GatewayReasonInvalidParameters),
		"spec.infrastructure.parametersRef names an object of a kind that is not supported; remove it, and attach values to the Gateway with a GatewayConfig")

	setAccepted   = verdict.Yes(string(gatewayv1.ListenerSetReasonAccepted), "all listeners of the ListenerSet are valid")
	setProgrammed = verdict.Yes(string(gatewayv1.ListenerSetReasonProgrammed), "the valid listeners of the ListenerSet are part of its Gateway")
	notAllowed    = verdict.No(string(gatewayv1.ListenerSetReasonNotAllowed),
		"the Gateway does not allow ListenerSets from this namespace; its owner can allow them in spec.allowedListeners.namespaces")
	parentNotAccepted = verdict.No(string(gatewayv1.ListenerSetReasonParentNotAccepted),
		"the Gateway is not accepted, so neither are its ListenerSets; its own conditions say why")

	listenerAccepted = verdict.Yes(string(gatewayv1.ListenerReasonAccepted), "the listener is valid")
	selectorInvalid  = verdict.No(string(gatewayv1.ListenerReasonUnsupportedValue),
		"allowedRoutes.namespaces.selector is not a valid label selector; in matchExpressions use operator In or NotIn with values, or Exists or DoesNotExist without")
	refsResolved = verdict.Yes(string(gatewayv1.ListenerReasonResolvedRefs), "all kinds of routes that the listener names are supported")

	refNotPermitted = verdict.No(string(gatewayv1.ListenerReasonRefNotPermitted),
		"tls.certificateRefs names a Secret of another namespace, which is not permitted; put the Secret beside the object of the listener")

	routeAccepted = verdict.Yes(string(gatewayv1.RouteReasonAccepted), "at least one listener of the parent accepts the route")
	parentNotIn   = verdict.No(string(gatewayv1.RouteReasonNoMatchingParent),
		"the ListenerSet is not attached to a Gateway; its own conditions say why")
	noSuchListener = verdict.No(string(gatewayv1.RouteReasonNoMatchingParent),
		"the parent has no listener with the sectionName and port of this parentRef; name one that it has, or leave both out")
	notAllowedByListeners = verdict.No(string(gatewayv1.RouteReasonNotAllowedByListeners),
		"no listener that this parentRef selects allows routes of this kind from this namespace in its allowedRoutes")
	noMatchingHostname = verdict.No(string(gatewayv1.RouteReasonNoMatchingListenerHostname),
		"no listener that this parentRef selects, and that allows the route, has a hostname in common with spec.hostnames")
)

// conflictVerdict is what all three of Accepted, Programmed and Conflicted say of a listener that lost.
func conflictVerdict(reason gatewayv1.ListenerConditionReason, withinResource bool) verdict.Verdict {
	with := "conflicts with other listeners attached to the same Gateway"
	if withinResource {
		with = "conflicts with another listener of the same object, and none of them is accepted"
	}
	remedy := "use another port or hostname"
	if reason == gatewayv1.ListenerReasonProtocolConflict {
		remedy = "use another port"
	}
	return verdict.No(string(reason), "%s; %s", with, remedy)
}

func unsupportedProtocol(supported string) verdict.Verdict {
	return verdict.No(string(gatewayv1.ListenerReasonUnsupportedProtocol),
		"the GatewayClass does not support the protocol of this listener; it supports %s", supported)
}

func invalidRouteKinds(supported string) verdict.Verdict {
	return verdict.No(string(gatewayv1.ListenerReasonInvalidRouteKinds),
		"allowedRoutes.kinds names kinds that the GatewayClass does not support on a listener of this protocol; it supports %s", supported)
}

// maxNamed bounds how many listeners a message names.
const maxNamed = 5

// accepted judges a Gateway by what it asks for, then by its own listeners.
func accepted(gw *gatewayv1.Gateway, own []Listener) verdict.Verdict {
	if gw.Spec.Infrastructure != nil && gw.Spec.Infrastructure.ParametersRef != nil {
		return invalidParameters
	}
	return summary(own, gatewayAccepted)
}

// summary is the Accepted condition of an object with these listeners: the given verdict if all are accepted, else
// ListenersNotValid, in favour as long as one is accepted. The message names listeners of the object itself only.
func summary(listeners []Listener, all verdict.Verdict) verdict.Verdict {
	var rejected []string
	for i := range listeners {
		if l := &listeners[i]; !l.Usable {
			reason := l.Accepted.Reason
			if l.Accepted.OK {
				reason = l.ResolvedRefs.Reason
			}
			rejected = append(rejected, string(l.Source.SectionName)+" ("+reason+")")
		}
	}
	valid := len(listeners) - len(rejected)
	if valid > 0 && len(rejected) == 0 {
		return all
	}
	names := list(rejected)
	if more := len(rejected) - maxNamed; more > 0 {
		names = fmt.Sprintf("%s and %d more", list(rejected[:maxNamed]), more)
	}
	return verdict.Verdict{
		OK:     valid > 0,
		Reason: string(gatewayv1.GatewayReasonListenersNotValid),
		Message: fmt.Sprintf("%d of %d listeners are valid; left out are %s; their conditions in status.listeners say why",
			valid, len(listeners), names),
	}
}
