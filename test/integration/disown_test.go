package integration_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// classOfAnother makes a GatewayClass of another controller and returns its name.
func (w *world) classOfAnother() gatewayv1.ObjectName {
	w.Helper()
	class := newClass(w.name+"-another", "")
	class.Spec.ControllerName = "example.com/another"
	w.create(class)
	return gatewayv1.ObjectName(class.Name)
}

// reportsAsAnother writes a status as another controller does.
func reportsAsAnother[T client.Object](w *world, o T, conditions func(T) *[]metav1.Condition) {
	w.Helper()
	eventually(w, "another controller reports", func() error {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		for _, conditionType := range []string{"Accepted", "Programmed"} {
			meta.SetStatusCondition(conditions(o), metav1.Condition{
				Type: conditionType, Status: metav1.ConditionTrue, Reason: "Theirs", Message: "as another sees it", ObservedGeneration: o.GetGeneration(),
			})
		}
		return shared.client.Status().Update(w.Context(), o, client.FieldOwner("another"))
	})
}

func ofGateway(gw *gatewayv1.Gateway) *[]metav1.Condition  { return &gw.Status.Conditions }
func ofSet(set *gatewayv1.ListenerSet) *[]metav1.Condition { return &set.Status.Conditions }
func (w *world) gatewayStatus(name string) func() (int, error) {
	return func() (int, error) {
		gw := &gatewayv1.Gateway{}
		err := shared.client.Get(w.Context(), w.key(name), gw)
		return len(gw.Status.Addresses) + len(gw.Status.Listeners), err
	}
}

var theirs = []string{"Accepted=True/Theirs", "Programmed=True/Theirs"}

func TestAGatewayThatGoesToAnotherControllerTakesNothingOfOursAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	another := w.classOfAnother()
	w.class(templates{"names": namesTemplate}, with(defaults(map[string]string{"addresses": "192.0.2.1"})),
		func(spec *v1alpha1.GatewayClassBlueprintSpec) {
			spec.GatewayTemplate.Status = &v1alpha1.StatusTemplate{Template: addressesTemplate}
		})
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	set := w.listenerSet("shop", "edge", "shop.example.com")
	becomes(t, "it is ours", programmed, w.gatewayConditions("edge"))
	becomes(t, "so is its ListenerSet", setStands, w.setReport("shop"))
	is(t, "its address and its listener are reported", 2, w.gatewayStatus("edge"))

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = another })
	becomes(t, "what was reported goes", []string{"Accepted=Unknown/Pending", "Programmed=Unknown/Pending"}, w.gatewayConditions("edge"))
	is(t, "with addresses and listeners", 0, w.gatewayStatus("edge"))
	becomes(t, "and on the ListenerSet", setWaits, w.setReport("shop"))
	becomes(t, "and what was rendered", nil, names(w.children(gw, configMaps)))

	reportsAsAnother(w, gw, ofGateway)
	reportsAsAnother(w, set, ofSet)
	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.Listeners[0].Port = 8080 })
	change(w, set, func(set *gatewayv1.ListenerSet) { set.Spec.Listeners[0].Port = 8080 })
	reportsAsAnother(w, gw, ofGateway)
	reportsAsAnother(w, set, ofSet)
	// What comes after is seen after.
	w.gateway("next")
	becomes(t, "a Gateway of ours is programmed", programmed, w.gatewayConditions("next"))
	is(t, "what the other controller reports stays", theirs, w.gatewayConditions("edge"))
	is(t, "on the ListenerSet, too", theirs, conditionsOnly(w.setReport("shop")))

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = gatewayv1.ObjectName(w.name) })
	becomes(t, "it comes back", programmed, w.gatewayConditions("edge"))
	becomes(t, "with its ListenerSet", setStands, w.setReport("shop"))
}

func TestListenerSetsOfAnotherControllerAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	another := w.classOfAnother()
	w.class(templates{"names": namesTemplate})
	w.gateway("edge", func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = another })
	set := w.listenerSet("shop", "edge", "shop.example.com")
	reportsAsAnother(w, set, ofSet)
	change(w, set, func(set *gatewayv1.ListenerSet) { set.Spec.Listeners[0].Port = 8080 })
	reportsAsAnother(w, set, ofSet)
	w.gateway("next", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("next", "next", "late.example.com")
	becomes(t, "a ListenerSet of ours stands", setStands, w.setReport("next"))
	is(t, "what the other controller reports stays", theirs, conditionsOnly(w.setReport("shop")))
}
