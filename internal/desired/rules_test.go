package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

const readingRules = gatewayOnly + `
httpRouteTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: route}
      data: {log: {{ .Values.log | default "none" }}, {{ range $i, $rule := .Rules }}r{{ $i }}: "{{ .name }} {{ .Values.log }}", {{ end }}}
`

// withRules gives every route three rules, of which the last has no name.
func withRules(in Inputs) Inputs {
	for i := range in.Merged.Attachments {
		in.Merged.Attachments[i].Route.Rules = []gatewayv1.SectionName{"one", "two", ""}
	}
	return in
}

func TestAPolicyForARuleReachesThatRuleAlone(t *testing.T) {
	const (
		route = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}]\ndefault: {log: info}"
		rule  = "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart, sectionName: two}]\ndefault: {log: debug}"
	)
	for name, c := range map[string]struct {
		blueprint string
		// refused says whether the reference to the rule is.
		refused bool
		// rendered is what the template of the route yields; nil if the blueprint has none.
		rendered map[string]any
	}{
		"where rules are read":                     {readingRules, false, map[string]any{"log": "info", "r0": "one info", "r1": "two debug", "r2": " info"}},
		"where routes are read, and rules are not": {readingRoutes, true, map[string]any{"log": "info"}},
		"where routes are not rendered":            {gatewayOnly, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := withRules(inputsWith(t, c.blueprint, map[string]string{"route": route, "rule": rule}))
			values := map[gatewayv1.SectionName]any{}
			refused := false
			for _, reach := range Reaches(in) {
				if reach.Route != nil {
					values[reach.Rule] = reach.Values.Tree["log"]
					refused = refused || reach.Rule == "two" && len(reach.Values.Refused) > 0
				}
			}
			want := map[gatewayv1.SectionName]any{"": "info", "one": "info", "two": "debug"}
			if c.refused {
				want["two"] = "info"
			}
			if diff := cmp.Diff(want, values); diff != "" || refused != c.refused {
				t.Errorf("refused %t, values of the rules: -want +got:\n%s", refused, diff)
			}
			var rendered map[string]any
			for _, attachment := range in.Merged.Attachments {
				for _, parent := range Route(in, attachment) {
					for _, object := range parent.Advance(ObservedIn(nil, "")) {
						rendered = object.Object["data"].(map[string]any)
					}
				}
			}
			if diff := cmp.Diff(c.rendered, rendered); diff != "" {
				t.Errorf("rendered: -want +got:\n%s", diff)
			}
		})
	}
}

func TestRoutesOfAllKindsTellTheNamesOfTheirRules(t *testing.T) {
	name := gatewayv1.SectionName("one")
	want := []gatewayv1.SectionName{"one", ""}
	for _, route := range []metav1.Object{
		&gatewayv1.HTTPRoute{Spec: gatewayv1.HTTPRouteSpec{Rules: []gatewayv1.HTTPRouteRule{{Name: &name}, {}}}},
		&gatewayv1.GRPCRoute{Spec: gatewayv1.GRPCRouteSpec{Rules: []gatewayv1.GRPCRouteRule{{Name: &name}, {}}}},
		&gatewayv1.TLSRoute{Spec: gatewayv1.TLSRouteSpec{Rules: []gatewayv1.TLSRouteRule{{Name: &name}, {}}}},
		&gatewayv1.TCPRoute{Spec: gatewayv1.TCPRouteSpec{Rules: []gatewayv1.TCPRouteRule{{Name: &name}, {}}}},
		&gatewayv1.UDPRoute{Spec: gatewayv1.UDPRouteSpec{Rules: []gatewayv1.UDPRouteRule{{Name: &name}, {}}}},
	} {
		got, ok := gateway.RouteOf(route)
		if diff := cmp.Diff(want, got.Rules); !ok || diff != "" {
			t.Errorf("%T: -want +got:\n%s", route, diff)
		}
	}
}
