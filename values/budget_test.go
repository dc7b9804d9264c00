package values

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConditionsShareBudgets has conditions each of which costs most of what one may, and that do not hold.
func TestConditionsShareBudgets(t *testing.T) {
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 40), ",") + "]"
	dear := "!" + list + ".all(a, " + list + ".all(b, a + b > 0))"
	costly := func(count int) string {
		blocks := "constraints:"
		for i := range count {
			blocks += fmt.Sprintf("\n- {name: c%d, when: '%s', override: {c%d: applies}}", i, dear, i)
		}
		return blocks
	}
	cheap := func(name string) string {
		return fmt.Sprintf("constraints: [{name: cheap, when: 'has(self.none)', override: {%s: applies}}]", name)
	}
	// looked is how many of such conditions a budget is good for.
	condition, err := compileCondition(dear)
	if err != nil {
		t.Fatal(err)
	}
	_, cost, err := condition.holds(map[string]any{varSelf: Tree{}, varLower: Tree{}, varTarget: Tree{}})
	if err != nil || cost == 0 {
		t.Fatalf("one of the conditions costs %d: %v", cost, err)
	}
	looked := func(budget uint64) int { return int((budget + cost - 1) / cost) }
	each := looked(sourceBudget)

	cases := map[string]struct {
		policies []policyAt
		want     Tree
		warning  error
	}{
		"as many conditions of a policy are looked at as its budget is good for": {
			policies: []policyAt{{LevelGateway, "p", 0, costly(each)}},
			want:     Tree{},
		},
		"past the budget of a policy its constraints apply, and the policy is told": {
			policies: []policyAt{{LevelGateway, "p", 0, costly(each + 1)}},
			want:     Tree{fmt.Sprintf("c%d", each): "applies"}, warning: errSpent,
		},
		"past the budget of a policy the conditions of others are looked at as ever": {
			policies: []policyAt{
				{LevelGateway, "p", 0, costly(each + 1)},
				{LevelNamespace, "q", 0, cheap("other")},
			},
			want: Tree{fmt.Sprintf("c%d", each): "applies"}, warning: errSpent,
		},
		"past the budget of all policies the constraints of the others apply": {
			policies: append(many(LevelGateway, looked(totalBudget)/each, costly(each)),
				policyAt{LevelGateway, "rest", 100, costly(looked(totalBudget) % each)},
				policyAt{LevelClassGlobal, "guard", 0, cheap("guard")}),
			want: Tree{"guard": "applies"}, warning: errAllSpent,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var policies []*Policy
			for _, p := range c.policies {
				policies = append(policies, at(t, p.level, p.name, p.created, p.blocks))
			}
			e := Compute(nil, policies, gatewayTarget())
			if diff := cmp.Diff(c.want, e.Tree); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var warnings, want []string
			for _, w := range e.Warnings {
				warnings = append(warnings, w.Message)
			}
			if c.warning != nil {
				want = []string{c.warning.Error() + ", so the block applies"}
			}
			if diff := cmp.Diff(want, warnings); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// many are policies of one level with the same blocks.
func many(level Level, count int, blocks string) []policyAt {
	list := make([]policyAt, count)
	for i := range list {
		list[i] = policyAt{level, fmt.Sprintf("p%d", i), i, blocks}
	}
	return list
}
