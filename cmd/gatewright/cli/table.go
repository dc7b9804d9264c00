package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"github.com/gatewright/gatewright/internal/manifest"
	"github.com/gatewright/gatewright/values"
)

// maxValue is how much of a value a table shows.
const maxValue = 48

// printValues prints the values of subjects, each with a heading if there are several.
func printValues(out io.Writer, format string, subjects []subject) error {
	var text bytes.Buffer
	for i, s := range subjects {
		document, err := s.document(format)
		if err != nil {
			return err
		}
		if len(subjects) > 1 {
			text.WriteString(s.heading(format, i == 0))
		}
		text.Write(document)
	}
	return write(out, text.Bytes())
}

// heading sets the documents of several subjects apart. JSON has no comments, but documents may follow each other.
func (s subject) heading(format string, first bool) string {
	separator := ""
	switch {
	case format == outputJSON:
		return ""
	case format == outputYAML:
		return "---\n# " + s.title() + "\n"
	case !first:
		separator = "\n"
	}
	return separator + s.title() + "\n"
}

func (s subject) document(format string) ([]byte, error) {
	if format == outputTable {
		return s.table()
	}
	text, err := toJSON(s.values)
	if err != nil {
		return nil, fmt.Errorf("the values of %s: %w", s.title(), err)
	}
	if s.parent != "" {
		// The values come as one object. Which parent they are for is one more key of it, the first.
		text = append(fmt.Appendf(nil, `{"parent":%s,`, quoted(s.parent)), text[1:]...)
	}
	if format == outputYAML {
		return manifest.FromJSON(text)
	}
	return indented(text), nil
}

// table shows each leaf with who set it, and below it over whom; then what was removed and what is inactive.
func (s subject) table() ([]byte, error) {
	var text bytes.Buffer
	t := &table{tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)}
	if len(s.values.Origins) == 0 {
		t.row("no values")
	} else {
		t.row("PATH", "VALUE", "SET BY", "BLOCK", "LEVEL")
	}
	shown := s.values.Redacted()
	for _, o := range s.values.Origins {
		value, ok := values.Lookup(shown, o.Path)
		if !ok {
			value = values.RedactedText // it is part of something sensitive
		}
		t.row(path(o.Path), cell(value), o.SetBy, o.Block, level(o.Level)+says(o.Message))
		for _, shadowed := range o.Shadowed {
			t.row("", "", "  over "+shadowed.SetBy, shadowed.Block, level(shadowed.Level))
		}
	}
	t.absent(&s.values)
	if err := t.Flush(); err != nil {
		return nil, fmt.Errorf("printing the values of %s: %w", s.title(), err)
	}
	return text.Bytes(), nil
}

// absent shows what is not among the values: shadowed, removed, inactive.
func (t *table) absent(e *values.Effective) {
	if len(e.Hidden) > 0 {
		t.row()
		t.row("SHADOWED", "SET BY", "BLOCK", "LEVEL", "SHADOWED BY")
		for _, h := range e.Hidden {
			t.row(path(h.Path), h.SetBy, h.Block, level(h.Level), h.By.SetBy+" "+h.By.Because(h.Message))
		}
	}
	if len(e.Removed) > 0 {
		t.row()
		t.row("REMOVED", "SET BY", "BLOCK", "LEVEL", "REMOVED BY")
		for _, r := range e.Removed {
			t.row(path(r.Path), r.SetBy, r.Block, level(r.Level), r.By.SetBy+" "+r.By.Because(r.Message))
		}
	}
	if len(e.Inactive) > 0 {
		t.row()
		t.row("INACTIVE", "BLOCK", "LEVEL", "WHY")
		for _, i := range e.Inactive {
			t.row(i.SetBy, i.Block, level(i.Level), why(i))
		}
	}
}

// says adds the message of a constraint, if there is one.
func says(message string) string {
	if message == "" {
		return ""
	}
	return fmt.Sprintf("   says %q", message)
}

// why says why a block is inactive, and in whose favour.
func why(i values.Inactive) string {
	text := string(i.Reason)
	if i.By != nil {
		text += " by " + i.By.SetBy + " " + i.By.Block
	}
	if i.Message != "" {
		text += ": " + i.Message
	}
	return text
}

// table is written row by row.
type table struct{ *tabwriter.Writer }

func (t *table) row(cells ...string) { fmt.Fprintln(t.Writer, strings.Join(cells, "\t")) }

// level names a level by number and in words.
func level(l values.Level) string { return fmt.Sprintf("%d %s", l.Number(), l) }

// path shows a JSON pointer. Keys are anything that users write, and must not upset a terminal.
func path(pointer string) string {
	if strings.ContainsFunc(pointer, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(pointer)
	}
	return pointer
}

// cell shows a value as JSON in one line, so that "1" and 1 differ, and cuts it where it gets long.
func cell(value any) string {
	text := []rune(quoted(value))
	if len(text) > maxValue {
		return string(text[:maxValue-3]) + "..."
	}
	return string(text)
}

// quoted writes a value as JSON, without what a terminal might obey.
func quoted(value any) string {
	text, err := toJSON(value)
	if err != nil {
		// A tree that was decoded from JSON can be encoded.
		return "?"
	}
	return string(text)
}
