package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func TestBodiesAreReadByTemplatesAndExpressions(t *testing.T) {
	const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
	const reader = "data: {k: {{ (index .Resources.config 0).data.k }}}\n"
	for name, c := range map[string]struct {
		adjust func(*v1alpha1.GatewayClassBlueprintSpec)
		want   map[string]bool
	}{
		"what nobody reads is not read": {func(*v1alpha1.GatewayClassBlueprintSpec) {}, map[string]bool{}},
		"what a template reads of another is read": {
			func(spec *v1alpha1.GatewayClassBlueprintSpec) {
				spec.GatewayTemplate.ResourceTemplates["reader"] = secret + reader
			}, map[string]bool{"ConfigMap": true}},
		"what a template of routes reads is read": {
			func(spec *v1alpha1.GatewayClassBlueprintSpec) {
				spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{
					"config": configMap(""), "reader": secret + reader,
				}}
			}, map[string]bool{"ConfigMap": true}},
		"what the status template reads is read": {
			func(spec *v1alpha1.GatewayClassBlueprintSpec) {
				spec.GatewayTemplate.Status = &v1alpha1.StatusTemplate{Template: "addresses: [{value: {{ (index .Resources.secret 0).type }}}]\n"}
			}, map[string]bool{"Secret": true}},
		"what an expression judges is read": {
			func(spec *v1alpha1.GatewayClassBlueprintSpec) { spec.ReadyWhen = map[string]string{"secret": "true"} },
			map[string]bool{"Secret": true}},
	} {
		t.Run(name, func(t *testing.T) {
			b := blueprint(map[string]string{"config": configMap(""), "secret": secret})
			c.adjust(&b.Spec)
			p, err := Compile(b)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for _, kind := range []string{"ConfigMap", "Secret"} {
				if p.ReadsBody(schema.GroupVersionKind{Version: "v1", Kind: kind}) {
					got[kind] = true
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ReadsBody(): -want +got:\n%s", diff)
			}
		})
	}
}
