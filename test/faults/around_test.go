package faults_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// fault is something that happens to a world with one converged Gateway "g", and is over when happen returns.
type fault struct {
	name   string
	happen func(w *world)
	// short says that a short run has it, too.
	short bool
	// anew are the objects that are made anew by it.
	anew []string
}

var faults = []fault{
	{name: "API server killed and started anew while values change", happen: apiServerKilled, short: true},
	{name: "etcd slow: it stands still again and again", happen: etcdInBursts},
	{name: "API server slow: each answer takes 100 ms", happen: slowAnswers},
	{name: "API server answers 500 to everything for a while", happen: nothingButErrors},
	{name: "watches dropped while values change", happen: watchesDropped},
	{name: "watches answered 410 Gone", happen: watchesGone},
	{name: "conflict storm: others write to everything without a pause", happen: othersWrite},
	{name: "conflict storm: every third write is answered 409", happen: everyThirdConflicts},
	{name: "leader killed, another replica takes over", happen: leaderKilled},
	{name: "leader paused, replaced, resumed", happen: leaderPaused},
	{name: "child CRD missing, and installed later", happen: kindComes},
	{name: "child CRD removed, and installed again", happen: kindGoesAndComes},
	{name: "child deleted by hand", happen: func(w *world) {
		w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("g-config")})
	}, anew: []string{"ConfigMap/g-config"}},
	{name: "child edited by hand", happen: func(w *world) { w.mud("g-config") }},
	{name: "children deleted and edited while the controller is down", happen: func(w *world) {
		w.kill()
		w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("g-derived")})
		w.mud("g-config")
		w.start()
	}, anew: []string{"ConfigMap/g-derived"}},
	{name: "a child's name is taken by somebody else", happen: nameTaken},
	{name: "immutable field changed, not to be made anew", happen: immutableRefused},
	{name: "immutable field changed, to be made anew", happen: immutableMadeAnew, anew: []string{"ConfigMap/g-fixed"}},
	{name: "prune blocked by a foreign finalizer", happen: keptByFinalizer},
	{name: "delete of a Gateway blocked by a foreign finalizer", happen: deleteBlocked, anew: []string{everything}},
	{name: "Gateway deleted while the controller is down", happen: func(w *world) {
		w.kill()
		w.remove("g")
		w.start()
	}, short: true},
	{name: "Gateway deleted right before the first write for it", happen: goneBeforeProtected},
	{name: "a template goes while the controller is down", happen: func(w *world) {
		w.kill()
		w.withExtra(false)
		w.start()
	}},
	{name: "namespace deleted, the policy goes first", happen: func(w *world) { namespaceDeleted(w, nil) }, anew: []string{everything}},
	{name: "namespace deleted, policy and permission to write there go first", happen: func(w *world) {
		namespaceDeleted(w, forbidChildren)
	}, anew: []string{everything}},
	{name: "blueprint broken: syntax", happen: brokenBlueprint(clusterTemplate+"{{ .Values.color", v1alpha1.ConditionAccepted)},
	{name: "blueprint broken: fails when it is rendered", happen: brokenBlueprint(clusterTemplate+`{{ fail "no" }}`, ""), short: true},
	{name: "blueprint broken while the controller is down", happen: brokenWhileDown},
	{name: "blueprint calls every template by another name", happen: templatesRenamed},
	{name: "blueprint calls every object by another name", happen: objectsRenamed, anew: []string{everything}},
	{name: "blueprint deleted, and comes back", happen: blueprintDeleted},
	{name: "controller reinstalled: stopped, values change, started", happen: func(w *world) {
		if err := w.running.Stop(); err != nil {
			w.Error(err)
		}
		w.running = nil
		w.paint("green")
		w.start()
	}},
	{name: "a second controller fights over a field", happen: foughtOver},
}

// TestFaultsAround has everything around the controller go wrong, one thing at a time, and holds it to the invariants after each.
func TestFaultsAround(t *testing.T) {
	for _, f := range faults {
		if !f.short && !*all {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			w := newWorld(t)
			w.gateway("g")
			w.start()
			w.converged()
			before := w.uids()
			r := results.note(f.name, "")
			f.happen(w)
			w.converged()
			w.keeps(before, f.anew...)
			r.done(t)
		})
	}
}
