package cases

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The decision table has as many rows, and the RFC as many examples.
const (
	rows     = 24
	examples = 11
)

func TestEveryRowOfTheDecisionTableHasACase(t *testing.T) {
	seen := map[int]bool{}
	for _, c := range Decisions(t) {
		seen[c.Row()] = true
	}
	for row := 1; row <= rows; row++ {
		if !seen[row] {
			t.Errorf("row %d has no case", row)
		}
		delete(seen, row)
	}
	if len(seen) > 0 {
		t.Errorf("there are cases of rows that the table does not have: %v", seen)
	}
}

func TestCasesCanBeToldApartAndStandSomewhere(t *testing.T) {
	all := slices.Concat(Decisions(t), RFC0009(t))
	names := map[string]bool{}
	for _, c := range all {
		if names[c.Name] {
			t.Errorf("two cases are called %q", c.Name)
		}
		names[c.Name] = true
		for _, p := range c.Policies {
			if _, known := places[p.At]; !known {
				t.Errorf("%s: there is no place %q", c.Name, p.At)
			}
		}
	}
	if got := len(RFC0009(t)); got != examples {
		t.Errorf("the RFC has %d examples, and there are %d", examples, got)
	}
}

// TestTheExamplesAreThoseThatAreShared compares with the copy that others share, where that is at hand.
func TestTheExamplesAreThoseThatAreShared(t *testing.T) {
	shared, err := os.ReadFile(filepath.FromSlash("../../../shared/cases/rfc0009.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no other copy here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(shared), string(rfc0009)); diff != "" {
		t.Errorf("rfc0009.yaml (-shared +ours):\n%s", diff)
	}
}
