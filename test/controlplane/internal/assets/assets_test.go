package assets

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var allBinaries = []string{"etcd", "kubectl", "kube-controller-manager", "kube-apiserver"}

// fakeBuilder writes a file instead of compiling, and keeps the names of what
// it was asked for, in order.
type fakeBuilder struct {
	mu     sync.Mutex
	built  []string
	before func(b Binary) error
}

func (f *fakeBuilder) build(_ context.Context, b Binary, out string, note func(string)) error {
	note("compiling")
	f.mu.Lock()
	f.built = append(f.built, b.Name)
	f.mu.Unlock()
	if f.before != nil {
		if err := f.before(b); err != nil {
			// As a compiler would that is interrupted while it writes.
			_ = os.WriteFile(out, []byte("half"), 0o755)
			return err
		}
	}
	return os.WriteFile(out, []byte("whole"), 0o755)
}

func (f *fakeBuilder) options(cache string) Options {
	return Options{CacheRoot: cache, GOOS: "linux", GOARCH: "amd64", Build: f.build, Log: io.Discard}
}

func TestEnsureBuildsOnceAndThenServesFromTheCache(t *testing.T) {
	cache := t.TempDir()
	recipe := testRecipe(t)
	builder := &fakeBuilder{}
	want := filepath.Join(cache, "controlplane", recipe.Key("linux", "amd64"))
	for range 2 {
		dir, err := Ensure(t.Context(), recipe, builder.options(cache))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, dir); diff != "" {
			t.Errorf("directory (-want +got):\n%s", diff)
		}
	}
	if diff := cmp.Diff(allBinaries, builder.built); diff != "" {
		t.Errorf("built (-want +got):\n%s", diff)
	}
	wantFiles := map[string]string{"etcd": "whole", "kubectl": "whole", "kube-controller-manager": "whole", "kube-apiserver": "whole"}
	if diff := cmp.Diff(wantFiles, files(t, want)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestEnsureGoesOnWhereABuildBroke(t *testing.T) {
	cache := t.TempDir()
	recipe := testRecipe(t)
	broken := &fakeBuilder{before: func(b Binary) error {
		if b.Name == "kube-controller-manager" {
			return errors.New("the disk is full")
		}
		return nil
	}}
	_, err := Ensure(t.Context(), recipe, broken.options(cache))
	want := "building kube-controller-manager v1.36.3 from k8s.io/kubernetes/cmd/kube-controller-manager: the disk is full"
	if diff := cmp.Diff(want, message(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	dir := filepath.Join(cache, "controlplane", recipe.Key("linux", "amd64"))
	if diff := cmp.Diff(map[string]string{"etcd": "whole", "kubectl": "whole"}, files(t, dir)); diff != "" {
		t.Errorf("files after the broken build (-want +got):\n%s", diff)
	}

	builder := &fakeBuilder{}
	if _, err := Ensure(t.Context(), recipe, builder.options(cache)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"kube-controller-manager", "kube-apiserver"}, builder.built); diff != "" {
		t.Errorf("built afterwards (-want +got):\n%s", diff)
	}
}

func TestEnsureAtTheSameTimeIsOneBuild(t *testing.T) {
	cache := t.TempDir()
	recipe := testRecipe(t)
	const callers = 8
	var begun sync.WaitGroup
	begun.Add(callers)
	lock := filepath.Join(cache, "controlplane", recipe.Key("linux", "amd64")+".lock")
	builder := &fakeBuilder{before: func(Binary) error {
		begun.Wait() // Whoever builds does so while all the others want to.
		return mustBeLocked(lock)
	}}
	errs := make(chan error, callers)
	for range callers {
		go func() {
			begun.Done()
			_, err := Ensure(t.Context(), recipe, builder.options(cache))
			errs <- err
		}()
	}
	for range callers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(allBinaries, builder.built); diff != "" {
		t.Errorf("built by all callers together (-want +got):\n%s", diff)
	}
}

// mustBeLocked fails when the lock is free to take: then another process
// would be building too.
func mustBeLocked(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return errors.New("the build goes on without the lock")
	}
	return nil
}

func TestEnsureStopsWaitingWhenItIsInterrupted(t *testing.T) {
	cache := t.TempDir()
	recipe := testRecipe(t)
	building, finish := make(chan struct{}), make(chan struct{})
	slow := &fakeBuilder{before: func(b Binary) error {
		if b.Name == "etcd" {
			close(building)
			<-finish
		}
		return nil
	}}
	first := make(chan error)
	go func() {
		_, err := Ensure(t.Context(), recipe, slow.options(cache))
		first <- err
	}()
	<-building
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Ensure(interrupted, recipe, (&fakeBuilder{}).options(cache))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupted wait for the lock gave %v, want %v", err, context.Canceled)
	}
	close(finish)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

func TestEnsureTakesGivenBinariesAsTheyAre(t *testing.T) {
	recipe := testRecipe(t)
	executable := map[string]os.FileMode{"etcd": 0o755, "kubectl": 0o755, "kube-controller-manager": 0o755, "kube-apiserver": 0o755}
	without := func(names ...string) map[string]os.FileMode {
		rest := maps.Clone(executable)
		for _, name := range names {
			delete(rest, name)
		}
		return rest
	}
	notExecutable := without()
	notExecutable["etcd"] = 0o644
	const advice = ": put it there, or unset KUBEBUILDER_ASSETS to have everything built and cached"
	cases := map[string]struct {
		given map[string]os.FileMode
		want  string // The error after "KUBEBUILDER_ASSETS is DIR, ".
	}{
		"a complete directory is used":                            {given: executable},
		"the one that the usual download lacks is named":          {given: without("kube-controller-manager"), want: "which holds no executable kube-controller-manager" + advice},
		"each one that is missing is named":                       {given: without("etcd", "kubectl"), want: "which holds no executable etcd, no kubectl" + advice},
		"a file that cannot be executed does not count as binary": {given: notExecutable, want: "which holds no executable etcd" + advice},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			given, cache := t.TempDir(), t.TempDir()
			for file, mode := range c.given {
				if err := os.WriteFile(filepath.Join(given, file), nil, mode); err != nil {
					t.Fatal(err)
				}
			}
			builder := &fakeBuilder{}
			opts := builder.options(cache)
			opts.Given = given
			dir, err := Ensure(t.Context(), recipe, opts)

			wantDir, wantErr := given, ""
			if c.want != "" {
				wantDir, wantErr = "", "KUBEBUILDER_ASSETS is "+given+", "+c.want
			}
			if diff := cmp.Diff([]string{wantDir, wantErr}, []string{dir, message(err)}); diff != "" {
				t.Errorf("directory and error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string(nil), builder.built); diff != "" {
				t.Errorf("built although binaries were given (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(map[string]string{}, files(t, cache)); diff != "" {
				t.Errorf("the cache was touched although binaries were given (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGoBuildUsesThePinnedModuleOnly(t *testing.T) {
	// The go command itself must be findable and have a cache; nothing else of
	// the caller's settings may matter.
	t.Setenv("GOFLAGS", "-mod=vendor")
	recipe := Recipe{GoMod: []byte("module example.com/pins\n\ngo 1.26.0\n"), LDFlags: "-s -w"}
	builder := GoBuild(recipe, runtime.GOOS, runtime.GOARCH)
	out := filepath.Join(t.TempDir(), "out")
	ignore := func(string) {}

	if err := builder(t.Context(), Binary{Name: "addr2line", Package: "cmd/addr2line"}, out, ignore); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(out); err != nil || info.Mode()&0o111 == 0 {
		t.Errorf("no executable was left behind: %v, %v", info, err)
	}

	err := builder(t.Context(), Binary{Name: "x", Package: "example.com/not/pinned"}, out, ignore)
	for _, want := range []string{"go build: exit status 1", "cannot find module providing package example.com/not/pinned"} {
		if !strings.Contains(message(err), want) {
			t.Errorf("the error of a package that is not pinned lacks %q:\n%v", want, err)
		}
	}
}

// files returns the content of each file directly in dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]string{}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		content[entry.Name()] = string(text)
	}
	return content
}
