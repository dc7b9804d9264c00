package cli

import (
	"testing"

	"github.com/gatewright/gatewright/internal/manifest"
)

const twoDocuments = `a:
  b: 1
---
spec:
  listeners:
    - name: a
      port: 80
    - name: b
      hostname: x
  "quoted": {inline: {deep: 1}}
`

func TestLineOf(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		want int
	}{
		"a key is found in its own document":             {path: "spec.listeners", want: 5},
		"an index leads to an item":                      {path: "spec.listeners[1].hostname", want: 9},
		"a field that only one item has needs no index":  {path: "spec.listeners.port", want: 7},
		"a field that two items have is not guessed":     {path: "spec.listeners.name", want: 0},
		"a key may be quoted, and its value in one line": {path: "spec.quoted.inline.deep", want: 10},
		"a key of another document is not found":         {path: "a.b", want: 0},
		"an item that is not there is not found":         {path: "spec.listeners[2].name", want: 0},
		"no path leads nowhere":                          {path: "", want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := document{manifest.Document{Line: 4}, text{"file", []byte(twoDocuments)}}
			if got := lineOf(d, c.path); got != c.want {
				t.Errorf("want line %d, got %d", c.want, got)
			}
		})
	}
}
