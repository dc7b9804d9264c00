package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/internal/desired"
)

// blocked remembers for which object each deletion was last said to wait, so that it is said once and not at every look.
type blocked struct {
	mu sync.Mutex
	by map[types.UID]desired.Identity
}

func newBlocked() *blocked {
	return &blocked{by: map[types.UID]desired.Identity{}}
}

// isNews says whether it was not said yet that the deletion of an owner waits for an object.
func (b *blocked) isNews(owner types.UID, by desired.Identity) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, said := b.by[owner]
	b.by[owner] = by
	return !said || last != by
}

// forget drops an owner whose deletion waits for nothing any more.
func (b *blocked) forget(owner types.UID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.by, owner)
}
