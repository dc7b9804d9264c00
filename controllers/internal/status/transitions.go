package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Transitions returns the conditions that a person should hear about: those whose status or reason is not what it was before,
// in the order of after.
func Transitions(before, after []metav1.Condition) []metav1.Condition {
	var changed []metav1.Condition
	for _, condition := range after {
		was := meta.FindStatusCondition(before, condition.Type)
		if was == nil || was.Status != condition.Status || was.Reason != condition.Reason {
			changed = append(changed, condition)
		}
	}
	return changed
}

func isType(conditionType string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Type == conditionType }
}
