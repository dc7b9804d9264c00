package controllers

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/controllers/internal/watch"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
)

// convergence is the work on one owner in one pass.
type convergence struct {
	*shell
	owner desired.Owner
	// live holds what is known of the owner's objects, renewed by what applying them returns.
	live map[desired.Identity]*unstructured.Unstructured
	// claimed says which rendering of the owner yielded an object: a route has several, and each object belongs to one.
	claimed desired.Claims
	// unwatched says why objects of a kind cannot be handled yet.
	unwatched kindErrors
	// wrote says that an object was created or updated.
	wrote bool
	// retry is the first error that is worth another try.
	retry error
}

// kindErrors say for some kinds what stands in the way of handling their objects.
type kindErrors map[schema.GroupVersionKind]error

// converged is the outcome of a pass over one owner.
type converged struct {
	// outcomes are in the order of the renderings.
	outcomes []status.Outcome
	// settled says that everything that is wanted is known, rendered and applied, so that what is not wanted any more was
	// deleted, as far as it is in sight.
	settled bool
	// wrote says that an object was created or updated.
	wrote bool
	// unseen are the kinds of which there may be objects of the owner that are not in sight, and why.
	unseen kindErrors
	// retry is an error that is worth another try; nil if there is nothing to try again.
	retry error
}

// converge does for an owner, which has one rendering if it is a Gateway and one under each parent if it is a route, what
// is due: it applies what is rendered, in order, each object at most once, feeding what the API server returns to the templates
// that read it, and then prunes, unless hold says that some of what is wanted is not known. kinds are all that objects of the
// owner may have, of any blueprint. The error is errWoken if a watch is still starting.
func (s *shell) converge(
	ctx context.Context, owner desired.Owner, parents []*desired.Parent, kinds []watch.Kind, hold bool,
) (converged, error) {
	pass := &convergence{
		shell: s, owner: owner,
		live:      map[desired.Identity]*unstructured.Unstructured{},
		claimed:   desired.Claims{},
		unwatched: kindErrors{},
	}
	done := converged{outcomes: make([]status.Outcome, len(parents)), settled: !hold}
	var err error
	if done.unseen, err = pass.watch(ctx, kinds, parents); err != nil {
		return done, err
	}
	owned, err := s.owned(ctx, owner)
	if err != nil {
		return done, err
	}
	for _, o := range owned {
		id := desired.IdentityOf(o)
		pass.live[id] = s.applier.Newest(id, o)
	}
	for i, parent := range parents {
		done.outcomes[i] = pass.render(ctx, parent)
		done.settled = done.settled && done.outcomes[i].Settled()
	}
	pass.prune(ctx, owned, done.settled, done.outcomes)
	done.wrote, done.retry = pass.wrote, pass.retry
	return done, nil
}

// owned returns what an owner is known to own: what the watches have seen, and what was applied since.
func (s *shell) owned(ctx context.Context, owner desired.Owner) ([]*unstructured.Unstructured, error) {
	watched, err := s.children.OwnedBy(ctx, owner.UID)
	return append(watched, s.applier.Unseen(owner.UID, watched)...), err
}

// errWoken says that there is nothing to do and nothing to report yet, and that the owner will be woken.
var errWoken = errors.New("waiting for a watch to start")

// watch makes sure that the objects of all kinds are seen. Only the kinds that the owner's own blueprints render can stand in its
// way: another blueprint with a kind that may not be watched must not. unseen are the kinds of which there may be objects; of
// a kind that is not served there can be none.
func (p *convergence) watch(
	ctx context.Context, kinds []watch.Kind, parents []*desired.Parent,
) (unseen kindErrors, err error) {
	unseen = kindErrors{}
	own := map[schema.GroupVersionKind]bool{}
	for _, parent := range parents {
		for _, kind := range parent.Kinds() {
			own[kind] = true
		}
	}
	syncing := false
	for _, k := range kinds {
		kind, err := k.GroupVersionKind, p.children.Ensure(ctx, k, p.owner.Kind, p.owner.Key())
		if err == nil {
			continue
		}
		p.unwatched[kind] = err
		if _, notServed := errors.AsType[*watch.KindNotServedError](err); notServed {
			if own[kind] {
				p.retryLater(err)
			}
			continue
		}
		unseen[kind] = err
		switch {
		case !own[kind]:
		case errors.Is(err, watch.ErrSyncing):
			syncing = true
		default:
			p.retryLater(err)
		}
	}
	if syncing {
		return unseen, errWoken
	}
	return unseen, nil
}

// render applies one rendering step by step. A failure that shows before anything is applied leaves all as it is.
func (p *convergence) render(ctx context.Context, parent *desired.Parent) status.Outcome {
	if held := parent.Held(); held != nil {
		return status.Outcome{Failed: held, Fresh: len(p.live) == 0}
	}
	outcome := status.Outcome{Fresh: len(p.live) == 0}
	observed := p.observed(parent)
	reports := map[string][]report{}
	for {
		objects := parent.Advance(observed)
		if outcome.Failed = p.failure(parent, objects); outcome.Failed != nil || len(objects) == 0 {
			break
		}
		for i, applied := range p.applyAll(ctx, parent, objects, &outcome) {
			reports[applied.Template] = append(reports[applied.Template], report{applied, objects[i].Unstructured})
		}
	}
	for _, pending := range parent.Result().Pending {
		reports[pending.Template] = []report{{object: v1alpha1.RenderedObject{
			Template: pending.Template, State: v1alpha1.ObjectPending, Message: pending.Message,
		}}}
	}
	// The order is that of the templates, not that in which they could be rendered this time.
	for _, template := range parent.Templates() {
		for _, r := range reports[template] {
			outcome.Objects = append(outcome.Objects, r.object)
			if r.rendered != nil {
				outcome.RenderedObjects = append(outcome.RenderedObjects, render.Object{Template: template, Unstructured: r.rendered})
			}
		}
	}
	if parent.Under == nil && outcome.Failed == nil {
		p.addresses(parent, observed, &outcome)
		outcome.DataPlaneReason = p.dataPlaneReason(outcome)
	}
	return outcome
}

// report is an object's state and how it was rendered; what is pending was not.
type report struct {
	object   v1alpha1.RenderedObject
	rendered *unstructured.Unstructured
}

// observed hands out the newest state of the owner's objects, by template. Another rendering's objects are left to it.
func (p *convergence) observed(parent *desired.Parent) render.Observed {
	return func(template string) []*unstructured.Unstructured {
		var list []*unstructured.Unstructured
		for id, o := range p.live {
			claimant, claimed := p.claimed[id]
			if o.GetLabels()[v1alpha1.LabelTemplate] == template && (!claimed || claimant == parent) {
				list = append(list, o)
			}
		}
		return list
	}
}

// failure returns the first failure of a rendering, and claims its new objects.
func (p *convergence) failure(parent *desired.Parent, objects []render.Object) *verdict.Verdict {
	if failed := parent.Result().Failed; len(failed) > 0 {
		v := verdict.No(v1alpha1.ReasonFailed, "%s", failed[0].Error())
		return &v
	}
	return p.claimed.Claim(parent, objects)
}

// maxApplies is how many objects of one owner are written at once. The API server answers a write in a few milliseconds; more
// would take turns away from other owners.
const maxApplies = 8

// applyAll brings about objects that do not wait for each other, several at once, and says how they are, in their order.
func (p *convergence) applyAll(
	ctx context.Context, parent *desired.Parent, objects []render.Object, outcome *status.Outcome,
) []v1alpha1.RenderedObject {
	done := make([]applied, len(objects))
	var group errgroup.Group
	group.SetLimit(maxApplies)
	for i, object := range objects {
		group.Go(func() error {
			done[i] = p.apply(ctx, parent, object)
			return nil
		})
	}
	// What goes wrong is in the reports.
	_ = group.Wait()
	reports := make([]v1alpha1.RenderedObject, len(objects))
	for i, d := range done {
		reports[i] = d.report
		p.wrote = p.wrote || d.action == plan.Create || d.action == plan.Update
		if d.live != nil {
			p.live[desired.IdentityOf(d.live)] = d.live
		}
		if d.retry != nil {
			p.retryLater(d.retry)
		}
		if d.thrashing && outcome.Thrashing == nil {
			outcome.Thrashing = &reports[i]
		}
	}
	return reports
}

// applied is what became of one object.
type applied struct {
	report v1alpha1.RenderedObject
	// live is its state; nil if it could not be applied.
	live   *unstructured.Unstructured
	action plan.Action
	// retry is an error that is worth another try.
	retry error
	// thrashing says that somebody keeps changing it.
	thrashing bool
}

// apply brings one object about and says how it is.
func (p *convergence) apply(ctx context.Context, parent *desired.Parent, object render.Object) applied {
	gvk := object.GroupVersionKind()
	done := applied{report: v1alpha1.RenderedObject{
		Template: object.Template, APIVersion: object.GetAPIVersion(), Kind: object.GetKind(),
		Namespace: object.GetNamespace(), Name: object.GetName(),
	}}
	if err := p.unwatched[gvk]; err != nil {
		done.report.State, done.report.Message = v1alpha1.ObjectPending, err.Error()
		return done
	}
	id := desired.IdentityOf(object.Unstructured)
	watched, err := p.children.Get(ctx, gvk, id.NamespacedName)
	if err == nil {
		done.live, done.action, err = p.applier.Apply(ctx, apply.Order{
			Rendered: object.Unstructured, Watched: watched, Owner: p.owner.UID, As: parent.ServiceAccount,
			Recreate: parent.Recreates(object.Template), Inputs: parent.Inputs,
		})
	}
	if done.live != nil {
		done.report.UID = string(done.live.GetUID())
		done.report.State, done.report.Message = status.Health(done.live, parent.Ready(object.Template, done.live))
	}
	if err == nil {
		return done
	}
	done.report.State, done.report.Message = v1alpha1.ObjectFailed, err.Error()
	if errors.Is(err, apply.ErrDeleting) || errors.Is(err, watch.ErrSyncing) {
		done.report.State = v1alpha1.ObjectPending
	}
	_, done.thrashing = errors.AsType[*apply.ThrashingError](err)
	if errors.Is(err, watch.ErrSyncing) || apply.WorthRetrying(err) {
		done.retry = fmt.Errorf("%s %s: %w", id.Kind, id.Name, err)
	}
	if _, notServed := errors.AsType[*watch.KindNotServedError](err); notServed {
		// The kind went while its watch did not know yet.
		done.retry = errors.Join(done.retry, p.children.Recheck(ctx, gvk.Group))
	}
	return done
}

// dataPlaneReason is the first that an object gives.
func (p *convergence) dataPlaneReason(outcome status.Outcome) gatewayv1.GatewayConditionReason {
	for _, object := range outcome.RenderedObjects {
		if live := p.live[desired.IdentityOf(object.Unstructured)]; live != nil {
			if reason := status.DataPlaneReason(live); reason != "" {
				return reason
			}
		}
	}
	return ""
}

func (p *convergence) addresses(parent *desired.Parent, observed render.Observed, outcome *status.Outcome) {
	s := parent.Status(observed)
	switch {
	case s.Failed != nil:
		v := verdict.No(v1alpha1.ReasonFailed, "%s", s.Failed.Error())
		outcome.Failed = &v
	case s.Pending != nil:
		outcome.AddressPending = s.Pending.Message
	default:
		outcome.Addresses = s.Addresses
	}
}

// prune deletes what is owned and not rendered any more, as far as package plan permits, and reports what stays.
func (p *convergence) prune(ctx context.Context, owned []*unstructured.Unstructured, settled bool, outcomes []status.Outcome) {
	rendered := map[desired.Identity]bool{}
	for id := range p.claimed {
		rendered[id] = true
	}
	pruning := plan.Prune(rendered, owned, p.owner.UID, settled)
	for _, o := range pruning.Delete {
		if err := p.applier.Delete(ctx, o); err != nil {
			p.retryLater(&undeletedError{desired.IdentityOf(o), err})
			if len(outcomes) > 0 && outcomes[0].Undeleted == nil && isBarred(err) {
				undeleted := p.kept(o, "is not rendered any more and could not be deleted: "+err.Error())
				outcomes[0].Undeleted = &undeleted
				outcomes[0].Held = append(outcomes[0].Held, undeleted)
			}
		}
	}
	if len(outcomes) == 0 {
		return
	}
	for _, o := range pruning.Held {
		outcomes[0].Held = append(outcomes[0].Held, p.kept(o, "not rendered now; kept until every template renders and every object is applied"))
	}
	for _, o := range pruning.Later {
		outcomes[0].Held = append(outcomes[0].Held, p.kept(o, "not rendered any more; goes after what stands on it"))
	}
	for _, o := range pruning.Kept {
		outcomes[0].Held = append(outcomes[0].Held, p.kept(o, "carries this parent's label, but was not applied for it; left alone"))
	}
}

// undeletedError says which object is not wanted any more and could not be deleted, and why.
type undeletedError struct {
	desired.Identity
	cause error
}

func (e *undeletedError) Error() string {
	return fmt.Sprintf("deleting %s %s: %s", e.Kind, e.Name, e.cause)
}

func (e *undeletedError) Unwrap() error { return e.cause }

func (p *convergence) kept(o *unstructured.Unstructured, why string) v1alpha1.RenderedObject {
	return v1alpha1.RenderedObject{
		Template: o.GetLabels()[v1alpha1.LabelTemplate], APIVersion: o.GetAPIVersion(), Kind: o.GetKind(),
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: string(o.GetUID()), State: v1alpha1.ObjectApplied, Message: why,
	}
}

func (p *convergence) retryLater(err error) {
	// What is to be tried again soon must not wait for what is to be tried again late.
	p.retry = errors.Join(p.retry, fmt.Errorf("%s: %w", p.owner, err))
}
