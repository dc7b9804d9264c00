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
	// routesByParent finds routes by their parents, "Kind/namespace/name", and those that name any ListenerSet by anyListenerSet.
	routesByParent = "gatewright/parent"
	anyListenerSet = "ListenerSet"
	// renderingsByOwner finds Renderings by the uid of the Gateway or route that they are about.
	renderingsByOwner = "gatewright/owner"
	// bySecret, byConfigMap and byService find Gateways, ListenerSets and routes by what they refer to, "namespace/name", and byGrants
	// by the namespaces whose ReferenceGrants decide whether they may.
	bySecret    = "gatewright/secret"
	byConfigMap = "gatewright/configmap"
	byService   = "gatewright/service"
	byGrants    = "gatewright/grants"
)

// Index tells the cache which indexes to keep of an object's kind.
func Index(ctx context.Context, indexer client.FieldIndexer, object client.Object) error {
	for name, keys := range indexesOf(object) {
		if err := indexer.IndexField(ctx, object, name, keys); err != nil {
			return fmt.Errorf("indexing %T by %s: %w", object, name, err)
		}
	}
	return nil
}

func indexesOf(object client.Object) map[string]client.IndexerFunc {
	switch object.(type) {
	case *gatewayv1.Gateway:
		return map[string]client.IndexerFunc{
			gatewaysByClass: func(o client.Object) []string { return []string{string(o.(*gatewayv1.Gateway).Spec.GatewayClassName)} },
			bySecret:        secretKeys, byConfigMap: configMapKeys, byGrants: grantKeys,
		}
	case *gatewayv1.GatewayClass:
		return map[string]client.IndexerFunc{classesByBlueprint: func(o client.Object) []string {
			if name, ok := BlueprintOf(o.(*gatewayv1.GatewayClass)); ok {
				return []string{name}
			}
			return nil
		}}
	case *gatewayv1.ListenerSet:
		return map[string]client.IndexerFunc{
			setsByGateway: func(o client.Object) []string {
				if parent, ok := gateway.ParentGateway(o.(*gatewayv1.ListenerSet)); ok {
					return []string{parent.String()}
				}
				return nil
			},
			bySecret: secretKeys, byGrants: grantKeys,
		}
	case *v1alpha1.Rendering:
		return map[string]client.IndexerFunc{renderingsByOwner: func(o client.Object) []string {
			if owner := metav1.GetControllerOf(o); owner != nil {
				return []string{string(owner.UID)}
			}
			return nil
		}}
	}
	if _, isRoute := gateway.RouteOf(object); isRoute {
		return map[string]client.IndexerFunc{routesByParent: parentKeys, byService: serviceKeys, byGrants: grantKeys}
	}
	return nil
}

func secretKeys(o client.Object) []string    { return nameKeys(references(o).Secrets) }
func configMapKeys(o client.Object) []string { return nameKeys(references(o).ConfigMaps) }
func serviceKeys(o client.Object) []string   { return nameKeys(references(o).Services) }
func grantKeys(o client.Object) []string     { return references(o).Namespaces }

// references are those of a Gateway, ListenerSet or route.
func references(object client.Object) gateway.References {
	switch o := object.(type) {
	case *gatewayv1.Gateway:
		return gateway.ReferencesOfGateway(o)
	case *gatewayv1.ListenerSet:
		return gateway.ReferencesOfListenerSet(o)
	}
	if route, isRoute := gateway.RouteOf(object); isRoute {
		return gateway.ReferencesOfRoute(route)
	}
	return gateway.References{}
}

func nameKeys(names []types.NamespacedName) []string {
	keys := make([]string, 0, len(names))
	for _, name := range names {
		keys = append(keys, name.String())
	}
	return keys
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

func parentKeys(o client.Object) []string {
	route, _ := gateway.RouteOf(o)
	var keys []string
	for _, parent := range Parents(route) {
		keys = append(keys, parentKey(parent.Kind, parent.NamespacedName))
		if parent.Kind == gateway.KindListenerSet && !slices.Contains(keys, anyListenerSet) {
			keys = append(keys, anyListenerSet)
		}
	}
	return keys
}

func parentKey(kind gatewayv1.Kind, name types.NamespacedName) string {
	return string(kind) + "/" + name.String()
}
