package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
)

func TestSomeConditionsAreThereOnlyWhileThereIsSomethingToSay(t *testing.T) {
	yes := func(what string) *verdict.Verdict { return new(verdict.Yes(what, "it is so")) }
	foreign := condition("example.com/Audited", metav1.ConditionTrue, "Yes", "", 1)
	gw := &gatewayv1.Gateway{Spec: gatewayv1.GatewaySpec{Listeners: make([]gatewayv1.Listener, 1)}}
	listener := gateway.Listener{
		Accepted: verdict.Yes("Accepted", ""), Programmed: verdict.Yes("Programmed", ""), ResolvedRefs: verdict.Yes("ResolvedRefs", ""),
		OverlappingTLS: yes("OverlappingHostnames"),
	}
	m := gateway.Merged{
		Gateway: gw, Accepted: verdict.Yes("Accepted", ""), Programmed: verdict.Yes("Programmed", ""),
		ResolvedRefs: yes("ResolvedRefs"), InsecureFrontend: yes("ConfigurationChanged"), Listeners: []gateway.Listener{listener},
	}
	Gateway(gw, m, Values{}, Outcome{})
	gw.Status.Conditions = append(gw.Status.Conditions, foreign)
	gw.Status.Listeners[0].Conditions = append(gw.Status.Listeners[0].Conditions, foreign)
	types := func() [2][]string {
		return [2][]string{typesOf(gw.Status.Conditions), typesOf(gw.Status.Listeners[0].Conditions)}
	}
	want := [2][]string{
		{"Accepted", "Programmed", "ResolvedRefs", "InsecureFrontendValidationMode", "example.com/Audited"},
		{"Accepted", "ResolvedRefs", "Programmed", "OverlappingTLSConfig", "example.com/Audited"},
	}
	if diff := cmp.Diff(want, types()); diff != "" {
		t.Errorf("conditions of the Gateway and of its listener: -want +got:\n%s", diff)
	}

	m.ResolvedRefs, m.InsecureFrontend, m.Listeners[0].OverlappingTLS = nil, nil, nil
	Gateway(gw, m, Values{}, Outcome{})
	want = [2][]string{
		{"Accepted", "Programmed", "example.com/Audited"}, {"Accepted", "ResolvedRefs", "Programmed", "example.com/Audited"},
	}
	if diff := cmp.Diff(want, types()); diff != "" {
		t.Errorf("conditions once their causes are gone: -want +got:\n%s", diff)
	}
}

func typesOf(conditions []metav1.Condition) []string {
	var types []string
	for _, c := range conditions {
		types = append(types, c.Type)
	}
	return types
}

func TestAGatewayIsProgrammedWhenNothingStandsAgainstIt(t *testing.T) {
	good := verdict.Yes("", "")
	asks := &gatewayv1.Gateway{Spec: gatewayv1.GatewaySpec{Addresses: []gatewayv1.GatewaySpecAddress{{Value: "192.0.2.1"}}}}
	has := []gatewayv1.GatewayStatusAddress{{Value: "192.0.2.1"}}
	waiting := []v1alpha1.RenderedObject{{Kind: "Gateway", Name: "s", Template: "shadow", State: v1alpha1.ObjectInProgress, Message: "no"}}
	for name, c := range map[string]struct {
		merged gateway.Merged
		of     Outcome
		reason string
	}{
		"one that is not accepted is invalid": {
			gateway.Merged{Gateway: asks, Accepted: verdict.No("ListenersNotValid", "no"), Programmed: good}, Outcome{Addresses: has}, "Invalid"},
		"what merging says comes before what was rendered": {
			gateway.Merged{Gateway: asks, Accepted: good, Programmed: verdict.No("AddressNotUsable", "no")}, Outcome{Objects: waiting}, "AddressNotUsable"},
		"what was rendered is waited for before its addresses are judged": {
			gateway.Merged{Gateway: asks, Accepted: good, Programmed: good}, Outcome{Objects: waiting}, "Pending"},
		"what the data plane says is handed on": {
			gateway.Merged{Gateway: asks, Accepted: good, Programmed: good},
			Outcome{Objects: waiting, DataPlaneReason: gatewayv1.GatewayReasonNoResources}, "NoResources"},
		"other addresses than those asked for are told": {
			gateway.Merged{Gateway: asks, Accepted: good, Programmed: good}, Outcome{}, "AddressNotUsable"},
		"all is well": {gateway.Merged{Gateway: asks, Accepted: good, Programmed: good}, Outcome{Addresses: has}, "Programmed"},
	} {
		t.Run(name, func(t *testing.T) {
			got := gatewayProgrammed(c.merged, c.of)
			if got.Reason != c.reason || got.OK != (c.reason == "Programmed") {
				t.Errorf("gatewayProgrammed() = %+v, want reason %s", got, c.reason)
			}
		})
	}
}

func TestAListenerSetWaitsAsItsGatewayDoes(t *testing.T) {
	accepted := condition("Accepted", metav1.ConditionTrue, "Accepted", "", 1)
	unknown := condition("Accepted", metav1.ConditionUnknown, "Pending", "", 0)
	shutOut := condition("Accepted", metav1.ConditionFalse, "NotAllowed", "", 1)
	for name, c := range map[string]struct {
		before []metav1.Condition
		want   []string
	}{
		"one of which nothing was said is not accepted": {nil, []string{"Accepted=False/ParentNotAccepted", "Programmed=False/ParentNotAccepted"}},
		"nor is one that waited": {
			[]metav1.Condition{unknown}, []string{"Accepted=False/ParentNotAccepted", "Programmed=False/ParentNotAccepted"}},
		"one that was accepted stays so, and waits":   {[]metav1.Condition{accepted}, []string{"Accepted=True/Accepted", "Programmed=False/Pending"}},
		"one that was turned away hears nothing else": {[]metav1.Condition{shutOut}, []string{"Accepted=False/NotAllowed", "Programmed=False/Pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
			set.Status.Conditions = c.before
			for range 2 {
				ListenerSetWaiting(set)
			}
			var got []string
			for _, c := range set.Status.Conditions {
				got = append(got, c.Type+"="+string(c.Status)+"/"+c.Reason)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ListenerSetWaiting(): -want +got:\n%s", diff)
			}
		})
	}
}

func TestDataPlaneReason(t *testing.T) {
	const shadow = "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: s, generation: 2}\n"
	for name, c := range map[string]struct {
		live string
		want gatewayv1.GatewayConditionReason
	}{
		"a reason that holds for whom the shadow stands for": {
			shadow + "status: {conditions: [{type: Programmed, status: 'False', observedGeneration: 2, reason: NoResources}]}", "NoResources"},
		"a reason of an older generation": {
			shadow + "status: {conditions: [{type: Programmed, status: 'False', observedGeneration: 1, reason: NoResources}]}", ""},
		"a reason that is about the shadow itself": {
			shadow + "status: {conditions: [{type: Programmed, status: 'False', observedGeneration: 2, reason: Invalid}]}", ""},
		"a shadow that is programmed": {
			shadow + "status: {conditions: [{type: Programmed, status: 'True', observedGeneration: 2, reason: Programmed}]}", ""},
		"another kind": {
			"apiVersion: x.example.com/v1\nkind: LB\nmetadata: {name: l}\nstatus: {conditions: [{type: Programmed, status: 'False', reason: NoResources}]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := yaml.YAMLToJSON([]byte(c.live))
			if err != nil {
				t.Fatal(err)
			}
			o := &unstructured.Unstructured{}
			if err := o.UnmarshalJSON(text); err != nil {
				t.Fatal(err)
			}
			if got := DataPlaneReason(o); got != c.want {
				t.Errorf("DataPlaneReason() = %q, want %q", got, c.want)
			}
		})
	}
}
