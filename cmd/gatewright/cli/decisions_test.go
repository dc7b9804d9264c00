package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/cases"
)

// TestTheToolShowsTheDecisionTable holds what the tool prints to the cases that the merging itself is held to.
func TestTheToolShowsTheDecisionTable(t *testing.T) {
	for _, c := range cases.Decisions(t) {
		t.Run(c.Name, func(t *testing.T) {
			file := fileWith(t, c)
			if diff := cmp.Diff(c.Outcome, shownValues(t, file)); diff != "" {
				t.Errorf("values (-want +shown):\n%s", diff)
			}
			if diff := cmp.Diff(c.Unmatched, shownUnmatched(t, file, c.Policies)); diff != "" {
				t.Errorf("target references that reach nothing (-want +shown):\n%s", diff)
			}
		})
	}
}

func TestTheToolShowsTheExamplesOfRFC0009(t *testing.T) {
	for _, c := range cases.RFC0009(t) {
		t.Run(c.Name, func(t *testing.T) {
			if diff := cmp.Diff(c.Values, shownValues(t, fileWith(t, c)).Values); diff != "" {
				t.Errorf("values (-want +shown):\n%s", diff)
			}
		})
	}
}

func fileWith(t *testing.T, c cases.Case) string {
	t.Helper()
	// The name of the directory holds the name of the case, and a comma in -f would make two names of it.
	t.Chdir(t.TempDir())
	const file = "case.yaml"
	if err := os.WriteFile(file, c.Manifests(t), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// shownValues are those of the Gateway of a case. JSON has a place for all that there is to say of them.
func shownValues(t *testing.T, file string) cases.Outcome {
	t.Helper()
	got := command("", "gatewright", "values", "-f", file, "--gateway", "team/edge", "-o", "json")
	// It may say that target references reach nothing, and nothing else.
	if got.code != exitDone || strings.TrimSpace(told.ReplaceAllString(got.err, "")) != "" {
		t.Fatal(got)
	}
	return cases.Shown(t, []byte(got.out))
}

// told is a line that says of a target reference that it reaches nothing.
var told = regexp.MustCompile(`(?m)^(\w+) (\S+), target (\d+): not accepted \((\w+)\): .+$`)

// shownUnmatched are the target references of the policies of a case that reach nothing: as `reach` shows them, which says the
// same on standard error. It knows no policies that are being deleted.
func shownUnmatched(t *testing.T, file string, policies []cases.Policy) []string {
	t.Helper()
	var unmatched []string
	for _, p := range policies {
		if p.Deleted {
			continue
		}
		object := p.Object()
		name := fmt.Sprintf("%s/%s/%s", object.PolicyKind(), object.GetNamespace(), object.GetName())
		got := command("", "gatewright", "reach", "-f", file, name, "-o", "json")
		var view reachView
		if err := json.Unmarshal([]byte(got.out), &view); err != nil || got.code != exitDone {
			t.Fatal(err, got)
		}
		var shown, said []string
		for _, u := range view.Unmatched {
			shown = append(shown, fmt.Sprintf("%s target %d: %s", name, u.Target, u.Reason))
		}
		for _, line := range told.FindAllStringSubmatch(got.err, -1) {
			said = append(said, fmt.Sprintf("%s/%s target %s: %s", line[1], line[2], line[3], line[4]))
		}
		if diff := cmp.Diff(shown, said); diff != "" {
			t.Errorf("%s (-JSON +standard error):\n%s", name, diff)
		}
		unmatched = append(unmatched, shown...)
	}
	return unmatched
}
