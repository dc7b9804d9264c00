package desired

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
)

// Identity is what makes an object one and the same over time: its kind without the version, its namespace and its name.
type Identity struct {
	schema.GroupKind
	types.NamespacedName
}

// IdentityOf returns the identity of an object.
func IdentityOf(o *unstructured.Unstructured) Identity {
	return Identity{
		GroupKind:      o.GroupVersionKind().GroupKind(),
		NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()},
	}
}

// Claims says which rendering of one owner yielded an object. A Gateway has one rendering, a route one under each parent, and
// each object belongs to one: two that yield the same object would overwrite each other for ever.
type Claims map[Identity]*Parent

// Claim notes new objects of a rendering, all of them or, if one is claimed already or must not be rendered at all, none. The
// verdict then says which.
func (c Claims) Claim(p *Parent, objects []render.Object) *verdict.Verdict {
	for _, object := range objects {
		if p.isClusterScoped(object.Unstructured) && !p.clusterScopedPermitted {
			v := verdict.No(v1alpha1.ReasonFailed,
				"template %s: %s %s is cluster-scoped, which the blueprint does not permit; set spec.permits.clusterScoped, or render a kind that has a namespace",
				object.Template, object.GetKind(), object.GetName())
			return &v
		}
		if p.feedsBack(object.Unstructured) {
			v := verdict.No(v1alpha1.ReasonFailed,
				"template %s: Gateway %s: spec.gatewayClassName is a class of this controller, so that rendering could go on for ever; "+
					"name a class of another controller", object.Template, object.GetName())
			return &v
		}
		if _, taken := c[IdentityOf(object.Unstructured)]; taken {
			v := verdict.No(v1alpha1.ReasonFailed,
				"template %s: %s %s is rendered already for another parent of the same route; put the parent into its name (uniqueName)",
				object.Template, object.GetKind(), object.GetName())
			return &v
		}
	}
	for _, object := range objects {
		c[IdentityOf(object.Unstructured)] = p
	}
	return nil
}

func (p *Parent) isClusterScoped(o *unstructured.Unstructured) bool {
	return p.clusterScoped != nil && p.clusterScoped(o.GroupVersionKind())
}

// feedsBack says whether a rendered object is a Gateway of a class of ours, which would be rendered in turn.
func (p *Parent) feedsBack(o *unstructured.Unstructured) bool {
	gvk := o.GroupVersionKind()
	if gvk.Group != gatewayv1.GroupName || gvk.Kind != string(gateway.KindGateway) || p.ownClass == nil {
		return false
	}
	class, _, _ := unstructured.NestedString(o.Object, "spec", "gatewayClassName")
	return p.ownClass(class)
}
