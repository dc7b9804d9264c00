package render

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/gatewright/gatewright/test/hostile"
)

// FuzzUniqueName holds that names are labels, and that two lists of strings have the same name only if they are the same list.
func FuzzUniqueName(f *testing.F) {
	for _, lists := range [][4]string{
		{"team", "a-web", "team-a", "web"}, {"a", "", "", "a"}, {"A", "b", "a", "b"}, {"1:a", "b", "1", ":ab"},
		{"x", "y", "x\x00y", ""}, {"\u00e9", "a", "e\u0301", "a"}, {"-", "--", "--", "-"},
	} {
		f.Add(lists[0], lists[1], lists[2], lists[3])
	}
	f.Fuzz(checkName)
}

func TestNamesOfMadeUpStringsAreUnique(t *testing.T) {
	texts := slices.Collect(hostile.Mutants(append(slices.Clone(hostile.Strings), "team", "team-a", "a-web", "web"), mutants))
	for i := range len(texts) - 3 {
		checkName(t, texts[i], texts[i+1], texts[i+2], texts[i+3])
		checkName(t, texts[i], texts[i+1], texts[i]+texts[i+1], "")
	}
}

func checkName(t *testing.T, a, b, c, d string) {
	t.Helper()
	name := func(parts ...string) (string, []string) {
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		var args []any
		for _, part := range parts {
			args = append(args, part)
		}
		result, err := uniqueName(nil, args)
		if err != nil {
			return "", parts
		}
		return fmt.Sprint(result), parts
	}
	one, parts := name(a, b)
	other, others := name(c, d)
	if problems := content.IsDNS1123Label(one); len(parts) > 0 && len(problems) > 0 {
		t.Errorf("%q are named %q, which is no label: %v", parts, one, problems)
	}
	if (one == other) != slices.Equal(parts, others) {
		t.Errorf("%q and %q are named %q and %q", parts, others, one, other)
	}
}
