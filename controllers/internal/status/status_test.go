package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

var ignoreTime = cmpopts.IgnoreFields(metav1.Condition{}, "LastTransitionTime")

func condition(conditionType string, status metav1.ConditionStatus, reason, message string, generation int64) metav1.Condition {
	return metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: generation}
}

func object(state v1alpha1.ObjectState, message string) v1alpha1.RenderedObject {
	o := v1alpha1.RenderedObject{Template: "svc", Kind: "Service", Name: "web", State: state, Message: message}
	if state != v1alpha1.ObjectPending && state != v1alpha1.ObjectFailed {
		o.UID = "u"
	}
	return o
}

func TestOutcomeSumsUp(t *testing.T) {
	failed := verdict.No(v1alpha1.ReasonFailed, "blueprint b, template svc, line 3: no")
	pendingTemplate := v1alpha1.RenderedObject{Template: "dns", State: v1alpha1.ObjectPending, Message: "waits for .Resources.svc: not there yet"}
	cases := map[string]struct {
		outcome Outcome
		want    verdict.Verdict
		settled bool
	}{
		"all current is Programmed": {
			Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectCurrent, "")}},
			verdict.Yes("Programmed", "1 object is applied and ready"), true},
		"nothing to render is Programmed": {Outcome{}, verdict.Yes("Programmed", "there is nothing to render; all is applied and ready"), true},
		"an object in progress is named with what it says": {
			Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectInProgress, "1 of 2 ready")}},
			verdict.No("Pending", "Service web (template svc): 1 of 2 ready"), true},
		"an object that could not be applied unsettles": {
			Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectFailed, "exists already")}},
			verdict.No("Pending", "Service web (template svc): exists already"), false},
		"a template that waits unsettles": {
			Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectCurrent, ""), pendingTemplate}},
			verdict.No("Pending", "template dns: waits for .Resources.svc: not there yet"), false},
		"a failed template is Invalid, and what ran stays": {
			Outcome{Failed: &failed},
			verdict.No("Invalid", "blueprint b, template svc, line 3: no; the last good objects stay"), false},
		"an address that is waited for is named last": {
			Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectCurrent, "")}, AddressPending: "no address yet"},
			verdict.No("AddressNotAssigned", "no address yet"), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.outcome.Programmed()); diff != "" {
				t.Errorf("Programmed(): -want +got:\n%s", diff)
			}
			if got := c.outcome.Settled(); got != c.settled {
				t.Errorf("Settled() = %v, want %v", got, c.settled)
			}
		})
	}
}

func TestSet(t *testing.T) {
	foreign := condition("Foreign", metav1.ConditionTrue, "Theirs", "", 1)
	newer := condition("Accepted", metav1.ConditionTrue, "Accepted", "", 5)
	long := strings.Repeat("é", maxMessage)
	cases := map[string]struct {
		before []metav1.Condition
		v      verdict.Verdict
		want   []metav1.Condition
	}{
		"a new condition comes after those of others": {
			[]metav1.Condition{foreign}, verdict.Yes("Accepted", "ok"),
			[]metav1.Condition{foreign, condition("Accepted", metav1.ConditionTrue, "Accepted", "ok", 3)}},
		"a verdict on an older generation changes nothing": {
			[]metav1.Condition{newer}, verdict.No("Invalid", "old"), []metav1.Condition{newer}},
		"a message is cut at a rune's edge": {
			nil, verdict.No("Invalid", "%s", long),
			[]metav1.Condition{condition("Accepted", metav1.ConditionFalse, "Invalid", strings.Repeat("é", (maxMessage-3)/2)+"...", 3)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := append([]metav1.Condition{}, c.before...)
			Set(&got, "Accepted", c.v, 3)
			if diff := cmp.Diff(c.want, got, ignoreTime); diff != "" {
				t.Errorf("Set(): -want +got:\n%s", diff)
			}
		})
	}
}

func TestTransitionsAreNews(t *testing.T) {
	accepted := condition("Accepted", metav1.ConditionTrue, "Accepted", "", 1)
	programmed := condition("Programmed", metav1.ConditionTrue, "Programmed", "", 1)
	pending := condition("Programmed", metav1.ConditionFalse, "Pending", "", 1)
	invalid := condition("Accepted", metav1.ConditionFalse, "Invalid", "", 1)
	notFound := condition("Accepted", metav1.ConditionFalse, "TargetNotFound", "", 1)
	unknown := condition("Accepted", metav1.ConditionUnknown, "Pending", "", 1)
	type list = []metav1.Condition
	cases := map[string]struct{ before, after, want list }{
		"a new object that is programmed at once":   {nil, list{accepted, programmed}, list{programmed}},
		"a new object that is not ready yet":        {list{unknown}, list{accepted, pending}, nil},
		"a new object that is wrong":                {list{unknown}, list{invalid}, list{invalid}},
		"a policy that comes before its target":     {nil, list{notFound}, nil},
		"a policy whose target goes":                {list{accepted}, list{notFound}, list{notFound}},
		"an object that becomes ready":              {list{accepted, pending}, list{accepted, programmed}, list{programmed}},
		"an object that is as it was, said anew":    {list{accepted}, list{condition("Accepted", metav1.ConditionTrue, "Accepted", "new words", 2)}, nil},
		"an object of which something is not ready": {list{programmed}, list{pending}, list{pending}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Transitions(c.before, c.after)); diff != "" {
				t.Errorf("Transitions(): -want +got:\n%s", diff)
			}
		})
	}
}

func TestRouteParents(t *testing.T) {
	ref := func(name string) gatewayv1.ParentReference {
		return gatewayv1.ParentReference{Name: gatewayv1.ObjectName(name)}
	}
	ours := func(name string, conditions ...metav1.Condition) gatewayv1.RouteParentStatus {
		return gatewayv1.RouteParentStatus{ParentRef: ref(name), ControllerName: v1alpha1.ControllerName, Conditions: conditions}
	}
	theirs := gatewayv1.RouteParentStatus{ParentRef: ref("a"), ControllerName: "example.com/other",
		Conditions: []metav1.Condition{condition("Weird", metav1.ConditionUnknown, "X", "as it was", 9)}}
	accepted := condition("Accepted", metav1.ConditionTrue, "Accepted", "ok", 2)
	resolved := condition("ResolvedRefs", metav1.ConditionTrue, "ResolvedRefs", "found", 2)
	found := verdict.Yes("ResolvedRefs", "found")
	programmed := verdict.Yes("Programmed", "done")
	cases := map[string]struct {
		current []gatewayv1.RouteParentStatus
		ours    []RouteParent
		want    []gatewayv1.RouteParentStatus
	}{
		"an entry on a parent that cannot be judged stays as it is": {
			[]gatewayv1.RouteParentStatus{ours("unjudged", accepted)}, nil, []gatewayv1.RouteParentStatus{ours("unjudged", accepted)}},
		"entries of others stay as they are, where they are": {
			[]gatewayv1.RouteParentStatus{ours("gone"), theirs},
			[]RouteParent{{Ref: ref("a"), Accepted: verdict.Yes("Accepted", "ok"), ResolvedRefs: found}},
			[]gatewayv1.RouteParentStatus{theirs, ours("a", accepted, resolved)}},
		"without a parent the list is empty, not missing": {[]gatewayv1.RouteParentStatus{ours("gone")}, nil, []gatewayv1.RouteParentStatus{}},
		"our entry keeps its place, and a condition that has no cause any more goes": {
			[]gatewayv1.RouteParentStatus{ours("a", condition(v1alpha1.ConditionRouteProgrammed, metav1.ConditionTrue, "P", "", 1)), theirs},
			[]RouteParent{{Ref: ref("a"), Accepted: verdict.Yes("Accepted", "ok"), ResolvedRefs: found}},
			[]gatewayv1.RouteParentStatus{ours("a", accepted, resolved), theirs}},
		"what a route refers to is told though it is not accepted": {
			nil, []RouteParent{{Ref: ref("a"), Accepted: verdict.No("NoMatchingParent", "no"), ResolvedRefs: verdict.No("BackendNotFound", "lost")}},
			[]gatewayv1.RouteParentStatus{ours("a",
				condition("Accepted", metav1.ConditionFalse, "NoMatchingParent", "no", 2),
				condition("ResolvedRefs", metav1.ConditionFalse, "BackendNotFound", "lost", 2))}},
		"what was rendered for a parent is reported beside": {
			nil, []RouteParent{{Ref: ref("a"), Accepted: verdict.Yes("Accepted", "ok"), ResolvedRefs: found, Programmed: &programmed}},
			[]gatewayv1.RouteParentStatus{ours("a", accepted, resolved,
				condition(v1alpha1.ConditionRouteProgrammed, metav1.ConditionTrue, "Programmed", "done", 2))}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			unjudged := func(ref gatewayv1.ParentReference) bool { return ref.Name == "unjudged" }
			got, left := RouteParents(c.current, c.ours, unjudged, 2)
			if left != 0 {
				t.Errorf("%d of ours have no room", left)
			}
			if diff := cmp.Diff(c.want, got, ignoreTime); diff != "" {
				t.Errorf("RouteParents(): -want +got:\n%s", diff)
			}
		})
	}
}

func TestRouteParentsHaveNoRoomBesideThoseOfOthers(t *testing.T) {
	theirs := slices.Repeat([]gatewayv1.RouteParentStatus{{ControllerName: "example.com/other"}}, 31)
	entry := func(name string) gatewayv1.RouteParentStatus {
		return gatewayv1.RouteParentStatus{
			ParentRef: gatewayv1.ParentReference{Name: gatewayv1.ObjectName(name)}, ControllerName: v1alpha1.ControllerName,
			Conditions: []metav1.Condition{
				condition("Accepted", metav1.ConditionTrue, "Accepted", "", 1), condition("ResolvedRefs", metav1.ConditionTrue, "ResolvedRefs", "", 1),
			},
		}
	}
	var ours []RouteParent
	for _, name := range []string{"a", "b", "c"} {
		ours = append(ours, RouteParent{
			Ref: gatewayv1.ParentReference{Name: gatewayv1.ObjectName(name)}, Accepted: verdict.Yes("Accepted", ""), ResolvedRefs: verdict.Yes("ResolvedRefs", ""),
		})
	}
	none := func(gatewayv1.ParentReference) bool { return false }
	for name, c := range map[string]struct {
		current, want []gatewayv1.RouteParentStatus
		left          int
	}{
		"as many as there is room for are reported": {theirs, append(slices.Clone(theirs), entry("a")), 2},
		"one that has a place keeps it":             {append(slices.Clone(theirs), entry("b")), append(slices.Clone(theirs), entry("b")), 2},
		"a full list is left as it is": {
			append(slices.Clone(theirs), theirs[0]), append(slices.Clone(theirs), theirs[0]), 3},
	} {
		t.Run(name, func(t *testing.T) {
			got, left := RouteParents(c.current, ours, none, 1)
			if diff := cmp.Diff(c.want, got, ignoreTime); diff != "" || left != c.left {
				t.Errorf("%d left, want %d; -want +got:\n%s", left, c.left, diff)
			}
		})
	}
}

func TestAncestors(t *testing.T) {
	theirs := gatewayv1.PolicyAncestorStatus{ControllerName: "example.com/other", AncestorRef: gatewayv1.ParentReference{Name: "x"}}
	entry := func(conditions ...metav1.Condition) gatewayv1.PolicyAncestorStatus {
		return gatewayv1.PolicyAncestorStatus{ControllerName: v1alpha1.ControllerName, AncestorRef: gatewayv1.ParentReference{Name: "web"}, Conditions: conditions}
	}
	accepted := condition("Accepted", metav1.ConditionTrue, "Accepted", "", 1)
	by := values.Setter{SetBy: "GatewayClassConfig/gatewright-system/limits", Block: "override"}
	cases := map[string]struct {
		ancestor Ancestor
		want     gatewayv1.PolicyAncestorStatus
	}{
		"a policy that is not accepted says nothing of its values": {
			Ancestor{Accepted: verdict.No("Invalid", "why"), Contributions: []values.Contribution{{Sets: 1}}},
			entry(condition("Accepted", metav1.ConditionFalse, "Invalid", "why", 1))},
		"all values in effect": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 2}}},
			entry(accepted, condition("Programmed", metav1.ConditionTrue, "Programmed", "every value is in effect", 1))},
		"some values shadowed": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 1, Shadowed: []values.Shadow{{Path: "/a", By: by}}}}},
			entry(accepted, condition("Programmed", metav1.ConditionTrue, "PartiallyProgrammed",
				"some values are set by others: /a by GatewayClassConfig/gatewright-system/limits (override)", 1))},
		"all values shadowed": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Shadowed: []values.Shadow{{Path: "/a", By: by}}}}},
			entry(accepted, condition("Programmed", metav1.ConditionFalse, "Overridden",
				"all values are set by others: /a by GatewayClassConfig/gatewright-system/limits (override)", 1))},
		"all values held back": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 2}}, Held: []string{"why"}},
			entry(accepted, condition("Programmed", metav1.ConditionFalse, "Reconciling", "what was rendered last stays: why", 1))},
		"some values held back": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 2}, {Sets: 2}}, Held: []string{"why"}},
			entry(accepted, condition("Programmed", metav1.ConditionTrue, "PartiallyProgrammed",
				"for some targets what was rendered last stays: why", 1))},
		"no target reference accepted": {
			Ancestor{Accepted: verdict.Yes("Accepted", "valid"), Refused: &verdict.Verdict{Reason: "Invalid", Message: "why"}},
			entry(condition("Accepted", metav1.ConditionFalse, "Invalid", "why", 1))},
		"one target reference accepted, another not": {
			Ancestor{Accepted: verdict.Yes("Accepted", "valid"), Refused: &verdict.Verdict{Reason: "Invalid", Message: "why"},
				Contributions: []values.Contribution{{Sets: 1}}},
			entry(condition("Accepted", metav1.ConditionTrue, "Accepted", "valid; but not all of it has an effect: why", 1),
				condition("Programmed", metav1.ConditionTrue, "Programmed", "every value is in effect", 1))},
		"all values removed": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Removed: []values.Removal{{Path: "/a", By: by}}}}},
			entry(accepted, condition("Programmed", metav1.ConditionFalse, "Overridden",
				"all values are set by others: /a by GatewayClassConfig/gatewright-system/limits (override)", 1))},
		"a block that gives way, and a condition that does not hold": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 1, Inactive: []values.Inactive{
				{Setter: values.Setter{Block: "default"}, Reason: values.AtomicSuperseded, By: &by},
				{Setter: values.Setter{Block: "constraint/few"}, Reason: values.WhenFalse},
			}}}},
			entry(accepted, condition("Programmed", metav1.ConditionTrue, "PartiallyProgrammed",
				"not in effect: default (AtomicSuperseded, by override of GatewayClassConfig/gatewright-system/limits)", 1))},
		"a policy that is in conflict": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{
				{Inactive: []values.Inactive{{Setter: values.Setter{Block: "override"}, Reason: values.Conflicted, By: &by}}},
			}},
			entry(condition("Accepted", metav1.ConditionFalse, "Conflicted",
				"one of two is atomic, and the older one stands: override with override of GatewayClassConfig/gatewright-system/limits", 1))},
		"a guest that is set aside for another": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{
				{SetAside: true, Inactive: []values.Inactive{{Setter: values.Setter{Block: "default"}, Reason: values.SetAside}}},
			}},
			entry(accepted, condition("Programmed", metav1.ConditionFalse, "Overridden", "not in effect: default (SetAside)", 1))},
		"a guest that is set aside for what it says": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{
				{SetAside: true, Violations: []values.Violation{{Path: "/a", Message: "is wrong"}}},
			}},
			entry(condition("Accepted", metav1.ConditionFalse, "Invalid",
				"the blueprint's schema does not allow it: /a is wrong; the listeners of the ListenerSet go without it", 1))},
		"values that the schema does not allow": {
			Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{
				{Sets: 1, Violations: []values.Violation{{Path: "/c", Message: "is wrong"}, {Path: "/a", Message: "is wrong"}}},
				{Violations: []values.Violation{{Path: "/a", Message: "is wrong"}, {Path: "/b", Message: "is wrong"}, {Path: "/d", Message: "is wrong"}}},
			}},
			entry(condition("Accepted", metav1.ConditionFalse, "Invalid",
				"the blueprint's schema does not allow it: /a is wrong; /b is wrong; /c is wrong and 1 more; what was rendered last stays", 1))},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.ancestor.Ref = gatewayv1.ParentReference{Name: "web"}
			got := Ancestors([]gatewayv1.PolicyAncestorStatus{theirs, entry(accepted)}, []Ancestor{c.ancestor}, 1)
			if diff := cmp.Diff([]gatewayv1.PolicyAncestorStatus{theirs, c.want}, got, ignoreTime); diff != "" {
				t.Errorf("Ancestors(): -want +got:\n%s", diff)
			}
		})
	}
}

func TestAffectedNamesThePoliciesThatCount(t *testing.T) {
	stale := condition(v1alpha1.ConditionGatewayClassConfigAffected, metav1.ConditionTrue, "Affected", "by GatewayClassConfig/s/gone", 1)
	foreign := condition("Foreign", metav1.ConditionTrue, "Theirs", "", 1)
	contributions := []values.Contribution{
		{Source: "GatewayClassBlueprint/b", Sets: 3},
		{Source: "GatewayConfig/a/two", Sets: 1},
		{Source: "GatewayConfig/a/invalid"},
		{Source: "GatewayConfig/a/one", Shadowed: []values.Shadow{{Path: "/x"}}},
		{Source: "GatewayConfig/a/removes", Removes: 1},
		{Source: "GatewayConfig/a/removed", Removed: []values.Removal{{Path: "/x"}}},
		{Source: "GatewayConfig/a/superseded", Inactive: []values.Inactive{{Reason: values.AtomicSuperseded, By: &values.Setter{}}}},
		{Source: "GatewayConfig/a/waiting", Inactive: []values.Inactive{{Reason: values.WhenFalse}}},
		{Source: "GatewayConfig/a/two", Sets: 1},
	}
	got := []metav1.Condition{stale, foreign}
	Affected(&got, contributions, 7)
	want := []metav1.Condition{foreign, condition(v1alpha1.ConditionGatewayConfigAffected, metav1.ConditionTrue, "Affected",
		"by GatewayConfig/a/one, GatewayConfig/a/removed, GatewayConfig/a/removes, GatewayConfig/a/superseded, GatewayConfig/a/two", 7)}
	if diff := cmp.Diff(want, got, ignoreTime); diff != "" {
		t.Errorf("Affected(): -want +got:\n%s", diff)
	}
}

func TestReadinessCountsForMoreThanStatus(t *testing.T) {
	failing := map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "message": "theirs"}}}
	deleted := metav1.Now()
	cases := map[string]struct {
		ready    *render.Readiness
		deleting *metav1.Time
		state    v1alpha1.ObjectState
		message  string
	}{
		"without an expression the status counts": {nil, nil, v1alpha1.ObjectInProgress, "theirs"},
		"what it says is ready is Current":        {&render.Readiness{Ready: true}, nil, v1alpha1.ObjectCurrent, ""},
		"what it says is not ready says why":      {&render.Readiness{Message: "ours"}, nil, v1alpha1.ObjectInProgress, "ours"},
		"what is being deleted is not ready":      {&render.Readiness{Ready: true}, &deleted, v1alpha1.ObjectInProgress, "is being deleted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "status": failing}}
			o.SetDeletionTimestamp(c.deleting)
			if state, message := Health(o, c.ready); state != c.state || message != c.message {
				t.Errorf("Health() = %s %q, want %s %q", state, message, c.state, c.message)
			}
		})
	}
}

func TestThrashingIsTold(t *testing.T) {
	fought := object(v1alpha1.ObjectCurrent, "changes")
	o := Outcome{Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectCurrent, ""), fought}, Thrashing: &fought}
	want := verdict.No(v1alpha1.ReasonThrashing, "%s: changes", describe(fought))
	if diff := cmp.Diff(want, o.Applied()); diff != "" {
		t.Errorf("Applied(): -want +got:\n%s", diff)
	}
	if o.Settled() {
		t.Error("Settled() although an object is fought over")
	}
}

func TestHealth(t *testing.T) {
	shadow := "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: s, generation: 2}\n"
	cases := map[string]struct {
		live    string
		state   v1alpha1.ObjectState
		message string
	}{
		"a kind that reports nothing is current": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}", v1alpha1.ObjectCurrent, ""},
		"a shadow Gateway that says nothing is waited for": {
			shadow, v1alpha1.ObjectInProgress, "its controller has not reported Programmed yet"},
		"a shadow Gateway's word on an older generation does not count": {
			shadow + "status: {conditions: [{type: Programmed, status: 'True', observedGeneration: 1}]}",
			v1alpha1.ObjectInProgress, "its controller has not reported Programmed yet"},
		"a shadow Gateway that is programmed is current": {
			shadow + "status: {conditions: [{type: Programmed, status: 'True', observedGeneration: 2}]}", v1alpha1.ObjectCurrent, ""},
		"a shadow Gateway that is not programmed says why": {
			shadow + "status: {conditions: [{type: Programmed, status: 'False', observedGeneration: 2, message: no pods}]}",
			v1alpha1.ObjectInProgress, "Programmed=False: no pods"},
		"a Deployment that rolls out is in progress": {
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, generation: 1}\nspec: {replicas: 2}\nstatus: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, availableReplicas: 1, readyReplicas: 1}",
			v1alpha1.ObjectInProgress, "Available: 1/2"},
		"an object with Ready False is in progress, with what it says": {
			"apiVersion: x.example.com/v1\nkind: LB\nmetadata: {name: l}\nstatus: {conditions: [{type: Ready, status: 'False', message: creating}]}",
			v1alpha1.ObjectInProgress, "creating"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			text, err := yaml.YAMLToJSON([]byte(c.live))
			if err == nil {
				err = o.UnmarshalJSON(text)
			}
			if err != nil {
				t.Fatal(err)
			}
			state, message := Health(o, nil)
			if state != c.state || message != c.message {
				t.Errorf("Health() = %s %q, want %s %q", state, message, c.state, c.message)
			}
		})
	}
}

func TestGatewayKeepsForeignConditions(t *testing.T) {
	foreign := condition("example.com/Audited", metav1.ConditionTrue, "Yes", "", 1)
	gw := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "a", Generation: 4}}
	gw.Spec.Listeners = []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType}}
	gw.Status.Conditions = []metav1.Condition{foreign}
	gw.Status.Listeners = []gatewayv1.ListenerStatus{
		{Name: "gone", Conditions: []metav1.Condition{foreign}},
		{Name: "http", Conditions: []metav1.Condition{foreign, condition("Conflicted", metav1.ConditionTrue, "HostnameConflict", "", 3)}},
	}
	merged := gateway.Merge(gateway.Snapshot{Gateway: gw.DeepCopy()})
	Gateway(gw, merged, Values{}, Outcome{})

	got := map[string][]string{"gateway": typesOf(gw.Status.Conditions)}
	for _, l := range gw.Status.Listeners {
		got[string(l.Name)] = typesOf(l.Conditions)
	}
	want := map[string][]string{
		"gateway": {"example.com/Audited", "Accepted", "Programmed"},
		"http":    {"example.com/Audited", "Accepted", "ResolvedRefs", "Programmed"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("condition types: -want +got:\n%s", diff)
	}
}

func TestRenderingIsBounded(t *testing.T) {
	big, small := strings.Repeat("x", maxManifests-10), "kind: Service"
	current := object(v1alpha1.ObjectCurrent, "")
	var rdg v1alpha1.Rendering
	Rendering(&rdg, Report{
		Parent: "Gateway/a/web", ParentGeneration: 1,
		Values:    values.Effective{Tree: values.Tree{"blob": strings.Repeat("y", maxValues)}},
		Manifests: []string{big, small},
	}, Outcome{Objects: []v1alpha1.RenderedObject{current, current}})

	want := "1 manifests are left out; `gatewright render` prints them; the values are left out; `gatewright values` prints them"
	if rdg.Status.Truncated != want || len(rdg.Status.Rendered) != 1 || rdg.Status.Values != nil || rdg.Status.Ready != "2/2" {
		t.Errorf("Rendering(): truncated %q, ready %s, want %q and what is named left out", rdg.Status.Truncated, rdg.Status.Ready, want)
	}
}

func TestRenderingTellsWhoSetWhat(t *testing.T) {
	setter := func(by, block string, level values.Level) values.Setter {
		return values.Setter{SetBy: by, Block: block, Level: level}
	}
	var rdg v1alpha1.Rendering
	Rendering(&rdg, Report{Values: values.Effective{Tree: values.Tree{"a": int64(1)}, Origins: []values.Origin{
		{Path: "/a", Setter: setter("GatewayClassConfig/s/c", values.BlockOverride, values.LevelClassGlobal), Shadowed: []values.Setter{
			setter("GatewayConfig/t/g", values.BlockDefault, values.LevelGateway),
			setter("GatewayClassBlueprint/b", values.BlockDefault, values.LevelBlueprint),
		}},
	}}}, Outcome{})
	want := []string{"/a by GatewayClassConfig/s/c override (level 2), over GatewayConfig/t/g default (level 6), GatewayClassBlueprint/b default (level 1)"}
	if diff := cmp.Diff(want, rdg.Status.Origins); diff != "" {
		t.Errorf("origins: -want +got:\n%s", diff)
	}
}

func TestRenderingHidesWhatIsSensitive(t *testing.T) {
	tree := values.Tree{"user": "u", "password": "canary"}
	var rdg v1alpha1.Rendering
	Rendering(&rdg, Report{Values: values.Effective{Tree: tree, Sensitive: []string{"/password"}}}, Outcome{})
	if diff := cmp.Diff(`{"password":"(redacted)","user":"u"}`, string(rdg.Status.Values.Raw)); diff != "" {
		t.Errorf("values: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(values.Tree{"user": "u", "password": "canary"}, tree); diff != "" {
		t.Errorf("the values were changed: -before +after:\n%s", diff)
	}
}

func TestManifestKeepsSecretsSecret(t *testing.T) {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"},
		"data": map[string]any{"tls.key": "Y2FuYXJ5"}, "stringData": map[string]any{"token": "canary"},
	}}
	before := secret.DeepCopy()
	got := Manifest("tls", secret)
	want := "# template tls\napiVersion: v1\ndata:\n  tls.key: (redacted)\nkind: Secret\nmetadata:\n  name: s\nstringData:\n  token: (redacted)\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Manifest(): -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(before, secret); diff != "" {
		t.Errorf("the object was changed: -before +after:\n%s", diff)
	}
}
