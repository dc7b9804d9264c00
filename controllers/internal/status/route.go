package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// OfRoute is the status that routes of all kinds have in common; it is part of the route. It is nil for an object that is no route.
func OfRoute(object any) *gatewayv1.RouteStatus {
	switch route := object.(type) {
	case *gatewayv1.HTTPRoute:
		return &route.Status.RouteStatus
	case *gatewayv1.GRPCRoute:
		return &route.Status.RouteStatus
	case *gatewayv1.TLSRoute:
		return &route.Status.RouteStatus
	case *gatewayv1.TCPRoute:
		return &route.Status.RouteStatus
	case *gatewayv1.UDPRoute:
		return &route.Status.RouteStatus
	}
	return nil
}

// RouteParent is what is reported of a route for one of its parents.
type RouteParent struct {
	Ref      gatewayv1.ParentReference
	Accepted verdict.Verdict
	// ResolvedRefs says whether what the route refers to can be used, whether or not the route is accepted.
	ResolvedRefs verdict.Verdict
	// Programmed says what became of the objects that were rendered for it; nil if there is nothing to render.
	Programmed *verdict.Verdict
	// Values are the values that were rendered with; empty if there is nothing to render.
	Values values.Effective
}

// maxParents is how many entries a route's status holds (Gateway API, RouteStatus).
const maxParents = 32

// RouteParents returns the entries of a route's status: ours anew, at their old places and in the order of the route; those of
// other controllers as they are, and those of ours that keep is true for. The list is atomic and shared (Gateway API,
// RouteStatus). left is how many of ours have no room beside those of others.
func RouteParents(
	current []gatewayv1.RouteParentStatus, ours []RouteParent, keep func(gatewayv1.ParentReference) bool, generation int64,
) (entries []gatewayv1.RouteParentStatus, left int) {
	// Not nil, which would be null, where the API wants a list.
	entries = []gatewayv1.RouteParentStatus{}
	placed := make([]bool, len(ours))
	for _, entry := range current {
		if entry.ControllerName != v1alpha1.ControllerName || keep(entry.ParentRef) {
			entries = append(entries, entry)
			continue
		}
		i := slices.IndexFunc(ours, func(p RouteParent) bool { return equality.Semantic.DeepEqual(p.Ref, entry.ParentRef) })
		if i >= 0 && !placed[i] {
			placed[i] = true
			entries = append(entries, routeParent(entry, ours[i], generation))
		}
	}
	for i, parent := range ours {
		switch {
		case placed[i]:
		case len(entries) == maxParents:
			left++
		default:
			entry := gatewayv1.RouteParentStatus{ParentRef: parent.Ref, ControllerName: v1alpha1.ControllerName}
			entries = append(entries, routeParent(entry, parent, generation))
		}
	}
	return entries, left
}

func routeParent(entry gatewayv1.RouteParentStatus, parent RouteParent, generation int64) gatewayv1.RouteParentStatus {
	entry.Conditions = slices.Clone(entry.Conditions)
	Set(&entry.Conditions, string(gatewayv1.RouteConditionAccepted), parent.Accepted, generation)
	Set(&entry.Conditions, string(gatewayv1.RouteConditionResolvedRefs), parent.ResolvedRefs, generation)
	Affected(&entry.Conditions, parent.Values.Contributions, generation)
	if parent.Programmed != nil {
		Set(&entry.Conditions, v1alpha1.ConditionRouteProgrammed, *parent.Programmed, generation)
	} else {
		entry.Conditions = slices.DeleteFunc(entry.Conditions, isType(v1alpha1.ConditionRouteProgrammed))
	}
	return entry
}
