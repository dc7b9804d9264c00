package nearest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSuggest(t *testing.T) {
	known := []string{"toYaml", "toJson", "maxReplicas", "cat", "bat"}
	cases := map[string]struct{ found, want string }{
		"a slip of the finger finds the word":          {"toyml", "; did you mean toYaml?"},
		"case does not count":                          {"MAXREPLICAS", "; did you mean maxReplicas?"},
		"what is far from all words finds none":        {"listeners", ""},
		"a short word must be very near":               {"to", ""},
		"of two words that are as near, the first one": {"rat", "; did you mean bat?"},
		"nothing finds nothing":                        {"", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Suggest(c.found, known)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
