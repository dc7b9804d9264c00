package status

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Transitions returns the conditions that a person should hear about, in the order of after: those that turned, and of the first
// ones that an object gets those that say no, unless it is only not ready yet. That a new object is accepted is no news.
func Transitions(before, after []metav1.Condition) []metav1.Condition {
	var news []metav1.Condition
	for _, condition := range after {
		was := meta.FindStatusCondition(before, condition.Type)
		first := was == nil || was.Status == metav1.ConditionUnknown
		switch {
		case first && (condition.Status != metav1.ConditionFalse || condition.Reason == v1alpha1.ReasonPending):
		case first || was.Status != condition.Status || was.Reason != condition.Reason:
			news = append(news, condition)
		}
	}
	return news
}

func isType(conditionType string) func(metav1.Condition) bool {
	return func(c metav1.Condition) bool { return c.Type == conditionType }
}
