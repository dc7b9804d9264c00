package faults_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

// TestEachObjectIsDenied makes Gateways of which the first, the second, and so on, of all that is written for them is denied until
// somebody permits it. It is told, nothing else is harmed, and it goes on when it may.
func TestEachObjectIsDenied(t *testing.T) {
	if !*all {
		t.Skip("a short run has other faults")
	}
	w := newWorld(t)
	w.gateway("g")
	w.start()
	for k := 1; ; k++ {
		w.converged()
		before := w.uids()
		name := fmt.Sprintf("h%d", k)
		rule, denied := denyObject(k)
		shared.proxy.Restart(rule)
		w.gateway(name)
		done := false
		w.eventually("something is denied, or all is done", func() error {
			if denied() != nil {
				return nil
			}
			err := w.told()
			done = err == nil
			return err
		})
		if done {
			shared.proxy.Restart(nil)
			return
		}
		r := results.note("k-th object denied", fmt.Sprintf("object %d: %s", k, w.calls(*denied())))
		if isChild(*denied()) {
			w.eventually("the refusal is told", func() error { return w.toldNotProgrammed(name) })
		}
		shared.proxy.Restart(nil)
		// What is refused is tried again ever more seldom; a change wakes it at once.
		w.paint(fmt.Sprintf("color-%d", k))
		w.converged()
		w.keeps(before)
		w.remove(name)
		if r.done(t); t.Failed() {
			t.Fatalf("denied %s", denied())
		}
	}
}

// denyObject denies all writes to the k-th object that is written to. It returns how to ask which that is, nil if there is none yet.
func denyObject(k int) (faultproxy.Rule, func() *faultproxy.Request) {
	var mu sync.Mutex
	var seen []string
	var denied *faultproxy.Request
	rule := func(r faultproxy.Request) faultproxy.Answer {
		if !r.Write() {
			return faultproxy.Answer{}
		}
		mu.Lock()
		defer mu.Unlock()
		key := r.Resource + " " + r.Namespace + "/" + r.Name
		if !slices.Contains(seen, key) {
			seen = append(seen, key)
		}
		if slices.Index(seen, key) != k-1 {
			return faultproxy.Answer{}
		}
		denied = &r
		return faultproxy.Answer{Status: http.StatusForbidden}
	}
	return rule, func() *faultproxy.Request {
		mu.Lock()
		defer mu.Unlock()
		return denied
	}
}

// isChild says whether a request is about a rendered object, of which the parent tells what became.
func isChild(r faultproxy.Request) bool {
	return slices.Contains([]string{"configmaps", "services", "priorityclasses.scheduling.k8s.io"}, r.Resource)
}

// toldNotProgrammed says whether the Gateway of a name or its route is told not to be in effect.
func (w *world) toldNotProgrammed(name string) error {
	if w.notProgrammed(name) == nil || w.routeNotProgrammed(name) == nil {
		return nil
	}
	return fmt.Errorf("neither Gateway nor route %s says anything", name)
}
