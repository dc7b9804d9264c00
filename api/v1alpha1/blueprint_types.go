package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BlueprintValues are the values that a blueprint brings along, and the contract that the effective values must keep.
type BlueprintValues struct {
	ValuesBlocks `json:",inline"`

	// schema is the contract of the effective values. Without one, everybody may set anything.
	// +optional
	Schema *ValuesSchema `json:"schema,omitempty"`
}

// ValuesSchema is the contract of the effective values.
type ValuesSchema struct {
	// openAPIV3Schema is a structural schema of type object, as in a CustomResourceDefinition. The effective values are merged by
	// its markers for lists and maps, filled up with its defaults, and held to its bounds and CEL rules; a key that it does not
	// know is an error. While values are not as it says, what was rendered last stays.
	//
	// Two markers are added. `x-gatewright-settable-by: provider` keeps a value, and what is below it, from GatewayConfigs;
	// `tenant` opens it again. `writeOnly: true`, like `format: password`, hides a value in what is reported.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	OpenAPIV3Schema *apiextensionsv1.JSON `json:"openAPIV3Schema,omitempty"`
}

// StatusTemplate yields what a blueprint reports upwards.
type StatusTemplate struct {
	// template is Go template text that yields YAML with `addresses:`, a list as in Gateway.status.addresses.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Template string `json:"template,omitempty"`
}

// GatewayTemplate is what is rendered once for each Gateway.
type GatewayTemplate struct {
	// resourceTemplates maps a template's name to Go template text that yields YAML objects.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ResourceTemplates map[string]string `json:"resourceTemplates,omitempty"`

	// status yields the addresses of the Gateway.
	// +optional
	Status *StatusTemplate `json:"status,omitempty"`
}

// RouteTemplate is what is rendered once for each route and parent.
type RouteTemplate struct {
	// resourceTemplates maps a template's name to Go template text that yields YAML objects.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ResourceTemplates map[string]string `json:"resourceTemplates,omitempty"`
}

// PermittedKind is a kind of objects that templates may produce.
type PermittedKind struct {
	// group of the kind; "" is the core group.
	// +kubebuilder:validation:MaxLength=253
	Group string `json:"group"`

	// kind of the objects.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
}

// Permits says what templates may produce.
type Permits struct {
	// kinds that templates may produce. Omitted: the kinds that are written literally in the text of the templates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Kinds []PermittedKind `json:"kinds,omitempty"`

	// clusterScoped permits objects that have no namespace.
	// +optional
	ClusterScoped bool `json:"clusterScoped,omitempty"`
}

// Supports is what a data plane can do, as far as its templates do not say so.
type Supports struct {
	// features of Gateway API, by name, that the data plane implements, such as HTTPRouteQueryParamMatching. The GatewayClass
	// reports them, together with those that follow from the templates, in status.supportedFeatures.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=64
	Features []string `json:"features,omitempty"`

	// backendKinds are the kinds, besides Service, that routes may refer to.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	BackendKinds []PermittedKind `json:"backendKinds,omitempty"`

	// ownCertificates says that the data plane brings certificates of its own, so that listeners of protocol HTTPS or TLS need not
	// name any.
	// +optional
	OwnCertificates bool `json:"ownCertificates,omitempty"`

	// maxListeners is how many listeners a Gateway may have, those of its ListenerSets included. Omitted: any number.
	// +optional
	// +kubebuilder:validation:Minimum=1
	MaxListeners *int32 `json:"maxListeners,omitempty"`
}

// ServiceAccountReference names a ServiceAccount.
type ServiceAccountReference struct {
	// namespace of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`

	// name of the ServiceAccount.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// GatewayClassBlueprintSpec says how Gateways of a class, and their routes, are implemented.
type GatewayClassBlueprintSpec struct {
	// values are the blueprint's own values: the lowest level of defaults and the highest of overrides.
	// +optional
	Values *BlueprintValues `json:"values,omitempty"`

	// gatewayTemplate is rendered once for each Gateway.
	// +optional
	GatewayTemplate *GatewayTemplate `json:"gatewayTemplate,omitempty"`

	// httpRouteTemplate is rendered once for each HTTPRoute and parent.
	// +optional
	HTTPRouteTemplate *RouteTemplate `json:"httpRouteTemplate,omitempty"`

	// grpcRouteTemplate is rendered once for each GRPCRoute and parent.
	// +optional
	GRPCRouteTemplate *RouteTemplate `json:"grpcRouteTemplate,omitempty"`

	// tlsRouteTemplate is rendered once for each TLSRoute and parent.
	// +optional
	TLSRouteTemplate *RouteTemplate `json:"tlsRouteTemplate,omitempty"`

	// tcpRouteTemplate is rendered once for each TCPRoute and parent.
	// +optional
	TCPRouteTemplate *RouteTemplate `json:"tcpRouteTemplate,omitempty"`

	// udpRouteTemplate is rendered once for each UDPRoute and parent.
	// +optional
	UDPRouteTemplate *RouteTemplate `json:"udpRouteTemplate,omitempty"`

	// helpers is template text whose {{ define }} blocks all templates of the blueprint share.
	// +optional
	// +kubebuilder:validation:MaxLength=65536
	Helpers string `json:"helpers,omitempty"`

	// readyWhen maps a template's name to a CEL expression over `object` that says when its objects are ready, in the place of what
	// their status usually says. A field that is not there yet is waited for.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	ReadyWhen map[string]string `json:"readyWhen,omitempty"`

	// recreate lists templates whose objects may be deleted and created anew where the API server refuses a change, since a
	// field of theirs is immutable. Objects of other templates then stay as they are, and the Gateway says so.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=63
	Recreate []string `json:"recreate,omitempty"`

	// permits says what templates may produce.
	// +optional
	Permits *Permits `json:"permits,omitempty"`

	// supports says what the data plane can do, as far as the templates do not say so.
	// +optional
	Supports *Supports `json:"supports,omitempty"`

	// serviceAccountRef names the ServiceAccount as which all that is rendered is created, changed and deleted, instead of as the
	// controller. Its rights are then the bounds of the blueprint; the controller must be allowed to impersonate it. While it is
	// missing, or may not do what is asked for, nothing is written, and what runs stays.
	// +optional
	ServiceAccountRef *ServiceAccountReference `json:"serviceAccountRef,omitempty"`
}

// GatewayClassBlueprintStatus is what became of a blueprint.
type GatewayClassBlueprintStatus struct {
	// conditions of the blueprint: Accepted, and ResolvedRefs if it has a serviceAccountRef.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// kinds that objects rendered from this blueprint may have, over all of its generations still in use. They are
	// recorded before the first object is applied, so that what was rendered is always found again.
	// +optional
	// +listType=atomic
	Kinds []RenderedKind `json:"kinds,omitempty"`

	// serviceAccounts are those as which objects of this blueprint were applied, over all of its generations still in use. They are
	// recorded before the first object is applied: an object is deleted as the ServiceAccount as which it was applied, if a
	// blueprint records that.
	// +optional
	// +listType=atomic
	ServiceAccounts []ServiceAccountReference `json:"serviceAccounts,omitempty"`

	// classes is the number of GatewayClasses that use the blueprint.
	// +optional
	Classes int32 `json:"classes,omitempty"`

	// gateways is the number of Gateways that use the blueprint.
	// +optional
	Gateways int32 `json:"gateways,omitempty"`
}

// RenderedKind is a kind of objects in the version that templates write.
type RenderedKind struct {
	// apiVersion of the kind.
	APIVersion string `json:"apiVersion"`
	// kind of the objects.
	Kind string `json:"kind"`
}

// GatewayClassBlueprint says how Gateways of a GatewayClass, and their routes, are implemented: Go templates for the objects
// to render, and values for them. A GatewayClass refers to it by spec.parametersRef. A change reaches all existing
// Gateways of those classes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,categories=gateway-api,shortName=gcb
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Gateways",type=integer,JSONPath=`.status.gateways`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type GatewayClassBlueprint struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the blueprint says.
	Spec GatewayClassBlueprintSpec `json:"spec"`

	// status is what became of it.
	// +optional
	Status GatewayClassBlueprintStatus `json:"status,omitempty"`
}

// GatewayClassBlueprintList is a list of GatewayClassBlueprints.
// +kubebuilder:object:root=true
type GatewayClassBlueprintList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GatewayClassBlueprint `json:"items"`
}
