package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Tree is a tree of values, with numbers as Kubernetes decodes them.
type Tree map[string]any

// UnmarshalJSON tells int64 from float64.
func (t *Tree) UnmarshalJSON(text []byte) error {
	return utiljson.Unmarshal(text, (*map[string]any)(t))
}

// Outcome is what comes of values, in short: a line for each leaf and each block.
type Outcome struct {
	Values Tree `json:"values"`
	// Provenance is `PATH by SOURCE BLOCK over SOURCE BLOCK, ...` for each leaf; those whom it shadows come last.
	Provenance []string `json:"provenance,omitempty"`
	// Shadowed is `PATH of SOURCE BLOCK by SOURCE BLOCK` for each leaf that is shadowed and that provenance says nothing of.
	Shadowed []string `json:"shadowed,omitempty"`
	// Removed is `PATH of SOURCE by BLOCK of SOURCE`.
	Removed []string `json:"removed,omitempty"`
	// Inactive is `SOURCE BLOCK: REASON by SOURCE`.
	Inactive []string `json:"inactive,omitempty"`
	// Warnings are `SOURCE BLOCK/PATH: REASON`.
	Warnings []string `json:"warnings,omitempty"`
}

// setter is a block of a source of values, as it is shown.
type setter struct {
	SetBy string `json:"setBy"`
	Block string `json:"block"`
	Level int    `json:"level"`
}

func (s setter) String() string { return s.SetBy + " " + s.Block }

// shown are values as they are shown. A result that has more to show than this is not what any case expects.
type shown struct {
	Values     Tree `json:"values"`
	Provenance []struct {
		Path string `json:"path"`
		setter
		Shadowed []setter `json:"shadowed"`
		Message  string   `json:"message"`
	} `json:"provenance"`
	Shadowed []struct {
		Path string `json:"path"`
		setter
		By      setter `json:"shadowedBy"`
		Message string `json:"message"`
	} `json:"shadowed"`
	Removed []struct {
		Path string `json:"path"`
		setter
		By      setter `json:"removedBy"`
		Message string `json:"message"`
	} `json:"removed"`
	Inactive []struct {
		setter
		Reason  string  `json:"reason"`
		By      *setter `json:"by"`
		Message string  `json:"message"`
	} `json:"inactive"`
	Warnings []struct {
		setter
		Reason  string `json:"reason"`
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"warnings"`
}

// Shown reads values as the tool prints them in JSON.
func Shown(t testing.TB, text []byte) Outcome {
	t.Helper()
	var s shown
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	outcome := Outcome{Values: s.Values}
	for _, o := range s.Provenance {
		line := fmt.Sprintf("%s by %s", o.Path, o.setter)
		if len(o.Shadowed) > 0 {
			line += " over " + listed(o.Shadowed)
		}
		outcome.Provenance = append(outcome.Provenance, line)
	}
	for _, h := range s.Shadowed {
		outcome.Shadowed = append(outcome.Shadowed, fmt.Sprintf("%s of %s by %s", h.Path, h.setter, h.By))
	}
	for _, r := range s.Removed {
		outcome.Removed = append(outcome.Removed, fmt.Sprintf("%s of %s by %s of %s", r.Path, r.SetBy, r.By.Block, r.By.SetBy))
	}
	for _, i := range s.Inactive {
		line := fmt.Sprintf("%s: %s", i.setter, i.Reason)
		if i.By != nil {
			line += " by " + i.By.SetBy
		}
		outcome.Inactive = append(outcome.Inactive, line)
	}
	for _, w := range s.Warnings {
		outcome.Warnings = append(outcome.Warnings, fmt.Sprintf("%s%s: %s", w.setter, w.Path, w.Reason))
	}
	return outcome
}

func listed(setters []setter) string {
	names := make([]string, len(setters))
	for i, s := range setters {
		names[i] = s.String()
	}
	return strings.Join(names, ", ")
}

// Row is the number of the row of the decision table that the case is about; 0 if its name tells none.
func (c Case) Row() int {
	var row int
	if _, err := fmt.Sscanf(strings.TrimPrefix(c.Name, "row "), "%d:", &row); err != nil {
		return 0
	}
	return row
}
