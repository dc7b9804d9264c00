package status

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// Reported says whether anything was reported on a Gateway or ListenerSet, by whomever. The API gives a new one conditions that are
// Unknown.
func Reported(o client.Object) bool {
	accepted := meta.FindStatusCondition(conditionsOf(o), string(gatewayv1.GatewayConditionAccepted))
	return accepted != nil && accepted.Status != metav1.ConditionUnknown
}

func conditionsOf(o client.Object) []metav1.Condition {
	switch o := o.(type) {
	case *gatewayv1.Gateway:
		return o.Status.Conditions
	case *gatewayv1.ListenerSet:
		return o.Status.Conditions
	}
	return nil
}

// Disown takes back what we reported on a Gateway or ListenerSet that is none of ours any more, and leaves what others reported: they
// write the same fields. Whose a field is, the API server tells in metadata.managedFields, so the object must be as it came from there.
// What the API gives a new object becomes Unknown again, the rest goes.
func Disown(o client.Object) {
	ours := fieldsOf(o)
	conditions := ours.member("f:conditions")
	switch o := o.(type) {
	case *gatewayv1.Gateway:
		s := &o.Status
		disownConditions(&s.Conditions, conditions, o.Generation)
		if _, is := ours["f:addresses"]; is {
			s.Addresses = nil
		}
		if _, is := ours["f:attachedListenerSets"]; is {
			s.AttachedListenerSets = nil
		}
		s.Listeners = slices.DeleteFunc(s.Listeners, func(l gatewayv1.ListenerStatus) bool {
			return ours.ownsListener(l.Name, l.Conditions)
		})
	case *gatewayv1.ListenerSet:
		s := &o.Status
		disownConditions(&s.Conditions, conditions, o.Generation)
		s.Listeners = slices.DeleteFunc(s.Listeners, func(l gatewayv1.ListenerEntryStatus) bool {
			return ours.ownsListener(l.Name, l.Conditions)
		})
	}
}

func disownConditions(conditions *[]metav1.Condition, ours fieldSet, generation int64) {
	waiting := verdict.No(string(gatewayv1.GatewayReasonPending), "Waiting for controller")
	for _, condition := range slices.Clone(*conditions) {
		switch {
		case !ours.ownsCondition(condition):
		case condition.Type == string(gatewayv1.GatewayConditionAccepted), condition.Type == string(gatewayv1.GatewayConditionProgrammed):
			SetUnknown(conditions, condition.Type, waiting, generation)
		default:
			meta.RemoveStatusCondition(conditions, condition.Type)
		}
	}
}

// fieldSet is a set of fields as managedFields write it: "f:<name>" of a map, "k:<keys as JSON>" of a list that is merged by key.
type fieldSet map[string]any

// fieldsOf are the fields of an object's status of which we were the last to change the value.
func fieldsOf(o client.Object) fieldSet {
	for _, entry := range o.GetManagedFields() {
		if entry.Manager != fieldOwner || entry.Subresource != "status" || entry.FieldsV1 == nil {
			continue
		}
		var fields fieldSet
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			// The API server writes nothing else.
			return nil
		}
		return fields.member("f:status")
	}
	return nil
}

func (f fieldSet) member(name string) fieldSet {
	member, _ := f[name].(map[string]any)
	return member
}

// ownsCondition says whether the message of a condition is ours. Nobody else reports in the same words.
func (f fieldSet) ownsCondition(c metav1.Condition) bool {
	_, is := f.member(fmt.Sprintf(`k:{"type":%q}`, c.Type))["f:message"]
	return is
}

// ownsListener says whether all that is reported on a listener is ours.
func (f fieldSet) ownsListener(name gatewayv1.SectionName, conditions []metav1.Condition) bool {
	listener := f.member("f:listeners").member(fmt.Sprintf(`k:{"name":%q}`, string(name)))
	ours := listener.member("f:conditions")
	return listener != nil && !slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return !ours.ownsCondition(c) })
}
