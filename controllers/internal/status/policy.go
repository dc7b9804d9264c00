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

// maxListed is how many leaves a message names.
const maxListed = 3

// Ancestor is what is reported of a policy for one ancestor.
type Ancestor struct {
	Ref      gatewayv1.ParentReference
	Accepted verdict.Verdict
	// Refused is the verdict on target references that are not accepted there, if there are any.
	Refused *verdict.Verdict
	// Contributions are what became of the policy's values, for each Gateway below the ancestor.
	Contributions []values.Contribution
	// Held says for each of the contributions that are not in effect, since what was rendered last stays, why that is.
	Held []string
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
	accepted := a.accepted()
	Set(conditions, v1alpha1.ConditionAccepted, accepted, generation)
	if !accepted.OK || len(a.Contributions) == 0 {
		*conditions = slices.DeleteFunc(*conditions, isType(v1alpha1.ConditionProgrammed))
		return
	}
	Set(conditions, v1alpha1.ConditionProgrammed, a.programmed(), generation)
}

// programmed is the condition Programmed of a policy. Values of which all are held back are in effect nowhere yet (GEP-713's Reconciling).
func (a Ancestor) programmed() verdict.Verdict {
	v := contributed(a.Contributions)
	if len(a.Held) == 0 {
		return v
	}
	why := "what was rendered last stays: " + listed(slices.Clone(a.Held), "; ")
	switch {
	case len(a.Held) == len(a.Contributions):
		return verdict.No(v1alpha1.ReasonReconciling, "%s", why)
	case !v.OK:
		return verdict.No(v.Reason, "%s; for some targets %s", v.Message, why)
	case v.Reason == v1alpha1.ReasonProgrammed:
		return verdict.Yes(v1alpha1.ReasonPartiallyProgrammed, "for some targets "+why)
	}
	return verdict.Yes(v.Reason, fmt.Sprintf("%s; for some targets %s", v.Message, why))
}

// accepted is the condition Accepted of a policy: a valid one is not accepted for an ancestor if what it says is not allowed by
// the schema of the blueprint there, if none of its target references is accepted there, or if all of it is in conflict.
func (a Ancestor) accepted() verdict.Verdict {
	var problems []string
	outcome := "the listeners of the ListenerSet go without it"
	for _, c := range a.Contributions {
		for _, v := range c.Violations {
			problems = append(problems, v.Problem())
			if !c.SetAside {
				outcome = "what was rendered last stays"
			}
		}
	}
	conflicts := conflicts(a.Contributions)
	switch {
	case !a.Accepted.OK:
		return a.Accepted
	case len(problems) > 0:
		return verdict.No(v1alpha1.ReasonInvalid, "the blueprint's schema does not allow it: %s; %s", listed(problems, "; "), outcome)
	case len(conflicts) > 0:
		return verdict.No(string(gatewayv1.PolicyReasonConflicted),
			"one of two is atomic, and the older one stands: %s", listed(conflicts, ", "))
	case a.Refused != nil && len(a.Contributions) == 0:
		return *a.Refused
	case a.Refused != nil:
		return verdict.Yes(a.Accepted.Reason, fmt.Sprintf("%s; but not all of it has an effect: %s", a.Accepted.Message, a.Refused.Message))
	}
	return a.Accepted
}

// listed joins texts, each once, sorted and bounded.
func listed(texts []string, separator string) string {
	slices.Sort(texts)
	texts = slices.Compact(texts)
	if more := len(texts) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:maxListed], separator), more)
	}
	return strings.Join(texts, separator)
}

// contributed is the condition Programmed of a policy (GEP-713): its values are in effect, some of them, or none.
func contributed(contributions []values.Contribution) verdict.Verdict {
	sets := 0
	var lost []string
	for _, c := range contributions {
		sets += c.Sets
		for _, s := range c.Shadowed {
			lost = append(lost, fmt.Sprintf("%s by %s (%s)", s.Path, s.By.SetBy, s.By.Because(s.Message)))
		}
		for _, r := range c.Removed {
			lost = append(lost, fmt.Sprintf("%s by %s (%s)", r.Path, r.By.SetBy, r.By.Because(r.Message)))
		}
	}
	inactive := inactiveBlocks(contributions)
	if len(lost) == 0 && len(inactive) == 0 {
		return verdict.Yes(v1alpha1.ReasonProgrammed, "every value is in effect")
	}
	how := "some"
	if sets == 0 {
		how = "all"
	}
	var why []string
	if len(lost) > 0 {
		why = append(why, fmt.Sprintf("%s values are set by others: %s", how, listed(lost, ", ")))
	}
	if len(inactive) > 0 {
		why = append(why, "not in effect: "+listed(inactive, ", "))
	}
	if sets == 0 {
		return verdict.No(v1alpha1.ReasonOverridden, "%s", strings.Join(why, "; "))
	}
	return verdict.Yes(v1alpha1.ReasonPartiallyProgrammed, strings.Join(why, "; "))
}

// inactiveBlocks tells of blocks that have no part, and why. That a condition does not hold is nothing to tell.
func inactiveBlocks(contributions []values.Contribution) []string {
	var list []string
	for _, c := range contributions {
		for _, i := range c.Inactive {
			switch {
			case i.Reason == values.WhenFalse:
			case i.By != nil:
				list = append(list, fmt.Sprintf("%s (%s, by %s of %s)", i.Block, i.Reason, i.By.Block, i.By.SetBy))
			default:
				list = append(list, fmt.Sprintf("%s (%s)", i.Block, i.Reason))
			}
		}
	}
	return list
}

// conflicts tells which blocks of a policy that sets nothing conflict with others: the older one stands, since one of the two is
// atomic (GEP-713, "Conflict Resolution").
func conflicts(contributions []values.Contribution) []string {
	var list []string
	for _, c := range contributions {
		if c.Sets > 0 || c.Removes > 0 {
			return nil
		}
		for _, i := range c.Inactive {
			if i.Reason == values.Conflicted {
				list = append(list, fmt.Sprintf("%s with %s of %s", i.Block, i.By.Block, i.By.SetBy))
			}
		}
	}
	return list
}
