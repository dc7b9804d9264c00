package integration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// state is a ConfigMap as far as anybody may care.
type state struct {
	UID                 types.UID
	Labels, Annotations map[string]string
	OwnerReferences     []metav1.OwnerReference
	Data                map[string]string
}

func (w *world) state(name string) func() (state, error) {
	return func() (state, error) {
		o := &corev1.ConfigMap{}
		err := shared.client.Get(w.Context(), w.key(name), o)
		return state{o.UID, o.Labels, o.Annotations, o.OwnerReferences, o.Data}, err
	}
}

func TestWhatIsRenderedIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1", "two": "2"})))
	cases := map[string]func(*corev1.ConfigMap){
		"a field that was changed":         func(o *corev1.ConfigMap) { o.Data["one"] = "changed" },
		"a field that was removed":         func(o *corev1.ConfigMap) { delete(o.Data, "one") },
		"the label of the owner":           func(o *corev1.ConfigMap) { delete(o.Labels, v1alpha1.LabelOwnerUID) },
		"the label of the template":        func(o *corev1.ConfigMap) { delete(o.Labels, v1alpha1.LabelTemplate) },
		"a label that names another owner": func(o *corev1.ConfigMap) { o.Labels[v1alpha1.LabelOwnerUID] = "somebody-else" },
		"all labels at once":               func(o *corev1.ConfigMap) { o.Labels = nil },
		"the reference to the owner":       func(o *corev1.ConfigMap) { o.OwnerReferences = nil },
		"the annotation of the owner":      func(o *corev1.ConfigMap) { delete(o.Annotations, v1alpha1.AnnotationOwner) },
		"the hash of what was rendered":    func(o *corev1.ConfigMap) { delete(o.Annotations, v1alpha1.AnnotationRendered) },
	}
	for name, edit := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			gw := w.fresh("edge")
			before := w.settled(gw.Name)

			change(w, configMap(gw.Name), edit)
			becomes(t, "it is restored", before, w.state(gw.Name))
		})
	}
}

func TestWhatIsDeletedByHandIsMadeAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	w.gateway("edge")
	before := w.settled("edge")

	w.delete(configMap("edge"))
	eventually(t, "it is there again", func() error {
		_, err := w.state("edge")()
		return err
	})
	after, err := w.state("edge")()
	if err != nil {
		t.Fatal(err)
	}
	if after.UID == before.UID {
		t.Error("the object was never deleted")
	}
	after.UID = before.UID
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("what was made anew differs (-before +after):\n%s", diff)
	}
}

func TestWhatOthersAddIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	w.gateway("edge")
	want := w.settled("edge")

	namespace := read(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	theirOwner := metav1.OwnerReference{APIVersion: "v1", Kind: "Namespace", Name: namespace.Name, UID: namespace.UID}
	change(w, configMap("edge"), func(o *corev1.ConfigMap) {
		o.Annotations["example.com/note"] = "theirs"
		o.Labels["example.com/team"] = "theirs"
		o.Data["theirs"] = "3"
		o.OwnerReferences = append(o.OwnerReferences, theirOwner)
	})
	want.Annotations["example.com/note"] = "theirs"
	want.Labels["example.com/team"] = "theirs"
	want.Data["theirs"] = "3"
	want.OwnerReferences = append(want.OwnerReferences, theirOwner)

	// An apply of the object is the moment at which theirs could be lost.
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"one": "2"})
	})
	want.Data["one"] = "2"
	becomes(t, "what is theirs stays, what is ours changes", want, func() (state, error) {
		got, err := w.state("edge")()
		if hash, ok := got.Annotations[v1alpha1.AnnotationRendered]; ok {
			want.Annotations[v1alpha1.AnnotationRendered] = hash
		}
		return got, err
	})
}
