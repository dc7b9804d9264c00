package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReadyWhenDecidesWhatIsReady(t *testing.T) {
	object := map[string]any{
		"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "web", "generation": int64(2)},
		"status": map[string]any{"phase": "canary", "replicas": int64(3), "conditions": []any{map[string]any{"type": "Up", "status": "True"}}},
	}
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"key": "canary"}}
	ready := &Readiness{Ready: true}
	cases := map[string]struct {
		expression string
		object     map[string]any
		want       *Readiness
	}{
		"what holds is ready":          {`object.status.replicas >= 3`, object, ready},
		"conditions can be searched":   {`object.status.conditions.exists(c, c.type == "Up" && c.status == "True")`, object, ready},
		"numbers compare across types": {`object.status.replicas > 2.5`, object, ready},
		"what does not hold is waited": {`object.status.phase == "Ready"`, object, &Readiness{Message: "is not ready, says spec.readyWhen of template t"}},
		"a field may still come":       {`object.status.address != ""`, object, &Readiness{Message: "is not ready: it lacks a field that spec.readyWhen of template t reads"}},
		"another type is told, no value": {`object.status.phase > 1`, object,
			&Readiness{Message: "spec.readyWhen of template t fails on this object: a field is of a type that the expression does not expect"}},
		"no answer is told": {`object.status.phase`, object,
			&Readiness{Message: "spec.readyWhen of template t fails on this object: a field is of a type that the expression does not expect"}},
		"what costs too much is told": {`[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, a+b+c+d+e > 0)))))`,
			object, &Readiness{Message: "spec.readyWhen of template t takes too long on this object"}},
		"what is in a Secret stays there": {`"data" in object`, secret, &Readiness{Message: "is not ready, says spec.readyWhen of template t"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := blueprint(map[string]string{"t": configMap(""), "other": configMap("")})
			b.Spec.ReadyWhen = map[string]string{"t": c.expression}
			program, err := Compile(b)
			if err != nil {
				t.Fatal(err)
			}
			o := &unstructured.Unstructured{Object: c.object}
			before := o.DeepCopy()
			if diff := cmp.Diff(c.want, program.Gateway.Ready("t", o)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff((*Readiness)(nil), program.Gateway.Ready("other", o)); diff != "" {
				t.Errorf("a template without an expression (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, o); diff != "" {
				t.Errorf("the object was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestReadyWhenAndRecreateNameWhatIsWrong(t *testing.T) {
	cases := map[string]struct {
		ready    map[string]string
		recreate []string
		want     string
	}{
		"an expression that is none": {map[string]string{"config": "object."}, nil,
			"spec.readyWhen config: does not compile: Syntax error: no viable alternative at input '.', at line 1, column 8"},
		"another variable": {map[string]string{"config": "self.a"}, nil,
			"spec.readyWhen config: does not compile: undeclared reference to 'self' (in container ''), at line 1, column 1"},
		"an expression that is no question": {map[string]string{"config": "1 + 1"}, nil,
			"spec.readyWhen config: is of type int; write an expression of type bool"},
		"a template that is not there suggests the nearest": {map[string]string{"conifg": "true"}, nil,
			`spec.readyWhen conifg: there is no template "conifg"; did you mean config?`},
		"one to recreate that is not there": {nil, []string{"config", "conifg"},
			`spec.recreate[1]: there is no template "conifg"; did you mean config?`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := blueprint(map[string]string{"config": configMap("")})
			b.Spec.ReadyWhen, b.Spec.Recreate = c.ready, c.recreate
			_, err := Compile(b)
			if err == nil {
				t.Fatal("it was compiled")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
