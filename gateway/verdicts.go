package gateway

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// The verdicts stand together so that each reason and message is spelled once. Those about conflicts and about what a
// Gateway lets in are read by tenants of other namespaces: they name no sibling and no parent (GEP-1713, "Listener and
// ListenerSet Conflicts").
var (
	gatewayAccepted = verdict.Yes(string(gatewayv1.GatewayReasonAccepted), "all listeners of the Gateway are valid")
	gatewayPartial  = verdict.Yes(string(gatewayv1.GatewayReasonListenersNotValid),
		"some listeners of the Gateway are not valid and are left out; their own conditions in status.listeners say why")
	gatewayRejected = verdict.No(string(gatewayv1.GatewayReasonListenersNotValid),
		"no listener of the Gateway is valid; their own conditions in status.listeners say why")

	setAccepted   = verdict.Yes(string(gatewayv1.ListenerSetReasonAccepted), "all listeners of the ListenerSet are valid")
	setProgrammed = verdict.Yes(string(gatewayv1.ListenerSetReasonProgrammed), "the valid listeners of the ListenerSet are part of its Gateway")
	setPartial    = verdict.Yes(string(gatewayv1.ListenerSetReasonListenersNotValid),
		"some listeners of the ListenerSet are not valid and are left out; their own conditions in status.listeners say why")
	setRejected = verdict.No(string(gatewayv1.ListenerSetReasonListenersNotValid),
		"no listener of the ListenerSet is valid; their own conditions in status.listeners say why")
	notAllowed = verdict.No(string(gatewayv1.ListenerSetReasonNotAllowed),
		"the Gateway does not allow ListenerSets from this namespace; its owner can allow them in spec.allowedListeners.namespaces")
	parentNotAccepted = verdict.No(string(gatewayv1.ListenerSetReasonParentNotAccepted),
		"the Gateway is not accepted, so neither are its ListenerSets; its own conditions say why")

	listenerAccepted = verdict.Yes(string(gatewayv1.ListenerReasonAccepted), "the listener is valid")
	selectorInvalid  = verdict.No(string(gatewayv1.ListenerReasonUnsupportedValue),
		"allowedRoutes.namespaces.selector is not a valid label selector; in matchExpressions use operator In or NotIn with values, or Exists or DoesNotExist without")
	refsResolved = verdict.Yes(string(gatewayv1.ListenerReasonResolvedRefs), "all references of the listener are resolved")

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
