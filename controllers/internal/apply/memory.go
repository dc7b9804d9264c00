package apply

import (
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/internal/desired"
)

// memory holds, for each object applied, its fingerprint, and its state until the watch has caught up with it.
type memory struct {
	mu      sync.Mutex
	entries map[desired.Identity]entry
	// creating are the objects that are being looked for and then created.
	creating map[desired.Identity]bool
}

type entry struct {
	fingerprint plan.Fingerprint
	// applied is what the apply returned; nil once a watch has seen it or something newer.
	applied *unstructured.Unstructured
}

func newMemory() *memory {
	return &memory{entries: map[desired.Identity]entry{}, creating: map[desired.Identity]bool{}}
}

func (m *memory) remember(id desired.Identity, applied *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[id] = entry{fingerprint: plan.FingerprintOf(applied), applied: applied}
}

// claim notes that an object is about to be created for somebody. It is refused while somebody else is at it: both apply under one
// field manager, so that the API server would see no conflict. It is to be released whatever comes of it.
func (m *memory) claim(id desired.Identity) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.creating[id] {
		return false
	}
	m.creating[id] = true
	return true
}

func (m *memory) release(id desired.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.creating, id)
}

func (m *memory) fingerprint(id desired.Identity) plan.Fingerprint {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id].fingerprint
}

func (m *memory) forget(id desired.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, id)
}

func (m *memory) newest(id desired.Identity, watched *unstructured.Unstructured) *unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e.applied == nil {
		return watched
	}
	if watched == nil || (watched.GetUID() == e.applied.GetUID() && older(watched, e.applied)) {
		return e.applied
	}
	e.applied = nil
	m.entries[id] = e
	return watched
}

// older compares resource versions, which are ordered integers for all resources of one type (Kubernetes 1.35 made official
// what etcd always gave). A version that is none leaves the watch's word.
func older(a, b *unstructured.Unstructured) bool {
	va, errA := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	vb, errB := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && va < vb
}
