package controllers

import (
	"strconv"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
)

func TestWhatFailsWaitsLongerEachTimeAndSpread(t *testing.T) {
	b := newBackoff()
	named := func(i int) ctrl.Request {
		return ctrl.Request{NamespacedName: types.NamespacedName{Name: strconv.Itoa(i)}}
	}
	waits := map[time.Duration]bool{}
	for i := range 100 {
		first := b.When(named(i))
		if first < minBackoff || first > minBackoff*12/10 {
			t.Errorf("the first time it waits %s", first)
		}
		waits[first] = true
	}
	if len(waits) < 50 {
		t.Errorf("100 objects that fail at once wait for only %d different times", len(waits))
	}
	last := time.Duration(0)
	for range 8 {
		next := b.When(named(0))
		if next <= last {
			t.Errorf("it waits %s after %s", next, last)
		}
		last = next
	}
	for range 30 {
		if next := b.When(named(0)); next < maxBackoff/2 || next > maxBackoff {
			t.Errorf("in the end it waits %s", next)
		}
	}
	b.Forget(named(0))
	if again := b.When(named(0)); again > minBackoff*12/10 {
		t.Errorf("after a success it waits %s", again)
	}
}
