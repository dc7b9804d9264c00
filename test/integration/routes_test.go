package integration_test

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// routeStands are the conditions of a route under a parent where all is well.
var routeStands = []string{"Accepted=True/Accepted", v1alpha1.ConditionRouteProgrammed + "=True/Programmed"}

// routeReports are what we say of a route, by parent "Kind/name". Its references are not looked at here.
func (w *world) routeReports(name string) func() (map[string][]string, error) {
	return func() (map[string][]string, error) {
		route := &gatewayv1.HTTPRoute{}
		err := shared.client.Get(w.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, route)
		got := map[string][]string{}
		for _, parent := range route.Status.Parents {
			if parent.ControllerName != v1alpha1.ControllerName {
				continue
			}
			kind := gatewayv1.Kind("Gateway")
			if parent.ParentRef.Kind != nil {
				kind = *parent.ParentRef.Kind
			}
			key := fmt.Sprintf("%s/%s", kind, parent.ParentRef.Name)
			got[key] = slices.DeleteFunc(told(parent.Conditions, route.Generation), func(condition string) bool {
				return strings.HasPrefix(condition, string(gatewayv1.RouteConditionResolvedRefs))
			})
		}
		return got, err
	}
}
