package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// fields is an entry of managedFields about a status.
func fields(manager, subresource, text string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(text),
	}
}

const (
	// wholeStatus are the fields of all of a status, and restOfStatus those that are left when another has reported in its own words.
	wholeStatus = `{"f:status": {"f:addresses": {}, "f:attachedListenerSets": {},
		"f:conditions": {"k:{\"type\":\"Accepted\"}": {"f:message": {}}, "k:{\"type\":\"Programmed\"}": {"f:message": {}},
			"k:{\"type\":\"gatewright.dev/GatewayConfigAffected\"}": {"f:message": {}}},
		"f:listeners": {"k:{\"name\":\"http\"}": {"f:conditions": {"k:{\"type\":\"Accepted\"}": {"f:message": {}}}}}}}`
	restOfStatus = `{"f:status": {"f:attachedListenerSets": {},
		"f:conditions": {"k:{\"type\":\"Accepted\"}": {".": {}, "f:type": {}}, "k:{\"type\":\"gatewright.dev/GatewayConfigAffected\"}": {"f:message": {}}},
		"f:listeners": {"k:{\"name\":\"http\"}": {"f:conditions": {"k:{\"type\":\"Accepted\"}": {".": {}, "f:type": {}}}}}}}`
)

func TestDisownTakesBackWhatIsOursAlone(t *testing.T) {
	condition := func(conditionType, status, reason, message string) metav1.Condition {
		return metav1.Condition{Type: conditionType, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: 1}
	}
	waits := func(conditionType string) metav1.Condition {
		c := condition(conditionType, "Unknown", "Pending", "Waiting for controller")
		c.ObservedGeneration = 2
		return c
	}
	accepted, programmed := condition("Accepted", "True", "Accepted", "some words"), condition("Programmed", "True", "Programmed", "more words")
	affected := condition("gatewright.dev/GatewayConfigAffected", "True", "Affected", "by a policy")
	listeners := []gatewayv1.ListenerStatus{{Name: "http", Conditions: []metav1.Condition{accepted}}}
	addresses := []gatewayv1.GatewayStatusAddress{{Value: "192.0.2.1"}}
	for name, c := range map[string]struct {
		fields metav1.ManagedFieldsEntry
		want   gatewayv1.GatewayStatus
	}{
		"all is ours, and goes": {fields(fieldOwner, "status", wholeStatus), gatewayv1.GatewayStatus{
			Conditions: []metav1.Condition{waits("Accepted"), waits("Programmed")}, Listeners: []gatewayv1.ListenerStatus{},
		}},
		"another has reported, and what we alone report goes": {fields(fieldOwner, "status", restOfStatus), gatewayv1.GatewayStatus{
			Conditions: []metav1.Condition{accepted, programmed}, Listeners: listeners, Addresses: addresses,
		}},
		"all is of another, and stays": {fields("another", "status", wholeStatus), gatewayv1.GatewayStatus{
			Conditions: []metav1.Condition{accepted, programmed, affected}, Listeners: listeners, Addresses: addresses,
			AttachedListenerSets: new(int32(1)),
		}},
		"what we have written elsewhere does not count": {fields(fieldOwner, "", wholeStatus), gatewayv1.GatewayStatus{
			Conditions: []metav1.Condition{accepted, programmed, affected}, Listeners: listeners, Addresses: addresses,
			AttachedListenerSets: new(int32(1)),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			gw := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Generation: 2, ManagedFields: []metav1.ManagedFieldsEntry{c.fields}}}
			gw.Status = *(&gatewayv1.GatewayStatus{
				Conditions: []metav1.Condition{accepted, programmed, affected}, Listeners: listeners, Addresses: addresses,
				AttachedListenerSets: new(int32(1)),
			}).DeepCopy()
			Disown(gw)
			for i := range gw.Status.Conditions {
				gw.Status.Conditions[i].LastTransitionTime = metav1.Time{}
			}
			if diff := cmp.Diff(c.want, gw.Status); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
