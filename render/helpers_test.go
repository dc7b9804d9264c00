package render

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// blueprint makes a blueprint of Gateway templates; "helpers" and "status" are not resource templates.
func blueprint(templates map[string]string) *v1alpha1.GatewayClassBlueprint {
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "test"}}
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: map[string]string{}}
	for name, text := range templates {
		switch name {
		case "helpers":
			b.Spec.Helpers = text
		case "status":
			b.Spec.GatewayTemplate.Status = &v1alpha1.StatusTemplate{Template: text}
		default:
			b.Spec.GatewayTemplate.ResourceTemplates[name] = text
		}
	}
	return b
}

func mustCompile(t testing.TB, templates map[string]string) *Program {
	t.Helper()
	p, err := Compile(blueprint(templates))
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return p
}

// configMap is a template of a ConfigMap that ends with the given text, indented as the author of the text wants it.
func configMap(rest string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: fixed\n" + rest
}

// tree reads JSON as Kubernetes would.
func tree(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("the test's JSON: %v", err)
	}
	return numbers(out).(map[string]any)
}

// nothing observes nothing.
func nothing(string) []*unstructured.Unstructured { return nil }

// renderOne renders a single template with values, and gives its first object, or why there is none.
func renderOne(t testing.TB, text, helpers, values string) (map[string]any, string) {
	t.Helper()
	p := mustCompile(t, map[string]string{"t": text, "helpers": helpers})
	r := p.Gateway.Start(Context{Namespace: "team-a", Values: tree(t, values), Gateway: tree(t, `{"metadata": {"name": "web", "namespace": "team-a"}}`)})
	r.Advance(nothing)
	result := r.Result()
	switch {
	case len(result.Failed) > 0:
		return nil, result.Failed[0].Error()
	case len(result.Pending) > 0:
		return nil, result.Pending[0].Message
	case len(result.Objects) == 0:
		return nil, "nothing"
	}
	return result.Objects[0].Object, ""
}
