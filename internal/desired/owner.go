package desired

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// Owner is the Gateway or route that objects are rendered for.
type Owner struct {
	Kind      string
	Namespace string
	Name      string
	// UID is empty for an object that was read from a file; what is rendered for it then carries no reference to it.
	UID        types.UID
	Generation int64
}

// OwnerOf returns an object as an owner. Its kind is given, since clients leave the type of typed objects empty.
func OwnerOf(kind string, o metav1.Object) Owner {
	return Owner{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Generation: o.GetGeneration()}
}

// Key returns the owner's namespace and name.
func (o Owner) Key() types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// String returns "Kind/namespace/name", as in the annotation gatewright.dev/owner.
func (o Owner) String() string {
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

// marks are labels and annotations that objects carry beside what their template writes.
type marks struct {
	labels, annotations map[string]string
}

// marksOf are the marks of all objects that are rendered for a Gateway itself: its name and that of its class (GEP-1762), and what
// spec.infrastructure asks for (GEP-1867). Objects of routes have none of them: they lie in namespaces of others.
//
// What a template writes itself stands.
func marksOf(gw *gatewayv1.Gateway) marks {
	m := marks{labels: map[string]string{}, annotations: map[string]string{}}
	if infrastructure := gateway.Infrastructure(gw); infrastructure != nil {
		for key, value := range infrastructure.Labels {
			m.labels[string(key)] = string(value)
		}
		for key, value := range infrastructure.Annotations {
			m.annotations[string(key)] = string(value)
		}
	}
	m.labels[gatewayv1.GatewayNameLabelKey] = gateway.LabelValue(gw.Name)
	m.labels[gatewayv1.GatewayClassNameLabelKey] = gateway.LabelValue(string(gw.Spec.GatewayClassName))
	return m
}

// stamp puts marks on a rendered object, then those of ownership, and last a hash of all of it, and as whom it is applied.
func (o Owner) stamp(template string, object *unstructured.Unstructured, m marks, as types.NamespacedName) {
	annotations := map[string]string{}
	maps.Copy(annotations, m.annotations)
	maps.Copy(annotations, object.GetAnnotations())
	annotations[v1alpha1.AnnotationOwner] = o.String()
	labels := map[string]string{}
	maps.Copy(labels, m.labels)
	maps.Copy(labels, object.GetLabels())
	labels[v1alpha1.LabelTemplate] = template
	if o.UID != "" {
		labels[v1alpha1.LabelOwnerUID] = string(o.UID)
		if object.GetNamespace() != "" {
			object.SetOwnerReferences([]metav1.OwnerReference{o.reference()})
		}
	}
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	annotations[v1alpha1.AnnotationRendered] = mark(object, as)
	object.SetAnnotations(annotations)
}

// appliedAs stands between the hash of an object and the ServiceAccount as which it was applied.
const appliedAs = " as "

// mark is the annotation gatewright.dev/rendered. Both facts stand in one value, so that neither can be taken away without the other.
func mark(object *unstructured.Unstructured, as types.NamespacedName) string {
	if as == (types.NamespacedName{}) {
		return hash(object)
	}
	return hash(object) + appliedAs + as.String()
}

// AppliedAs reads from the annotation gatewright.dev/rendered as which ServiceAccount an object was applied; empty if it was the
// controller itself. ok is false if it names half a ServiceAccount. Whether the annotation is what we wrote is for the caller to know.
func AppliedAs(annotation string) (account types.NamespacedName, ok bool) {
	_, text, as := strings.Cut(annotation, appliedAs)
	if !as {
		return types.NamespacedName{}, true
	}
	namespace, name, _ := strings.Cut(text, "/")
	if namespace == "" || name == "" {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, true
}

// reference is the owner reference by which the garbage collector removes what was rendered, even if the controller is gone.
func (o Owner) reference() metav1.OwnerReference {
	controller := true
	return metav1.OwnerReference{
		APIVersion: gatewayv1.GroupVersion.String(), Kind: o.Kind, Name: o.Name, UID: o.UID, Controller: &controller,
	}
}

// hash is over the object's JSON, of which the keys are sorted.
func hash(object *unstructured.Unstructured) string {
	text, err := json.Marshal(object.Object)
	if err != nil {
		// Only a value that no YAML text yields cannot be encoded. Without a hash the object is just applied each time.
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
