package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/kube"
)

// TestOldAndNewVersion runs an earlier version of the controller, built from the history of the source, and this one in turn and
// together, while values change and Gateways come and go. No object is made anew by it, and in the end all is as this version has it.
func TestOldAndNewVersion(t *testing.T) {
	if !*all {
		t.Skip("a short run has other faults")
	}
	old, commit := earlier(t)
	lease := func(w *world) string { return "--controller-namespace=" + w.namespace }
	t.Run("one after the other", func(t *testing.T) {
		upgrade(t, "update under load: "+commit+" replaced by this version, and back", func(w *world) {
			w.run(old, lease(w))
			w.load("a")
			for _, binary := range []string{shared.binary, old, shared.binary} {
				before := w.running
				w.run(binary, lease(w))
				w.load("b")
				if err := before.Stop(); err != nil {
					w.Error(err)
				}
				w.load("c")
			}
		})
	})
	t.Run("both at once", func(t *testing.T) {
		upgrade(t, "old and new version under load: "+commit+" and this one at once, without a lease", func(w *world) {
			w.run(old, "--leader-elect=false")
			w.load("a")
			before := w.running
			w.run(shared.binary, "--leader-elect=false")
			for _, prefix := range []string{"b", "c", "d"} {
				w.load(prefix)
			}
			before.Kill()
		})
	})
}

func upgrade(t *testing.T, name string, happen func(w *world)) {
	w := newWorld(t)
	w.gateway("g")
	w.start()
	w.converged()
	before := w.uids()
	w.kill()
	r := results.note(name, "")
	happen(w)
	w.converged()
	// The load has its template come and go.
	w.keeps(before, "Service/g-extra")
	r.done(t)
}

// run starts a version of the controller beside whatever runs already, which is the test's to stop.
func (w *world) run(binary string, args ...string) {
	w.Helper()
	if w.running != nil {
		w.Cleanup(w.running.Kill)
	}
	started, err := controller.Start(binary, shared.kubeconfig, args...)
	if err != nil {
		w.Fatal(err)
	}
	w.running, w.leased = started, true
}

// load has values change and Gateways come, faster than anybody can follow, waits until what is left of it is in effect, and has them
// go. (One that goes before it was seen has a row of its own: an earlier version may have got that wrong.)
func (w *world) load(prefix string) {
	w.Helper()
	var names []string
	for round := range 5 {
		name := fmt.Sprintf("%s%d", prefix, round)
		w.gateway(name)
		w.paint(prefix + name)
		w.withExtra(round%2 == 0)
		names = append(names, name)
	}
	for _, name := range names {
		w.eventually("Gateways are in effect under load", func() error { return errors.Join(w.gatewayWanted(name), w.routeWanted(name)) })
	}
	for _, name := range names {
		w.remove(name)
	}
}

// earlier builds the controller as it was before the last change to its source.
func earlier(t *testing.T) (binary, commit string) {
	t.Helper()
	root := kube.RepoRoot()
	log, err := exec.Command("git", "-C", root, "log", "-2", "--format=%h", "--",
		"controllers", "gateway", "values", "render", "internal", "api/v1alpha1", "cmd/gatewright-controller").Output()
	commits := strings.Fields(string(log))
	if err != nil || len(commits) < 2 {
		t.Skipf("there is no history to build an earlier version from: %v", err)
	}
	commit = commits[1]
	archive, err := exec.Command("git", "-C", root, "archive", "--format=tar", commit).Output()
	if err != nil {
		t.Skipf("the history does not hold %s: %v", commit, err)
	}
	source := t.TempDir()
	unpack := exec.Command("tar", "-x", "-C", source)
	unpack.Stdin, unpack.Stderr = bytes.NewReader(archive), os.Stderr
	if err := unpack.Run(); err != nil {
		t.Fatalf("unpacking %s: %v", commit, err)
	}
	if binary, err = controller.BuildFrom(source, t.TempDir(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	return binary, commit
}
