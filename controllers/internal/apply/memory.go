package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/internal/desired"
)

// memory holds, for each object applied or found to be as rendered, its fingerprint, and its state until the watch has caught up with it.
type memory struct {
	mu      sync.Mutex
	entries map[desired.Identity]entry
	// unseen are the objects whose last apply no watch has seen yet, by the uid of their owner.
	unseen map[types.UID]map[desired.Identity]bool
}

type entry struct {
	fingerprint plan.Fingerprint
	// applied is what the apply returned; nil once a watch has seen it or something newer.
	applied *unstructured.Unstructured
}

func newMemory() *memory {
	return &memory{entries: map[desired.Identity]entry{}, unseen: map[types.UID]map[desired.Identity]bool{}}
}

func (m *memory) remember(id desired.Identity, applied *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen(id)
	m.entries[id] = entry{fingerprint: plan.FingerprintOf(applied), applied: applied}
	uid := ownerOf(applied)
	if m.unseen[uid] == nil {
		m.unseen[uid] = map[desired.Identity]bool{}
	}
	m.unseen[uid][id] = true
}

// adopt remembers an object that was found to be as rendered, unless it is known already: it need not be looked at as closely again.
func (m *memory) adopt(id desired.Identity, live *unstructured.Unstructured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries[id].fingerprint == (plan.Fingerprint{}) {
		e := m.entries[id]
		e.fingerprint = plan.FingerprintOf(live)
		m.entries[id] = e
	}
}

// seen drops the state of an object, which a watch has caught up with. It needs the lock.
func (m *memory) seen(id desired.Identity) {
	e := m.entries[id]
	if e.applied == nil {
		return
	}
	uid := ownerOf(e.applied)
	if delete(m.unseen[uid], id); len(m.unseen[uid]) == 0 {
		delete(m.unseen, uid)
	}
	e.applied = nil
	m.entries[id] = e
}

func ownerOf(o *unstructured.Unstructured) types.UID {
	return types.UID(o.GetLabels()[v1alpha1.LabelOwnerUID])
}

// unseenOf returns what was applied for an owner and no watch has seen yet, in random order.
func (m *memory) unseenOf(owner types.UID) []*unstructured.Unstructured {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []*unstructured.Unstructured
	for id := range m.unseen[owner] {
		list = append(list, m.entries[id].applied)
	}
	return list
}

func (m *memory) fingerprint(id desired.Identity) plan.Fingerprint {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id].fingerprint
}

func (m *memory) forget(id desired.Identity) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen(id)
	delete(m.entries, id)
}

// gone forgets an object of a uid, not what was applied in its place.
func (m *memory) gone(id desired.Identity, uid types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[id]; e.applied == nil || e.applied.GetUID() == uid {
		m.seen(id)
		delete(m.entries, id)
	}
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
	m.seen(id)
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
	m.seen(id)
	return true
}

// older compares resource versions, which are ordered for all objects of one type (Kubernetes 1.35 made official what etcd always
// gave). A version that is none leaves the watch's word.
func older(a, b *unstructured.Unstructured) bool {
	order, err := resourceversion.CompareResourceVersion(a.GetResourceVersion(), b.GetResourceVersion())
	return err == nil && order < 0
}
