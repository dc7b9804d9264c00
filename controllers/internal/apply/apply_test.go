package apply

import (
	"context"
	"errors"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/controllers/internal/watch"
	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

const (
	owner    types.UID = "00000000-0000-0000-0000-000000000001"
	stranger types.UID = "00000000-0000-0000-0000-000000000002"
)

// world is an Applier on a real API server, in a namespace of its own.
type world struct {
	*Applier
	client    client.Client
	namespace string
}

func newWorld(t *testing.T) world {
	t.Helper()
	config := kube.Config(t)
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return world{New(NewClients(c, config, client.Options{}, nobody{}), c), c, kube.Namespace(t)}
}

// nobody is a Directory without ServiceAccounts.
type nobody struct{}

func (nobody) ServiceAccount(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	return nil, nil
}
func (nobody) RecordedServiceAccounts(context.Context) ([]types.NamespacedName, error) {
	return nil, nil
}

// rendered is an object as package desired hands it over. content is what it has besides its metadata.
func (w world) rendered(apiVersion, kind, hash string, content map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	maps.Copy(o.Object, content)
	o.SetName("web")
	o.SetNamespace(w.namespace)
	o.SetLabels(map[string]string{v1alpha1.LabelOwnerUID: string(owner), v1alpha1.LabelTemplate: "t"})
	o.SetAnnotations(map[string]string{v1alpha1.AnnotationRendered: hash})
	return o
}

func (w world) configMap(hash, value string) *unstructured.Unstructured {
	return w.rendered("v1", "ConfigMap", hash, map[string]any{"data": map[string]any{"key": value}})
}

func order(rendered, watched *unstructured.Unstructured, owner types.UID) Order {
	return Order{Rendered: rendered, Watched: watched, Owner: owner, Inputs: func() string { return "inputs" }}
}

// get reads an object as it is now.
func (w world) get(t *testing.T, like *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(like.GroupVersionKind())
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(like), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// patch changes an object as it is now, whatever others change of it meanwhile.
func (w world) patch(t *testing.T, like *unstructured.Unstructured, change func(*unstructured.Unstructured)) {
	t.Helper()
	before := w.get(t, like)
	after := before.DeepCopy()
	change(after)
	if err := w.client.Patch(t.Context(), after, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func (w world) mustApply(t *testing.T, o, watched *unstructured.Unstructured) (*unstructured.Unstructured, plan.Action) {
	t.Helper()
	live, action, err := w.Apply(t.Context(), order(o, watched, owner))
	if err != nil {
		t.Fatal(err)
	}
	return live, action
}

func TestApplyDoesWhatIsDueAndNoMore(t *testing.T) {
	w := newWorld(t)
	first := w.configMap("h1", "one")
	created, action := w.mustApply(t, first, nil)
	if action != plan.Create {
		t.Errorf("the first apply: %s, want Create", action)
	}
	if _, action := w.mustApply(t, first, created); action != plan.Keep {
		t.Errorf("the same again: %s, want Keep", action)
	}
	if _, action := w.mustApply(t, first, nil); action != plan.Keep {
		t.Errorf("the same before the watch has seen it: %s, want Keep", action)
	}
	second := w.configMap("h2", "two")
	updated, action := w.mustApply(t, second, created)
	if action != plan.Update {
		t.Errorf("a new rendering: %s, want Update", action)
	}
	if live, action := w.mustApply(t, second, created); action != plan.Keep || live.GetResourceVersion() != updated.GetResourceVersion() {
		t.Errorf("the same with an old word of the watch: %s, want Keep of what was applied last", action)
	}

	edited := w.get(t, second)
	edited.Object["data"] = map[string]any{"key": "by hand", "other": "theirs"}
	if err := w.client.Update(t.Context(), edited); err != nil {
		t.Fatal(err)
	}
	if _, action := w.mustApply(t, second, edited); action != plan.Update {
		t.Errorf("after an edit by hand: %s, want Update", action)
	}
	want := map[string]any{"key": "two", "other": "theirs"}
	if diff := cmp.Diff(want, w.get(t, second).Object["data"]); diff != "" {
		t.Errorf("ours is restored and theirs stays: -want +got:\n%s", diff)
	}

	restarted := New(w.clients, w.live)
	_, action, err := restarted.Apply(t.Context(), order(second, w.get(t, second), owner))
	if err != nil || action != plan.Keep {
		t.Errorf("after a restart, without a memory: %s %v, want Keep", action, err)
	}
}

func TestWhatWasAppliedIsKnownBeforeAWatchHasSeenIt(t *testing.T) {
	w := newWorld(t)
	unseen := func(watched ...*unstructured.Unstructured) (uids []types.UID) {
		for _, o := range w.Unseen(owner, watched) {
			uids = append(uids, o.GetUID())
		}
		return uids
	}
	created, _ := w.mustApply(t, w.configMap("h1", "one"), nil)
	one, none := []types.UID{created.GetUID()}, []types.UID(nil)
	if diff := cmp.Diff(one, unseen()); diff != "" {
		t.Errorf("right after the apply: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(none, unseen(created)); diff != "" {
		t.Errorf("among what a watch has seen: -want +got:\n%s", diff)
	}
	if w.Knows(w.get(t, created)) != true || w.Knows(created) {
		t.Error("Knows() does not recognise the state that was applied, once")
	}
	if diff := cmp.Diff(none, unseen()); diff != "" {
		t.Errorf("once a watch has seen it: -want +got:\n%s", diff)
	}
	updated, _ := w.mustApply(t, w.configMap("h2", "two"), created)
	if w.Knows(created) {
		t.Error("Knows() takes the state before the apply for the one that was applied")
	}
	if diff := cmp.Diff(one, unseen()); diff != "" {
		t.Errorf("after the next apply: -want +got:\n%s", diff)
	}
	if err := w.Delete(t.Context(), updated); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(none, unseen()); diff != "" {
		t.Errorf("once it is deleted: -want +got:\n%s", diff)
	}
}

func TestApplyNeverTouchesAnothersObject(t *testing.T) {
	cases := map[string]map[string]string{
		"an object without an owner":    nil,
		"an object of another parent's": {v1alpha1.LabelOwnerUID: string(stranger)},
	}
	for name, labels := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			foreign := w.configMap("h", "theirs")
			foreign.SetLabels(labels)
			if err := w.client.Create(t.Context(), foreign); err != nil {
				t.Fatal(err)
			}
			before := w.get(t, foreign)
			_, action, err := w.Apply(t.Context(), order(w.configMap("h", "ours"), nil, owner))
			if _, refused := errors.AsType[*ForeignError](err); !refused || action != plan.Refuse || !WorthRetrying(err) {
				t.Errorf("Apply() = %s, %v, want Refuse with a ForeignError that is worth retrying", action, err)
			}
			if diff := cmp.Diff(before, w.get(t, foreign)); diff != "" {
				t.Errorf("it was changed: -before +after:\n%s", diff)
			}
		})
	}
}

func TestApplyNeverWritesToTheSuccessorOfWhatItJudged(t *testing.T) {
	w := newWorld(t)
	o := w.configMap("h1", "one")
	judged, _ := w.mustApply(t, o, nil)
	if err := w.client.Delete(t.Context(), judged.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	foreign := w.configMap("h", "theirs")
	foreign.SetLabels(nil)
	if err := w.client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Apply(t.Context(), order(w.configMap("h2", "two"), judged, owner)); err == nil {
		t.Error("Apply() wrote although the object it had judged was replaced")
	}
	if err := w.Delete(t.Context(), judged); err == nil {
		t.Error("Delete() deleted although the object it had judged was replaced")
	}
	want := map[string]any{"key": "theirs"}
	if diff := cmp.Diff(want, w.get(t, o).Object["data"]); diff != "" {
		t.Errorf("the newcomer was changed: -want +got:\n%s", diff)
	}
}

func TestApplyAdoptsNothingThatIsThereAlready(t *testing.T) {
	cases := map[string]map[string]any{
		"with the same field":   {"key": "theirs"},
		"with another field":    {"other": "theirs"},
		"with the same value":   {"key": "ours"},
		"with nothing to share": nil,
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			foreign := w.configMap("h", "")
			foreign.SetLabels(map[string]string{"app": "theirs"})
			foreign.SetAnnotations(nil)
			foreign.Object["data"] = data
			if err := w.client.Create(t.Context(), foreign); err != nil {
				t.Fatal(err)
			}
			before := w.get(t, foreign)
			_, action, err := w.Apply(t.Context(), order(w.configMap("h", "ours"), nil, owner))
			if _, refused := errors.AsType[*ForeignError](err); !refused || action != plan.Refuse {
				t.Errorf("Apply() = %s, %v, want Refuse with a ForeignError", action, err)
			}
			if diff := cmp.Diff(before, w.get(t, foreign)); diff != "" {
				t.Errorf("it is not as it was: -want +got:\n%s", diff)
			}
		})
	}
}

// blind is a reader that sees nothing, as if each object went just before the look.
type blind struct{ client.Reader }

func (blind) Get(_ context.Context, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: o.GetObjectKind().GroupVersionKind().Kind}, key.Name)
}

func TestApplyTriesAgainWhatWasInTheWayForAMoment(t *testing.T) {
	w := newWorld(t)
	foreign := w.configMap("h", "theirs")
	if err := w.client.Create(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	before := w.get(t, foreign)
	late := New(w.clients, blind{})
	if _, _, err := late.Apply(t.Context(), order(w.configMap("h", "ours"), nil, owner)); !apierrors.IsConflict(err) || !WorthRetrying(err) {
		t.Errorf("Apply() = %v, want a conflict that is worth retrying", err)
	}
	if diff := cmp.Diff(before, w.get(t, foreign)); diff != "" {
		t.Errorf("it is not as it was: -want +got:\n%s", diff)
	}
}

func TestOfTwoWhoCreateOneObjectAtOnceOneGetsIt(t *testing.T) {
	w := newWorld(t)
	owners := []types.UID{owner, stranger}
	errs := make([]error, len(owners))
	var wait sync.WaitGroup
	for i, uid := range owners {
		wait.Go(func() {
			o := w.configMap("h", string(uid))
			o.SetLabels(map[string]string{v1alpha1.LabelOwnerUID: string(uid)})
			_, _, errs[i] = w.Apply(t.Context(), order(o, nil, uid))
		})
	}
	wait.Wait()
	got := w.get(t, w.configMap("h", "")).GetLabels()[v1alpha1.LabelOwnerUID]
	for i, uid := range owners {
		_, refused := errors.AsType[*ForeignError](errs[i])
		if refused == (got == string(uid)) || !refused && errs[i] != nil {
			t.Errorf("the object is %s's, and %s was told %v", got, uid, errs[i])
		}
	}
}

// claim is a volume claim as it is applied for the owner, of a class, which nobody may change later.
func (w world) claim(owner types.UID, hash, class string) *unstructured.Unstructured {
	o := w.rendered("v1", "PersistentVolumeClaim", hash, map[string]any{"spec": map[string]any{
		"accessModes": []any{"ReadWriteOnce"}, "storageClassName": class,
		"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}},
	}})
	o.SetLabels(map[string]string{v1alpha1.LabelOwnerUID: string(owner)})
	o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: owner}})
	return o
}

// living makes an object that can own others: what belongs to nobody is garbage.
func (w world) living(t *testing.T) types.UID {
	t.Helper()
	o := w.configMap("h", "")
	o.SetName("owner")
	if err := w.client.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o.GetUID()
}

func TestApplyLeavesAloneWhatIsImmutable(t *testing.T) {
	w := newWorld(t)
	owner := w.living(t)
	created, _, err := w.Apply(t.Context(), order(w.claim(owner, "h1", "one"), nil, owner))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = w.Apply(t.Context(), order(w.claim(owner, "h2", "canary"), created, owner))
	refused, ok := errors.AsType[*ImmutableError](err)
	if !ok || WorthRetrying(err) {
		t.Fatalf("Apply() = %v, want an ImmutableError that is not worth retrying", err)
	}
	if diff := cmp.Diff([]string{"spec"}, refused.Fields); diff != "" {
		t.Errorf("fields: -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(created, w.get(t, created)); diff != "" {
		t.Errorf("it was changed: -before +after:\n%s", diff)
	}
}

func TestApplyMakesAnewWhatIsImmutableWhereItMay(t *testing.T) {
	w := newWorld(t)
	owner := w.living(t)
	created, _, err := w.Apply(t.Context(), order(w.claim(owner, "h1", "one"), nil, owner))
	if err != nil {
		t.Fatal(err)
	}
	// Nothing protects it from being deleted here, which would take a controller to end.
	w.patch(t, created, func(o *unstructured.Unstructured) { o.SetFinalizers(nil) })
	again := order(w.claim(owner, "h2", "two"), w.get(t, created), owner)
	again.Recreate = true
	if _, _, err := w.Apply(t.Context(), again); !errors.Is(err, ErrDeleting) {
		t.Fatalf("Apply() = %v, want ErrDeleting", err)
	}
	anew, action, err := w.Apply(t.Context(), order(w.claim(owner, "h2", "two"), nil, owner))
	if err != nil {
		t.Fatal(err)
	}
	class, _, _ := unstructured.NestedString(anew.Object, "spec", "storageClassName")
	if action != plan.Create || anew.GetUID() == created.GetUID() || class != "two" {
		t.Errorf("then: %s of class %s, want it created anew of class two", action, class)
	}

	w.patch(t, anew, func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
	again.Rendered, again.Watched = w.claim(owner, "h3", "three"), w.get(t, anew)
	if _, _, err := w.Apply(t.Context(), again); !errors.As(err, new(*ImmutableError)) {
		t.Errorf("Apply() over what lacks the reference to its owner = %v, want an ImmutableError", err)
	}
}

func TestApplyRestoresLessOftenWhatSomebodyKeepsChanging(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	w.damping.now = func() time.Time { return now }
	inputs := "first"
	write := func() (plan.Action, error) {
		o := order(w.configMap("h", "ours"), nil, owner)
		o.Inputs = func() string { return inputs }
		o.Watched = w.find(t, o.Rendered)
		_, action, err := w.Apply(t.Context(), o)
		return action, err
	}
	edit := func() {
		edited := w.get(t, w.configMap("h", ""))
		edited.Object["data"] = map[string]any{"key": "theirs"}
		if err := w.client.Update(t.Context(), edited); err != nil {
			t.Fatal(err)
		}
	}
	var fought *ThrashingError
	for i := 0; fought == nil; i++ {
		_, err := write()
		if err != nil && !errors.As(err, &fought) || i > 30 {
			t.Fatalf("write %d: %v, want a ThrashingError after some", i, err)
		}
		edit()
		now = now.Add(time.Millisecond)
	}
	if action, err := write(); action != plan.Keep || !errors.As(err, &fought) || !WorthRetrying(err) {
		t.Errorf("while it lasts: %s, %v, want Keep and a ThrashingError that is worth retrying", action, err)
	}
	now = now.Add(fought.After)
	if action, err := write(); action != plan.Update || !errors.As(err, &fought) {
		t.Errorf("after a pause: %s, %v, want Update and a ThrashingError", action, err)
	}
	edit()
	inputs = "second"
	if action, err := write(); action != plan.Update || err != nil {
		t.Errorf("with something new to render: %s, %v, want Update", action, err)
	}
}

// find is like get for what may not be there.
func (w world) find(t *testing.T, like *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(like.GroupVersionKind())
	err := w.client.Get(t.Context(), client.ObjectKeyFromObject(like), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestApplySaysWhatIsWrongAndNeverAValue(t *testing.T) {
	w := newWorld(t)
	cases := map[string]struct {
		object *unstructured.Unstructured
		want   string
		retry  bool
	}{
		"a field that the kind does not have": {
			w.rendered("v1", "ConfigMap", "h", map[string]any{"dta": map[string]any{"key": "canary"}}),
			"the API server refuses it: .dta: field not declared in schema", false},
		"a value that is not allowed": {
			w.rendered("v1", "Service", "h", map[string]any{"spec": map[string]any{
				"type": "canary", "ports": []any{map[string]any{"port": int64(80)}},
			}}),
			"the API server refuses it: spec.type: FieldValueNotSupported", false},
		"two list items with one key": {
			w.rendered("v1", "Service", "h", map[string]any{"spec": map[string]any{"ports": []any{
				map[string]any{"port": int64(80), "name": "canary"}, map[string]any{"port": int64(80), "name": "canary"},
			}}}),
			"the API server refuses it: .spec.ports: duplicate entries", false},
		"a value that breaks a rule": {
			w.rendered("autoscaling/v2", "HorizontalPodAutoscaler", "h", map[string]any{"spec": map[string]any{
				"minReplicas": int64(-3), "maxReplicas": int64(2),
				"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
			}}),
			"the API server refuses it: spec.minReplicas: must be greater than or equal to 1", false},
		"a number that does not fit": {
			w.rendered("autoscaling/v2", "HorizontalPodAutoscaler", "h", map[string]any{"spec": map[string]any{
				"minReplicas": 1.5, "maxReplicas": int64(2),
				"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
			}}),
			"the API server refuses it: a float64 stands where the kind has a int32", false},
		"a value of another type": {
			w.rendered("v1", "ConfigMap", "h", map[string]any{"data": map[string]any{"key": []any{"canary"}}}),
			"the API server refuses it: .data.key: expected string", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, _, err := w.Apply(t.Context(), order(c.object, nil, owner))
			if err == nil {
				t.Fatal("Apply() accepted it")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				refused, _ := errors.AsType[*RefusedError](err)
				t.Errorf("Apply(): -want +got:\n%s\nfrom: %v", diff, refused.Cause)
			}
			if got := WorthRetrying(err); got != c.retry {
				t.Errorf("WorthRetrying() = %v, want %v", got, c.retry)
			}
		})
	}
}

func TestApplyKeepsEveryCharacter(t *testing.T) {
	w := newWorld(t)
	hostile := "\u0085k: v\u2028\u2029\ufeff\u007f\u0090 \r\n---\n\t\"'{{\u00e9\U0001f600"
	w.mustApply(t, w.configMap("h", hostile), nil)
	want := map[string]any{"key": hostile}
	if diff := cmp.Diff(want, w.get(t, w.configMap("h", "")).Object["data"]); diff != "" {
		t.Errorf("the value was changed on its way: -want +got:\n%s", diff)
	}
}

func TestApplyNamesAKindThatIsNotServed(t *testing.T) {
	w := newWorld(t)
	_, _, err := w.Apply(t.Context(), order(w.rendered("no.example.com/v1", "Unknown", "h", nil), nil, owner))
	got, ok := errors.AsType[*watch.KindNotServedError](err)
	if !ok || got.GroupVersionKind != (schema.GroupVersionKind{Group: "no.example.com", Version: "v1", Kind: "Unknown"}) {
		t.Errorf("Apply() = %v, want a KindNotServedError that names the kind", err)
	}
}
