package manifest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestEncode(t *testing.T) {
	const text = `kind: A
apiVersion: v1
data: {b: "1", a: [1, x], "on": "yes"}
spec:
  listeners: [{tls: {mode: a}, port: 80, hostname: b, name: c}]
metadata: {labels: {b: c}, name: a, annotations: {a: b}, namespace: d}
zone: "0777"
---
apiVersion: v1
kind: B
`
	const want = `apiVersion: v1
kind: A
metadata:
  name: a
  namespace: d
  labels:
    b: c
  annotations:
    a: b
spec:
  listeners:
  - name: c
    hostname: b
    port: 80
    tls:
      mode: a
data:
  a:
  - 1
  - x
  b: "1"
  "on": "yes"
zone: "0777"
---
apiVersion: v1
kind: B
`
	docs, err := Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Encode(docs[0].Unstructured, docs[1].Unstructured)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestFromJSON(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"keys keep their order, and lists and maps get their lines": {`{"b": [1, {"a": true}], "a": {"c": null}}`, "b:\n- 1\n- a: true\na:\n  c: null\n"},
		"what is empty stays where it is":                           {`{"a": [], "b": {}, "c": ""}`, "a: []\nb: {}\nc: \"\"\n"},
		"text is quoted only where it would be something else":      {`["a", "a b", "1", "yes", "~", "2001-01-01", "<<", "a: b", "- a"]`, "- a\n- a b\n- \"1\"\n- \"yes\"\n- \"~\"\n- \"2001-01-01\"\n- \"<<\"\n- 'a: b'\n- '- a'\n"},
		"a text of several lines stands on several lines":           {`{"a": "b\nc\n"}`, "a: |\n  b\n  c\n"},
		"a key of several lines is marked":                          {`{"a\nb": 1}`, "? |-\n  a\n  b\n: 1\n"},
		"a control character is escaped":                            {"{\"a\": \"\u009b31m\"}", "a: \"\\x9B31m\"\n"},
		"a character that JSON writes as two is one":                {`{"a": "\ud83d\ude00"}`, "a: \"\\U0001F600\"\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FromJSON([]byte(c.text))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	for _, text := range []string{"", "{", `{"a"`, `{"a": [1`, "[1 2]"} {
		if got, err := FromJSON([]byte(text)); err == nil {
			t.Errorf("%q is no JSON and is printed as %q", text, got)
		}
	}
}

func TestHarmless(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"letters of all scripts stay":                    {"{\"a\": \"äあ😀\"}\n", "{\"a\": \"äあ😀\"}\n"},
		"what a terminal might obey is escaped":          {"\"\x7f\u009b\u202e\"", `"\u007f\u009b\u202e"`},
		"beyond the first plane, two escapes are needed": {"\"\U000e0001\"", `"\udb40\udc01"`},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, string(Harmless([]byte(c.text)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzFromJSON holds that any text and any key that is printed is read as it was.
func FuzzFromJSON(f *testing.F) {
	for _, text := range []string{"", "a", "yes", "1e3", "0o7", "a: b", "#", "\x00", "\x7f", "\u0085", "\u2028", "\ufeff", "\ufffe", "\U000e0001", "a\nb", "\n a\n", " ", "\t", "'\"", "!a", "&a", "?", "-", "...", "---\n"} {
		f.Add("a", text)
		f.Add(text, "a")
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		text, err := json.Marshal(map[string]any{key: []any{value, map[string]any{key: value}}})
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]any
		if err := utiljson.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		var harmless map[string]any
		if err := utiljson.Unmarshal(Harmless(text), &harmless); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, harmless); diff != "" {
			t.Errorf("made harmless (-JSON +read again):\n%s", diff)
		}
		printed, err := FromJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeTree(printed, nil)
		if diff := cmp.Diff(any(want), got); diff != "" {
			t.Errorf("%v (-JSON +read again):\n%s\n%s", err, diff, printed)
		}
	})
}
