package faults_test

import (
	"fmt"
	"io"
	"testing"
)

// A result is what became of the invariants after one fault.
type result struct {
	fault, detail string
	// held says that the test of it went on to its end, and found nothing.
	held bool
}

// resultList is what a long run prints at its end. Tests run one after the other.
type resultList []*result

var results resultList

// note notes down that a fault is about to happen. What it returns is to be told when all that must hold was looked at.
func (l *resultList) note(fault, detail string) *result {
	r := &result{fault: fault, detail: detail}
	*l = append(*l, r)
	return r
}

func (r *result) done(t *testing.T) { r.held = !t.Failed() }

// print writes a table as Markdown.
func (l resultList) print(to io.Writer) {
	held := 0
	_, _ = fmt.Fprint(to, "\n| fault | at | invariants |\n|---|---|---|\n")
	for _, r := range l {
		outcome := "**broken**"
		if r.held {
			held++
			outcome = "hold"
		}
		_, _ = fmt.Fprintf(to, "| %s | %s | %s |\n", r.fault, r.detail, outcome)
	}
	_, _ = fmt.Fprintf(to, "\n%d faults, %d of them with all invariants held, %d broken.\n\n", len(l), held, len(l)-held)
}
