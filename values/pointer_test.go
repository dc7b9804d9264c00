package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParsePath(t *testing.T) {
	cases := map[string][]string{
		`labels`:               {"labels"},
		`a.b-c.d_e`:            {"a", "b-c", "d_e"},
		`annotations["a.b/c"]`: {"annotations", "a.b/c"},
		`["a"]["b"].c`:         {"a", "b", "c"},
		`a["q\"]"].b`:          {"a", `q"]`, "b"},
		`a[""]`:                {"a", ""},
		`/json/pointer`:        {"json", "pointer"},
		`/a~1b/c~0d/~01`:       {"a/b", "c~d", "~1"},
		`/`:                    {""},
		`/0`:                   {"0"},
		"":                     nil,
		".":                    nil,
		"a.":                   nil,
		"a..b":                 nil,
		".a":                   nil,
		"a/b":                  nil,
		"a b":                  nil,
		"a[b]":                 nil,
		"a[0]":                 nil,
		"a[null]":              nil,
		`a["b"`:                nil,
		`a["b`:                 nil,
		`a['b']`:               nil,
		`a["b"]c`:              nil,
		`a"b"`:                 nil,
		"/a~2b":                nil,
		"/a~":                  nil,
		"a]":                   nil,
	}
	for text, want := range cases {
		got, err := parsePath(text)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%q (-want +got)\n%s%v", text, diff, err)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(want, keysOf(pointerTo(got))); diff != "" {
			t.Errorf("%q there and back (-want +got)\n%s", text, diff)
		}
	}
}

func TestLookup(t *testing.T) {
	values := tree(t, `{a: {"b/c": {"~d": 1}}, list: [1], "": 2}`)
	cases := map[string]struct {
		value any
		found bool
	}{
		"":            {any(values), true},
		"/a/b~1c/~0d": {int64(1), true},
		"/":           {int64(2), true},
		"/list":       {[]any{int64(1)}, true},
		"/list/0":     {int64(1), true},
		"/list/1":     {nil, false},
		"/list/x":     {nil, false},
		"/list/0/x":   {nil, false},
		"/a/x":        {nil, false},
		"a":           {nil, false},
	}
	for path, c := range cases {
		value, found := Lookup(values, path)
		if diff := cmp.Diff(c.value, value); diff != "" || found != c.found {
			t.Errorf("%q (-want +got)\n%s found: %t", path, diff, found)
		}
	}
}
