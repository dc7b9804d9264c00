package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Optional watches kinds that users write and that the API server need not serve: which kinds of Gateway API a cluster has depends
// on its version and channel. As long as a kind is not served it has no objects, and nobody waits for it.
type Optional struct {
	cache  cache.Cache
	reader client.Reader
	scheme *runtime.Scheme
	index  func(context.Context, client.Object) error
	kinds  map[schema.GroupVersionKind]*optionalKind
}

// optionalKind is one kind, and whether it is watched.
type optionalKind struct {
	schema.GroupVersionKind
	// empty is an object of the kind, of its Go type.
	empty client.Object

	// checking is held while it is looked whether the kind is served, so that one at a time starts or ends the watch.
	checking sync.Mutex
	checked  bool

	// mu guards what follows. It is also held, for reading, as long as something is read: reading from a cache whose watch has ended
	// would start it anew, and wait for it for ever.
	mu       sync.RWMutex
	informer cache.Informer
	// settled is closed once the watch has delivered everything, or was ended before it had. It is nil while there is no watch.
	settled chan struct{}
	// ready says that the watch has delivered everything.
	ready       bool
	subscribers []subscriber
}

// subscriber is a controller's queue, and what it wants to hear.
type subscriber struct {
	context    context.Context
	queue      queue
	handler    handler.EventHandler
	predicates []predicate.Predicate
}

// NewOptional returns a watcher of the kinds of these objects, which must be of Go types, over a cache that nobody else is to ask for
// them. The reader asks the API server itself. index tells the cache which indexes to keep of a kind; it is called whenever a watch
// starts.
func NewOptional(
	shared cache.Cache, reader client.Reader, scheme *runtime.Scheme,
	index func(context.Context, client.Object) error, kinds ...client.Object,
) (*Optional, error) {
	o := &Optional{cache: shared, reader: reader, scheme: scheme, index: index, kinds: map[schema.GroupVersionKind]*optionalKind{}}
	for _, empty := range kinds {
		gvk, err := apiutil.GVKForObject(empty, scheme)
		if err != nil {
			return nil, fmt.Errorf("watching %T: %w", empty, err)
		}
		o.kinds[gvk] = &optionalKind{GroupVersionKind: gvk, empty: empty}
	}
	return o, nil
}

// Get reads an object from the cache. Of a kind that is not served there is none.
func (o *Optional) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	kind, err := o.kindOf(into)
	switch {
	case err != nil:
		return err
	case kind == nil:
		return o.cache.Get(ctx, key, into, options...)
	}
	kind.mu.RLock()
	defer kind.mu.RUnlock()
	if !kind.ready {
		return apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
	}
	return o.cache.Get(ctx, key, into, options...)
}

// List reads objects from the cache into an empty list. Of a kind that is not served there are none.
func (o *Optional) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	kind, err := o.kindOf(into)
	switch {
	case err != nil:
		return err
	case kind == nil:
		return o.cache.List(ctx, into, options...)
	}
	kind.mu.RLock()
	defer kind.mu.RUnlock()
	if !kind.ready {
		return nil
	}
	return o.cache.List(ctx, into, options...)
}

// Scheme returns the scheme that the Go types are from.
func (o *Optional) Scheme() *runtime.Scheme { return o.scheme }

// kindOf is the kind of an object or of a list; nil if it is none of ours.
func (o *Optional) kindOf(object runtime.Object) (*optionalKind, error) {
	gvk, err := apiutil.GVKForObject(object, o.scheme)
	if err != nil {
		return nil, fmt.Errorf("reading %T: %w", object, err)
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	return o.kinds[gvk], nil
}

// Serves says whether the API server serves a kind, as far as is known: it is watched then.
func (o *Optional) Serves(kind schema.GroupKind) bool {
	for gvk, k := range o.kinds {
		if gvk.GroupKind() == kind {
			return k.watched()
		}
	}
	return false
}

// Has says whether a CustomResourceDefinition, by its name "<plural>.<group>", is that of one of the kinds.
func (o *Optional) Has(crd string) bool { return o.named(crd) != nil }

func (o *Optional) named(crd string) *optionalKind {
	for _, kind := range o.kinds {
		plural, _ := meta.UnsafeGuessKindToResource(kind.GroupVersionKind)
		if crd == plural.Resource+"."+plural.Group {
			return kind
		}
	}
	return nil
}

// Recheck looks whether the API server serves the kind of a CustomResourceDefinition, says so, and starts or ends its watch
// accordingly. It is to be called when that comes, changes or goes. The error is what the API server said if it did not tell.
func (o *Optional) Recheck(ctx context.Context, crd string) (served bool, err error) {
	kind := o.named(crd)
	if kind == nil {
		return false, nil
	}
	kind.checking.Lock()
	defer kind.checking.Unlock()
	err = o.check(ctx, kind)
	return kind.watched(), err
}

// checkOnce looks whether a kind is served unless it is known already.
func (o *Optional) checkOnce(ctx context.Context, kind *optionalKind) error {
	kind.checking.Lock()
	defer kind.checking.Unlock()
	if kind.checked {
		return nil
	}
	return o.check(ctx, kind)
}

// check needs the lock.
func (o *Optional) check(ctx context.Context, kind *optionalKind) error {
	err := o.follow(ctx, kind)
	kind.checked = kind.checked || err == nil
	return err
}

// follow starts or ends a watch.
func (o *Optional) follow(ctx context.Context, kind *optionalKind) error {
	err := probe(ctx, o.reader, kind.GroupVersionKind)
	if _, notServed := errors.AsType[*KindNotServedError](err); notServed {
		return o.end(ctx, kind)
	}
	if err != nil {
		return err
	}
	return o.start(ctx, kind)
}

func (o *Optional) start(ctx context.Context, kind *optionalKind) error {
	kind.mu.Lock()
	defer kind.mu.Unlock()
	if kind.informer != nil {
		return nil
	}
	informer, err := o.cache.GetInformer(ctx, kind.empty, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching kind %s: %w", kind.Kind, err)
	}
	if err := o.index(ctx, kind.empty); err != nil {
		return errors.Join(err, o.cache.RemoveInformer(ctx, kind.empty))
	}
	kind.informer, kind.settled = informer, make(chan struct{})
	go kind.announce(informer)
	return nil
}

// announce waits until a watch has delivered everything, and hands it on then and not before: whoever is woken by an object must find
// it, and all others of its kind.
func (k *optionalKind) announce(informer cache.Informer) {
	never := make(chan struct{})
	toolscache.WaitForCacheSync(never, func() bool { return informer.HasSynced() || informer.IsStopped() })
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.informer != informer {
		// It was ended in between.
		return
	}
	k.ready = informer.HasSynced()
	for _, s := range k.subscribers {
		s.subscribe(informer)
	}
	close(k.settled)
}

// end ends a watch. What there was until then goes; the API server may not have got round to say so.
func (o *Optional) end(ctx context.Context, kind *optionalKind) error {
	kind.mu.Lock()
	if kind.informer == nil {
		kind.mu.Unlock()
		return nil
	}
	var left []client.Object
	var err error
	if kind.ready {
		left, err = o.all(ctx, kind)
	} else {
		close(kind.settled)
	}
	err = errors.Join(err, o.cache.RemoveInformer(ctx, kind.empty))
	kind.informer, kind.settled, kind.ready = nil, nil, false
	subscribers := slices.Clone(kind.subscribers)
	kind.mu.Unlock()
	for _, s := range subscribers {
		for _, object := range left {
			s.deleted(object)
		}
	}
	return err
}

// all are the objects of a kind.
func (o *Optional) all(ctx context.Context, kind *optionalKind) ([]client.Object, error) {
	empty, err := o.scheme.New(kind.GroupVersion().WithKind(kind.Kind + "List"))
	if err != nil {
		return nil, fmt.Errorf("reading kind %s: %w", kind.Kind, err)
	}
	list := empty.(client.ObjectList)
	if err := o.cache.List(ctx, list); err != nil {
		return nil, fmt.Errorf("reading kind %s: %w", kind.Kind, err)
	}
	var objects []client.Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(client.Object))
		return nil
	})
	return objects, err
}

func (k *optionalKind) watched() bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.informer != nil
}

func (s subscriber) subscribe(informer cache.Informer) {
	events := &source.Informer{Informer: informer, Handler: s.handler, Predicates: s.predicates}
	// It fails only for a watch that has ended, which has nothing to tell.
	_ = events.Start(s.context, s.queue)
}

func (s subscriber) deleted(object client.Object) {
	gone := event.DeleteEvent{Object: object}
	for _, p := range s.predicates {
		if !p.Delete(gone) {
			return
		}
	}
	s.handler.Delete(s.context, gone, s.queue)
}

// Source yields what the handler makes of the events of a kind that pass all predicates, whenever it is served.
func (o *Optional) Source(empty client.Object, h handler.EventHandler, predicates ...predicate.Predicate) source.SyncingSource {
	return &optionalSource{of: o, empty: empty, handler: h, predicates: predicates}
}

type optionalSource struct {
	of         *Optional
	empty      client.Object
	handler    handler.EventHandler
	predicates []predicate.Predicate
}

// Start implements source.Source.
func (s *optionalSource) Start(ctx context.Context, q queue) error {
	kind, err := s.of.kindOf(s.empty)
	if err != nil {
		return err
	}
	if kind == nil {
		return fmt.Errorf("watching %T: it is not among the kinds that were announced", s.empty)
	}
	subscriber := subscriber{context: ctx, queue: q, handler: s.handler, predicates: s.predicates}
	kind.mu.Lock()
	defer kind.mu.Unlock()
	kind.subscribers = append(kind.subscribers, subscriber)
	if kind.ready {
		subscriber.subscribe(kind.informer)
	}
	return nil
}

// WaitForSync implements source.SyncingSource: it waits until the API server has told whether it serves the kind and, if so, the watch
// has delivered everything.
func (s *optionalSource) WaitForSync(ctx context.Context) error {
	kind, err := s.of.kindOf(s.empty)
	if err != nil {
		return err
	}
	var unknown error
	err = wait.PollUntilContextCancel(ctx, checkInterval, true, func(ctx context.Context) (bool, error) {
		unknown = s.of.checkOnce(ctx, kind)
		return unknown == nil, nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the watch on kind %s: %w", kind.Kind, errors.Join(unknown, err))
	}
	kind.mu.RLock()
	settled := kind.settled
	kind.mu.RUnlock()
	if settled == nil {
		return nil
	}
	select {
	case <-settled:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the watch on kind %s: %w", kind.Kind, ctx.Err())
	}
}

// checkInterval is how soon the API server is asked again if it did not tell whether it serves a kind.
const checkInterval = 500 * time.Millisecond
