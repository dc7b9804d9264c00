package values

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/test/cases"
)

// TestDecisionTable holds the rows of the decision table on values, by number; some have tests of their own below, too. What is
// compared is what Effective shows of itself. That target references match nothing is not told here, but in internal/desired.
func TestDecisionTable(t *testing.T) {
	for _, c := range cases.Decisions(t) {
		t.Run(c.Name, func(t *testing.T) {
			if diff := cmp.Diff(c.Outcome, outcome(t, c)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRFC0009(t *testing.T) {
	for _, c := range cases.RFC0009(t) {
		t.Run(c.Name, func(t *testing.T) {
			if diff := cmp.Diff(c.Values, outcome(t, c).Values); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// outcome computes what comes of a case.
func outcome(t *testing.T, c cases.Case) cases.Outcome {
	t.Helper()
	bp, v := ParseBlueprint(c.BlueprintObject(), nil)
	if !v.OK {
		t.Fatal(v.Message)
	}
	var policies []*Policy
	for _, p := range c.Policies {
		policies = append(policies, mustParse(t, p.Object()))
	}
	text, err := json.Marshal(Compute(bp, policies, gatewayTarget()))
	if err != nil {
		t.Fatal(err)
	}
	return cases.Shown(t, text)
}

func TestDecisionRow21APolicyBeingDeletedIsIgnored(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0, "targetRef: "+refYAML("kind: Gateway, name: edge")+"\ndefault: {a: 1}")
	now := metav1.NewTime(epoch)
	o.SetDeletionTimestamp(&now)
	if diff := cmp.Diff(Effective{Tree: Tree{}, Contributions: []Contribution{}}, Compute(nil, []*Policy{mustParse(t, o)}, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecisionRow22AMissingTargetOrSectionContributesNothing(t *testing.T) {
	target := listenerTarget()
	for _, fields := range []string{
		"kind: Gateway, name: other", "kind: Gateway, name: edge, sectionName: other", "kind: ListenerSet, name: extra",
		"kind: HTTPRoute, name: web", "kind: Namespace, name: other", "kind: Gateway, selector: {matchLabels: {app: other}}",
	} {
		p := mustParse(t, object(t, "GatewayConfig", "team", "p", 0, "targetRefs: ["+refYAML(fields)+"]\ndefault: {a: 1}"))
		if diff := cmp.Diff(Effective{Tree: Tree{}, Contributions: []Contribution{}}, Compute(nil, []*Policy{p}, target)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", fields, diff)
		}
	}
}

func TestDecisionRow23APolicyThatMatchesByTwoRefsCountsOnceAtTheMostSpecific(t *testing.T) {
	p := mustParse(t, object(t, "GatewayConfig", "team", "p", 0,
		"targetRefs: ["+refYAML("kind: Namespace, name: team")+","+refYAML("kind: Gateway, name: other")+","+refYAML("kind: Gateway, name: edge")+"]\ndefault: {a: 1}"))
	setter := Setter{"GatewayConfig/team/p", BlockDefault, LevelGateway}
	want := Effective{
		Tree:          Tree{"a": int64(1)},
		Origins:       []Origin{{"/a", setter, []Setter{}, ""}},
		Contributions: []Contribution{{Source: setter.SetBy, Level: LevelGateway, Refs: []int{0, 2}, Sets: 1}},
	}
	if diff := cmp.Diff(want, Compute(nil, []*Policy{p}, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDecisionRow24NumbersAreAsKubernetesDecodesThem(t *testing.T) {
	o := object(t, "GatewayConfig", "team", "p", 0, "targetRef: "+refYAML("kind: Gateway, name: edge"))
	o.PolicySpec().Default = &apiextensionsv1.JSON{Raw: []byte(
		`{"i": 1, "max": 9223372036854775807, "f": 1.0, "half": 0.5, "beyond": 9223372036854775808, "s": "1", "list": [1, 1.5]}`)}
	p := mustParse(t, o)
	want := Tree{
		"i": int64(1), "max": int64(9223372036854775807), "f": float64(1), "half": 0.5, "beyond": float64(9223372036854775808), "s": "1",
		"list": []any{int64(1), 1.5},
	}
	if diff := cmp.Diff(want, Compute(nil, []*Policy{p}, gatewayTarget()).Tree); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
