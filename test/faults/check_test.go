package faults_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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

// object is a rendered object, as far as the invariants are about it.
type object struct {
	Kind, Name string
	UID        types.UID
}

// An invariant is what must hold of a world that has come to rest, in the words of docs/security.md and docs/operations.md.
type invariant struct {
	name  string
	holds func(w *world) error
}

// invariants are all that a world at rest can be looked at for. That objects stay the same ones (I3), and that a failing rendering
// changes nothing (I8), shows by comparison with what was before: see kept and untouched.
var invariants = []invariant{
	{"I1 what is owned stands in its living parent's Rendering, and the reverse", (*world).accounted},
	{"I2 nothing is written but what may be, and nothing foreign", (*world).foreignUntouched},
	{"I4 a dry run of everything rendered shows no difference", (*world).asRendered},
	{"I5 nothing is written any more", (*world).rests},
	{"I6 status is true", (*world).told},
}

// converged waits until everything that is wanted is there, and then holds the world to the invariants.
func (w *world) converged() {
	w.Helper()
	w.eventually("convergence", w.wanted)
	// The answers to changes without a meaning are the last of what was on its way.
	w.fence()
	for _, i := range invariants {
		if err := i.holds(w); err != nil {
			w.Errorf("%s: %v", i.name, err)
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
		if w.fixed {
			want["ConfigMap/"+name+"-fixed"] = true
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
	if !w.fixed {
		return nil
	}
	fixed := &corev1.ConfigMap{}
	if err := shared.client.Get(context.Background(), w.key(name+"-fixed"), fixed); err != nil || fixed.Data["color"] == w.color {
		return err
	}
	return fmt.Errorf("Gateway %s has a fixed object of %s, not of %s", name, fixed.Data["color"], w.color)
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

// labelled returns every live object with our label, of any kind that the API server can list, by the uid in it.
func (w *world) labelled() (map[types.UID][]object, error) {
	kinds, err := listable()
	if err != nil {
		return nil, err
	}
	found := map[types.UID][]object{}
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		err := shared.client.List(context.Background(), list, client.HasLabels{v1alpha1.LabelOwnerUID})
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			// Of a kind that went this moment there is nothing left.
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind.Kind, err)
		}
		for _, o := range list.Items {
			if o.GetDeletionTimestamp() == nil {
				owner := types.UID(o.GetLabels()[v1alpha1.LabelOwnerUID])
				found[owner] = append(found[owner], object{kind.Kind, o.GetName(), o.GetUID()})
			}
		}
	}
	return found, nil
}

// listable are all kinds that the API server lists, each in its preferred version.
func listable() ([]schema.GroupVersionKind, error) {
	lists, err := shared.discovery.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("asking for all kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			// Component statuses are no objects.
			if slices.Contains(resource.Verbs, "list") && resource.Name != "componentstatuses" {
				kinds = append(kinds, version.WithKind(resource.Kind))
			}
		}
	}
	return kinds, nil
}

// parents are the uids of everything that objects may be rendered for; what is being deleted is among them.
func parents() (map[types.UID]bool, error) {
	found := map[types.UID]bool{}
	for _, list := range []client.ObjectList{&gatewayv1.GatewayList{}, &gatewayv1.HTTPRouteList{}} {
		if err := shared.client.List(context.Background(), list); err != nil {
			return nil, err
		}
		if err := meta.EachListItem(list, func(o runtime.Object) error {
			found[o.(client.Object).GetUID()] = true
			return nil
		}); err != nil {
			return nil, err
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
	owned, err := w.labelled()
	if err != nil {
		return err
	}
	alive, err := parents()
	if err != nil {
		return err
	}
	for uid, objects := range owned {
		if !alive[uid] {
			return fmt.Errorf("%v have our label, and their parent %s is gone", objects, uid)
		}
	}
	told, err := w.toldOf()
	if err != nil {
		return err
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

// toldOf returns the objects that stand in the Renderings, by the uids of their parents.
func (w *world) toldOf() (map[types.UID][]object, error) {
	reports := &v1alpha1.RenderingList{}
	if err := shared.client.List(context.Background(), reports); err != nil {
		return nil, err
	}
	told := map[types.UID][]object{}
	for _, report := range reports.Items {
		owner := metav1.GetControllerOf(&report)
		if owner == nil {
			return nil, fmt.Errorf("Rendering %s has no owner", report.Name)
		}
		for _, o := range report.Status.Objects {
			told[owner.UID] = append(told[owner.UID], object{o.Kind, o.Name, types.UID(o.UID)})
		}
	}
	return told, nil
}

// foreignUntouched is I2.
func (w *world) foreignUntouched() error {
	for key, version := range w.foreign {
		foreign := &corev1.ConfigMap{}
		if err := shared.client.Get(context.Background(), key, foreign); err != nil {
			return fmt.Errorf("a foreign ConfigMap: %w", err)
		}
		if foreign.ResourceVersion != version {
			return fmt.Errorf("the foreign ConfigMap %s was changed by %s", key.Name, managers(foreign))
		}
	}
	for _, request := range shared.proxy.Since(w.mark) {
		if err := w.permitted(request); err != nil {
			return err
		}
	}
	return nil
}

func managers(o client.Object) string {
	var names []string
	for _, m := range o.GetManagedFields() {
		names = append(names, m.Manager)
	}
	return strings.Join(names, ", ")
}

// permitted says whether a request goes to a kind and a namespace that may be written to, and not to a foreign object.
func (w *world) permitted(r faultproxy.Request) error {
	key := client.ObjectKey{Namespace: r.Namespace, Name: r.Name}
	_, foreign := w.foreign[key]
	switch {
	case !slices.Contains(writable, r.Resource):
		return fmt.Errorf("%s: nobody permitted that kind", r)
	case r.Namespace != "" && r.Namespace != w.namespace:
		return fmt.Errorf("%s: that is another namespace than %s", r, w.namespace)
	case foreign && r.Resource == "configmaps" && r.Verb != "patch":
		// A patch may be an attempt to create, which the API server refuses where there is something; that shows in the version.
		return fmt.Errorf("%s: that is a foreign object", r)
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
		if all, told := len(report.Status.Objects), len(report.Status.Rendered); all != told || report.Status.Truncated != "" {
			errs = append(errs, fmt.Errorf("Rendering %s has %d objects and %d manifests of them", report.Name, all, told))
		}
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

// kept is I3: objects that were there before are the same ones, but for those that were to be made anew, or all of them.
func (w *world) kept(before map[string]types.UID, anew ...string) error {
	w.Helper()
	if slices.Contains(anew, everything) {
		return nil
	}
	after := w.uids()
	for _, name := range sorted(before) {
		if uid, there := after[name]; there && uid != before[name] && !slices.Contains(anew, name) {
			return fmt.Errorf("I3 %s was made anew: its uid was %s and is %s", name, before[name], uid)
		}
	}
	return nil
}

// everything stands for all objects.
const everything = "*"

// keeps fails the test unless I3 holds.
func (w *world) keeps(before map[string]types.UID, anew ...string) {
	w.Helper()
	if err := w.kept(before, anew...); err != nil {
		w.Error(err)
	}
}

// untouched is I8: all rendered objects are there in the versions that they had before.
func (w *world) untouched(before map[string]string) error {
	w.Helper()
	if diff := cmp.Diff(before, w.versions()); diff != "" {
		return fmt.Errorf("I8 a rendering that fails changed something: -before +after:\n%s", diff)
	}
	return nil
}

// holdsStill fails the test unless I8 holds.
func (w *world) holdsStill(before map[string]string) {
	w.Helper()
	if err := w.untouched(before); err != nil {
		w.Error(err)
	}
}
