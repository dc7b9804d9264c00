package controllers

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// written remembers in which version we wrote an object last. The event that comes back of a write is no news: the version names
// a state, of which the writer knew all, since what it wrote to was locked by its version.
type written struct {
	mu       sync.Mutex
	versions map[types.UID]string
	// strangers are the objects of others of which it is known that we wrote nothing that is left.
	strangers map[types.UID]bool
}

func newWritten() *written {
	return &written{versions: map[types.UID]string{}, strangers: map[types.UID]bool{}}
}

// note remembers an object as the API server returned it from a write.
func (w *written) note(o client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.versions[o.GetUID()] = o.GetResourceVersion()
	delete(w.strangers, o.GetUID())
}

// disown remembers that nothing is left of what we wrote to an object, until we write to it again.
func (w *written) disown(o client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strangers[o.GetUID()] = true
}

func (w *written) disowned(o client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.strangers[o.GetUID()]
}

func (w *written) forget(o client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.versions, o.GetUID())
	delete(w.strangers, o.GetUID())
}

// byOthers says whether the present state of an object is not our own doing.
func (w *written) byOthers(o client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.versions[o.GetUID()] != o.GetResourceVersion()
}

// ahead says whether we wrote an object after it was as it is here: the watch has not caught up, and a write based on this would be
// refused.
func (w *written) ahead(o client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, known := w.versions[o.GetUID()]
	if !known {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), version)
	return err == nil && order < 0
}

// errBehind says that what was read is older than what we wrote. It is tried again in a moment.
var errBehind = errors.New("the watch has not caught up with the last write")

// news passes all events but those of what we wrote. It may pass one of those too, if it comes before the answer to the write.
// Events without a change are a resync, which is to look at everything.
func (w *written) news() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return e.IsInInitialList || w.byOthers(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return w.byOthers(e.ObjectNew) || e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion()
		},
		DeleteFunc: func(e event.DeleteEvent) bool {
			w.forget(e.Object)
			return true
		},
	}
}
