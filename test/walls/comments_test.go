package walls

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/kube"
)

// A package comment draws a line somewhere; one that does not is a title.
var drawsALine = regexp.MustCompile(`\b(must|never)\b`)

// packageComment returns what is wrong with the comment of the package, which stands in doc.go, or nil.
func packageComment(dir, name string) error {
	path := filepath.Join(dir, "doc.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		return fmt.Errorf("%w; every package says in its doc.go what it owns and what it must not do", err)
	}
	comment := file.Doc.Text()
	switch opening := "Package " + name + " "; {
	case name == "main" && !strings.HasPrefix(comment, "Command "):
		return fmt.Errorf("%s: the package comment must begin with %q and the command's name", path, "Command ")
	case name != "main" && !strings.HasPrefix(comment, opening):
		return fmt.Errorf("%s: the package comment must begin with %q", path, opening)
	case !drawsALine.MatchString(comment):
		return fmt.Errorf("%s: the package comment must say, with \"must\" or \"never\", what the package does not do", path)
	}
	return nil
}

// modules returns the directories of all modules in the repository that hold code of ours, which tools/ does not.
func modules(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(kube.RepoRoot(), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "go.mod" && filepath.Base(filepath.Dir(path)) != "tools" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func TestEveryPackageSaysWhatItOwnsAndWhatItMustNotDo(t *testing.T) {
	for _, dir := range modules(t) {
		packages, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range packages.own() {
			if err := packageComment(packages[path].Dir, packages[path].Name); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestPackageComment(t *testing.T) {
	for name, c := range map[string]struct {
		pkg  string
		file string
		want string
	}{
		"a comment that says what the package must not do is fine": {
			pkg: "a", file: "// Package a adds. It must not subtract.\npackage a\n",
		},
		"a command's comment begins with its name": {
			pkg: "main", file: "// Command add adds. It never subtracts.\npackage main\n",
		},
		"a missing comment is reported": {
			pkg: "a", file: "package a\n",
			want: `doc.go: the package comment must begin with "Package a "`,
		},
		"a comment that stands apart from the package clause is none": {
			pkg: "a", file: "// Package a adds. It must not subtract.\n\npackage a\n",
			want: `doc.go: the package comment must begin with "Package a "`,
		},
		"a command without one is reported": {
			pkg: "main", file: "// Package main must not.\npackage main\n",
			want: `doc.go: the package comment must begin with "Command " and the command's name`,
		},
		"a comment that draws no line is reported": {
			pkg: "a", file: "// Package a adds.\npackage a\n",
			want: `doc.go: the package comment must say, with "must" or "never", what the package does not do`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "doc.go"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
			var got string
			if err := packageComment(dir, c.pkg); err != nil {
				got = strings.TrimPrefix(err.Error(), dir+string(filepath.Separator))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}

	err := packageComment(t.TempDir(), "a")
	if err == nil || !strings.Contains(err.Error(), "doc.go") {
		t.Errorf("error for a package without doc.go = %v, want one that names the file", err)
	}
}
