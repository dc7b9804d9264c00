package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// standardInput is how -f names it.
const standardInput = "-"

// extensions of the files that are read from a directory, as kubectl has them. A file that is named is read whatever it is called.
var extensions = []string{".json", ".yaml", ".yml"}

// text is a file's content.
type text struct {
	// name is how messages call the file.
	name    string
	content []byte
}

// reader reads files, each once, however many ways lead to it.
type reader struct {
	recursive bool
	stdin     io.Reader
	// seen are the real paths of what was read.
	seen map[string]bool
	// files counts those that were found, also if they were read before.
	files int
	texts []text
}

// readTexts reads files and directories in the order in which they are named; the entries of a directory by name. Links are
// followed.
func readTexts(paths []string, recursive bool, stdin io.Reader) ([]text, error) {
	r := &reader{recursive: recursive, stdin: stdin, seen: map[string]bool{}}
	for _, path := range paths {
		if err := r.named(path); err != nil {
			return nil, err
		}
	}
	return r.texts, nil
}

// named reads what somebody named.
func (r *reader) named(path string) error {
	if path == standardInput {
		return r.standardInput()
	}
	info, err := os.Stat(path)
	if err != nil {
		return fileError(path, err)
	}
	if !info.IsDir() {
		return r.file(path)
	}
	before := r.files
	if err := r.directory(path); err != nil {
		return err
	}
	if r.files == before {
		return fmt.Errorf("%s: there is no file that ends in %s%s", path, strings.Join(extensions, ", "), r.hint())
	}
	return nil
}

func (r *reader) hint() string {
	if r.recursive {
		return ""
	}
	return "; -R also looks into the directories in it"
}

func (r *reader) standardInput() error {
	if r.seen[standardInput] {
		return nil
	}
	r.seen[standardInput] = true
	content, err := io.ReadAll(r.stdin)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	r.texts = append(r.texts, text{"standard input", content})
	return nil
}

func (r *reader) directory(path string) error {
	if known, err := r.know(path); known || err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return fileError(path, err)
	}
	for _, entry := range entries {
		below := filepath.Join(path, entry.Name())
		info, err := os.Stat(below)
		switch {
		case err != nil:
			return fileError(below, err)
		case info.IsDir() && r.recursive:
			err = r.directory(below)
		case !info.IsDir() && slices.Contains(extensions, filepath.Ext(below)):
			err = r.file(below)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) file(path string) error {
	r.files++
	if known, err := r.know(path); known || err != nil {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return fileError(path, err)
	}
	r.texts = append(r.texts, text{path, content})
	return nil
}

// know says whether a path was read before, by whatever links. That also ends a circle of links.
func (r *reader) know(path string) (bool, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return false, fileError(path, err)
	}
	known := r.seen[target]
	r.seen[target] = true
	return known, nil
}

// fileError names the path first, and once.
func fileError(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
