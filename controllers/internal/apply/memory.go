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
}

type entry struct {
	fingerprint plan.Fingerprint
	// applied is what the apply returned; nil once a watch has seen it or something newer.
	applied *unstructured.Unstructured
}

func newMemory() *memory {
	return &memory{entries: map[desired.Identity]entry{}}
}

func (m *memory) remember(id desired.Identity, applied *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries[id] = entry{fingerprint: plan.FingerprintOf(applied), applied: applied}
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

// confirm says whether a watch has seen just what was applied, which then need not be remembered any more.
func (m *memory) confirm(id desired.Identity, watched *unstructured.Unstructured) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[id]
	if e.applied == nil || watched.GetUID() != e.applied.GetUID() || watched.GetResourceVersion() != e.applied.GetResourceVersion() {
		return false
	}
	e.applied = nil
	m.entries[id] = e
	return true
}

// older compares resource versions, which are ordered integers for all resources of one type (Kubernetes 1.35 made official
// what etcd always gave). A version that is none leaves the watch's word.
func older(a, b *unstructured.Unstructured) bool {
	va, errA := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	vb, errB := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && va < vb
}
