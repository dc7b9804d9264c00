package controllers

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/controllers/internal/watch"
)

// blueprintReconciler compiles blueprints, records what they may render, and keeps them while they are used.
type blueprintReconciler struct {
	*shell
}

// Reconcile reports whether a blueprint can be used, and by how many it is.
func (r *blueprintReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	blueprint, err := r.fetch.Blueprint(ctx, req.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if blueprint == nil {
		r.programs.forget(req.Name)
		return ctrl.Result{}, nil
	}
	classes, gateways, err := r.users(ctx, blueprint.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	ready, v := r.programs.get(blueprint)
	kinds, leftovers, err := r.record(ctx, blueprint, ready)
	if err != nil {
		return ctrl.Result{}, err
	}
	accounts, former, err := r.recordServiceAccounts(ctx, blueprint, ready)
	if err != nil {
		return ctrl.Result{}, err
	}
	// Without the blueprint nobody would know where to look for what was rendered from it, nor as whom it may be deleted.
	if err := r.keep(ctx, blueprint, gateways > 0 || leftovers || former, v1alpha1.FinalizerBlueprint); err != nil {
		return result(err)
	}
	resolved, err := r.resolvedRefs(ctx, blueprint)
	if err != nil {
		return ctrl.Result{}, err
	}
	after := blueprint.DeepCopy()
	status.Set(&after.Status.Conditions, v1alpha1.ConditionAccepted, v, blueprint.Generation)
	status.SetOrRemove(&after.Status.Conditions, v1alpha1.ConditionResolvedRefs, resolved, blueprint.Generation)
	after.Status.Kinds, after.Status.ServiceAccounts, after.Status.Classes = kinds, accounts, int32(classes)
	if after.Status.Gateways != int32(gateways) && equality.Semantic.DeepEqual(blueprint, after) {
		if left := r.counts.left(blueprint.Name, time.Now()); left > 0 {
			return ctrl.Result{RequeueAfter: left}, nil
		}
	}
	r.counts.settle(blueprint.Name)
	after.Status.Gateways = int32(gateways)
	waits := former || leftovers && blueprint.DeletionTimestamp != nil
	if err := r.update(ctx, blueprint, after, blueprintConditions); err != nil || !waits {
		return result(err)
	}
	return ctrl.Result{RequeueAfter: formerDelay}, nil
}

// formerDelay is how soon it is looked again whether anything is left that was applied as a former ServiceAccount, or that keeps a
// blueprint from being deleted. What is applied anew as another tells no blueprint, nor does a kind that could not be looked at.
const formerDelay = 5 * time.Second

// countDelay is how long a number that changed waits to be written if nothing else is to be. Many Gateways that come at once then
// cost one write, and not one each.
const countDelay = 5 * time.Second

// counts are the blueprints of which the number of Gateways changed, and when.
type counts struct {
	mu    sync.Mutex
	since map[string]time.Time
}

func newCounts() *counts {
	return &counts{since: map[string]time.Time{}}
}

// left is how long a number has still to wait, which changed now or earlier.
func (c *counts) left(blueprint string, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	since, waits := c.since[blueprint]
	if !waits {
		since = now
		c.since[blueprint] = now
	}
	return since.Add(countDelay).Sub(now)
}

// settle says that a number is about to be written, or is as it was.
func (c *counts) settle(blueprint string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.since, blueprint)
}

// record returns the kinds that objects of the blueprint may have: those of its program, and those of earlier generations as
// long as any object of them lives. leftovers says that there is one of those.
func (r *blueprintReconciler) record(
	ctx context.Context, b *v1alpha1.GatewayClassBlueprint, ready *compiled,
) (kinds []v1alpha1.RenderedKind, leftovers bool, err error) {
	var all []schema.GroupVersionKind
	if ready != nil {
		all = slices.Clone(ready.program.Kinds())
	}
	blueprints, err := r.fetch.Blueprints(ctx)
	if err != nil {
		return nil, false, err
	}
	elsewhere := r.renderedElsewhere(b, blueprints)
	for _, kind := range recordedKinds(b) {
		if ready != nil && slices.Contains(all, kind) && b.DeletionTimestamp == nil || elsewhere[kind] {
			continue
		}
		lives, err := r.lives(ctx, r.childKind(kind, blueprints), b)
		if err != nil {
			return nil, false, err
		}
		leftovers = leftovers || lives
		if lives && !slices.Contains(all, kind) {
			all = append(all, kind)
		}
	}
	for _, kind := range all {
		apiVersion, name := kind.ToAPIVersionAndKind()
		kinds = append(kinds, v1alpha1.RenderedKind{APIVersion: apiVersion, Kind: name})
	}
	return kinds, leftovers, nil
}

// renderedElsewhere are the kinds that another blueprint renders now, so that objects of them are found whether or not this one
// records them. What another merely records from an earlier generation does not count: both could then rely on each other.
func (r *blueprintReconciler) renderedElsewhere(
	b *v1alpha1.GatewayClassBlueprint, blueprints []v1alpha1.GatewayClassBlueprint,
) map[schema.GroupVersionKind]bool {
	kinds := map[schema.GroupVersionKind]bool{}
	for i := range blueprints {
		other := &blueprints[i]
		if other.Name == b.Name || other.DeletionTimestamp != nil {
			continue
		}
		recorded := recordedKinds(other)
		if ready, _ := r.programs.get(other); ready != nil {
			for _, kind := range ready.program.Kinds() {
				if slices.Contains(recorded, kind) {
					kinds[kind] = true
				}
			}
		}
	}
	return kinds
}

// lives says whether there may be a rendered object of a kind. Where that cannot be told yet, there may be.
func (r *blueprintReconciler) lives(ctx context.Context, kind watch.Kind, b *v1alpha1.GatewayClassBlueprint) (bool, error) {
	r.children.AwaitDeletes(kind.GroupVersionKind, v1alpha1.KindGatewayClassBlueprint, client.ObjectKeyFromObject(b))
	return r.any(ctx, kind, b, nil)
}

// any says whether there may be a rendered object of a kind, one of which something is true unless that is nil.
func (r *blueprintReconciler) any(
	ctx context.Context, kind watch.Kind, b *v1alpha1.GatewayClassBlueprint, is func(*unstructured.Unstructured) bool,
) (bool, error) {
	unwatched := r.children.Ensure(ctx, kind, v1alpha1.KindGatewayClassBlueprint, client.ObjectKeyFromObject(b))
	if unwatched == nil {
		return r.children.Any(ctx, kind.GroupVersionKind, is)
	}
	_, notServed := errors.AsType[*watch.KindNotServedError](unwatched)
	return !notServed, nil
}

func blueprintConditions(o client.Object) []metav1.Condition {
	return o.(*v1alpha1.GatewayClassBlueprint).Status.Conditions
}

func (r *blueprintReconciler) users(ctx context.Context, blueprint string) (classes, gateways int, err error) {
	list, err := r.fetch.ClassesOfBlueprint(ctx, blueprint)
	if err != nil {
		return 0, 0, err
	}
	for i := range list {
		of, err := r.fetch.GatewaysOfClass(ctx, list[i].Name)
		if err != nil {
			return 0, 0, err
		}
		gateways += len(of)
	}
	return len(list), gateways, nil
}
