package status

import (
	"cmp"
	"fmt"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
)

// Outcome is what became of one parent: of each of its templates and objects, in the order in which they are applied.
type Outcome struct {
	Objects []v1alpha1.RenderedObject
	// RenderedObjects are the objects as they were rendered, in the same order. They may hold sensitive values.
	RenderedObjects []render.Object
	// Held are objects that the parent owns and that are not rendered now; why they stay is in their message.
	Held []v1alpha1.RenderedObject
	// Fresh says that there was nothing of the parent when rendering began.
	Fresh bool
	// Undeleted is an object that is not rendered any more and could not be deleted, if there is one; it is among Held too.
	Undeleted *v1alpha1.RenderedObject
	// Thrashing is an object that somebody keeps changing, if there is one.
	Thrashing *v1alpha1.RenderedObject
	// Failed says why a template could not be rendered; it then holds the first failure. Nothing was applied.
	Failed *verdict.Verdict
	// DataPlaneReason is why what was rendered is not ready, if it says so itself; see the function of that name.
	DataPlaneReason gatewayv1.GatewayConditionReason
	// Addresses of the Gateway, as the status template yields them.
	Addresses []gatewayv1.GatewayStatusAddress
	// AddressPending says what the addresses wait for, if they do.
	AddressPending string
}

// Rendered says whether every template yielded its objects.
func (o Outcome) Rendered() verdict.Verdict {
	if o.Failed != nil {
		return *o.Failed
	}
	for _, object := range o.Objects {
		if object.State == v1alpha1.ObjectPending && object.Kind == "" {
			return verdict.No(v1alpha1.ReasonPending, "template %s: %s", object.Template, object.Message)
		}
	}
	return verdict.Yes(v1alpha1.ReasonRendered, "every template rendered")
}

// Applied says whether every rendered object is applied.
func (o Outcome) Applied() verdict.Verdict {
	if o.Failed != nil {
		return verdict.No(v1alpha1.ReasonPending, "nothing is applied while a template fails; %s, and the values of this report are not in effect yet", o.stays())
	}
	if o.Thrashing != nil {
		return verdict.No(v1alpha1.ReasonThrashing, "%s: %s", describe(*o.Thrashing), o.Thrashing.Message)
	}
	for _, object := range o.Objects {
		switch {
		case object.State == v1alpha1.ObjectFailed && object.UID == "":
			return verdict.No(v1alpha1.ReasonApplyFailed, "%s: %s", describe(object), object.Message)
		case object.State == v1alpha1.ObjectPending:
			return verdict.No(v1alpha1.ReasonPending, "%s: %s", describe(object), object.Message)
		}
	}
	if o.Undeleted != nil {
		return verdict.No(v1alpha1.ReasonApplyFailed, "%s: %s", describe(*o.Undeleted), o.Undeleted.Message)
	}
	return verdict.Yes(v1alpha1.ReasonApplied, counted(o.Objects)+" applied")
}

// Healthy says whether every object that reports readiness is ready.
func (o Outcome) Healthy() verdict.Verdict {
	for _, object := range o.Objects {
		if object.State != v1alpha1.ObjectCurrent {
			return verdict.No(v1alpha1.ReasonPending, "%s: %s", describe(object), object.Message)
		}
	}
	return verdict.Yes(v1alpha1.ReasonHealthy, "every object that reports readiness is ready")
}

// Settled says whether every template rendered and every object is applied, so that what is not rendered is not wanted.
func (o Outcome) Settled() bool {
	return o.Rendered().OK && o.Applied().OK
}

// Programmed sums up: what is asked for is in effect. The reasons are those of the Gateway's condition (Gateway API,
// GatewayConditionProgrammed).
func (o Outcome) Programmed() verdict.Verdict {
	if o.Failed != nil {
		return verdict.No(string(gatewayv1.GatewayReasonInvalid), "%s; %s", o.Failed.Message, o.stays())
	}
	// The first object that is not ready is the cause: templates that wait come after what they wait for.
	if v := o.Healthy(); !v.OK {
		return verdict.No(string(cmp.Or(o.DataPlaneReason, gatewayv1.GatewayReasonPending)), "%s", v.Message)
	}
	if o.Undeleted != nil {
		return verdict.No(string(gatewayv1.GatewayReasonPending), "%s: %s", describe(*o.Undeleted), o.Undeleted.Message)
	}
	if o.AddressPending != "" {
		return verdict.No(string(gatewayv1.GatewayReasonAddressNotAssigned), "%s", o.AddressPending)
	}
	return verdict.Yes(string(gatewayv1.GatewayReasonProgrammed), counted(o.Objects)+" applied and ready")
}

// stays says what is there while a template fails.
func (o Outcome) stays() string {
	if o.Fresh && len(o.Objects) == 0 {
		return "there are no objects from before, so nothing runs"
	}
	return "the last good objects stay"
}

func counted(objects []v1alpha1.RenderedObject) string {
	switch len(objects) {
	case 0:
		return "there is nothing to render; all is"
	case 1:
		return "1 object is"
	default:
		return fmt.Sprintf("%d objects are", len(objects))
	}
}

func describe(o v1alpha1.RenderedObject) string {
	if o.Kind == "" {
		return "template " + o.Template
	}
	return fmt.Sprintf("%s %s (template %s)", o.Kind, o.Name, o.Template)
}
