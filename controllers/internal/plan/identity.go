package plan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/desired"
)

// AppliedAs says as which ServiceAccount a live object was applied; empty if it was the controller itself. known is false if the
// annotation that says so is not any more what we wrote: whoever changes or removes it takes it out of the set of our fields.
func AppliedAs(live *unstructured.Unstructured) (account types.NamespacedName, known bool) {
	metadata, _ := ownFields(live)["f:metadata"].(map[string]any)
	annotations, _ := metadata["f:annotations"].(map[string]any)
	if _, known = annotations["f:"+v1alpha1.AnnotationRendered]; !known {
		return types.NamespacedName{}, false
	}
	return desired.AppliedAs(live.GetAnnotations()[v1alpha1.AnnotationRendered])
}
