package faults_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// How long a controller would have to be watched until it is known to rest, nobody can say. So it is not waited for: every object
// that it reads is changed in something that means nothing to what is rendered, and the controller has to answer each with a report
// of the new generation. A pass that answers comes after all that were due before, and does all that a later pass would do.

// fence changes every object without a meaning, and waits until the controller has answered for each.
func (w *world) fence() {
	w.Helper()
	var waits []func() error
	for _, c := range w.changes() {
		o := c.object
		err := w.edit(o, c.edit)
		if apierrors.IsNotFound(err) && c.mayBeGone {
			continue
		}
		if err != nil {
			w.Fatalf("changing %T %s: %v", o, o.GetName(), err)
		}
		generation := o.GetGeneration()
		waits = append(waits, func() error {
			if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}
			return answered(o, c.conditions(), generation)
		})
	}
	w.eventually("the controller answers", func() error {
		var errs []error
		for _, wait := range waits {
			errs = append(errs, wait())
		}
		return errors.Join(errs...)
	})
}

// rests is I5: between two fences no object is written to, and no report more often than there were changes to report on.
func (w *world) rests() error {
	w.Helper()
	before := shared.proxy.Mark()
	w.fence()
	reports := map[string]int{}
	for _, r := range shared.proxy.Since(before) {
		if !strings.HasSuffix(r.Resource, "/status") && r.Resource != "renderings.gatewright.dev" {
			return fmt.Errorf("writes go on after convergence: %s", r)
		}
		if reports[r.String()]++; reports[r.String()] > maxReports {
			return fmt.Errorf("reports go on after convergence: %s, %d times for %d changes", r, reports[r.String()], maxReports)
		}
	}
	return nil
}

// maxReports is how many objects a fence changes that one report may be about.
const maxReports = 6

// meaningless is a change that nothing rendered depends on.
type meaningless struct {
	object client.Object
	edit   func()
	// conditions are those of the object as it is now in which the controller answers.
	conditions func() []metav1.Condition
	mayBeGone  bool
}

// changes are those of a fence. While there is no blueprint, nothing can be judged but class and Gateway.
func (w *world) changes() []meaningless {
	w.Helper()
	blueprint := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	list := []meaningless{
		{blueprint, func() { toggleSupport(blueprint) }, func() []metav1.Condition { return blueprint.Status.Conditions }, true},
		{class, func() { class.Spec.Description = toggled(class.Spec.Description, "nothing") },
			func() []metav1.Condition { return class.Status.Conditions }, false},
	}
	there := gone(&v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}}) != nil
	if policy := w.policyChange(); there && len(w.gateways) > 0 {
		list = append(list, policy)
	}
	for _, name := range sorted(w.gateways) {
		list = append(list, w.gatewayChange(name))
		if there {
			list = append(list, w.listenerSetChange(name), w.routeChange(name))
		}
	}
	return list
}

func (w *world) policyChange() meaningless {
	policy := &v1alpha1.GatewayConfig{ObjectMeta: w.meta("color")}
	return meaningless{policy, func() {
		// An override of nothing.
		policy.Spec.Override = toggled(policy.Spec.Override, apiextensionsv1.JSON{Raw: []byte(`{}`)})
	}, func() []metav1.Condition {
		var all []metav1.Condition
		for _, ancestor := range policy.Status.Ancestors {
			all = append(all, ancestor.Conditions...)
		}
		return all
	}, true}
}

func (w *world) gatewayChange(name string) meaningless {
	gw := &gatewayv1.Gateway{ObjectMeta: w.meta(name)}
	return meaningless{gw, func() { toggleFrom(gw.Spec.Listeners[0].AllowedRoutes) }, func() []metav1.Condition {
		// While the blueprint is not there, nothing else is judged.
		return only(gw.Status.Conditions, string(gatewayv1.GatewayConditionProgrammed))
	}, false}
}

func (w *world) listenerSetChange(name string) meaningless {
	set := &gatewayv1.ListenerSet{ObjectMeta: w.meta(name)}
	return meaningless{set, func() { toggleFrom(set.Spec.Listeners[0].AllowedRoutes) },
		func() []metav1.Condition { return set.Status.Conditions }, false}
}

func (w *world) routeChange(name string) meaningless {
	route := &gatewayv1.HTTPRoute{ObjectMeta: w.meta(name)}
	return meaningless{route, func() {
		timeouts := gatewayv1.HTTPRouteTimeouts{Request: new(gatewayv1.Duration("1s"))}
		route.Spec.Rules[0].Timeouts = toggled(route.Spec.Rules[0].Timeouts, timeouts)
	}, func() []metav1.Condition {
		var all []metav1.Condition
		for _, parent := range route.Status.Parents {
			all = append(all, parent.Conditions...)
		}
		return all
	}, false}
}

// edit changes an object as it is now.
func (w *world) edit(o client.Object, edit func()) error {
	return retry.RetryOnConflict(untiring, func() error {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		edit()
		return shared.client.Update(w.Context(), o, client.FieldOwner("by-hand"))
	})
}

// toggleSupport bounds the listeners of a Gateway far above what any has, or does not.
func toggleSupport(b *v1alpha1.GatewayClassBlueprint) {
	b.Spec.Supports = toggled(b.Spec.Supports, v1alpha1.Supports{MaxListeners: new(int32(1000))})
}

// toggleFrom lets routes of all namespaces attach, of which there is one.
func toggleFrom(routes *gatewayv1.AllowedRoutes) {
	from := gatewayv1.NamespacesFromAll
	if *routes.Namespaces.From == from {
		from = gatewayv1.NamespacesFromSame
	}
	routes.Namespaces.From = &from
}

func toggled[T any](now *T, other T) *T {
	if now == nil {
		return &other
	}
	return nil
}

func only(list []metav1.Condition, conditionType string) []metav1.Condition {
	if c := meta.FindStatusCondition(list, conditionType); c != nil {
		return []metav1.Condition{*c}
	}
	return nil
}

// answered says whether the conditions of an object are all of a generation.
func answered(o client.Object, list []metav1.Condition, generation int64) error {
	behind := func(c metav1.Condition) bool { return c.ObservedGeneration < generation }
	if len(list) == 0 || slices.ContainsFunc(list, behind) {
		return fmt.Errorf("%T %s: generation %d is not reported on", o, o.GetName(), generation)
	}
	return nil
}
