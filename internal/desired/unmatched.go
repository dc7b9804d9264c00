package desired

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
)

// Refused is the verdict on target references of a valid policy that are narrowed to listeners, or to rules, whose values nothing
// reads. refs are their indexes.
func Refused(policy v1alpha1.Policy, blueprint string, refs []int) verdict.Verdict {
	fields := make([]string, len(refs))
	for i, ref := range refs {
		fields[i] = fmt.Sprintf("spec.targetRefs[%d]", ref)
		if ref == 0 && policy.PolicySpec().TargetRef != nil {
			fields[i] = "spec.targetRef"
		}
	}
	what, leaveOut := "listener values", "sectionName and listenerSelector"
	if targets := policy.PolicySpec().Targets(); refs[0] < len(targets) && slices.Contains(gateway.RouteKinds, targets[refs[0]].Kind) {
		what, leaveOut = "the values of rules (.Rules)", "sectionName"
	}
	return verdict.No(v1alpha1.ReasonInvalid, "blueprint %s does not read %s; leave %s out of %s",
		blueprint, what, leaveOut, strings.Join(fields, " and "))
}

// Unmatched is the verdict on a target reference of a valid policy that has a part in no Reach: what it names is not there, or is
// a class or a namespace without Gateways yet. classIsOurs says whether a GatewayClass of ours has the name that it names;
// controllerNamespace is where a GatewayClassConfig is for GatewayClasses only.
func Unmatched(
	policy v1alpha1.Policy, target v1alpha1.PolicyTargetReference, classIsOurs bool, controllerNamespace string,
) verdict.Verdict {
	name := fmt.Sprintf("%s %s", target.Kind, target.Name)
	if target.Selector != nil {
		name = fmt.Sprintf("%s that the selector matches", target.Kind)
	}
	notYet := verdict.Yes(v1alpha1.ReasonAccepted, "no Gateway is reached yet")
	switch target.Kind {
	case "Namespace":
		if policy.PolicyKind() == v1alpha1.KindGatewayClassConfig && policy.GetNamespace() == controllerNamespace {
			return verdict.No(v1alpha1.ReasonInvalid,
				"a GatewayClassConfig in the controller's namespace is for GatewayClasses only; target one, or put the policy into the other namespace")
		}
		if target.Selector == nil && string(target.Name) != policy.GetNamespace() {
			return verdict.No(v1alpha1.ReasonTargetNotFound, "a policy reaches its own namespace only; name that, or put the policy into the other")
		}
		return notYet
	case "GatewayClass":
		if classIsOurs {
			return notYet
		}
		return verdict.No(v1alpha1.ReasonTargetNotFound, "there is no %s of controller %s", name, v1alpha1.ControllerName)
	}
	if target.SectionName != nil {
		name = fmt.Sprintf("section %s of %s", *target.SectionName, name)
	}
	return verdict.No(v1alpha1.ReasonTargetNotFound, "there is no %s in namespace %s, or it has no part in a Gateway of ours", name, policy.GetNamespace())
}
