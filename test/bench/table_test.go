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

// row is a line of the table.
type row struct {
	workload string
	// ours and least are what was measured, with their units; least is "" where there is no bound.
	ours, least string
	// cost orders repeated measurements of one workload; the least counts, since whatever else runs only adds to it.
	cost float64
	// ratio to the bound; 0 where there is none.
	ratio  float64
	target string
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
	if before, ok := t.rows[r.workload]; !ok || r.cost < before.cost {
		t.rows[r.workload] = r
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
		ratio := ""
		if r.ratio > 0 {
			ratio = fmt.Sprintf("%.2fx", r.ratio)
		}
		lines[r.workload] = strings.Join([]string{"", r.workload, r.ours, r.least, ratio, r.target, day(), ""}, " | ")
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

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
