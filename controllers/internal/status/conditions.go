package status

import (
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// maxMessage bounds what a condition or an event says, in bytes.
const maxMessage = 1024

// Set sets the condition of a type to a verdict, as of a generation of the object. The transition time changes only with the
// status. A verdict never replaces one of a later generation.
func Set(conditions *[]metav1.Condition, conditionType string, v verdict.Verdict, generation int64) {
	status := metav1.ConditionFalse
	if v.OK {
		status = metav1.ConditionTrue
	}
	set(conditions, conditionType, status, v, generation)
}

// SetOrRemove sets a condition that is only there while there is something to say.
func SetOrRemove(conditions *[]metav1.Condition, conditionType string, v *verdict.Verdict, generation int64) {
	if v == nil {
		meta.RemoveStatusCondition(conditions, conditionType)
		return
	}
	Set(conditions, conditionType, *v, generation)
}

// SetUnknown sets the condition of a type to Unknown, with the reason and message of a verdict.
func SetUnknown(conditions *[]metav1.Condition, conditionType string, v verdict.Verdict, generation int64) {
	set(conditions, conditionType, metav1.ConditionUnknown, v, generation)
}

func set(conditions *[]metav1.Condition, conditionType string, status metav1.ConditionStatus, v verdict.Verdict, generation int64) {
	if current := meta.FindStatusCondition(*conditions, conditionType); current != nil && current.ObservedGeneration > generation {
		return
	}
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: conditionType, Status: status, Reason: v.Reason, Message: bounded(v.Message), ObservedGeneration: generation,
	})
}

// bounded cuts a message to what a condition holds, at a rune's edge.
func bounded(message string) string {
	message = strings.ToValidUTF8(message, "\uFFFD")
	if len(message) <= maxMessage {
		return message
	}
	cut := maxMessage - len("...")
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + "..."
}
