package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/plan"
)

const indexOwnerUID = "owner-uid"

// ErrSyncing says that the watch on a kind has started and has not delivered everything yet. Whoever asked is enqueued again
// once it has.
var ErrSyncing = errors.New("the watch is still starting")

// KindNotServedError says that the API server does not know a kind, as long as its CRD is not installed.
type KindNotServedError struct {
	schema.GroupVersionKind
}

// Error says what to do. Groups without a dot are those of Kubernetes itself, which no CRD adds to.
func (e *KindNotServedError) Error() string {
	advice := "install its CRD, or look whether group, version and kind are written right"
	if !strings.Contains(e.Group, ".") {
		advice = "that group is part of Kubernetes: look whether version and kind are written right, and are those of this Kubernetes"
	}
	return fmt.Sprintf("the API server does not serve kind %s of %s; %s", e.Kind, e.GroupVersion(), advice)
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Kind is a kind of rendered objects, and how much of them is asked for.
type Kind struct {
	schema.GroupVersionKind
	// Body says that more is read of them than their metadata.
	Body bool
}

// Children watches the objects that blueprints render: of kinds of which nobody reads more, their metadata.
type Children struct {
	cache  cache.Cache
	reader client.Reader
	mapper meta.RESTMapper
	memory Memory

	// reading is held, for reading, as long as something is read: reading from a cache whose watch has just ended is an error.
	reading sync.RWMutex

	mu      sync.Mutex
	scopes  map[schema.GroupVersionKind]meta.RESTScopeName
	kinds   map[schema.GroupVersionKind]watched
	refused map[schema.GroupVersionKind]refusal
	waiting map[schema.GroupVersionKind]map[owner]bool
	queues  map[string]queue
	// deletes are the owners that are to hear of the next object of a kind that goes, whosever it is.
	deletes map[schema.GroupVersionKind]map[owner]bool
}

// watched is the watch on a kind. Once it is for bodies it stays so: to go back and forth would cost more than it saves.
type watched struct {
	cache.Informer
	body bool
	// succeeds says that it took the place of another.
	succeeds bool
}

// refusal is why a kind could not be watched. It is believed for a moment, so that many Gateways do not all ask the same.
type refusal struct {
	err   error
	until time.Time
}

// refusalTTL is shorter than the time after which whoever waits for a CRD is woken for the last time.
const refusalTTL = 3 * time.Second

type owner struct {
	kind string
	types.NamespacedName
}

// Memory is what is remembered of objects that were applied.
type Memory interface {
	// Knows says of a state of an object whether its owner has acted on it already, so that nobody is woken by it: what we wrote
	// ourselves is no news.
	Knows(*unstructured.Unstructured) bool
	// Gone says that an object is gone.
	Gone(*unstructured.Unstructured)
}

// NewChildren returns a watcher over a cache that holds labelled objects only. The reader asks the API server itself; it is
// used once a kind, to learn early what a watch would only retry in silence. The memory hears of what the watches see.
func NewChildren(labelled cache.Cache, reader client.Reader, mapper meta.RESTMapper, memory Memory) *Children {
	return &Children{
		cache: labelled, reader: reader, mapper: mapper, memory: memory,
		scopes:  map[schema.GroupVersionKind]meta.RESTScopeName{},
		kinds:   map[schema.GroupVersionKind]watched{},
		refused: map[schema.GroupVersionKind]refusal{},
		waiting: map[schema.GroupVersionKind]map[owner]bool{},
		queues:  map[string]queue{},
		deletes: map[schema.GroupVersionKind]map[owner]bool{},
	}
}

// Slim is what the cache is to make of each object that it holds, see plan.Slim.
func Slim(o any) (any, error) {
	switch object := o.(type) {
	case *unstructured.Unstructured:
		plan.Slim(object)
	case *metav1.PartialObjectMetadata:
		plan.SlimMetadata(object)
	}
	return o, nil
}

// Source yields a reconcile request for each event on an object whose owner is of this kind.
func (c *Children) Source(ownerKind string) source.Source {
	return source.Func(func(_ context.Context, q queue) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.queues[ownerKind] = q
		return nil
	})
}

// Scope says whether a kind is cluster-scoped. The error is a KindNotServedError if the API server does not know the kind.
func (c *Children) Scope(gvk schema.GroupVersionKind) (clusterScoped bool, err error) {
	c.mu.Lock()
	scope, known := c.scopes[gvk]
	c.mu.Unlock()
	if known {
		return scope == meta.RESTScopeNameRoot, nil
	}
	mapping, err := c.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	switch {
	case meta.IsNoMatchError(err):
		return false, &KindNotServedError{gvk}
	case err != nil:
		return false, fmt.Errorf("looking up kind %s: %w", gvk.Kind, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.scopes[gvk] = mapping.Scope.Name()
	return mapping.Scope.Name() == meta.RESTScopeNameRoot, nil
}

// Ensure starts the watch on a kind if need be; one that knows the metadata alone is started anew if the body is asked for. It returns
// nil once all its objects are known, ErrSyncing before that (the owner named is enqueued when it is), a KindNotServedError if there
// is no such kind, and what the API server said if the controller may not list it.
func (c *Children) Ensure(ctx context.Context, kind Kind, ownerKind string, name types.NamespacedName) error {
	gvk := kind.GroupVersionKind
	c.mu.Lock()
	w, started := c.kinds[gvk]
	refused := c.refused[gvk]
	c.mu.Unlock()
	if !started || kind.Body && !w.body {
		if refused.err != nil && time.Now().Before(refused.until) {
			return refused.err
		}
		var err error
		if w, err = c.start(ctx, kind); err != nil {
			c.mu.Lock()
			c.refused[gvk] = refusal{err, time.Now().Add(refusalTTL)}
			c.mu.Unlock()
			return err
		}
	}
	if w.HasSynced() {
		return nil
	}
	// A watch that was started just when its kind went would be waited for in vain.
	if _, notServed := errors.AsType[*KindNotServedError](c.probe(ctx, gvk)); notServed {
		return errors.Join(c.drop(ctx, gvk), &KindNotServedError{gvk})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, started := c.kinds[gvk]; started {
		// Another may have taken its place meanwhile.
		w = now
	}
	c.await(gvk, w, owner{ownerKind, name})
	return ErrSyncing
}

func (c *Children) start(ctx context.Context, kind Kind) (watched, error) {
	gvk := kind.GroupVersionKind
	if _, err := c.Scope(gvk); err != nil {
		return watched{}, err
	}
	if err := c.probe(ctx, gvk); err != nil {
		return watched{}, err
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	before, started := c.kinds[gvk]
	if started && (before.body || !kind.Body) {
		return before, nil
	}
	w, err := c.watch(ctx, kind)
	if err != nil {
		return watched{}, err
	}
	delete(c.refused, gvk)
	if started {
		w.succeeds = true
		err = c.succeed(ctx, gvk, before, w)
	}
	c.kinds[gvk] = w
	return w, err
}

// watch starts a watch.
func (c *Children) watch(ctx context.Context, kind Kind) (watched, error) {
	object := emptyOf(kind)
	if err := c.cache.IndexField(ctx, object, indexOwnerUID, ownerUID); err != nil {
		return watched{}, fmt.Errorf("indexing kind %s: %w", kind.Kind, err)
	}
	informer, err := c.cache.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return watched{}, fmt.Errorf("watching kind %s: %w", kind.Kind, err)
	}
	if _, err := informer.AddEventHandler(c.handler(kind.GroupVersionKind)); err != nil {
		return watched{}, fmt.Errorf("watching kind %s: %w", kind.Kind, err)
	}
	return watched{Informer: informer, body: kind.Body}, nil
}

// succeed ends the watch on the metadata of a kind, which one on the bodies takes the place of. Whoever the old one knows objects of is
// woken when the new one has delivered everything: what goes in between is told by neither. It needs the locks.
func (c *Children) succeed(ctx context.Context, gvk schema.GroupVersionKind, before, after watched) error {
	var known []*unstructured.Unstructured
	if before.HasSynced() {
		var err error
		if known, err = c.list(ctx, Kind{GroupVersionKind: gvk}); err != nil {
			return err
		}
	}
	waiting := c.waiting[gvk]
	delete(c.waiting, gvk)
	for o := range waiting {
		c.await(gvk, after, o)
	}
	for _, object := range known {
		for _, o := range ownersOf(object) {
			c.await(gvk, after, o)
		}
	}
	return c.cache.RemoveInformer(ctx, emptyOf(Kind{GroupVersionKind: gvk}))
}

// await has an owner woken once a watch has delivered everything. It needs the lock.
func (c *Children) await(gvk schema.GroupVersionKind, w watched, o owner) {
	if c.waiting[gvk] == nil {
		c.waiting[gvk] = map[owner]bool{}
		go c.announce(gvk, w)
	}
	c.waiting[gvk][o] = true
}

// probe lists at most one object, so that a missing right or kind is an answer instead of a retry that nobody sees.
func probe(ctx context.Context, reader client.Reader, gvk schema.GroupVersionKind, options ...client.ListOption) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	err := reader.List(ctx, list, append(options, client.Limit(1))...)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return &KindNotServedError{gvk}
	case err != nil:
		return fmt.Errorf("listing kind %s: %w", gvk.Kind, err)
	}
	return nil
}

func (c *Children) probe(ctx context.Context, gvk schema.GroupVersionKind) error {
	return probe(ctx, c.reader, gvk, client.HasLabels{v1alpha1.LabelOwnerUID})
}

// announce wakes whoever waits for a kind once its watch has delivered everything. It ends with the cache.
func (c *Children) announce(gvk schema.GroupVersionKind, w watched) {
	stopped := make(chan struct{})
	if !toolscache.WaitForCacheSync(stopped, func() bool { return w.HasSynced() || w.IsStopped() }) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, started := c.kinds[gvk]; started && now.Informer != w.Informer {
		// Another watch has taken its place, which whoever is left waits for now.
		if len(c.waiting[gvk]) > 0 {
			go c.announce(gvk, now)
		}
		return
	}
	for o := range c.waiting[gvk] {
		c.enqueue(o)
	}
	delete(c.waiting, gvk)
}

// Recheck forgets what was refused for a group of kinds, and ends the watches on kinds that are served no more, which would retry
// for ever. It is to be called when a CRD of the group comes or goes.
func (c *Children) Recheck(ctx context.Context, group string) error {
	c.mu.Lock()
	maps.DeleteFunc(c.refused, func(gvk schema.GroupVersionKind, _ refusal) bool { return gvk.Group == group })
	maps.DeleteFunc(c.scopes, func(gvk schema.GroupVersionKind, _ meta.RESTScopeName) bool { return gvk.Group == group })
	var kinds []schema.GroupVersionKind
	for gvk := range c.kinds {
		if gvk.Group == group {
			kinds = append(kinds, gvk)
		}
	}
	c.mu.Unlock()
	var errs []error
	for _, gvk := range kinds {
		if _, notServed := errors.AsType[*KindNotServedError](c.probe(ctx, gvk)); !notServed {
			continue
		}
		errs = append(errs, c.drop(ctx, gvk))
	}
	return errors.Join(errs...)
}

// drop ends the watch on a kind that is not served.
func (c *Children) drop(ctx context.Context, gvk schema.GroupVersionKind) error {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.mu.Lock()
	w := c.kinds[gvk]
	delete(c.kinds, gvk)
	for o := range c.waiting[gvk] {
		c.enqueue(o)
	}
	delete(c.waiting, gvk)
	c.mu.Unlock()
	return c.cache.RemoveInformer(ctx, emptyOf(Kind{gvk, w.body}))
}

// watchOn returns the watch on a kind.
func (c *Children) watchOn(gvk schema.GroupVersionKind) (w watched, started bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w, started = c.kinds[gvk]
	return w, started
}

// Get returns the live object as it was last seen, or nil if there is none with our label. It is not to be changed, and has no body if
// nobody has asked for one. The error is ErrSyncing if the watch was started anew just now.
func (c *Children) Get(ctx context.Context, gvk schema.GroupVersionKind, key types.NamespacedName) (*unstructured.Unstructured, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	w, started := c.watchOn(gvk)
	if started && !w.HasSynced() {
		return nil, ErrSyncing
	}
	object := emptyOf(Kind{gvk, w.body})
	if err := c.cache.Get(ctx, key, object); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return live(object)
}

// Any says whether a watch has seen any object of a kind, one of which something is true unless that is nil. The error is ErrSyncing if it
// was started anew just now.
func (c *Children) Any(ctx context.Context, gvk schema.GroupVersionKind, is func(*unstructured.Unstructured) bool) (bool, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	w, started := c.watchOn(gvk)
	if started && !w.HasSynced() {
		return false, ErrSyncing
	}
	if is == nil {
		one, err := c.list(ctx, Kind{gvk, w.body}, client.Limit(1))
		return len(one) > 0, err
	}
	all, err := c.list(ctx, Kind{gvk, w.body})
	return slices.ContainsFunc(all, is), err
}

// list reads objects of a kind from its watch.
func (c *Children) list(ctx context.Context, kind Kind, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	gvk := kind.GroupVersion().WithKind(kind.Kind + "List")
	var list client.ObjectList = &metav1.PartialObjectMetadataList{}
	if kind.Body {
		list = &unstructured.UnstructuredList{}
	}
	list.GetObjectKind().SetGroupVersionKind(gvk)
	if err := c.cache.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("reading objects of kind %s: %w", kind.Kind, err)
	}
	var objects []*unstructured.Unstructured
	err := meta.EachListItem(list, func(item runtime.Object) error {
		o, err := live(item)
		objects = append(objects, o)
		return err
	})
	return objects, err
}

// live is an object of a watch, or its metadata, as an object.
func live(o any) (*unstructured.Unstructured, error) {
	switch o := o.(type) {
	case *unstructured.Unstructured:
		return o, nil
	case *metav1.PartialObjectMetadata:
		return plan.Live(o)
	}
	return nil, fmt.Errorf("a watch on rendered objects has delivered a %T", o)
}

// OwnedBy returns all live objects that carry this owner uid, of all kinds that are watched, sorted by kind and name. They
// are not to be changed.
func (c *Children) OwnedBy(ctx context.Context, uid types.UID) ([]*unstructured.Unstructured, error) {
	c.reading.RLock()
	defer c.reading.RUnlock()
	var owned []*unstructured.Unstructured
	seen := map[types.UID]bool{}
	for _, kind := range c.synced() {
		objects, err := c.list(ctx, kind, client.MatchingFields{indexOwnerUID: string(uid)})
		if err != nil {
			return nil, err
		}
		// One object may be watched in several versions of its kind, by blueprints that write different ones.
		for _, o := range objects {
			if !seen[o.GetUID()] {
				seen[o.GetUID()] = true
				owned = append(owned, o)
			}
		}
	}
	// An index hands out its objects in random order.
	slices.SortFunc(owned, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(
			strings.Compare(a.GetKind(), b.GetKind()),
			strings.Compare(a.GetNamespace(), b.GetNamespace()),
			strings.Compare(a.GetName(), b.GetName()),
		)
	})
	return owned, nil
}

// synced are the kinds of which everything is known, sorted. Reading from a watch that is still starting would wait for it.
func (c *Children) synced() []Kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := make([]Kind, 0, len(c.kinds))
	for gvk, w := range c.kinds {
		if w.HasSynced() {
			kinds = append(kinds, Kind{gvk, w.body})
		}
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Complete says whether all that was in sight still is: no watch that took the place of another is still starting.
func (c *Children) Complete() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.kinds {
		if w.succeeds && !w.HasSynced() {
			return false
		}
	}
	return true
}

// AwaitDeletes has an owner woken once, when the next object of a kind goes, whosever it is.
func (c *Children) AwaitDeletes(gvk schema.GroupVersionKind, ownerKind string, name types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deletes[gvk] == nil {
		c.deletes[gvk] = map[owner]bool{}
	}
	c.deletes[gvk][owner{ownerKind, name}] = true
}

// gone wakes whoever waits for objects of a kind to go.
func (c *Children) gone(gvk schema.GroupVersionKind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for o := range c.deletes[gvk] {
		c.enqueue(o)
	}
	delete(c.deletes, gvk)
}

func (c *Children) handler(gvk schema.GroupVersionKind) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.changed(nil, o) },
		UpdateFunc: func(before, after any) { c.changed(before, after) },
		DeleteFunc: func(o any) {
			if tombstone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = tombstone.Obj
			}
			c.changed(o, nil)
			c.gone(gvk)
		},
	}
}

// changed enqueues the owners of an object, as it was and as it is: whoever removes the marks of ownership must be noticed. One of
// the two is nil if the object came or went.
func (c *Children) changed(before, after any) {
	// What is nil, or no object, is no object.
	was, _ := live(before)
	is, _ := live(after)
	if is != nil && (c.memory.Knows(is) || was != nil && was.GetResourceVersion() == is.GetResourceVersion()) {
		return
	}
	if is == nil && was != nil {
		c.memory.Gone(was)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := map[owner]bool{}
	for _, object := range []*unstructured.Unstructured{was, is} {
		if object == nil {
			continue
		}
		for _, o := range ownersOf(object) {
			if !seen[o] {
				seen[o] = true
				c.enqueue(o)
			}
		}
	}
}

// enqueue needs the lock.
func (c *Children) enqueue(o owner) {
	if q, ok := c.queues[o.kind]; ok {
		q.Add(reconcile.Request{NamespacedName: o.NamespacedName})
	}
}

// ownersOf finds the owner by owner reference, and by annotation where there can be no reference.
func ownersOf(o *unstructured.Unstructured) []owner {
	var owners []owner
	for _, ref := range o.GetOwnerReferences() {
		owners = append(owners, owner{ref.Kind, types.NamespacedName{Namespace: o.GetNamespace(), Name: ref.Name}})
	}
	if parts := strings.Split(o.GetAnnotations()[v1alpha1.AnnotationOwner], "/"); len(parts) == 3 {
		owners = append(owners, owner{parts[0], types.NamespacedName{Namespace: parts[1], Name: parts[2]}})
	}
	return owners
}

func ownerUID(o client.Object) []string {
	return []string{o.GetLabels()[v1alpha1.LabelOwnerUID]}
}

// emptyOf is an object of a kind, as the cache knows it.
func emptyOf(kind Kind) client.Object {
	var o client.Object = &metav1.PartialObjectMetadata{}
	if kind.Body {
		o = &unstructured.Unstructured{}
	}
	o.GetObjectKind().SetGroupVersionKind(kind.GroupVersionKind)
	return o
}
