package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

func blueprintOf(t *testing.T, spec string) *v1alpha1.GatewayClassBlueprint {
	t.Helper()
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "bp"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &b.Spec); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCompileNamesEverythingThatIsWrong(t *testing.T) {
	const template = "gatewayTemplate: {resourceTemplates: {config: \"apiVersion: v1\\nkind: ConfigMap\\nmetadata: {name: x}\"}}\n"
	const broken = "gatewayTemplate: {resourceTemplates: {config: '{{'}}\n"
	accepted := verdict.Yes(v1alpha1.ReasonAccepted, "every template parses and their order is settled")
	cases := map[string]struct {
		spec string
		want verdict.Verdict
	}{
		"a blueprint with a schema": {template + "values: {default: {a: 1}, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}", accepted},
		"one without values":        {template, accepted},
		"a schema that is missing": {template + "values: {schema: {}}",
			verdict.No(v1alpha1.ReasonInvalid, "spec.values.schema cannot be used; write an openAPIV3Schema, or leave the schema out")},
		"a schema that is no good": {template + "values: {schema: {openAPIV3Schema: {type: object, propertys: {}}}}",
			verdict.No(v1alpha1.ReasonInvalid, `spec.values.schema.openAPIV3Schema: has an unknown keyword "propertys"; did you mean properties?`)},
		"a feature that Gateway API does not have": {template + "supports: {features: [HTTPRouteCORS, GatewayStaticAddress]}",
			verdict.No(v1alpha1.ReasonInvalid, `spec.supports.features[1]: Gateway API has no feature "GatewayStaticAddress"; did you mean GatewayStaticAddresses?`)},
		"a schema, a block and a template that are no good": {broken + "values: {default: [], schema: {openAPIV3Schema: {type: string}}}",
			verdict.No(v1alpha1.ReasonInvalid, "spec.values.schema.openAPIV3Schema.type: must be object, which the values are\n"+
				"spec.values.default must be an object, but is a list; write keys with values under it\n"+
				"gatewayTemplate config, line 1: unclosed action")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			compiled, got := Compile(blueprintOf(t, c.spec))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if (compiled != nil) != got.OK {
				t.Errorf("compiled: %t", compiled != nil)
			}
		})
	}
}
