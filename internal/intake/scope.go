package intake

import "k8s.io/apimachinery/pkg/runtime/schema"

// builtIn are the kinds of Kubernetes itself, and of Gateway API, that have no namespaces, by Kind.group. A cluster would tell; files
// do not.
var builtIn = map[string]bool{
	"Namespace": true, "Node": true, "PersistentVolume": true,
	"MutatingAdmissionPolicy.admissionregistration.k8s.io": true, "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": true,
	"MutatingWebhookConfiguration.admissionregistration.k8s.io":     true,
	"ValidatingAdmissionPolicy.admissionregistration.k8s.io":        true,
	"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": true,
	"ValidatingWebhookConfiguration.admissionregistration.k8s.io":   true,
	"CustomResourceDefinition.apiextensions.k8s.io":                 true,
	"APIService.apiregistration.k8s.io":                             true,
	"CertificateSigningRequest.certificates.k8s.io":                 true,
	"ClusterTrustBundle.certificates.k8s.io":                        true,
	"FlowSchema.flowcontrol.apiserver.k8s.io":                       true,
	"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io":       true,
	"GatewayClass.gateway.networking.k8s.io":                        true,
	"IPAddress.networking.k8s.io":                                   true,
	"IngressClass.networking.k8s.io":                                true,
	"ServiceCIDR.networking.k8s.io":                                 true,
	"RuntimeClass.node.k8s.io":                                      true,
	"ClusterRole.rbac.authorization.k8s.io":                         true,
	"ClusterRoleBinding.rbac.authorization.k8s.io":                  true,
	"DeviceClass.resource.k8s.io":                                   true,
	"ResourceSlice.resource.k8s.io":                                 true,
	"PriorityClass.scheduling.k8s.io":                               true,
	"CSIDriver.storage.k8s.io":                                      true,
	"CSINode.storage.k8s.io":                                        true,
	"StorageClass.storage.k8s.io":                                   true,
	"VolumeAttachment.storage.k8s.io":                               true,
	"VolumeAttributesClass.storage.k8s.io":                          true,
}

// ClusterScoped says whether a kind is known to have no namespaces.
func ClusterScoped(kind schema.GroupKind) bool { return builtIn[kind.String()] }
