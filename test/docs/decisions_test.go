package docs

import (
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/cases"
)

// decisionRow is a row of the table of decisions, with its number and the number of the cases that it names.
var decisionRow = regexp.MustCompile(`(?m)^\| (\d+) \|.*\| \[row (\d+)\]\(\.\./test/cases/decisions\.yaml\) \|$`)

func TestEveryRowOfTheTableOfDecisionsNamesItsCases(t *testing.T) {
	var want, got, named []string
	for _, c := range cases.Decisions(t) {
		want = append(want, strconv.Itoa(c.Row()))
	}
	want = slices.Compact(want)
	for _, row := range decisionRow.FindAllStringSubmatch(read(t, "docs/values.md").text, -1) {
		got, named = append(got, row[1]), append(named, row[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows of docs/values.md (-cases +rows):\n%s", diff)
	}
	if diff := cmp.Diff(got, named); diff != "" {
		t.Errorf("the cases that rows name (-rows +named):\n%s", diff)
	}
}
