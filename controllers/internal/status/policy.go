package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// maxAncestors is how many entries a policy's status holds (GEP-713).
const maxAncestors = 16

// maxShadowed is how many shadowed leaves a message names.
const maxShadowed = 3

// Ancestor is what is reported of a policy for one ancestor.
type Ancestor struct {
	Ref      gatewayv1.ParentReference
	Accepted verdict.Verdict
	// Contributions are what became of the policy's values, for each Gateway below the ancestor.
	Contributions []values.Contribution
}

// Ancestors returns the entries of a policy's status: those of other controllers as they are, ours anew. The list is atomic and
// shared (GEP-713, PolicyStatus); where it is full, what does not fit is left out.
func Ancestors(current []gatewayv1.PolicyAncestorStatus, ours []Ancestor, generation int64) []gatewayv1.PolicyAncestorStatus {
	// Not nil, which would be null, where the API wants a list.
	entries := []gatewayv1.PolicyAncestorStatus{}
	for _, entry := range current {
		if entry.ControllerName != v1alpha1.ControllerName {
			entries = append(entries, entry)
		}
	}
	for _, ancestor := range ours {
		if len(entries) == maxAncestors {
			break
		}
		entry := gatewayv1.PolicyAncestorStatus{AncestorRef: ancestor.Ref, ControllerName: v1alpha1.ControllerName}
		i := slices.IndexFunc(current, func(e gatewayv1.PolicyAncestorStatus) bool {
			return e.ControllerName == v1alpha1.ControllerName && equality.Semantic.DeepEqual(e.AncestorRef, ancestor.Ref)
		})
		if i >= 0 {
			entry.Conditions = slices.Clone(current[i].Conditions)
		}
		ancestorConditions(&entry.Conditions, ancestor, generation)
		entries = append(entries, entry)
	}
	return entries
}

func ancestorConditions(conditions *[]metav1.Condition, a Ancestor, generation int64) {
	Set(conditions, v1alpha1.ConditionAccepted, a.Accepted, generation)
	if !a.Accepted.OK || len(a.Contributions) == 0 {
		*conditions = slices.DeleteFunc(*conditions, isType(v1alpha1.ConditionProgrammed))
		return
	}
	Set(conditions, v1alpha1.ConditionProgrammed, contributed(a.Contributions), generation)
}

// contributed is the condition Programmed of a policy (GEP-713): its values are in effect, some of them, or none.
func contributed(contributions []values.Contribution) verdict.Verdict {
	sets := 0
	var shadowed []string
	for _, c := range contributions {
		sets += c.Sets
		for _, s := range c.Shadowed {
			text := fmt.Sprintf("%s by %s (%s)", s.Path, s.By.SetBy, s.By.Block)
			if !slices.Contains(shadowed, text) {
				shadowed = append(shadowed, text)
			}
		}
	}
	if len(shadowed) == 0 {
		return verdict.Yes(v1alpha1.ReasonProgrammed, "every value is in effect")
	}
	slices.Sort(shadowed)
	more := ""
	if len(shadowed) > maxShadowed {
		more = fmt.Sprintf(" and %d more", len(shadowed)-maxShadowed)
		shadowed = shadowed[:maxShadowed]
	}
	names := strings.Join(shadowed, ", ") + more
	if sets == 0 {
		return verdict.No(v1alpha1.ReasonOverridden, "all values are set by others: %s", names)
	}
	return verdict.Yes(v1alpha1.ReasonPartiallyProgrammed, "some values are set by others: "+names)
}
