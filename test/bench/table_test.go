package bench

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// envTable names the file that holds the table; without it the table is only printed.
const envTable = "GATEWRIGHT_BENCH_TABLE"

// row is a line of the table. Each workload is run several times, and the least that was measured counts, since whatever else a
// machine does only adds to it.
type row struct {
	workload, target string
	// took is a time, and least its bound; 0 where there is none. The shortest counts, of each by itself. Both are shown for
	// one of many, if there are.
	took, least time.Duration
	many        int
	// What is no time is measured, beside bound and ratio where there are any; the round of the least cost counts.
	measured, bound string
	cost, ratio     float64
}

// table collects rows over all benchmarks of a run.
type table struct {
	mu   sync.Mutex
	rows map[string]row
}

var results = &table{rows: map[string]row{}}

// add adds a row, or improves one.
func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before, ok := t.rows[r.workload]
	switch {
	case !ok || r.measured != "" && r.cost < before.cost:
	case r.measured != "":
		return
	default:
		r.took, r.least = min(r.took, before.took), min(r.least, before.least)
	}
	t.rows[r.workload] = r
}

// line is a row as it stands in a file.
func (r row) line() string {
	measured, bound, ratio := r.measured, r.bound, r.ratio
	if measured == "" {
		measured = r.time(r.took)
	}
	if r.least > 0 {
		bound, ratio = r.time(r.least), r.took.Seconds()/r.least.Seconds()
	}
	shown := ""
	if ratio > 0 {
		shown = fmt.Sprintf("%.2fx", ratio)
	}
	return strings.Join([]string{"", r.workload, measured, bound, shown, r.target, day(), ""}, " | ")
}

func (r row) time(d time.Duration) string {
	d /= time.Duration(max(r.many, 1))
	switch {
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", ms(d))
	default:
		return fmt.Sprintf("%.2f ms", ms(d))
	}
}

// The table stands between these two lines of its file.
const (
	tableBegin = "<!-- table: written by make bench -->"
	tableEnd   = "<!-- end of table -->"
)

// print prints the table, and puts its rows into the file; those of workloads that did not run stay there.
func (t *table) print() error {
	if len(t.rows) == 0 {
		return nil
	}
	lines := map[string]string{}
	for _, r := range t.rows {
		lines[r.workload] = r.line()
	}
	path := os.Getenv(envTable)
	if path == "" {
		fmt.Fprint(os.Stdout, layout(lines))
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), tableBegin)
	old, after, ok2 := strings.Cut(rest, tableEnd)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no place for the table: write %q and %q into it", path, tableBegin, tableEnd)
	}
	for line := range strings.Lines(old) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		name := strings.TrimSpace(cells[1])
		if name == "workload" || strings.HasPrefix(name, "---") || lines[name] != "" {
			continue
		}
		lines[name] = " " + strings.TrimSpace(line)
	}
	fmt.Fprint(os.Stdout, layout(lines))
	return os.WriteFile(path, []byte(before+tableBegin+"\n"+layout(lines)+tableEnd+after), 0o600)
}

func day() string { return time.Now().UTC().Format(time.DateOnly) }

func layout(lines map[string]string) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "\nOn %d processors (%s/%s), with etcd, the API server and the controller on them.\n\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	out.WriteString("| workload | measured | bound | ratio | target | on |\n|---|---|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		out.WriteString(strings.TrimSpace(lines[name]) + "\n")
	}
	out.WriteString("\n")
	return out.String()
}
