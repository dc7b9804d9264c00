package gateway

import (
	"fmt"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// backends is the ResolvedRefs condition of a route: whether each of its backends may be referred to, is of a supported kind and
// exists (RouteConditionResolvedRefs). Of kinds other than Service nothing is known, so they are taken to exist. The route is
// rendered all the same: a rule whose backend does not resolve is to answer with an error, and not to be left out
// (HTTPRouteRule.BackendRefs).
func (r resolver) backends(route Route) verdict.Verdict {
	from := referrer{route.Kind, route.Object.GetNamespace()}
	var first *verdict.Verdict
	more := 0
	for i := range route.Backends {
		why := r.backend(from, &route.Backends[i])
		switch {
		case why == nil:
		case first == nil:
			first = why
		default:
			more++
		}
	}
	switch {
	case first == nil:
		return backendsResolved
	case more > 0:
		first.Message += fmt.Sprintf("; %d more do not resolve either", more)
	}
	return *first
}

func (r resolver) backend(from referrer, backend *Backend) *verdict.Verdict {
	to := backendTarget(backend.Ref, from.namespace)
	switch {
	case !r.grants.permit(from, to):
		return refNotPermitted(backend.Path, from)
	case to.is(kindService):
		if r.snapshot.Services[to.NamespacedName] {
			return nil
		}
		return new(verdict.No(string(gatewayv1.RouteReasonBackendNotFound),
			"%s names a Service that does not exist; create it, or name one that exists", backend.Path))
	case r.support.backends[groupKind{to.group, to.kind}]:
		return nil
	}
	return new(verdict.No(string(gatewayv1.RouteReasonInvalidKind),
		"%s names an object of a kind that the GatewayClass does not support; it supports %s", backend.Path, r.support.backendNames))
}
