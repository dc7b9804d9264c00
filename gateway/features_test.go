package gateway_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// claiming is a blueprint that claims features.
func claiming(features ...string) *v1alpha1.GatewayClassBlueprint {
	return &v1alpha1.GatewayClassBlueprint{Spec: v1alpha1.GatewayClassBlueprintSpec{Supports: &v1alpha1.Supports{Features: features}}}
}

func TestFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		blueprint *v1alpha1.GatewayClassBlueprint
		missing   []gatewayv1.Kind
		want      []gatewayv1.FeatureName
	}{
		"without a blueprint there is what the controller itself provides": {nil, nil, []gatewayv1.FeatureName{
			"Gateway", "GatewayInfrastructure", "HTTPRoute", "HTTPRouteParentRefPort", "ListenerSet", "ReferenceGrant"}},
		"each kind of routes that has a template is a feature": {everything, nil, []gatewayv1.FeatureName{
			"GRPCRoute", "Gateway", "GatewayInfrastructure", "HTTPRoute", "HTTPRouteParentRefPort", "ListenerSet", "ReferenceGrant",
			"TCPRoute", "TLSRoute", "UDPRoute"}},
		"what is claimed is added, sorted and once": {claiming("HTTPRouteCORS", "Gateway", "GRPCRoute"), nil, []gatewayv1.FeatureName{
			"GRPCRoute", "Gateway", "GatewayInfrastructure", "HTTPRoute", "HTTPRouteCORS", "HTTPRouteParentRefPort", "ListenerSet",
			"ReferenceGrant"}},
		"what is about a kind that is not served is left out": {
			claiming("HTTPRouteCORS", "TLSRouteModeTerminate", "GatewayPort8080"), []gatewayv1.Kind{"HTTPRoute", "TLSRoute", "ListenerSet", "ReferenceGrant"},
			[]gatewayv1.FeatureName{"Gateway", "GatewayInfrastructure", "GatewayPort8080"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []gatewayv1.FeatureName
			for _, feature := range gateway.Features(c.blueprint, func(kind gatewayv1.Kind) bool { return !slices.Contains(c.missing, kind) }) {
				got = append(got, feature.Name)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("features (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckFeatures(t *testing.T) {
	for name, c := range map[string]struct {
		blueprint *v1alpha1.GatewayClassBlueprint
		want      string
	}{
		"a blueprint that claims nothing is fine":  {&v1alpha1.GatewayClassBlueprint{}, ""},
		"features that Gateway API knows are fine": {claiming("HTTPRouteCORS", "GatewayStaticAddresses"), ""},
		"each other one is named, with the nearest": {claiming("HTTPRouteCors", "HTTPRouteCORS", "Teleportation"),
			"spec.supports.features[0]: Gateway API has no feature \"HTTPRouteCors\"; did you mean HTTPRouteCORS?\n" +
				"spec.supports.features[2]: Gateway API has no feature \"Teleportation\""},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := gateway.CheckFeatures(c.blueprint); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
