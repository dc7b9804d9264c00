package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/kube"
)

var (
	fence = regexp.MustCompile("(?s)(?:^|\n)[ \t]*```.*?\n[ \t]*```")
	code  = regexp.MustCompile("`[^`\n]*`")
	// link is [text](target), or [name]: target.
	link = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)|(?m:^\[[^\]]+\]:\s+(\S+))`)
	// elsewhere is a link to another site.
	elsewhere = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	heading   = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.*?)[ \t#]*$`)
	// linked is the text of a link that is part of a heading.
	linked = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// links are where the links of a text lead to within the repository. What stands in code is no link.
func links(text string) []string {
	text = code.ReplaceAllString(fence.ReplaceAllString(text, "\n"), "")
	var targets []string
	for _, match := range link.FindAllStringSubmatch(text, -1) {
		if target := match[1] + match[2]; !elsewhere.MatchString(target) {
			targets = append(targets, target)
		}
	}
	return targets
}

// anchors are the names that the headings of a text have, as GitHub gives them.
func anchors(text string) []string {
	var names []string
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, "\n"), -1) {
		base := anchor(match[1])
		name := base
		for i := 1; slices.Contains(names, name); i++ {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		names = append(names, name)
	}
	return names
}

// anchor is the name of one heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_':
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, linked.ReplaceAllString(heading, "$1"))
}

// broken says what is wrong with a link of a page in the directory tree at root, or nil.
func broken(root string, from page, target string) error {
	path, name, named := strings.Cut(target, "#")
	at := from.path
	if path != "" {
		at = filepath.Join(filepath.Dir(from.path), path)
	}
	if strings.HasPrefix(path, "/") || strings.HasPrefix(at, "..") {
		return fmt.Errorf("%s: link %s must be relative, and stay in the repository", from.path, target)
	}
	info, err := os.Stat(filepath.Join(root, at))
	if err != nil {
		return fmt.Errorf("%s: link %s leads nowhere: there is no %s", from.path, target, at)
	}
	if !named {
		return nil
	}
	if info.IsDir() || filepath.Ext(at) != ".md" {
		return fmt.Errorf("%s: link %s has an anchor in what is no page", from.path, target)
	}
	text, err := os.ReadFile(filepath.Join(root, at))
	if err != nil {
		return err
	}
	if !slices.Contains(anchors(string(text)), name) {
		return fmt.Errorf("%s: link %s leads nowhere: %s has no heading that is called so", from.path, target, at)
	}
	return nil
}

func TestEveryLinkLeadsSomewhere(t *testing.T) {
	followed := 0
	for _, page := range pages(t) {
		for _, target := range links(page.text) {
			followed++
			if err := broken(kube.RepoRoot(), page, target); err != nil {
				t.Error(err)
			}
		}
	}
	if followed == 0 {
		t.Error("no page has a link; are links still read?")
	}
}

func TestLinks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a link to a file and one to a heading":   {"see [a](a.md) and [b](#b \"B\")", []string{"a.md", "#b"}},
		"a link that is defined apart":            {"[a]: ../a.md", []string{"../a.md"}},
		"links to other sites are not followed":   {"[a](https://example.com/a) [b](mailto:b@example.com)", nil},
		"code holds no links":                     {"`[a](b)` and\n```\n[c](d)\n```\n", nil},
		"an indented fence holds no links either": {"- x\n  ```\n  [c](d)\n  ```\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, links(c.text)); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	text := "# How it *works*\n## `a.b`, and c\n```\n# no heading\n```\n### [x](y) 2 ##\n## Again\n## Again\n"
	want := []string{"how-it-works", "ab-and-c", "x-2", "again", "again-1"}
	if diff := cmp.Diff(want, anchors(text)); diff != "" {
		t.Errorf("anchors (-want +got):\n%s", diff)
	}
}

func TestBroken(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.md": "# One\n", "b.yaml": "", "docs/c.md": ""} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct{ target, want string }{
		"a file beside it is there":              {"../a.md", ""},
		"a directory is there":                   {"../docs", ""},
		"a heading is there":                     {"../a.md#one", ""},
		"a file that is not there is named":      {"a.md", "docs/c.md: link a.md leads nowhere: there is no docs/a.md"},
		"a heading that is not there is named":   {"../a.md#two", "docs/c.md: link ../a.md#two leads nowhere: a.md has no heading that is called so"},
		"a heading of the page itself is missed": {"#one", "docs/c.md: link #one leads nowhere: docs/c.md has no heading that is called so"},
		"an anchor in another file is refused":   {"../b.yaml#L1", "docs/c.md: link ../b.yaml#L1 has an anchor in what is no page"},
		"a way out of the repository is refused": {"../../d.md", "docs/c.md: link ../../d.md must be relative, and stay in the repository"},
		"a path from the root is refused":        {"/a.md", "docs/c.md: link /a.md must be relative, and stay in the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := broken(root, page{path: "docs/c.md"}, c.target); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
