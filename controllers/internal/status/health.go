package status

import (
	"fmt"
	"reflect"
	"slices"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/render"
)

// Health says how an applied object is and, unless it is ready, what it says of itself. A kind that reports nothing is Current. What the
// blueprint says of its readiness counts for more than what its status usually means; ready is nil if it says nothing.
func Health(live *unstructured.Unstructured, ready *render.Readiness) (v1alpha1.ObjectState, string) {
	switch {
	case ready == nil:
		return ownHealth(live)
	case live.GetDeletionTimestamp() != nil:
		return v1alpha1.ObjectInProgress, "is being deleted"
	case ready.Ready:
		return v1alpha1.ObjectCurrent, ""
	}
	return v1alpha1.ObjectInProgress, ready.Message
}

// Reports says whether objects of a kind may say of themselves how they are, so that more has to be known of them than their metadata.
// A kind of Kubernetes itself says so if it has a status; of any other kind nobody knows.
func Reports(kind schema.GroupVersionKind) bool {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return true
	}
	_, has := reflect.TypeOf(object).Elem().FieldByName("Status")
	return has
}

// ownHealth is what an object says of itself.
func ownHealth(live *unstructured.Unstructured) (v1alpha1.ObjectState, string) {
	result, err := kstatus.Compute(live)
	if err != nil {
		return v1alpha1.ObjectInProgress, "its status is not of the usual shape"
	}
	switch result.Status {
	case kstatus.InProgressStatus:
		return v1alpha1.ObjectInProgress, bounded(result.Message)
	case kstatus.FailedStatus:
		return v1alpha1.ObjectFailed, bounded(result.Message)
	case kstatus.TerminatingStatus:
		return v1alpha1.ObjectInProgress, "is being deleted"
	case kstatus.CurrentStatus, kstatus.NotFoundStatus, kstatus.UnknownStatus:
	}
	if gk := live.GroupVersionKind().GroupKind(); gk.Group == gatewayv1.GroupName && gk.Kind == "Gateway" {
		return gatewayHealth(live)
	}
	return v1alpha1.ObjectCurrent, ""
}

// gatewayHealth reads a shadow Gateway's Programmed condition, which kstatus does not know.
func gatewayHealth(live *unstructured.Unstructured) (v1alpha1.ObjectState, string) {
	condition := programmedCondition(live)
	switch {
	case condition == nil:
		return v1alpha1.ObjectInProgress, "its controller has not reported Programmed yet"
	case condition["status"] == "True":
		return v1alpha1.ObjectCurrent, ""
	}
	message, _ := condition["message"].(string)
	return v1alpha1.ObjectInProgress, bounded(fmt.Sprintf("Programmed=%v: %s", condition["status"], message))
}

// programmedCondition is an object's condition Programmed. It is trusted only if it speaks of the object's present generation; it is
// nil else.
func programmedCondition(live *unstructured.Unstructured) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if condition["type"] != string(gatewayv1.GatewayConditionProgrammed) {
			continue
		}
		if generation, _ := condition["observedGeneration"].(int64); generation >= live.GetGeneration() {
			return condition
		}
		return nil
	}
	return nil
}

// dataPlaneReasons are those of the condition Programmed that only who implements a Gateway can give (Gateway API,
// GatewayConditionReason).
var dataPlaneReasons = []gatewayv1.GatewayConditionReason{
	gatewayv1.GatewayReasonNoResources, gatewayv1.GatewayReasonAddressNotAssigned, gatewayv1.GatewayReasonAddressNotUsable,
}

// DataPlaneReason is why a shadow Gateway is not programmed, if its implementation says so in words that hold for the Gateway that it
// is rendered for, too; it is empty else.
func DataPlaneReason(live *unstructured.Unstructured) gatewayv1.GatewayConditionReason {
	gk := live.GroupVersionKind().GroupKind()
	condition := programmedCondition(live)
	if gk.Group != gatewayv1.GroupName || gk.Kind != "Gateway" || condition == nil || condition["status"] != "False" {
		return ""
	}
	reason, _ := condition["reason"].(string)
	if slices.Contains(dataPlaneReasons, gatewayv1.GatewayConditionReason(reason)) {
		return gatewayv1.GatewayConditionReason(reason)
	}
	return ""
}
