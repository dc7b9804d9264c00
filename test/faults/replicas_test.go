package faults_test

import (
	"github.com/gatewright/gatewright/test/controller"
)

func leaderKilled(w *world) { w.replicas(func(leader *controller.Controller) { leader.Kill() }) }

func leaderPaused(w *world) {
	w.replicas(func(leader *controller.Controller) {
		if err := leader.Pause(); err != nil {
			w.Fatal(err)
		}
		w.paint("blue")
		w.eventually("another replica takes over", w.wanted)
		if err := leader.Resume(); err != nil {
			w.Fatal(err)
		}
	})
}

// replicas runs two controllers that elect a leader in place of the one, has something happen to the leader, and leaves the
// other running.
func (w *world) replicas(happen func(leader *controller.Controller)) {
	w.Helper()
	w.kill()
	lease := "--controller-namespace=" + w.namespace
	first, err := controller.Start(shared.binary, shared.kubeconfig, lease)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(first.Kill)
	w.paint("green")
	w.eventually("the first replica works", w.wanted)
	second, err := controller.Start(shared.binary, shared.kubeconfig, lease)
	if err != nil {
		first.Kill()
		w.Fatal(err)
	}
	w.running, w.leased = second, true
	happen(first)
	w.paint("yellow")
}
