package gateway

import (
	"fmt"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

// The verdicts stand together so that each reason and message is spelled once. Those about conflicts and about what a
// Gateway lets in are read by tenants of other namespaces: they name no sibling and no parent (GEP-1713, "Listener and
// ListenerSet Conflicts").
var (
	gatewayAccepted = verdict.Yes(string(gatewayv1.GatewayReasonAccepted), "all listeners of the Gateway are valid")

	gatewayProgrammed = verdict.Yes(string(gatewayv1.GatewayReasonProgrammed), "nothing stands against programming the Gateway")

	gatewayRefsResolved = verdict.Yes(string(gatewayv1.GatewayReasonResolvedRefs),
		"everything that spec.tls and the listeners of the Gateway refer to can be used")
	listenersNotResolved = verdict.No(string(gatewayv1.GatewayReasonListenersNotResolved),
		"some of what the listeners of the Gateway refer to cannot be used; their conditions in status.listeners say why")
	insecureFrontend = verdict.Yes(string(gatewayv1.GatewayReasonConfigurationChanged),
		"spec.tls.frontend lets clients in that have no valid certificate; write mode: AllowValidOnly to keep them out")

	invalidParameters = verdict.No(string(gatewayv1.GatewayReasonInvalidParameters),
		"spec.infrastructure.parametersRef names an object of a kind that is not supported; name a %s of group %s, or remove it",
		v1alpha1.KindGatewayConfig, v1alpha1.GroupName)
	noParameters = verdict.No(string(gatewayv1.GatewayReasonInvalidParameters),
		"spec.infrastructure.parametersRef names a %s that does not exist in the namespace of the Gateway; create it, or remove the reference",
		v1alpha1.KindGatewayConfig)

	setAccepted   = verdict.Yes(string(gatewayv1.ListenerSetReasonAccepted), "all listeners of the ListenerSet are valid")
	setProgrammed = verdict.Yes(string(gatewayv1.ListenerSetReasonProgrammed), "the valid listeners of the ListenerSet are part of its Gateway")
	notAllowed    = verdict.No(string(gatewayv1.ListenerSetReasonNotAllowed),
		"the Gateway does not allow ListenerSets from this namespace; its owner can allow them in spec.allowedListeners.namespaces")
	parentNotAccepted = verdict.No(string(gatewayv1.ListenerSetReasonParentNotAccepted),
		"the Gateway is not accepted, so neither are its ListenerSets; its own conditions say why")

	listenerAccepted = verdict.Yes(string(gatewayv1.ListenerReasonAccepted), "the listener is valid")
	selectorInvalid  = verdict.No(string(gatewayv1.ListenerReasonUnsupportedValue),
		"allowedRoutes.namespaces.selector is not a valid label selector; in matchExpressions use operator In or NotIn with values, or Exists or DoesNotExist without")
	invalidTLSConfig = verdict.No(reasonInvalidTLSConfig,
		"the listener speaks TLS and does not say how; write a tls with certificateRefs, or with mode: Passthrough for protocol TLS")
	terminationUnsupported = verdict.No(string(gatewayv1.ListenerReasonUnsupportedValue),
		"the GatewayClass does not support tls.mode: Terminate for protocol TLS; write mode: Passthrough")
	noValidAuthority = verdict.No(string(gatewayv1.ListenerReasonNoValidCACertificate),
		"clients of the listener must have certificates of authorities of which none can be used; the condition ResolvedRefs says why")
	tooManyListeners = verdict.No(string(gatewayv1.ListenerEntryReasonTooManyListeners),
		"the Gateway has as many listeners before this one as the GatewayClass supports")
	listenerProgrammed = verdict.Yes(string(gatewayv1.ListenerReasonProgrammed), "nothing stands against programming the listener")
	refsResolved       = verdict.Yes(string(gatewayv1.ListenerReasonResolvedRefs), "everything that the listener refers to can be used")

	overlappingHostnames = verdict.Yes(string(gatewayv1.ListenerReasonOverlappingHostnames),
		"other listeners of the same Gateway speak TLS on the same port for hostnames that overlap; clients that use a connection again may reach those")

	backendsResolved = verdict.Yes(string(gatewayv1.RouteReasonResolvedRefs), "everything that the route refers to can be used")
	routeAccepted    = verdict.Yes(string(gatewayv1.RouteReasonAccepted), "at least one listener of the parent accepts the route")
	parentNotIn      = verdict.No(string(gatewayv1.RouteReasonNoMatchingParent),
		"the ListenerSet is not attached to a Gateway; its own conditions say why")
	noSuchListener = verdict.No(string(gatewayv1.RouteReasonNoMatchingParent),
		"the parent has no listener with the sectionName and port of this parentRef; name one that it has, or leave both out")
	notAllowedByListeners = verdict.No(string(gatewayv1.RouteReasonNotAllowedByListeners),
		"no listener that this parentRef selects allows routes of this kind from this namespace in its allowedRoutes")
	noMatchingHostname = verdict.No(string(gatewayv1.RouteReasonNoMatchingListenerHostname),
		"no listener that this parentRef selects, and that allows the route, has a hostname in common with spec.hostnames")
)

// rivalAccepted is what a route is told that lost its listeners to one of another kind. Gateway API has no reason for it.
var rivalAccepted = verdict.No("HostnameConflict",
	"an older route of another kind is accepted by the listeners of this parent for the same hostnames; HTTPRoutes and GRPCRoutes "+
		"cannot share them, so use other hostnames or another listener")

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

// reasonInvalidTLSConfig marks a listener that speaks TLS without saying how. Gateway API has no reason for it.
const reasonInvalidTLSConfig = "InvalidTLSConfig"

// refNotPermitted says how the consent would have to look that is missing.
func refNotPermitted(path string, from referrer) *verdict.Verdict {
	return new(verdict.No(string(gatewayv1.ListenerReasonRefNotPermitted),
		"%s names an object of another namespace, which that namespace does not permit; its owner can, with a ReferenceGrant from kind %s of this namespace",
		path, from.kind))
}

// programmed is the listener's condition Programmed as far as it is known here.
func (l *Listener) programmed() verdict.Verdict {
	switch {
	case l.Conflicted, l.Accepted.Reason == reasonInvalidTLSConfig:
		return l.Accepted
	case !l.Accepted.OK:
		return verdict.No(string(gatewayv1.ListenerReasonInvalid), "the listener is not accepted: %s", l.Accepted.Message)
	case !l.Usable:
		return verdict.No(string(gatewayv1.ListenerReasonInvalid), "%s", l.ResolvedRefs.Message)
	}
	return listenerProgrammed
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
func accepted(s Snapshot, supported support, own []Listener) verdict.Verdict {
	// What the values are is the first question: without them nothing can be rendered anew.
	if infrastructure := s.Gateway.Spec.Infrastructure; infrastructure != nil && infrastructure.ParametersRef != nil {
		switch name, ok := parametersName(s.Gateway); {
		case !ok:
			return invalidParameters
		case !s.Configs[name]:
			return noParameters
		}
	}
	if why := unsupportedAddress(s.Gateway, supported.features); why != nil {
		return *why
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
