package cli

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// print prints the view. A table has a heading only if there is something under it.
func (v *reachView) print(out io.Writer, format string) error {
	if v.Reaches == nil {
		// JSON never says null for a list.
		v.Reaches = []reached{}
	}
	switch {
	case format == outputJSON:
		return printJSON(out, v)
	case format == outputYAML:
		return printYAML(out, v)
	case len(v.Reaches) == 0:
		return nil
	}
	var text bytes.Buffer
	t := &table{tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)}
	if v.Path == "" {
		v.countedRows(t)
	} else {
		v.rows(t)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("printing what %s reaches: %w", v.Policy, err)
	}
	return write(out, text.Bytes())
}

// rows are about one path.
func (v *reachView) rows(t *table) {
	t.row("TARGET", "LEVEL", "VERDICT")
	for _, row := range v.Reaches {
		t.row(row.Target, level(row.Level), row.Verdict)
	}
}

// countedRows are about the whole policy.
func (v *reachView) countedRows(t *table) {
	t.row("TARGET", "LEVEL", "SET", "SHADOWED", "REMOVED", "VERDICT")
	for _, row := range v.Reaches {
		t.row(row.Target, level(row.Level),
			strconv.Itoa(places(row.Set)), strconv.Itoa(places(row.Shadowed)), strconv.Itoa(places(row.Removed)), row.Verdict)
	}
}
