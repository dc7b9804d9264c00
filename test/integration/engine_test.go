package integration_test

import (
	"errors"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// deploymentTemplate yields a Deployment of which the selector is immutable.
const deploymentTemplate = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  replicas: 0
  selector: {matchLabels: {app: {{ .Values.app }}}}
  template:
    metadata: {labels: {app: {{ .Values.app }}}}
    spec: {containers: [{name: main, image: example.com/none}]}
`

// deployment is what matters of a Deployment here.
type deployment struct {
	UID types.UID
	App string
}

func (w *world) deployment(name string) func() (deployment, error) {
	return func() (deployment, error) {
		d := &appsv1.Deployment{}
		err := shared.client.Get(w.Context(), w.key(name), d)
		if d.Spec.Selector == nil {
			return deployment{}, err
		}
		return deployment{d.UID, d.Spec.Selector.MatchLabels["app"]}, err
	}
}

// ready has a template's readiness decided by an expression that any object satisfies: nobody runs Deployments here.
func ready(template string) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return func(spec *v1alpha1.GatewayClassBlueprintSpec) { spec.ReadyWhen = map[string]string{template: "true"} }
}

func TestAnImmutableFieldIsToldAndLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"deployment": deploymentTemplate}, with(defaults(map[string]string{"app": "one"})), ready("deployment"))
	w.gateway("edge")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	before, err := w.deployment("edge")()
	if err != nil {
		t.Fatal(err)
	}

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"app": "two"})
	})
	w.says("edge", "Deployment edge (template deployment)", "spec.selector", "spec.recreate")
	is(t, "the Deployment is as it was", before, w.deployment("edge"))

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) { b.Spec.Recreate = []string{"deployment"} })
	becomes(t, "once the blueprint permits it, it is made anew", "two", func() (string, error) {
		after, err := w.deployment("edge")()
		return after.App, err
	})
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	after, err := w.deployment("edge")()
	if err != nil {
		t.Fatal(err)
	}
	if after.UID == before.UID {
		t.Error("it is still the same Deployment")
	}
}

func TestReadyWhenDecidesWhatIsProgrammed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})),
		func(spec *v1alpha1.GatewayClassBlueprintSpec) {
			spec.ReadyWhen = map[string]string{"values": `object.metadata.annotations["example.com/ready"] == "yes"`}
		})
	w.gateway("edge")
	w.says("edge", "ConfigMap edge (template values)", "lacks a field", "spec.readyWhen of template values")

	annotate := func(value string) {
		change(w, configMap("edge"), func(o *corev1.ConfigMap) { metav1.SetMetaDataAnnotation(&o.ObjectMeta, "example.com/ready", value) })
	}
	annotate("no")
	w.says("edge", "is not ready, says spec.readyWhen of template values")
	annotate("yes")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}

func TestAFieldThatLeavesTheTemplateIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1", "two": "2"})))
	w.gateway("edge")
	before := w.settled("edge")
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["theirs"] = "3" })

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"one": "1"})
	})
	becomes(t, "ours goes and theirs stays", map[string]string{"one": "1", "theirs": "3"}, w.data("edge"))
	if after := w.settled("edge"); after.UID != before.UID {
		t.Error("the object was made anew")
	}
}

func TestWhatIsFoughtOverIsRestoredLessOften(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	w.gateway("edge")
	w.settled("edge")

	told := func() bool {
		rdg := read(w, &v1alpha1.Rendering{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "edge"}})
		applied := meta.FindStatusCondition(rdg.Status.Conditions, v1alpha1.ConditionApplied)
		return applied != nil && applied.Reason == v1alpha1.ReasonThrashing
	}
	for edits := 0; !told(); edits++ {
		if edits > 40 {
			t.Fatal("it is restored again and again, and nobody is told")
		}
		change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["one"] = "theirs" })
		eventually(t, "it is restored, or given up for a while", func() error {
			data, err := w.data("edge")()
			if err == nil && data["one"] != "1" && !told() {
				err = fmt.Errorf("it says %q", data["one"])
			}
			return err
		})
	}
	w.says("edge", "ConfigMap edge (template values)", "changed again and again")

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"one": "2"})
	})
	becomes(t, "something new is written at once", map[string]string{"one": "2"}, w.data("edge"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}

// dependentTemplate yields an object that stands on that of the template "priority".
const dependentTemplate = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: {{ (index .Resources.priority 0).metadata.name }}-top
value: 1001
`

func TestWhatStandsOnAnotherIsDeletedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"priority": priorityClassTemplate, "dependent": dependentTemplate}, clusterScoped)
	gw := w.gateway("edge")
	base := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-edge"}}
	top := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-edge-top"}}
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	const hold = "example.com/hold"
	change(w, top, func(o *schedulingv1.PriorityClass) { o.Finalizers = []string{hold} })

	w.delete(gw)
	eventually(t, "what stands on top is deleted, and held", func() error {
		if read(w, top).DeletionTimestamp == nil {
			return errors.New("nobody has deleted it")
		}
		return nil
	})
	// The Gateway is looked at again, and what the other stands on stays.
	change(w, top, func(o *schedulingv1.PriorityClass) {
		metav1.SetMetaDataAnnotation(&o.ObjectMeta, "example.com/note", "look")
	})
	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Labels = map[string]string{"look": "again"} })
	if read(w, base).DeletionTimestamp != nil {
		t.Error("what the other stands on was deleted too")
	}

	change(w, top, func(o *schedulingv1.PriorityClass) { o.Finalizers = nil })
	w.gone(gw)
	w.gone(base)
}
