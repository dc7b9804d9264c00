package integration_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// saysProgrammed returns the message of a Gateway's condition Programmed.
func (w *world) saysProgrammed(gateway string) (string, error) {
	gw := &gatewayv1.Gateway{}
	if err := shared.client.Get(w.Context(), w.key(gateway), gw); err != nil {
		return "", err
	}
	condition := meta.FindStatusCondition(gw.Status.Conditions, string(gatewayv1.GatewayConditionProgrammed))
	if condition == nil || condition.ObservedGeneration != gw.Generation {
		return "", errors.New("it is not reported yet")
	}
	return condition.Message, nil
}

// says waits until a Gateway's condition Programmed holds all these words.
func (w *world) says(gateway string, words ...string) {
	w.Helper()
	eventually(w, "the condition Programmed of "+gateway+" says "+strings.Join(words, ", "), func() error {
		message, err := w.saysProgrammed(gateway)
		if err != nil {
			return err
		}
		for _, word := range words {
			if !strings.Contains(message, word) {
				return errors.New(message)
			}
		}
		return nil
	})
}

func TestAnObjectOfSomebodyElseIsRefusedUntilItGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, with(defaults(map[string]string{"one": "1"})))
	cases := map[string]func(*corev1.ConfigMap){
		"without our label":                func(*corev1.ConfigMap) {},
		"with the label of another parent": func(o *corev1.ConfigMap) { o.Labels = map[string]string{v1alpha1.LabelOwnerUID: "somebody-else"} },
	}
	for name, mark := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, w.name)
			theirs := configMap("edge")
			theirs.Data = map[string]string{"theirs": "1"}
			mark(theirs)
			w.create(theirs)
			before := theirs.DeepCopy()

			gw := w.gateway("edge")
			w.says("edge", "ConfigMap edge", "exists already")
			becomes(t, "it counts as a failure of the object", map[string]v1alpha1.ObjectState{
				"ConfigMap/edge": v1alpha1.ObjectFailed, "Service/edge": v1alpha1.ObjectCurrent,
			}, func() (map[string]v1alpha1.ObjectState, error) {
				got, err := w.reported("edge")()
				return got.Objects, err
			})
			is(t, "the other object is applied", []string{"Service/edge"}, names(w.children(gw, configMaps, services)))
			if diff := cmp.Diff(before, read(w, theirs)); diff != "" {
				t.Errorf("the foreign object was touched (-before +after):\n%s", diff)
			}

			w.delete(theirs)
			becomes(t, "ours takes the place", map[string]string{"one": "1"}, w.data("edge"))
			becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
		})
	}
}

func TestTwoGatewaysThatRenderTheSameObjectDoNotFight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": strings.ReplaceAll(valuesTemplate, "{{ .Gateway.metadata.name }}", "same")})
	mine := func(gateway string) v1alpha1.ValuesBlocks { return defaults(map[string]string{"of": gateway}) }
	for _, name := range []string{"first", "second"} {
		w.create(config(name, target("Gateway", name), mine(name)))
	}
	first := w.gateway("first")
	becomes(t, "the first has it", map[string]string{"of": "first"}, w.data("same"))
	becomes(t, "the first is Programmed", programmed, w.gatewayConditions("first"))
	before, err := w.state("same")()
	if err != nil {
		t.Fatal(err)
	}

	w.gateway("second")
	w.says("second", "ConfigMap same", "exists already")
	is(t, "it stays the first's", before, w.state("same"))

	w.delete(first)
	w.gone(first)
	becomes(t, "the second gets it once the first is gone", map[string]string{"of": "second"}, w.data("same"))
	becomes(t, "the second is Programmed", programmed, w.gatewayConditions("second"))
}

// An object of ours that cannot go at once, since somebody's finalizer holds it, is neither written to nor counted.
func TestAnObjectThatIsBeingDeletedIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	w.gateway("edge")
	before := w.settled("edge")

	held := configMap("edge")
	change(w, held, func(o *corev1.ConfigMap) { o.Finalizers = []string{"example.com/held"} })
	w.delete(held)
	w.says("edge", "ConfigMap edge", "still being deleted")
	becomes(t, "the Gateway waits", []string{"Accepted=True/Accepted", "Programmed=False/Pending"}, w.gatewayConditions("edge"))

	change(w, held, func(o *corev1.ConfigMap) { o.Finalizers = nil })
	eventually(t, "it is made anew", func() error {
		after, err := w.state("edge")()
		if err == nil && after.UID == before.UID {
			err = errors.New("the old one is there")
		}
		return err
	})
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}
