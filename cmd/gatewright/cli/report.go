package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// report tells on standard error what people should know of what is printed, and counts what is missing in it.
type report struct {
	out             io.Writer
	pending, broken int
	// told is what is told only once.
	told map[string]bool
}

func newReport(out io.Writer) *report { return &report{out: out, told: map[string]bool{}} }

// say tells something about a subject; a message of several lines is told line by line.
func (r *report) say(subject, format string, args ...any) {
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintf(r.out, "%s: %s\n", subject, line)
	}
}

// notes tells what is about the input as a whole.
func (r *report) notes(notes []string) {
	for _, note := range notes {
		fmt.Fprintln(r.out, note)
	}
}

// refused tells of a verdict against its subject.
func (r *report) refused(subject string, v verdict.Verdict) {
	if !v.OK {
		r.say(subject, "not accepted (%s): %s", v.Reason, v.Message)
	}
}

// unresolved tells of a verdict against what its subject refers to, once: a route refers to the same under each of its Gateways.
func (r *report) unresolved(subject string, v *verdict.Verdict) {
	if v != nil && !v.OK && r.first(subject+" "+v.Reason) {
		r.say(subject, "references not resolved (%s): %s", v.Reason, v.Message)
	}
}

// cautions tells of a condition that is there only where there is something to say.
func (r *report) cautions(subject string, v *verdict.Verdict) {
	if v != nil {
		r.say(subject, "%s: %s", v.Reason, v.Message)
	}
}

// first says whether something was not told before.
func (r *report) first(text string) bool {
	told := r.told[text]
	r.told[text] = true
	return !told
}

// warn tells what a policy does not do that its author may think it does: once, since what goes wrong for a Gateway mostly goes
// wrong for each of its routes.
func (r *report) warn(subject string, warnings []values.Warning) {
	for _, w := range warnings {
		text := fmt.Sprintf("%s of %s: %s", w.Block, w.SetBy, w.Message)
		if w.Path != "" {
			text = fmt.Sprintf("%s %s of %s: %s", w.Block, path(w.Path), w.SetBy, w.Message)
		}
		if r.first(text) {
			r.say(subject, "%s", text)
		}
	}
}

// waits tells of a template that is pending.
func (r *report) waits(subject, template, message string) {
	r.pending++
	r.say(subject, "pending: template %s %s", template, message)
}

// failed tells of what is broken.
func (r *report) failed(subject, message string) {
	r.broken++
	r.say(subject, "failed: %s", message)
}

// verdict is an error if something is missing in what was printed.
func (r *report) verdict() error {
	if r.pending+r.broken == 0 {
		return nil
	}
	return errors.New("what is printed is not all: " + strings.Join(r.counts(), ", "))
}

func (r *report) counts() []string {
	var counts []string
	if r.pending > 0 {
		counts = append(counts, fmt.Sprintf("%d pending", r.pending))
	}
	if r.broken > 0 {
		counts = append(counts, fmt.Sprintf("%d failed", r.broken))
	}
	return counts
}
