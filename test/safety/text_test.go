package safety

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/render"
)

// compileText compiles a blueprint of one template.
func compileText(t testing.TB, text, helpers string) *render.Program {
	t.Helper()
	return compileTexts(t, map[string]string{"t": text}, helpers)
}

func compileTexts(t testing.TB, texts map[string]string, helpers string) *render.Program {
	t.Helper()
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "positions"}}
	b.Spec.Helpers = helpers
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: texts}
	program, err := render.Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func nothingLive(string) []*unstructured.Unstructured { return nil }
