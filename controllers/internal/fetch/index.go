package fetch

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// Names of the indexes.
const (
	// gatewaysByClass finds Gateways by the name of their class.
	gatewaysByClass = "gatewright/class"
	// classesByBlueprint finds our GatewayClasses by the name of their blueprint.
	classesByBlueprint = "gatewright/blueprint"
	// setsByGateway finds ListenerSets by their parent, "namespace/name".
	setsByGateway = "gatewright/gateway"
	// routesByParent finds routes by their parents, "Kind/namespace/name".
	routesByParent = "gatewright/parent"
	// renderingsByOwner finds Renderings by the uid of the Gateway or route that they are about.
	renderingsByOwner = "gatewright/owner"
)

// Index tells the cache which indexes to keep. It is to be called before the cache starts.
func Index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, index := range []struct {
		object client.Object
		name   string
		keys   client.IndexerFunc
	}{
		{&gatewayv1.Gateway{}, gatewaysByClass, func(o client.Object) []string {
			return []string{string(o.(*gatewayv1.Gateway).Spec.GatewayClassName)}
		}},
		{&gatewayv1.GatewayClass{}, classesByBlueprint, func(o client.Object) []string {
			if name, ok := BlueprintOf(o.(*gatewayv1.GatewayClass)); ok {
				return []string{name}
			}
			return nil
		}},
		{&gatewayv1.ListenerSet{}, setsByGateway, func(o client.Object) []string {
			if parent, ok := gateway.ParentGateway(o.(*gatewayv1.ListenerSet)); ok {
				return []string{parent.String()}
			}
			return nil
		}},
		{&gatewayv1.HTTPRoute{}, routesByParent, func(o client.Object) []string {
			return parentKeys(gateway.HTTPRoute(o.(*gatewayv1.HTTPRoute)))
		}},
		{&v1alpha1.Rendering{}, renderingsByOwner, func(o client.Object) []string {
			if owner := metav1.GetControllerOf(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}},
	} {
		if err := indexer.IndexField(ctx, index.object, index.name, index.keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", index.object, index.name, err)
		}
	}
	return nil
}

// BlueprintOf returns the name of the blueprint that a GatewayClass of ours refers to, if it refers to one.
func BlueprintOf(class *gatewayv1.GatewayClass) (string, bool) {
	name, err := gateway.BlueprintName(class)
	return name, err == nil && class.Spec.ControllerName == v1alpha1.ControllerName
}

// Parents returns the Gateways and ListenerSets that a route names, without duplicates.
func Parents(route gateway.Route) []gateway.ParentKey {
	var parents []gateway.ParentKey
	for _, ref := range route.ParentRefs {
		key, ok := gateway.RouteParent(ref, route.Object.GetNamespace())
		if ok && !slices.Contains(parents, key) {
			parents = append(parents, key)
		}
	}
	return parents
}

func parentKeys(route gateway.Route) []string {
	var keys []string
	for _, parent := range Parents(route) {
		keys = append(keys, parentKey(parent.Kind, parent.NamespacedName))
	}
	return keys
}

func parentKey(kind gatewayv1.Kind, name types.NamespacedName) string {
	return string(kind) + "/" + name.String()
}
