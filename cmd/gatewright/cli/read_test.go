package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTexts(t *testing.T) {
	for name, c := range map[string]struct {
		files     map[string]string
		links     map[string]string
		paths     []string
		recursive bool
		want      []string
		err       string
	}{
		"a directory is read by name, and only what manifests are called": {
			files: map[string]string{"d/b.yaml": "B", "d/a.yml": "A", "d/c.json": "C", "d/README.md": "no", "d/deep/d.yaml": "no"},
			paths: []string{"d"},
			want:  []string{"d/a.yml A", "d/b.yaml B", "d/c.json C"},
		},
		"directories in directories are read if asked for": {
			files: map[string]string{"d/b.yaml": "B", "d/a/z.yaml": "Z", "d/a/deep/y.yaml": "Y"},
			paths: []string{"d"}, recursive: true,
			want: []string{"d/a/deep/y.yaml Y", "d/a/z.yaml Z", "d/b.yaml B"},
		},
		"a file that is named is read whatever it is called, in the order of names": {
			files: map[string]string{"b.txt": "B", "a": "A"},
			paths: []string{"b.txt", "a"},
			want:  []string{"b.txt B", "a A"},
		},
		"links are followed": {
			files: map[string]string{"elsewhere/a.yaml": "A"},
			links: map[string]string{"d/link.yaml": "../elsewhere/a.yaml", "e": "d"},
			paths: []string{"e"},
			want:  []string{"e/link.yaml A"},
		},
		"what two ways lead to is read once, as in a mounted ConfigMap": {
			files: map[string]string{"d/..2024/a.yaml": "A"},
			links: map[string]string{"d/..data": "..2024", "d/a.yaml": "..data/a.yaml"},
			paths: []string{"d", "d/a.yaml"}, recursive: true,
			want: []string{"d/..2024/a.yaml A"},
		},
		"a circle of links comes to an end": {
			files: map[string]string{"d/a.yaml": "A"},
			links: map[string]string{"d/again": "../d"},
			paths: []string{"d"}, recursive: true,
			want: []string{"d/a.yaml A"},
		},
		"standard input is read once": {
			paths: []string{"-", "-"},
			want:  []string{"standard input STDIN"},
		},
		"a directory of which all files were read already is no mistake": {
			files: map[string]string{"d/a.yaml": "A"},
			paths: []string{"d/a.yaml", "d"},
			want:  []string{"d/a.yaml A"},
		},
		"a directory without manifests is a mistake": {
			files: map[string]string{"d/deep/a.yaml": "A"},
			paths: []string{"d"},
			err:   "d: there is no file that ends in .json, .yaml, .yml; -R also looks into the directories in it",
		},
		"there is no hint at -R where it was given": {
			files: map[string]string{"d/deep/a.txt": "A"},
			paths: []string{"d"}, recursive: true,
			err: "d: there is no file that ends in .json, .yaml, .yml",
		},
		"a link that leads nowhere is named": {
			files: map[string]string{"d/a.yaml": "A"},
			links: map[string]string{"d/b.yaml": "gone"},
			paths: []string{"d"},
			err:   "d/b.yaml: no such file or directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for file, content := range c.files {
				inPlace(t, file, os.WriteFile, content)
			}
			for link, target := range c.links {
				inPlace(t, link, func(name string, target []byte, _ os.FileMode) error { return os.Symlink(string(target), name) }, target)
			}
			texts, err := readTexts(c.paths, c.recursive, strings.NewReader("STDIN"))
			var got []string
			for _, text := range texts {
				got = append(got, text.name+" "+string(text.content))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.err, messageOf(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// inPlace makes something at a path of which the directories may not exist yet.
func inPlace(t *testing.T, path string, create func(string, []byte, os.FileMode) error, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), create(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
