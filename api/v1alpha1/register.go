package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of all of Gatewright's own kinds.
const GroupName = "gatewright.dev"

// GroupVersion is the group and version that this package holds.
var GroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1alpha1"}

var (
	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the kinds of this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion,
		&GatewayClassBlueprint{}, &GatewayClassBlueprintList{},
		&GatewayClassConfig{}, &GatewayClassConfigList{},
		&GatewayConfig{}, &GatewayConfigList{},
		&Rendering{}, &RenderingList{},
	)
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
