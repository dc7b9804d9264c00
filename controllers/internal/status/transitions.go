package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Transitions returns the conditions that a person should hear about, in the order of after: those that turned, and of the first
// ones that an object gets that it is programmed, or that something is wrong. That a new object is accepted is no news, and
// neither is that it waits, be it for a target that is created a moment later.
func Transitions(before, after []metav1.Condition) []metav1.Condition {
	var news []metav1.Condition
	for _, condition := range after {
		was := meta.FindStatusCondition(before, condition.Type)
		if was == nil || was.Status == metav1.ConditionUnknown {
			if firstNews(condition) {
				news = append(news, condition)
			}
		} else if was.Status != condition.Status || was.Reason != condition.Reason {
			news = append(news, condition)
		}
	}
	return news
}

func firstNews(c metav1.Condition) bool {
	switch c.Status {
	case metav1.ConditionTrue:
		return c.Type == v1alpha1.ConditionProgrammed || c.Type == v1alpha1.ConditionRouteProgrammed
	case metav1.ConditionFalse:
		return c.Reason != v1alpha1.ReasonPending && c.Reason != v1alpha1.ReasonTargetNotFound
	case metav1.ConditionUnknown:
	}
	return false
}

func isType(conditionType string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Type == conditionType }
}
