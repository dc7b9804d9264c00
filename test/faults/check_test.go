package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

// renderedKinds are all that the blueprint renders.
var renderedKinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"}, {Version: "v1", Kind: "Service"},
	{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"},
}

// writable is what the controller may write to, in any namespace of a world.
var writable = []string{
	"configmaps", "services", "things.faults.example.com", "priorityclasses.scheduling.k8s.io", "renderings.gatewright.dev",
	"gateways.gateway.networking.k8s.io", "gateways.gateway.networking.k8s.io/status",
	"httproutes.gateway.networking.k8s.io", "httproutes.gateway.networking.k8s.io/status",
	"listenersets.gateway.networking.k8s.io/status",
	"gatewayclasses.gateway.networking.k8s.io", "gatewayclasses.gateway.networking.k8s.io/status",
	"gatewayclassblueprints.gatewright.dev", "gatewayclassblueprints.gatewright.dev/status",
	"gatewayconfigs.gatewright.dev/status", "gatewayclassconfigs.gatewright.dev/status",
}

// quiet is how long nothing may be written after convergence for it to count as one. A controller that does not come to rest
// writes at once, or after its shortest delays, which are shorter than this.
const quiet = 700 * time.Millisecond

// object is a rendered object, as far as the invariants are about it.
type object struct {
	Kind, Name string
	UID        types.UID
}

// converged waits until everything that is wanted is there and told, and then holds the world to the invariants.
func (w *world) converged() {
	w.Helper()
	w.eventually("convergence", w.wanted)
	w.rests()
	for invariant, check := range map[string]func() error{
		"I1 what is owned stands in its parent's Rendering, and the reverse": w.accounted,
		"I2 nothing foreign is written":                                      w.foreignUntouched,
		"I4 a dry run of everything rendered shows no difference":            w.asRendered,
		"I6 status is true": w.wanted,
	} {
		if err := check(); err != nil {
			w.Errorf("%s: %v", invariant, err)
		}
	}
}

// rests is I5: nothing is written any more.
func (w *world) rests() {
	w.Helper()
	for attempt := 0; ; attempt++ {
		before := shared.proxy.Writes()
		_ = wait.PollUntilContextTimeout(context.Background(), quiet, quiet, false, func(context.Context) (bool, error) { return false, nil })
		after := shared.proxy.Writes()
		if len(after) == len(before) {
			return
		}
		// The last status may have been on its way.
		if attempt == 5 {
			w.Errorf("I5 writes go on after convergence: %v", after[len(before):])
			return
		}
	}
}

// wanted compares what is there, and what is said of it, with what the world asks for.
func (w *world) wanted() error {
	for name := range w.gateways {
		if err := errors.Join(w.gatewayWanted(name), w.routeWanted(name)); err != nil {
			return err
		}
	}
	want := map[string]bool{}
	for name := range w.gateways {
		want["ConfigMap/"+name+"-config"], want["ConfigMap/"+name+"-derived"], want["ConfigMap/"+name+"-route"] = true, true, true
		if w.extra {
			want["Service/"+name+"-extra"] = true
		}
	}
	owned, err := w.owned()
	if err != nil {
		return err
	}
	got, clusterScoped := map[string]bool{}, 0
	for _, objects := range owned {
		for _, o := range objects {
			if o.Kind == "PriorityClass" {
				clusterScoped++
				continue
			}
			got[o.Kind+"/"+o.Name] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("rendered objects: -want +got:\n%s", diff)
	}
	if clusterScoped != len(w.gateways) {
		return fmt.Errorf("%d cluster-scoped objects for %d Gateways", clusterScoped, len(w.gateways))
	}
	return nil
}

func (w *world) gatewayWanted(name string) error {
	gw := &gatewayv1.Gateway{}
	if err := shared.client.Get(context.Background(), w.key(name), gw); err != nil {
		return err
	}
	if err := conditions("Gateway "+name, gw.Status.Conditions, gw.Generation, "Accepted", "Programmed"); err != nil {
		return err
	}
	if n := gw.Status.AttachedListenerSets; n == nil || *n != 1 {
		return fmt.Errorf("Gateway %s has not one ListenerSet attached", name)
	}
	set := &gatewayv1.ListenerSet{}
	if err := shared.client.Get(context.Background(), w.key(name), set); err != nil {
		return err
	}
	if err := conditions("ListenerSet "+name, set.Status.Conditions, set.Generation, "Accepted", "Programmed"); err != nil {
		return err
	}
	config, derived := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	if err := shared.client.Get(context.Background(), w.key(name+"-config"), config); err != nil {
		return err
	}
	if err := shared.client.Get(context.Background(), w.key(name+"-derived"), derived); err != nil {
		return err
	}
	want := []map[string]string{{"color": w.color, "listeners": "2"}, {"of": string(config.UID)}}
	if diff := cmp.Diff(want, []map[string]string{config.Data, derived.Data}); diff != "" {
		return fmt.Errorf("Gateway %s: -want +got:\n%s", name, diff)
	}
	return nil
}

func (w *world) routeWanted(name string) error {
	route := &gatewayv1.HTTPRoute{}
	if err := shared.client.Get(context.Background(), w.key(name), route); err != nil {
		return err
	}
	if len(route.Status.Parents) != 1 {
		return fmt.Errorf("HTTPRoute %s is reported on for %d parents", name, len(route.Status.Parents))
	}
	told := route.Status.Parents[0].Conditions
	if err := conditions("HTTPRoute "+name, told, route.Generation, "Accepted", v1alpha1.ConditionRouteProgrammed); err != nil {
		return err
	}
	config := &corev1.ConfigMap{}
	if err := shared.client.Get(context.Background(), w.key(name+"-route"), config); err != nil {
		return err
	}
	if config.Data["color"] != w.color {
		return fmt.Errorf("HTTPRoute %s is rendered %s, not %s", name, config.Data["color"], w.color)
	}
	return nil
}

func conditions(of string, list []metav1.Condition, generation int64, types ...string) error {
	for _, t := range types {
		c := meta.FindStatusCondition(list, t)
		switch {
		case c == nil:
			return fmt.Errorf("%s: no condition %s", of, t)
		case c.Status != metav1.ConditionTrue:
			return fmt.Errorf("%s: %s=%s/%s: %s", of, t, c.Status, c.Reason, c.Message)
		case c.ObservedGeneration != generation:
			return fmt.Errorf("%s: %s is of generation %d, not %d", of, t, c.ObservedGeneration, generation)
		}
	}
	return nil
}

// owned returns every live object with our label, by the uid in it, of parents of this world and of parents that are gone.
func (w *world) owned() (map[types.UID][]object, error) {
	found := map[types.UID][]object{}
	for _, kind := range renderedKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := shared.client.List(context.Background(), list, client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil {
			return nil, err
		}
		for _, o := range list.Items {
			if o.GetDeletionTimestamp() != nil {
				continue
			}
			owner := types.UID(o.GetLabels()[v1alpha1.LabelOwnerUID])
			found[owner] = append(found[owner], object{o.GetKind(), o.GetName(), o.GetUID()})
		}
	}
	return found, nil
}

// uids are those of all rendered objects, by kind and name: I3 is that they stay.
func (w *world) uids() map[string]types.UID {
	w.Helper()
	owned, err := w.owned()
	if err != nil {
		w.Fatal(err)
	}
	uids := map[string]types.UID{}
	for _, objects := range owned {
		for _, o := range objects {
			uids[o.Kind+"/"+o.Name] = o.UID
		}
	}
	return uids
}

// accounted is I1.
func (w *world) accounted() error {
	owned, err := w.owned()
	if err != nil {
		return err
	}
	reports := &v1alpha1.RenderingList{}
	if err := shared.client.List(context.Background(), reports, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	told := map[types.UID][]object{}
	for _, report := range reports.Items {
		owner := metav1.GetControllerOf(&report)
		if owner == nil {
			return fmt.Errorf("Rendering %s has no owner", report.Name)
		}
		for _, o := range report.Status.Objects {
			told[owner.UID] = append(told[owner.UID], object{o.Kind, o.Name, types.UID(o.UID)})
		}
	}
	for _, lists := range []map[types.UID][]object{owned, told} {
		for _, list := range lists {
			slices.SortFunc(list, func(a, b object) int { return strings.Compare(a.Kind+a.Name, b.Kind+b.Name) })
		}
	}
	if diff := cmp.Diff(told, owned); diff != "" {
		return fmt.Errorf("-in the Renderings +live with our label:\n%s", diff)
	}
	return nil
}

// foreignUntouched is I2.
func (w *world) foreignUntouched() error {
	foreign := &corev1.ConfigMap{}
	if err := shared.client.Get(context.Background(), w.key("foreign-config"), foreign); err != nil {
		return err
	}
	if diff := cmp.Diff(map[string]string{"of": "somebody else"}, foreign.Data); diff != "" || len(foreign.Labels) > 0 {
		return fmt.Errorf("a foreign ConfigMap was changed: %s", diff)
	}
	for _, request := range shared.proxy.Writes() {
		if err := w.permitted(request); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) permitted(r faultproxy.Request) error {
	if !slices.Contains(writable, r.Resource) || r.Namespace != "" && r.Namespace != w.namespace {
		return fmt.Errorf("%s", r)
	}
	return nil
}

// asRendered is I4.
func (w *world) asRendered() error {
	reports := &v1alpha1.RenderingList{}
	if err := shared.client.List(context.Background(), reports, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	var errs []error
	for _, report := range reports.Items {
		for _, manifest := range report.Status.Rendered {
			errs = append(errs, w.dryRun(manifest))
		}
	}
	return errors.Join(errs...)
}

func (w *world) dryRun(manifest string) error {
	rendered := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), rendered); err != nil {
		return fmt.Errorf("a manifest in a Rendering cannot be read: %w", err)
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(rendered.GroupVersionKind())
	if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(rendered), live); err != nil {
		return err
	}
	name := rendered.GetKind() + " " + rendered.GetName()
	err := shared.client.Apply(context.Background(), client.ApplyConfigurationFromUnstructured(rendered),
		client.FieldOwner(v1alpha1.FieldManager), client.ForceOwnership, client.DryRunAll)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, o := range []*unstructured.Unstructured{rendered, live} {
		o.SetManagedFields(nil)
	}
	if same, err := equal(rendered, live); err != nil || same {
		return err
	}
	return fmt.Errorf("%s: -live +as rendered:\n%s", name, cmp.Diff(live.Object, rendered.Object))
}

func equal(a, b *unstructured.Unstructured) (bool, error) {
	x, err := json.Marshal(a.Object)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b.Object)
	return bytes.Equal(x, y), err
}

// keeps holds that objects that were there before are the same ones.
func (w *world) keeps(before map[string]types.UID) {
	w.Helper()
	after := w.uids()
	for name := range maps.Keys(before) {
		if uid, there := after[name]; there && uid != before[name] {
			w.Errorf("I3 %s was made anew: its uid was %s and is %s", name, before[name], uid)
		}
	}
}
