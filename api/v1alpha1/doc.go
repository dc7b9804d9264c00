// Package v1alpha1 holds the shapes of Gatewright's own resources, API group gatewright.dev, version v1alpha1:
// GatewayClassBlueprint, GatewayClassConfig, GatewayConfig and Rendering, with the condition types and reasons that
// appear in their status and in the status of the Gateway API objects that Gatewright implements.
//
// It owns names and shapes only. It must hold no behaviour beyond what every reader of a shape needs (a policy's kind, a
// reference as text), and it registers through apimachinery's SchemeBuilder so that clients can use it without
// controller-runtime.
//
// +kubebuilder:object:generate=true
// +groupName=gatewright.dev
package v1alpha1
