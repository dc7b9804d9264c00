package faults_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

// restFor is how long a world at rest is looked at: changes that must be answered prove that nothing is due, and not that nothing will be.
var restFor = flag.Duration("rest", time.Minute, "how long a controller at rest is watched in a run of all faults")

// TestAControllerAtRestWritesNothing leaves a world alone. Leases and events do not count.
func TestAControllerAtRestWritesNothing(t *testing.T) {
	if !*all {
		t.Skip("a short run has no time for it")
	}
	w := newWorld(t)
	w.gateway("g")
	w.start()
	w.converged()
	r := results.note("nothing at all", fmt.Sprintf("for %s", *restFor))
	before := shared.proxy.Mark()
	<-time.After(*restFor)
	if writes := shared.proxy.Since(before); len(writes) > 0 {
		t.Errorf("I5 a controller at rest writes: %v", writes)
	}
	w.converged()
	r.done(t)
}
