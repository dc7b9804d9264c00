package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// AppliesTo names the templates that see a policy's values.
// +kubebuilder:validation:Enum=Gateway;Route
type AppliesTo string

// The kinds of templates that values can be limited to.
const (
	AppliesToGateway AppliesTo = "Gateway"
	AppliesToRoute   AppliesTo = "Route"
)

// PolicyTargetReference names the objects that a policy is attached to.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.selector)",message="exactly one of name and selector must be set; write selector: {} to target all"
// +kubebuilder:validation:XValidation:rule="!(has(self.sectionName) && has(self.listenerSelector))",message="sectionName and listenerSelector exclude each other"
// +kubebuilder:validation:XValidation:rule="self.kind == 'Namespace' ? size(self.group) == 0 : self.group == 'gateway.networking.k8s.io'",message="group must be \"\" for kind Namespace and gateway.networking.k8s.io for all other kinds"
// +kubebuilder:validation:XValidation:rule="!(has(self.sectionName) || has(self.listenerSelector)) || !(self.kind in ['GatewayClass', 'Namespace'])",message="a GatewayClass or a Namespace has no sections or listeners to target"
// +kubebuilder:validation:XValidation:rule="!has(self.listenerSelector) || self.kind in ['Gateway', 'ListenerSet']",message="listenerSelector is for kinds Gateway and ListenerSet; routes have rules, named by sectionName"
type PolicyTargetReference struct {
	// group of the target: gateway.networking.k8s.io, or "" for a Namespace.
	Group gatewayv1.Group `json:"group"`

	// kind of the target.
	// +kubebuilder:validation:Enum=GatewayClass;Namespace;Gateway;ListenerSet;HTTPRoute;GRPCRoute;TLSRoute;TCPRoute;UDPRoute
	Kind gatewayv1.Kind `json:"kind"`

	// name of the target. Exactly one of name and selector is set.
	// +optional
	Name gatewayv1.ObjectName `json:"name,omitempty"`

	// selector targets all objects of the kind with these labels; {} means all of them.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// sectionName narrows the target to one listener of a Gateway or ListenerSet, or to one named rule of a route.
	// +optional
	SectionName *gatewayv1.SectionName `json:"sectionName,omitempty"`

	// listenerSelector narrows the target to the listeners with these labels.
	// +optional
	ListenerSelector *metav1.LabelSelector `json:"listenerSelector,omitempty"`

	// appliesTo limits which templates see the values: those of Gateways, those of routes, or both (the default).
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=2
	AppliesTo []AppliesTo `json:"appliesTo,omitempty"`
}

// PolicySpec is what GatewayClassConfig and GatewayConfig have in common.
//
// +kubebuilder:validation:XValidation:rule="has(self.targetRef) != has(self.targetRefs)",message="exactly one of targetRef and targetRefs must be set"
type PolicySpec struct {
	// targetRefs name the objects that the policy is attached to. A target that is hit by several of them counts once,
	// at the most specific.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	TargetRefs []PolicyTargetReference `json:"targetRefs,omitempty"`

	// targetRef is short for a list of one.
	// +optional
	TargetRef *PolicyTargetReference `json:"targetRef,omitempty"`

	ValuesBlocks `json:",inline"`

	// remove lists paths that are stripped from the defaults of less specific levels: `a.b`, `a["b.c/d"]` or a JSON
	// pointer `/a/b`.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	Remove []string `json:"remove,omitempty"`
}

// Targets returns the target references of a policy, however they were written.
func (s *PolicySpec) Targets() []PolicyTargetReference {
	if s.TargetRef != nil {
		return append([]PolicyTargetReference{*s.TargetRef}, s.TargetRefs...)
	}
	return s.TargetRefs
}

// Policy is what GatewayClassConfig and GatewayConfig have in common as objects.
// +kubebuilder:object:generate=false
type Policy interface {
	metav1.Object
	// PolicyKind is the kind of the policy, also where an object's TypeMeta is empty, as clients leave it.
	PolicyKind() string
	// PolicySpec is the policy's spec, not a copy.
	PolicySpec() *PolicySpec
	// PolicyStatus is the policy's status, not a copy.
	PolicyStatus() *gatewayv1.PolicyStatus
}

// The kinds of this package that others refer to by name.
const (
	KindGatewayClassConfig    = "GatewayClassConfig"
	KindGatewayConfig         = "GatewayConfig"
	KindGatewayClassBlueprint = "GatewayClassBlueprint"
)

// GatewayClassConfig attaches values to a GatewayClass or a Namespace. It belongs to the infrastructure provider: in the
// controller's namespace it reaches all Gateways of a class, elsewhere those of its own namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=gateway-api,shortName=gcc
// +kubebuilder:metadata:labels=gateway.networking.k8s.io/policy=Inherited
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec['targetRef','targetRefs'][*].kind`
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec['targetRef','targetRefs'][*].name`,priority=1
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.ancestors[*].conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Programmed",type=string,JSONPath=`.status.ancestors[*].conditions[?(@.type=="Programmed")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="(has(self.spec.targetRef) ? [self.spec.targetRef] : []).all(t, t.kind in ['GatewayClass', 'Namespace']) && (has(self.spec.targetRefs) ? self.spec.targetRefs : []).all(t, t.kind in ['GatewayClass', 'Namespace'])",message="a GatewayClassConfig may target GatewayClass and Namespace only; use a GatewayConfig for Gateways, ListenerSets and routes"
type GatewayClassConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the policy says.
	Spec PolicySpec `json:"spec"`

	// status is what became of it, per ancestor.
	// +optional
	Status gatewayv1.PolicyStatus `json:"status,omitempty"`
}

// PolicyKind implements Policy.
func (*GatewayClassConfig) PolicyKind() string { return KindGatewayClassConfig }

// PolicySpec implements Policy.
func (p *GatewayClassConfig) PolicySpec() *PolicySpec { return &p.Spec }

// PolicyStatus implements Policy.
func (p *GatewayClassConfig) PolicyStatus() *gatewayv1.PolicyStatus { return &p.Status }

// GatewayClassConfigList is a list of GatewayClassConfigs.
// +kubebuilder:object:root=true
type GatewayClassConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GatewayClassConfig `json:"items"`
}

// GatewayConfig attaches values to Gateways, their listeners, ListenerSets and routes, or to all of its own namespace. It
// belongs to the tenant and never reaches another namespace.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:categories=gateway-api,shortName=gwcfg
// +kubebuilder:metadata:labels=gateway.networking.k8s.io/policy=Inherited
// +kubebuilder:printcolumn:name="Target",type=string,JSONPath=`.spec['targetRef','targetRefs'][*].kind`
// +kubebuilder:printcolumn:name="Name",type=string,JSONPath=`.spec['targetRef','targetRefs'][*].name`,priority=1
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.ancestors[*].conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name="Programmed",type=string,JSONPath=`.status.ancestors[*].conditions[?(@.type=="Programmed")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="(has(self.spec.targetRef) ? [self.spec.targetRef] : []).all(t, t.kind != 'GatewayClass') && (has(self.spec.targetRefs) ? self.spec.targetRefs : []).all(t, t.kind != 'GatewayClass')",message="a GatewayConfig may not target a GatewayClass; use a GatewayClassConfig"
type GatewayConfig struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what the policy says.
	Spec PolicySpec `json:"spec"`

	// status is what became of it, per ancestor.
	// +optional
	Status gatewayv1.PolicyStatus `json:"status,omitempty"`
}

// PolicyKind implements Policy.
func (*GatewayConfig) PolicyKind() string { return KindGatewayConfig }

// PolicySpec implements Policy.
func (p *GatewayConfig) PolicySpec() *PolicySpec { return &p.Spec }

// PolicyStatus implements Policy.
func (p *GatewayConfig) PolicyStatus() *gatewayv1.PolicyStatus { return &p.Status }

// GatewayConfigList is a list of GatewayConfigs.
// +kubebuilder:object:root=true
type GatewayConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GatewayConfig `json:"items"`
}
