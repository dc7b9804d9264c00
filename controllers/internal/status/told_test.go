package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// TestAPolicyIsToldWhyAConstraintKeepsItsValueOut: the provider's message is for the tenant to read.
func TestAPolicyIsToldWhyAConstraintKeepsItsValueOut(t *testing.T) {
	by := values.Setter{SetBy: "GatewayClassConfig/s/limits", Block: "constraint/max", Level: values.LevelClassGlobal}
	shadowed := []values.Shadow{{Path: "/replicas", Block: values.BlockDefault, By: by, Message: "at most 10"}}
	removed := []values.Removal{{Path: "/token", By: by, Message: "at most 10"}}
	a := Ancestor{Accepted: verdict.Yes("Accepted", ""), Contributions: []values.Contribution{{Sets: 1, Shadowed: shadowed, Removed: removed}}}
	got := Ancestors(nil, []Ancestor{a}, 1)
	const want = `some values are set by others: /replicas by GatewayClassConfig/s/limits (constraint/max: "at most 10"), ` +
		`/token by GatewayClassConfig/s/limits (constraint/max: "at most 10")`
	if diff := cmp.Diff(want, got[0].Conditions[1].Message); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestARenderingTellsOfEachValueWhyItIsThereOrNot promises a line for each leaf and each block, as far as there is room.
func TestARenderingTellsOfEachValueWhyItIsThereOrNot(t *testing.T) {
	set := func(by, block string, level values.Level) values.Setter {
		return values.Setter{SetBy: by, Block: block, Level: level}
	}
	few := set("GatewayClassConfig/s/c", "constraint/few", values.LevelClassGlobal)
	tenant := set("GatewayConfig/t/g", values.BlockDefault, values.LevelGateway)
	e := values.Effective{
		Origins:  []values.Origin{{Path: "/a", Setter: few, Shadowed: []values.Setter{tenant}, Message: "at most 10"}},
		Hidden:   []values.Hidden{{Path: "/b/x", Setter: tenant, By: few, Message: "no b"}},
		Removed:  []values.Removal{{Path: "/c", Setter: tenant, By: set("GatewayClassConfig/s/c", values.BlockRemove, values.LevelClassGlobal)}},
		Inactive: []values.Inactive{{Setter: tenant, Reason: values.AtomicOverridden, By: &few}, {Setter: few, Reason: values.WhenFalse}},
	}
	var rdg v1alpha1.Rendering
	Rendering(&rdg, Report{Values: e}, Outcome{})
	want := []string{
		`/a by GatewayClassConfig/s/c constraint/few (level 2), over GatewayConfig/t/g default (level 6); it says "at most 10"`,
		`/b/x of GatewayConfig/t/g default (level 6) is shadowed by GatewayClassConfig/s/c constraint/few (level 2); it says "no b"`,
		`/c of GatewayConfig/t/g default (level 6) is removed by GatewayClassConfig/s/c remove (level 2)`,
		`GatewayConfig/t/g default (level 6) is inactive (AtomicOverridden), by GatewayClassConfig/s/c constraint/few (level 2)`,
		`GatewayClassConfig/s/c constraint/few (level 2) is inactive (WhenFalse)`,
	}
	if diff := cmp.Diff(want, rdg.Status.Origins); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}

	e.Hidden[0].Path = strings.Repeat("/b", maxOrigins)
	Rendering(&rdg, Report{Values: e}, Outcome{})
	if diff := cmp.Diff(want[:1], rdg.Status.Origins); diff != "" {
		t.Errorf("what is shown where there is no room for more (-want +got)\n%s", diff)
	}
	if want := "the origins of 4 values are left out; `gatewright values` prints them"; rdg.Status.Truncated != want {
		t.Errorf("truncated: want %q, got %q", want, rdg.Status.Truncated)
	}
}

// TestWhatIsThereWhileATemplateFails: there are no last good objects of what never was rendered.
func TestWhatIsThereWhileATemplateFails(t *testing.T) {
	failed := verdict.No(v1alpha1.ReasonFailed, "no")
	cases := map[string]struct {
		outcome             Outcome
		programmed, applied string
	}{
		"the objects from before stay": {
			Outcome{Failed: &failed}, "no; the last good objects stay",
			"nothing is applied while a template fails; the last good objects stay, and the values of this report are not in effect yet",
		},
		"there are none from before": {
			Outcome{Failed: &failed, Fresh: true}, "no; there are no objects from before, so nothing runs",
			"nothing is applied while a template fails; there are no objects from before, so nothing runs, and the values of this report are not in effect yet",
		},
		"some came before the failure": {
			Outcome{Failed: &failed, Fresh: true, Objects: []v1alpha1.RenderedObject{object(v1alpha1.ObjectCurrent, "")}}, "no; the last good objects stay",
			"nothing is applied while a template fails; the last good objects stay, and the values of this report are not in effect yet",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.programmed, c.applied}, []string{c.outcome.Programmed().Message, c.outcome.Applied().Message}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
