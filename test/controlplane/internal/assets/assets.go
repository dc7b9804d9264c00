package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say where binaries may come from and where progress is told.
type Options struct {
	// Given is a directory that already holds the binaries (KUBEBUILDER_ASSETS);
	// empty means that the cache is used.
	Given string
	// CacheRoot is the directory below which builds are kept.
	CacheRoot string
	// GOOS and GOARCH are the platform to build for.
	GOOS, GOARCH string
	// Build makes one binary.
	Build BuildFunc
	// Log takes progress, a line at a time.
	Log io.Writer
}

// BuildFunc builds b and leaves the executable at out. Progress may be told by
// calling note with a short phrase about what is being done.
type BuildFunc func(ctx context.Context, b Binary, out string, note func(string)) error

// Ensure returns the absolute path of a directory that holds every binary of
// the recipe, building those that the cache lacks. A given directory is
// checked and never written to.
func Ensure(ctx context.Context, recipe Recipe, opts Options) (string, error) {
	if opts.Given != "" {
		return checkGiven(recipe, opts.Given)
	}
	root, err := filepath.Abs(filepath.Join(opts.CacheRoot, "controlplane"))
	if err != nil {
		return "", fmt.Errorf("finding the cache directory: %w", err)
	}
	dir := filepath.Join(root, recipe.Key(opts.GOOS, opts.GOARCH))
	if len(missing(recipe, dir)) == 0 {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the cache directory: %w", err)
	}
	unlock, err := lockFile(ctx, dir+".lock", func(waited time.Duration) {
		fmt.Fprintf(opts.Log, "controlplane: another process is building the same binaries, waiting for it (%s)\n", seconds(waited))
	})
	if err != nil {
		return "", fmt.Errorf("locking %s: %w", dir, err)
	}
	defer unlock()
	return dir, buildMissing(ctx, recipe, dir, opts)
}

// buildMissing asks again what is missing: by the time the lock is ours,
// whoever held it may have built everything.
func buildMissing(ctx context.Context, recipe Recipe, dir string, opts Options) error {
	todo := missing(recipe, dir)
	if len(todo) == 0 {
		return nil
	}
	fmt.Fprintf(opts.Log, "controlplane: building %s\n", recipe)
	fmt.Fprintf(opts.Log, "controlplane: the first build takes about six minutes on two cores, then it is cached in %s\n", dir)
	for i, b := range todo {
		label := fmt.Sprintf("[%d/%d] %s", i+1, len(todo), b.Name)
		if err := buildOne(ctx, b, dir, label, opts); err != nil {
			return fmt.Errorf("building %s %s from %s: %w", b.Name, b.Version, b.Package, err)
		}
	}
	return nil
}

// buildOne builds beside the final name and renames, so that a name in the
// cache is always a whole binary, whenever the build is interrupted.
func buildOne(ctx context.Context, b Binary, dir, label string, opts Options) error {
	unfinished := filepath.Join(dir, "."+b.Name+".unfinished")
	defer os.Remove(unfinished)

	beat := startHeartbeat(opts.Log, label)
	err := opts.Build(ctx, b, unfinished, beat.note)
	took := beat.stop()
	if err != nil {
		return err
	}
	if err := os.Rename(unfinished, filepath.Join(dir, b.Name)); err != nil {
		return err
	}
	fmt.Fprintf(opts.Log, "controlplane: %s built in %s\n", label, seconds(took))
	return nil
}

func checkGiven(recipe Recipe, given string) (string, error) {
	dir, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("finding KUBEBUILDER_ASSETS: %w", err)
	}
	var names []string
	for _, b := range missing(recipe, dir) {
		names = append(names, b.Name)
	}
	if len(names) > 0 {
		return "", fmt.Errorf("KUBEBUILDER_ASSETS is %s, which holds no executable %s: put it there, or unset KUBEBUILDER_ASSETS to have everything built and cached",
			dir, strings.Join(names, ", no "))
	}
	return dir, nil
}

// missing returns the binaries of the recipe that dir does not hold as
// executable files.
func missing(recipe Recipe, dir string) []Binary {
	var lacking []Binary
	for _, b := range recipe.Binaries {
		info, err := os.Stat(filepath.Join(dir, b.Name))
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
			lacking = append(lacking, b)
		}
	}
	return lacking
}

func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f s", d.Seconds())
}
