package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/features"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/nearest"
)

// always are the features that do not depend on a blueprint, since this controller provides them itself: it folds in
// ListenerSets, heeds ReferenceGrants and the ports of parentRefs, and marks what it renders as spec.infrastructure says.
// HTTPRoutes are always supported: many blueprints put them into the objects of their Gateway and render nothing for the route
// itself.
var always = []features.FeatureName{
	features.SupportGateway, features.SupportGatewayInfrastructure, features.SupportListenerSet, features.SupportReferenceGrant,
	features.SupportHTTPRoute, features.SupportHTTPRouteParentRefPort,
}

// featureSet is what a blueprint's data plane supports.
type featureSet map[features.FeatureName]bool

// featuresOf puts together what this controller provides, what follows from a blueprint's templates and what it claims.
func featuresOf(b *v1alpha1.GatewayClassBlueprint) featureSet {
	var spec v1alpha1.GatewayClassBlueprintSpec
	if b != nil {
		spec = b.Spec
	}
	set := featureSet{}
	for _, name := range always {
		set[name] = true
	}
	for name, template := range map[features.FeatureName]*v1alpha1.RouteTemplate{
		features.SupportGRPCRoute: spec.GRPCRouteTemplate, features.SupportTLSRoute: spec.TLSRouteTemplate,
		features.SupportTCPRoute: spec.TCPRouteTemplate, features.SupportUDPRoute: spec.UDPRouteTemplate,
	} {
		if template != nil {
			set[name] = true
		}
	}
	if spec.Supports != nil {
		for _, name := range spec.Supports.Features {
			set[features.FeatureName(name)] = true
		}
	}
	return set
}

// Features are the features of Gateway API that Gateways of a blueprint have, sorted by name, as a GatewayClass reports them
// (GatewayClassStatus.SupportedFeatures). served says whether a kind of Gateway API is; what is about one that is not is left out.
func Features(b *v1alpha1.GatewayClassBlueprint, served func(gatewayv1.Kind) bool) []gatewayv1.SupportedFeature {
	var out []gatewayv1.SupportedFeature
	for name := range featuresOf(b) {
		if kind, about := kindOfFeature(name); !about || served(kind) {
			out = append(out, gatewayv1.SupportedFeature{Name: gatewayv1.FeatureName(name)})
		}
	}
	slices.SortFunc(out, func(a, b gatewayv1.SupportedFeature) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// kindOfFeature is the kind that a feature is about, if that is one that an installation of Gateway API may lack: its name begins with
// that of the kind.
func kindOfFeature(name features.FeatureName) (kind gatewayv1.Kind, about bool) {
	for _, kind := range append([]gatewayv1.Kind{KindListenerSet, kindReferenceGrant}, RouteKinds...) {
		if strings.HasPrefix(string(name), string(kind)) {
			return kind, true
		}
	}
	return "", false
}

// CheckFeatures names what a blueprint claims that Gateway API does not know, one problem a line; nil if there is nothing.
func CheckFeatures(b *v1alpha1.GatewayClassBlueprint) error {
	if b.Spec.Supports == nil {
		return nil
	}
	var known, problems []string
	for feature := range features.AllFeatures {
		known = append(known, string(feature.Name))
	}
	for i, name := range b.Spec.Supports.Features {
		if !slices.Contains(known, name) {
			problems = append(problems, fmt.Sprintf("spec.supports.features[%d]: Gateway API has no feature %q%s",
				i, name, nearest.Suggest(name, known)))
		}
	}
	if len(problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(problems, "\n"))
}
