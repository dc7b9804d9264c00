package controllers

import (
	"context"
	"errors"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/fetch"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
)

// routeReconciler implements the routes of one kind: what the blueprint of each parent's class renders for them.
type routeReconciler struct {
	*shell
	kind gatewayv1.Kind
	// empty is a route of the kind.
	empty client.Object
	// crowded are the routes that were told that their status has no room for us.
	crowded sync.Map
}

// routeKinds are its only one.
func (r *routeReconciler) routeKinds() []gatewayv1.Kind { return []gatewayv1.Kind{r.kind} }

// Reconcile brings about what is rendered for a route under each of its parents, and reports on it.
func (r *routeReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	object, err := r.fetch.RouteNamed(ctx, r.kind, req.NamespacedName)
	if object == nil || err != nil {
		r.crowded.Delete(req.NamespacedName)
		return ctrl.Result{}, err
	}
	owner := desired.OwnerOf(string(r.kind), object)
	if object.GetDeletionTimestamp() != nil {
		return result(r.finalize(ctx, object, owner))
	}
	route, _ := gateway.RouteOf(object)
	work, err := r.renderings(ctx, route)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(work.judged) == 0 && !work.hold {
		return result(errors.Join(r.giveUp(ctx, object, owner), r.report(ctx, object, owner, work, converged{})))
	}
	for _, rendering := range work.renderings {
		if err := r.protect(ctx, object, rendering.in); err != nil {
			return result(err)
		}
	}
	kinds, err := r.kinds(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	done, err := r.converge(ctx, owner, work.parents(), kinds, work.hold)
	if err != nil {
		return result(err)
	}
	if r.postpone(owner, done) {
		return result(errUnreported)
	}
	return result(errors.Join(r.report(ctx, object, owner, work, done), done.retry))
}

// routeWork is what a route asks for.
type routeWork struct {
	// judged are the route's parents that are ours, in its own order.
	judged []judgedParent
	// renderings are those under the parents that accept it.
	renderings []routeRendering
	// hold says that some of what is wanted is not known, as a blueprint cannot be used or a class is gone.
	hold bool
	// unjudged are the parents of which nobody can tell whose they are now, as their class is gone. It may come back: what is
	// rendered for them and what is reported on them stays.
	unjudged []gateway.ParentKey
}

// judgedParent is a parent with what is thought of the route under it.
type judgedParent struct {
	gateway.Parent
	resolvedRefs verdict.Verdict
}

type routeRendering struct {
	in     desired.Inputs
	parent *desired.Parent
}

func (w routeWork) parents() []*desired.Parent {
	var parents []*desired.Parent
	for _, rendering := range w.renderings {
		parents = append(parents, rendering.parent)
	}
	return parents
}

// renderings judges the route for every Gateway of ours that it names, itself or through a ListenerSet.
func (r *routeReconciler) renderings(ctx context.Context, route gateway.Route) (routeWork, error) {
	var work routeWork
	seen := map[types.UID]bool{}
	for _, key := range fetch.Parents(route) {
		gw, class, err := r.fetch.ParentGateway(ctx, key)
		if err != nil {
			return work, err
		}
		if gw == nil || gw.DeletionTimestamp != nil || seen[gw.UID] {
			continue
		}
		if class == nil {
			work.hold, work.unjudged = true, append(work.unjudged, key)
			continue
		}
		seen[gw.UID] = true
		snapshot, err := r.fetch.Route(ctx, class, gw, route)
		if err != nil {
			return work, err
		}
		ready, _ := r.blueprint(snapshot)
		if ready == nil {
			work.hold = true
			work.judged = append(work.judged, judgedParents(gateway.Merge(snapshot))...)
			continue
		}
		in := r.inputs(ctx, snapshot, ready)
		work.judged = append(work.judged, judgedParents(in.Merged)...)
		for _, attachment := range in.Merged.Attachments {
			for _, parent := range desired.Route(in, attachment) {
				work.renderings = append(work.renderings, routeRendering{in, parent})
			}
		}
	}
	return work, nil
}

func judgedParents(merged gateway.Merged) []judgedParent {
	var parents []judgedParent
	for _, attachment := range merged.Attachments {
		for _, parent := range attachment.Parents {
			parents = append(parents, judgedParent{parent, attachment.ResolvedRefs})
		}
	}
	return parents
}

// report writes the Renderings and the route's status, each only if it changed.
func (r *routeReconciler) report(
	ctx context.Context, route client.Object, owner desired.Owner, work routeWork, done converged,
) error {
	var errs []error
	under := map[string]status.RouteParent{}
	for i, rendering := range work.renderings {
		programmed := done.outcomes[i].Programmed()
		under[underName(rendering.parent.Under)] = status.RouteParent{Programmed: &programmed, Values: rendering.parent.Values}
		errs = append(errs, r.writeRendering(ctx, rendering.in, rendering.parent, done.outcomes[i]))
	}
	if done.settled {
		errs = append(errs, r.deleteRenderings(ctx, owner, work.parents()))
	}
	var entries []status.RouteParent
	for _, parent := range work.judged {
		entry := under[underName(&parent.Parent)]
		entry.Ref, entry.Accepted, entry.ResolvedRefs = parent.Ref, parent.Accepted, parent.resolvedRefs
		entries = append(entries, entry)
	}
	after := route.DeepCopyObject().(client.Object)
	unjudged := func(ref gatewayv1.ParentReference) bool {
		key, ok := gateway.RouteParent(ref, route.GetNamespace())
		return ok && slices.Contains(work.unjudged, key)
	}
	reported := status.OfRoute(after)
	var left int
	reported.Parents, left = status.RouteParents(reported.Parents, entries, unjudged, route.GetGeneration())
	r.tellRoom(route, left)
	return errors.Join(append(errs, r.update(ctx, route, after, routeConditions))...)
}

// tellRoom makes an event of it when the status of a route begins to have no room for all that we would report.
func (r *routeReconciler) tellRoom(route client.Object, left int) {
	key := client.ObjectKeyFromObject(route)
	if left == 0 {
		r.crowded.Delete(key)
		return
	}
	if _, told := r.crowded.Swap(key, true); !told {
		r.events.Eventf(route, nil, "Warning", v1alpha1.ReasonStatusFull, "Report",
			"status.parents is full: what %s has to say of %d of the parents finds no room beside the entries of others; "+
				"take parents out of spec.parentRefs, or have entries removed of controllers that are gone", v1alpha1.ControllerName, left)
	}
}

// routeConditions are those of all parents; each type comes once, with the last word.
func routeConditions(o client.Object) []metav1.Condition {
	var conditions []metav1.Condition
	for _, parent := range status.OfRoute(o).Parents {
		conditions = append(conditions, parent.Conditions...)
	}
	return conditions
}
