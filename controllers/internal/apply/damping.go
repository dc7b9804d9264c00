package apply

import (
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/internal/desired"
)

// damping keeps the writes to each object in bounds, see plan.Damper.
type damping struct {
	now    func() time.Time
	jitter func(time.Duration) time.Duration

	mu      sync.Mutex
	dampers map[desired.Identity]*plan.Damper
	// sinceSweep counts the writes since those were forgotten that mean nothing any more.
	sinceSweep int
}

func newDamping() *damping {
	return &damping{
		now:     time.Now,
		jitter:  func(d time.Duration) time.Duration { return wait.Jitter(d, 0.2) },
		dampers: map[desired.Identity]*plan.Damper{},
	}
}

// wait returns an error if an object is to be left alone for some time.
func (d *damping) wait(id desired.Identity, inputs func() string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if damper := d.dampers[id]; damper != nil {
		if left := damper.Wait(inputs(), d.now()); left > 0 {
			return &ThrashingError{Identity: id, After: left}
		}
	}
	return nil
}

// fought returns an error if an object is being fought over.
func (d *damping) fought(id desired.Identity, inputs func() string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if damper := d.dampers[id]; damper != nil {
		if fought, left := damper.Fought(inputs(), d.now()); fought {
			return &ThrashingError{Identity: id, After: left}
		}
	}
	return nil
}

// sweepAfter is after how many writes old ones are forgotten.
const sweepAfter = 1000

// wrote counts a write.
func (d *damping) wrote(id desired.Identity, inputs func() string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if d.sinceSweep++; d.sinceSweep >= sweepAfter {
		d.sinceSweep = 0
		maps.DeleteFunc(d.dampers, func(_ desired.Identity, damper *plan.Damper) bool { return damper.Over(now) })
	}
	if d.dampers[id] == nil {
		d.dampers[id] = &plan.Damper{}
	}
	d.dampers[id].Wrote(inputs(), now, d.jitter)
}
