package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ObjectState is what is known of one rendered object.
// +kubebuilder:validation:Enum=Applied;Current;InProgress;Failed;Pending
type ObjectState string

// The states of a rendered object.
const (
	// ObjectApplied is applied; its readiness is not known yet.
	ObjectApplied ObjectState = "Applied"
	// ObjectCurrent is applied and ready, or of a kind that reports no readiness.
	ObjectCurrent ObjectState = "Current"
	// ObjectInProgress is applied and not ready yet.
	ObjectInProgress ObjectState = "InProgress"
	// ObjectFailed could not be applied, or reports failure.
	ObjectFailed ObjectState = "Failed"
	// ObjectPending is not applied yet since it waits for something.
	ObjectPending ObjectState = "Pending"
)

// RenderedObject is one object that the parent owns, or a template that yields none yet.
type RenderedObject struct {
	// template that rendered the object.
	Template string `json:"template"`
	// apiVersion of the object; empty for a template that yields nothing yet.
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// kind of the object.
	// +optional
	Kind string `json:"kind,omitempty"`
	// namespace of the object; empty for a cluster-scoped one.
	// +optional
	Namespace string `json:"namespace,omitempty"`
	// name of the object.
	// +optional
	Name string `json:"name,omitempty"`
	// uid of the object, once it exists.
	// +optional
	UID string `json:"uid,omitempty"`
	// state of the object.
	State ObjectState `json:"state"`
	// message says why the object is in that state.
	// +optional
	Message string `json:"message,omitempty"`
}

// ListenerSource says which object a merged listener comes from.
type ListenerSource struct {
	// kind of the object: Gateway or ListenerSet.
	Kind string `json:"kind"`
	// namespace of the object.
	Namespace string `json:"namespace"`
	// name of the object.
	Name string `json:"name"`
	// sectionName is the listener's name in that object.
	SectionName string `json:"sectionName"`
}

// MergedListener is a listener of the Gateway or of one of its ListenerSets.
type MergedListener struct {
	// name of the listener in the merged list; empty if it was not accepted.
	// +optional
	Name string `json:"name,omitempty"`
	// source of the listener.
	Source ListenerSource `json:"source"`
	// port of the listener.
	Port int32 `json:"port"`
	// protocol of the listener.
	Protocol string `json:"protocol"`
	// hostname of the listener.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// accepted says whether the listener is rendered.
	Accepted bool `json:"accepted"`
	// reason of the verdict, in CamelCase.
	Reason string `json:"reason"`
	// attachedRoutes is the number of accepted routes.
	AttachedRoutes int32 `json:"attachedRoutes"`
}

// RenderingStatus is what was made of one Gateway, or of one route under one parent.
type RenderingStatus struct {
	// conditions: Rendered, Applied, Healthy and their summary Programmed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// parent is the Gateway or route that the objects were rendered for, as "Kind/namespace/name"; for a route followed
	// by the parent that it was rendered under.
	Parent string `json:"parent"`

	// gateway is the Gateway that the objects belong to, as "namespace/name".
	Gateway string `json:"gateway"`

	// parentGeneration is the generation of the parent that was rendered.
	ParentGeneration int64 `json:"parentGeneration"`

	// blueprint that was rendered.
	// +optional
	Blueprint string `json:"blueprint,omitempty"`

	// blueprintGeneration is the generation of the blueprint that was rendered.
	// +optional
	BlueprintGeneration int64 `json:"blueprintGeneration,omitempty"`

	// appliedAs is the ServiceAccount as which the objects are applied, as "namespace/name"; empty if it is the controller's own.
	// +optional
	AppliedAs string `json:"appliedAs,omitempty"`

	// ready summarises the objects: "current/all".
	// +optional
	Ready string `json:"ready,omitempty"`

	// objects that the parent owns, in the order in which they are applied.
	// +optional
	// +listType=atomic
	Objects []RenderedObject `json:"objects,omitempty"`

	// listeners of the Gateway and of its ListenerSets, in order of precedence.
	// +optional
	// +listType=atomic
	Listeners []MergedListener `json:"listeners,omitempty"`

	// rendered are the objects as they were rendered, in the order in which they are applied, each a YAML document; the
	// data of Secrets is left out.
	// +optional
	// +listType=atomic
	Rendered []string `json:"rendered,omitempty"`

	// values that the templates read.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Values *apiextensionsv1.JSON `json:"values,omitempty"`

	// origins says for each leaf of values, one a line, who set it and over whom: the path as a JSON pointer, then the
	// source, block and level, then those of the blocks that would have set it otherwise, the strongest first, and what the
	// constraint says that set it. After these come the leaves that are shadowed or removed elsewhere, and the blocks that are
	// inactive. `gatewright values` tells the same as data.
	// +optional
	// +listType=atomic
	Origins []string `json:"origins,omitempty"`

	// truncated says what was left out to keep the report within its bounds.
	// +optional
	Truncated string `json:"truncated,omitempty"`
}

// Rendering reports what was made of one Gateway, or of one route under one parent. The controller makes it anew from what
// is; it is never the only record of anything, and there is nothing to edit in it.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=gateway-api,shortName=rdg
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.status.parent`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.ready`
// +kubebuilder:printcolumn:name="Programmed",type=string,JSONPath=`.status.conditions[?(@.type=="Programmed")].status`
// +kubebuilder:printcolumn:name="Blueprint",type=string,JSONPath=`.status.blueprint`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Programmed")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Rendering struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// status is the report.
	// +optional
	Status RenderingStatus `json:"status,omitempty"`
}

// RenderingList is a list of Renderings.
// +kubebuilder:object:root=true
type RenderingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Rendering `json:"items"`
}
