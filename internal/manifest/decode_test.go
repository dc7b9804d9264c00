package manifest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/test/hostile"
)

// found is a document in short.
type found struct {
	Line   int
	Object map[string]any
}

func shorten(docs []Document) []found {
	var out []found
	for _, d := range docs {
		out = append(out, found{d.Line, d.Object})
	}
	return out
}

func TestDecode(t *testing.T) {
	head := map[string]any{"apiVersion": "v1", "kind": "A"}
	cases := map[string]struct {
		text    string
		want    []found
		problem string
	}{
		"nothing is no document":                      {text: ""},
		"comments are no document":                    {text: "# a\n---\n# b\n---\n"},
		"each document knows its line":                {text: "apiVersion: v1\nkind: A\n---\n\napiVersion: v1\nkind: A\n", want: []found{{1, head}, {5, head}}},
		"a marker may be followed by a comment":       {text: "--- # one\napiVersion: v1\nkind: A\n...\n---\napiVersion: v1\nkind: A\n", want: []found{{2, head}, {6, head}}},
		"JSON is YAML":                                {text: `{"apiVersion": "v1", "kind": "A"}`, want: []found{{1, head}}},
		"only a marker separates":                     {text: "apiVersion: v1\nkind: A\npem: |\n  -----BEGIN CERTIFICATE-----\n  ---\nname: a---b\n", want: []found{{1, map[string]any{"apiVersion": "v1", "kind": "A", "pem": "-----BEGIN CERTIFICATE-----\n---\n", "name": "a---b"}}}},
		"JSON may write a character as two":           {text: `{"apiVersion": "v1", "kind": "A", "a": "\ud83d\ude00 \\ud83d\\ude00"}`, want: []found{{1, map[string]any{"apiVersion": "v1", "kind": "A", "a": `😀 \ud83d\ude00`}}}},
		"half a character is an error":                {text: `{"apiVersion": "v1", "kind": "A", "a": "\ud83d"}`, problem: "found invalid Unicode character escape code"},
		"a list is no object":                         {text: "- a\n", problem: "line 1: the document is a list, not an object"},
		"a scalar is no object":                       {text: "---\nsecret\n", problem: "line 2: the document is a string, not an object"},
		"a kind must be there":                        {text: "apiVersion: v1\n", problem: "line 1, kind: every object must have one, and it must be a string"},
		"an apiVersion must be a string":              {text: "apiVersion: 1\nkind: A\n", problem: "line 1, apiVersion: every object must have one, and it must be a string"},
		"a key twice":                                 {text: "apiVersion: v1\nkind: A\nspec:\n  ports:\n  - name: a\n    name: b\n", problem: "line 6, spec.ports[0].name: this key stands here twice"},
		"a key twice, quoted":                         {text: "apiVersion: v1\nkind: A\n\"kind\": B\n", problem: "line 3, kind: this key stands here twice"},
		"an anchor":                                   {text: "apiVersion: v1\nkind: &k A\n", problem: "line 2, kind: an anchor (&) is not allowed; quote the value if it is text"},
		"an anchor on a key":                          {text: "apiVersion: v1\n&k kind: A\n", problem: "line 2: an anchor (&) is not allowed; quote the value if it is text"},
		"an alias":                                    {text: "a: &x b\nc: *x\n", problem: "line 1, a: an anchor (&) is not allowed; quote the value if it is text"},
		"an alias of nothing":                         {text: "apiVersion: v1\nkind: *secret\n", problem: "an alias (*) is not allowed; write the value out, or quote it if it is text"},
		"a merge key":                                 {text: "apiVersion: v1\nkind: A\nspec:\n  <<: {a: b}\n", problem: "line 4, spec: a merge key (<<) is not allowed; write the keys out"},
		"a quoted merge key is a key":                 {text: "apiVersion: v1\nkind: A\n\"<<\": b\n", want: []found{{1, map[string]any{"apiVersion": "v1", "kind": "A", "<<": "b"}}}},
		"a tag":                                       {text: "apiVersion: v1\nkind: !!str A\n", problem: "line 2, kind: a tag (!) is not allowed; quote the value if it is text"},
		"a tag of one's own":                          {text: "apiVersion: v1\nkind: !secret A\n", problem: "line 2, kind: a tag (!) is not allowed; quote the value if it is text"},
		"a key that is a map":                         {text: "apiVersion: v1\nkind: A\n? {a: b}\n: c\n", problem: "line 3: a key must be a string"},
		"a key is its text":                           {text: "apiVersion: v1\nkind: A\non: 1\n0777: 2\nnull: 3\n", want: []found{{1, map[string]any{"apiVersion": "v1", "kind": "A", "on": int64(1), "0777": int64(2), "null": int64(3)}}}},
		"infinity is no value":                        {text: "apiVersion: v1\nkind: A\na: [.inf]\n", problem: "line 3, a[0]: infinity and NaN are no values in Kubernetes; quote it if it is text"},
		"a key with dots is quoted in paths":          {text: "apiVersion: v1\nkind: A\na.b/c: {x: .nan}\n", problem: "line 3, [\"a.b/c\"].x: infinity and NaN are no values in Kubernetes; quote it if it is text"},
		"a syntax error does not quote the text":      {text: "apiVersion: v1\nkind: A\nsecret\nb: c\n", problem: "line 3: could not find expected ':'"},
		"an error in a later document counts":         {text: "apiVersion: v1\nkind: A\n---\n\t\n", problem: "line 4: found character that cannot start any token"},
		"a control character":                         {text: "a: \x01", problem: "control characters are not allowed"},
		"lists that are nested deeply are an error":   {text: "apiVersion: v1\nkind: A\na: " + strings.Repeat("[", 256) + strings.Repeat("]", 256), problem: "line 3: lists and maps are nested more than 256 deep"},
		"text that is nested without end is an error": {text: strings.Repeat("[", 20000), problem: "exceeded max depth of 10000"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			docs, err := Decode([]byte(c.text))
			if c.problem == "" && err == nil {
				if diff := cmp.Diff(c.want, shorten(docs)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff(c.problem, fmt.Sprint(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlainScalarsMeanWhatTheyMeanToKubernetes compares with the library that kubectl reads YAML with.
func TestPlainScalarsMeanWhatTheyMeanToKubernetes(t *testing.T) {
	for scalar := range strings.FieldsSeq(`
		~ null Null NULL nULL true True TRUE tRUE yes Yes YES y Y on On ON false no n N off OFF nope
		0 1 -1 +1 007 0777 0o17 -0o17 0x1F 0b101 -0b101 1_000 1__0 _1 9223372036854775807 9223372036854775808 18446744073709551615
		18446744073709551616 -9223372036854775808 -9223372036854775809 99999999999999999999999999
		1.0 1.5 .5 -.5 +.5 1. 1.e3 1e3 1E3 1e-3 1e400 -1e3 1e21 1e18 1e19 0.1e1 . .. + - -- 1.2.3 1:30 1,000 0x 0b 0xZZ
		2001-01-01 2001-01-01T00:00:00Z 12e03 0.0 -0.0 -0 .e1 .1_0 e3 0o8 08 09 = % a-b 1a 10Mi 100m v1
		0b2 0x_1 1_ +0b1 NaN Infinity`) {
		var want struct{ V any }
		if err := yaml.Unmarshal([]byte("v: "+scalar), &want); err != nil {
			if tree, ours := DecodeTree([]byte("v: "+scalar), nil); ours == nil {
				t.Errorf("%s: kubectl refuses it (%v), and we read %v", scalar, err, tree)
			}
			continue
		}
		tree, err := DecodeTree([]byte("v: "+scalar), nil)
		if err != nil {
			t.Errorf("%s: %v", scalar, err)
			continue
		}
		got := tree.(map[string]any)["v"]
		// The library hands out JSON's float64 for all numbers.
		if i, ok := got.(int64); ok {
			got = float64(i)
		}
		if diff := cmp.Diff(want.V, got); diff != "" {
			t.Errorf("%s (-kubectl +ours):\n%s", scalar, diff)
		}
	}
}

func TestNumbersKeepTheirTypes(t *testing.T) {
	got, err := DecodeTree([]byte("[1, -1, 1.5, 1e3, 1e18, 9223372036854775807, 18446744073709551615, '1', \"1\"]"), nil)
	want := []any{int64(1), int64(-1), 1.5, int64(1000), int64(1000000000000000000), int64(9223372036854775807), 18446744073709551615.0, "1", "1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestDecodeTree(t *testing.T) {
	cases := map[string]struct {
		text    string
		want    any
		problem string
	}{
		"nothing is nil":                  {text: "# nothing"},
		"a list":                          {text: "- a\n- b", want: []any{"a", "b"}},
		"empty documents beside it count": {text: "---\n---\na\n---\n", want: "a"},
		"a second document is an error":   {text: "a\n---\nb", problem: "line 3: there must be only one document here"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := DecodeTree([]byte(c.text), nil)
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if diff := cmp.Diff([]any{c.want, c.problem}, []any{got, problem}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestBind(t *testing.T) {
	var seen []string
	bind := func(s Scalar) (any, bool, error) {
		seen = append(seen, fmt.Sprintf("%s plain=%t block=%t key=%t at %q of %q", strings.TrimSpace(s.Text), s.Plain, s.Block, s.Key, s.Path, s.Path.Keys()))
		switch s.Text {
		case "number":
			return int64(1), true, nil
		case "key":
			return "bound", true, nil
		case "bad":
			return nil, false, errors.New("no such thing")
		}
		return nil, false, nil
	}
	got, err := DecodeTree([]byte("key:\n- number\n- 'quoted'\n- |\n  block\n"), bind)
	if diff := cmp.Diff(map[string]any{"bound": []any{int64(1), "quoted", "block\n"}}, got); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	want := []string{
		`key plain=true block=false key=true at "" of []`,
		`number plain=true block=false key=false at "bound[0]" of ["bound" ""]`,
		`quoted plain=false block=false key=false at "bound[1]" of ["bound" ""]`,
		`block plain=false block=true key=false at "bound[2]" of ["bound" ""]`,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("what was asked (-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"a: bad":           "line 1, a: no such thing",
		"bad: a":           "line 1: no such thing",
		"number: a":        "line 1: a key must be a string",
		"key: 1\nbound: 2": "line 2, bound: this key stands here twice",
	} {
		if _, err := DecodeTree([]byte(text), bind); fmt.Sprint(err) != want {
			t.Errorf("%q: want %s, got %v", text, want, err)
		}
	}
}

func TestFlatten(t *testing.T) {
	cases := map[string]struct {
		text    string
		want    []found
		problem string
	}{
		"a List gives way to its items": {
			text: "apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: B}\n- {apiVersion: v1, kind: C}\n",
			want: []found{{1, map[string]any{"apiVersion": "v1", "kind": "A"}}, {4, map[string]any{"apiVersion": "v1", "kind": "B"}}, {4, map[string]any{"apiVersion": "v1", "kind": "C"}}}},
		"another kind of list stays":  {text: "apiVersion: a/v1\nkind: List\n", want: []found{{1, map[string]any{"apiVersion": "a/v1", "kind": "List"}}}},
		"a List must have items":      {text: "apiVersion: v1\nkind: List\n", problem: "line 1, items: a List must have a list of items"},
		"an item must be an object":   {text: "apiVersion: v1\nkind: List\nitems: [a]\n", problem: "line 1, items[0]: an item is a string, not an object"},
		"an item must say what it is": {text: "apiVersion: v1\nkind: List\nitems: [{kind: A}]\n", problem: "line 1, items[0]: every item must have apiVersion and kind"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			docs, err := Decode([]byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			flat, err := Flatten(docs)
			problem := ""
			if err != nil {
				problem = err.Error()
			}
			if diff := cmp.Diff(c.want, shorten(flat)) + cmp.Diff(c.problem, problem); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// texts are YAML of every kind.
var texts = []string{
	"apiVersion: v1\nkind: A\n", "---\n...\n---\n", "a: &b [*b]", "? - a\n: b", "{a: b, a: c}", "apiVersion: v1\nkind: A\nx: |2-\n   a\n",
	"%YAML 1.1\n---\na", "\ufeffa: b", "apiVersion: v1\nkind: A\nx: [1, 1.5, 0777, 1e3, yes, ~, 2001-01-01]\ny: {on: 'a', \"b\": >\n  c}\n", "a: \"\\u0000\"", "!!binary a: b",
}

// FuzzDecode holds that no text makes the package panic, that errors have its type, and that what is read can be printed and read
// again.
func FuzzDecode(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(checkDecode)
}

func TestMadeUpTextsAreReadOrRefused(t *testing.T) {
	for text := range hostile.Mutants(texts, 5000) {
		checkDecode(t, []byte(text))
	}
}

func checkDecode(t *testing.T, text []byte) {
	t.Helper()
	docs, err := Decode(text)
	if err != nil {
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("an error of type %T", err)
		}
		return
	}
	for _, doc := range docs {
		printed, err := Encode(doc.Unstructured)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode(printed)
		if err != nil || len(again) != 1 {
			t.Fatalf("what was printed cannot be read: %v\n%s", err, printed)
		}
		if diff := cmp.Diff(doc.Object, again[0].Object); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	}
}
