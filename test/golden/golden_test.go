package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const expectedFile = "expected.yaml"

var update = flag.Bool("update", false, "rewrite the expected.yaml of every case")

// folder is a case: what goes in, and where the outcome stands.
type folder struct {
	inputs   []string
	observed string
	expected string
}

func TestCasesComeOutAsExpected(t *testing.T) {
	for name, f := range folders(t) {
		t.Run(name, func(t *testing.T) {
			w, err := load(f.inputs, f.observed)
			if err != nil {
				t.Fatal(err)
			}
			got := yamlOf(t, judge(w))
			if *update {
				if err := os.WriteFile(f.expected, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(f.expected)
			if err != nil {
				t.Fatalf("%v; go test ./test/golden -update writes it", err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("not as expected (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCasesComeOutTheSameInWhateverOrderTheyAreTold(t *testing.T) {
	for name, f := range folders(t) {
		t.Run(name, func(t *testing.T) {
			w, err := load(f.inputs, f.observed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(yamlOf(t, judge(w)), yamlOf(t, judge(w.reversed()))); diff != "" {
				t.Errorf("the order of the input shows (-forwards +backwards):\n%s", diff)
			}
		})
	}
}

func TestCasesLeaveTheirInputAsItIs(t *testing.T) {
	for name, f := range folders(t) {
		t.Run(name, func(t *testing.T) {
			before, err := load(f.inputs, f.observed)
			if err != nil {
				t.Fatal(err)
			}
			after, err := load(f.inputs, f.observed)
			if err != nil {
				t.Fatal(err)
			}
			judge(after)
			if diff := cmp.Diff(before, after, cmp.AllowUnexported(world{})); diff != "" {
				t.Errorf("the input changed (-before +after):\n%s", diff)
			}
		})
	}
}

// folders are all cases of all blueprints, and all samples, whose outcome stands in this package.
func folders(t *testing.T) map[string]folder {
	t.Helper()
	out := map[string]folder{}
	for _, input := range glob(t, "../../blueprints/*/cases/*/input.yaml") {
		path := filepath.Dir(input)
		blueprint := filepath.Dir(filepath.Dir(path))
		out[filepath.Base(blueprint)+"/"+filepath.Base(path)] = folder{
			inputs:   []string{filepath.Join(blueprint, "blueprint.yaml"), input},
			observed: filepath.Join(path, "observed.yaml"),
			expected: filepath.Join(path, expectedFile),
		}
	}
	for _, path := range glob(t, "../../samples/*") {
		inputs, err := files(path)
		if err != nil {
			t.Fatal(err)
		}
		// A sample is applied as it is, so that what is expected of it cannot stand in its folder.
		out["samples/"+filepath.Base(path)] = folder{
			inputs:   inputs,
			expected: filepath.Join("testdata", "samples", filepath.Base(path), expectedFile),
		}
	}
	return out
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("nothing is like %s: %v", pattern, err)
	}
	return paths
}

func yamlOf(t *testing.T, r report) string {
	t.Helper()
	text, err := r.yaml()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
