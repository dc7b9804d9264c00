package status

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// maxPolicies is how many policies a message names.
const maxPolicies = 5

// Affected sets, on an object that policies are attached to, a condition for each kind of policy that has a part in its values
// (GEP-713, "Discoverability"), and takes away those that have no cause any more.
func Affected(conditions *[]metav1.Condition, contributions []values.Contribution, generation int64) {
	for _, of := range []struct{ kind, condition string }{
		{v1alpha1.KindGatewayClassConfig, v1alpha1.ConditionGatewayClassConfigAffected},
		{v1alpha1.KindGatewayConfig, v1alpha1.ConditionGatewayConfigAffected},
	} {
		names := sources(contributions, of.kind)
		if len(names) == 0 {
			meta.RemoveStatusCondition(conditions, of.condition)
			continue
		}
		more := ""
		if len(names) > maxPolicies {
			more = fmt.Sprintf(" and %d more", len(names)-maxPolicies)
			names = names[:maxPolicies]
		}
		Set(conditions, of.condition, verdict.Yes(v1alpha1.ReasonAffected, "by "+strings.Join(names, ", ")+more), generation)
	}
}

// sources are the policies of one kind that set or remove values, or would if others did not, sorted.
func sources(contributions []values.Contribution, kind string) []string {
	var names []string
	for _, c := range contributions {
		if strings.HasPrefix(c.Source, kind+"/") && counts(c) {
			names = append(names, c.Source)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func counts(c values.Contribution) bool {
	return c.Sets > 0 || c.Removes > 0 || len(c.Shadowed) > 0 || len(c.Removed) > 0 ||
		slices.ContainsFunc(c.Inactive, func(i values.Inactive) bool { return i.By != nil })
}

// between picks the contributions of some levels.
func between(contributions []values.Contribution, from, to values.Level) []values.Contribution {
	var some []values.Contribution
	for _, c := range contributions {
		if c.Level >= from && c.Level <= to {
			some = append(some, c)
		}
	}
	return some
}
