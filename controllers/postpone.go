package controllers

import (
	"errors"
	"sync"
	"time"

	"github.com/gatewright/gatewright/internal/desired"
)

// errUnreported says that objects were written, and that what became of them is to be reported a moment later.
var errUnreported = errors.New("objects were written just now, and are reported on in a moment")

// reportDelay is how long a pass that wrote objects leaves the report on them to the next one. What was just written says more in
// a moment, so that one report does instead of two; and while many Gateways come at once, objects go before words about them.
const reportDelay = 100 * time.Millisecond

// postponed are the owners whose last pass left the report to the next. Two in a row never do: an owner whose objects somebody else
// keeps changing would never be reported on.
type postponed struct {
	mu     sync.Mutex
	owners map[string]bool
}

func newPostponed() *postponed {
	return &postponed{owners: map[string]bool{}}
}

// postpone says whether the report on a pass is to be left to the next one. What went wrong is told at once.
func (p *postponed) postpone(owner desired.Owner, done converged) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done.wrote && done.retry == nil && done.settled && !p.owners[owner.String()] {
		p.owners[owner.String()] = true
		return true
	}
	delete(p.owners, owner.String())
	return false
}
