package cli

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/internal/intake"
)

// scopes are what CustomResourceDefinitions among the files say: whether a kind has no namespaces, by Kind.group.
type scopes map[string]bool

// learn reads the scope of a kind if the object is a CustomResourceDefinition.
func (s scopes) learn(o *unstructured.Unstructured) {
	if o.GetKind() != "CustomResourceDefinition" || !strings.HasPrefix(o.GetAPIVersion(), "apiextensions.k8s.io/") {
		return
	}
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
	scope, _, _ := unstructured.NestedString(o.Object, "spec", "scope")
	s[schema.GroupKind{Group: group, Kind: kind}.String()] = scope == "Cluster"
}

// clusterScoped takes a kind that nobody described to have namespaces, as most have.
func (s scopes) clusterScoped(kind schema.GroupVersionKind) bool {
	return intake.ClusterScoped(kind.GroupKind()) || s[kind.GroupKind().String()]
}
