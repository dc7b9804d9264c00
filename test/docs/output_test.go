package docs

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/cmd/gatewright/cli"
	"github.com/gatewright/gatewright/test/kube"
)

var update = flag.Bool("update", false, "rewrite what the documentation shows of the tool's output")

// outputBlock is a command of the tool and what it prints, between two marks that readers do not see.
var outputBlock = regexp.MustCompile("(?s)<!-- output -->\n```console\n\\$ (gatewright [^\n]*)\n.*?```\n<!-- end of output -->")

// withOutputs is a text with the output of each command in it as it is now. Commands run where the repository begins.
func withOutputs(text string) string {
	return outputBlock.ReplaceAllStringFunc(text, func(block string) string {
		command := outputBlock.FindStringSubmatch(block)[1]
		return "<!-- output -->\n```console\n$ " + command + "\n" + printed(command) + "```\n<!-- end of output -->"
	})
}

// printed is what a person sees of a command, on both of its streams.
func printed(command string) string {
	var seen bytes.Buffer
	cli.Run(strings.Fields(command), "", cli.Streams{In: strings.NewReader(""), Out: &seen, Err: &seen})
	return seen.String()
}

func TestTheOutputsThatAreShownAreThoseOfTheTool(t *testing.T) {
	t.Chdir(kube.RepoRoot())
	shown := 0
	for _, page := range pages(t) {
		want := withOutputs(page.text)
		shown += len(outputBlock.FindAllString(page.text, -1))
		if strings.Count(page.text, "<!-- output -->") != len(outputBlock.FindAllString(page.text, -1)) {
			t.Errorf("%s: an output is marked that is no console block with a gatewright command, or has no end", page.path)
		}
		if want == page.text {
			continue
		}
		if *update {
			if err := os.WriteFile(page.path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		t.Errorf("%s (-shown +printed); go test ./test/docs -update rewrites it:\n%s", page.path,
			cmp.Diff(strings.Split(page.text, "\n"), strings.Split(want, "\n")))
	}
	if shown == 0 {
		t.Error("no page shows any output; was the mark changed?")
	}
}

func TestWithOutputsPutsInWhatIsPrintedNow(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"what is shown is replaced, and what is around it stays": {
			text: "before\n<!-- output -->\n```console\n$ gatewright version\nold\n```\n<!-- end of output -->\nafter\n",
			want: "before\n<!-- output -->\n```console\n$ gatewright version\ngatewright \n```\n<!-- end of output -->\nafter\n",
		},
		"an empty block is filled, also with what is told of a mistake": {
			text: "<!-- output -->\n```console\n$ gatewright reach\n```\n<!-- end of output -->\n",
			want: "<!-- output -->\n```console\n$ gatewright reach\n" +
				"Error: a policy is needed: KIND/NAMESPACE/NAME, and after it perhaps a path\nSee 'gatewright reach --help' for usage.\n" +
				"```\n<!-- end of output -->\n",
		},
		"a command without marks is left alone": {
			text: "```console\n$ gatewright version\nold\n```\n",
			want: "```console\n$ gatewright version\nold\n```\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, withOutputs(c.text)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}
