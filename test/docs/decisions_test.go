package docs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decisionRow is a row of the table of decisions, with its number and the test that it names.
var decisionRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*\| \[(\w+(?:/\w+)?)\]\(\.\./values/decisions_test\.go\) \|$`)

// decisions is how many rows the table has.
const decisions = 24

func TestEveryRowOfTheTableOfDecisionsNamesATestThatExists(t *testing.T) {
	tests := read(t, "values/decisions_test.go").text
	var want, got []string
	for i := range decisions {
		want = append(want, fmt.Sprintf("row %d", i+1))
	}
	for _, row := range decisionRow.FindAllStringSubmatch(read(t, "docs/values.md").text, -1) {
		number, test := row[1], row[2]
		got = append(got, "row "+number)
		declared := "func " + test + "("
		if table, found := strings.CutSuffix(test, "/row_"+number); found {
			declared = "func " + table + "("
			if !strings.Contains(tests, `"row `+number+`: `) {
				t.Errorf("row %s: %s has no case of that number", number, table)
			}
		}
		if !strings.Contains(tests, declared) {
			t.Errorf("row %s: there is no %s", number, declared)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of docs/values.md that name a test (-want +got):\n%s", diff)
	}
}
