package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/values"
	"github.com/gatewright/gatewright/values/schema"
)

// contract is a schema with each of the marks.
const contract = `
type: object
properties:
  scaling:
    type: object
    default: {min: 1, max: 3}
    properties:
      min: {type: integer, minimum: 1, default: 1}
      max: {type: integer, maximum: 10, default: 3}
    x-kubernetes-validations:
    - {rule: self.min <= self.max, message: must have min up to max}
  service:
    type: object
    properties:
      type: {type: string, enum: [ClusterIP, LoadBalancer], x-gatewright-settable-by: provider}
      annotations: {type: object, additionalProperties: {type: string}}
  listeners:
    type: array
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [name]
    items:
      type: object
      required: [name, port]
      properties:
        name: {type: string}
        port: {type: integer}
        bodySize: {type: string, default: 1Mi}
  token: {type: string, format: password, minLength: 8}
`

var gateway = values.Target{Class: values.Object{Name: "public"}, Gateway: values.Object{Namespace: "team", Name: "edge"}}

// blueprint is one with default values and a schema, written as YAML.
func blueprint(t testing.TB, defaults, contract string) *values.Policy {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(contract))
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "bp"}}
	b.Spec.Values = &v1alpha1.BlueprintValues{ValuesBlocks: v1alpha1.ValuesBlocks{Default: tree(t, defaults)}}
	p, v := values.ParseBlueprint(b, s)
	if !v.OK {
		t.Fatal(v.Message)
	}
	return p
}

func tree(t testing.TB, text string) *apiextensionsv1.JSON {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// tenant is a GatewayConfig for the Gateway, with default values written as YAML.
func tenant(t testing.TB, defaults string) *values.Policy {
	t.Helper()
	o := &v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"}}
	o.Spec.TargetRefs = []v1alpha1.PolicyTargetReference{{Group: gatewayv1.GroupName, Kind: "Gateway", Name: "edge"}}
	o.Spec.Default = tree(t, defaults)
	p, v := values.Parse(o)
	if !v.OK {
		t.Fatal(v.Message)
	}
	return p
}

func TestValuesAreHeldToTheirSchema(t *testing.T) {
	cases := map[string]struct {
		blueprint, tenant string
		// want is the values as people see them, and blocked is why they are not put into effect.
		want    string
		blocked []string
	}{
		"defaults are filled in": {"{}", "{}", "{scaling: {min: 1, max: 3}}", nil},
		"what is allowed is in effect": {"{service: {type: ClusterIP}}", "{scaling: {max: 10}, service: {annotations: {a.b/c: x}}}",
			"{scaling: {min: 1, max: 10}, service: {type: ClusterIP, annotations: {a.b/c: x}}}", nil},
		"lists are merged, then filled up": {"{listeners: [{name: a, port: 1}]}", "{listeners: [{name: b, port: 2}, {name: a, bodySize: 2Mi}]}",
			"{scaling: {min: 1, max: 3}, listeners: [{name: a, port: 1, bodySize: 2Mi}, {name: b, port: 2, bodySize: 1Mi}]}", nil},
		"a bound holds": {"{}", "{scaling: {max: 11}}", "{scaling: {min: 1, max: 11}}",
			[]string{"/scaling/max should be less than or equal to 10 (GatewayConfig/team/p default)"}},
		"a rule holds, and falls to all who have a part in it": {"{}", "{scaling: {min: 5}}", "{scaling: {min: 5, max: 3}}",
			[]string{"/scaling must have min up to max (GatewayClassBlueprint/bp schema, GatewayConfig/team/p default)"}},
		"a typo is found": {"{}", "{scaling: {maxx: 5}}", "{scaling: {min: 1, max: 3, maxx: 5}}",
			[]string{"/scaling/maxx is an unknown key; did you mean max? (GatewayConfig/team/p default)"}},
		"items of one list with the same key are no violation where another list has replaced them": {
			"{listeners: [{name: a, port: 1}, {name: a, port: 2}]}", "{listeners: [{name: b, port: 2}]}",
			"{scaling: {min: 1, max: 3}, listeners: [{name: b, port: 2, bodySize: 1Mi}]}", nil},
		"items of one list with the same key are a violation where they stand": {
			"{listeners: [{name: b, port: 2}]}", "{listeners: [{name: a, port: 1}, {name: a, port: 2}]}",
			"{scaling: {min: 1, max: 3}, listeners: [{name: a, port: 1, bodySize: 1Mi}, {name: a, port: 2, bodySize: 1Mi}]}", []string{"/listeners/1 is the same item as another; keep one of them (GatewayConfig/team/p default)"}},
		"an item lacks something": {"{}", "{listeners: [{name: b}]}", "{scaling: {min: 1, max: 3}, listeners: [{name: b, bodySize: 1Mi}]}",
			[]string{"/listeners/0/port is required; set it (GatewayConfig/team/p default)"}},
		"what is the provider's is not the tenant's, whose other values do not count either": {"{service: {type: ClusterIP}}", "{service: {type: LoadBalancer}, scaling: {max: 5}}",
			"{scaling: {min: 1, max: 3}, service: {type: ClusterIP}}",
			[]string{"/service/type may be set only by the blueprint and by a GatewayClassConfig; leave it out (GatewayConfig/team/p default)"}},
		"a secret is hidden, also where it is wrong": {"{}", "{token: canary}", "{scaling: {min: 1, max: 3}, token: (redacted)}",
			[]string{"/token should be at least 8 chars long (GatewayConfig/team/p default)"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := values.Compute(blueprint(t, c.blueprint, contract), []*values.Policy{tenant(t, c.tenant)}, gateway)
			var want, got any
			if err := json.Unmarshal(tree(t, c.want).Raw, &want); err != nil {
				t.Fatal(err)
			}
			shown, err := json.Marshal(e.Redacted())
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(shown, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("values (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.blocked, e.Blocked()); diff != "" {
				t.Errorf("blocked (-want +got)\n%s", diff)
			}
		})
	}
}

// thousand is a schema of 20 maps of 50 whole numbers each, with a rule for each map if there are any, and a tree that it
// allows.
func thousand(rules bool) (contract, defaults string) {
	contract, defaults = "type: object\nproperties:\n", ""
	for g := range 20 {
		contract += fmt.Sprintf("  group%d:\n    type: object\n", g)
		if rules {
			contract += "    x-kubernetes-validations: [{rule: self.leaf1 <= self.leaf2}]\n"
		}
		contract += "    properties:\n"
		defaults += fmt.Sprintf("group%d:\n", g)
		for i := range 50 {
			contract += fmt.Sprintf("      leaf%d: {type: integer, maximum: 100, default: 1}\n", i)
			defaults += fmt.Sprintf("  leaf%d: %d\n", i, i)
		}
	}
	return contract, defaults
}

// BenchmarkCompute has a tree of 1,000 leaves and a policy that sets one of them. "merge" says what it takes without a schema.
// TestManyEmptyMapsAreFilledUp has a schema fill up so many maps of a tenant's that comparing each with all others would take longer
// than a test may.
func TestManyEmptyMapsAreFilledUp(t *testing.T) {
	const many = 50_000
	contract := `{"type": "object", "properties": {"hosts": {"type": "object", "additionalProperties": {
		"type": "object", "properties": {"replicas": {"type": "integer", "default": 1}}}}}}`
	var hosts []string
	for i := range many {
		hosts = append(hosts, fmt.Sprintf(`"h%d": {}`, i))
	}
	text := `{"hosts": {` + strings.Join(hosts, ",") + `}}`
	e := values.Compute(blueprint(t, text, contract), []*values.Policy{tenant(t, text)}, gateway)
	if len(e.Origins) != many {
		t.Errorf("%d leaves are told of, want %d", len(e.Origins), many)
	}
}

func BenchmarkCompute(b *testing.B) {
	const free = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	p := []*values.Policy{tenant(b, "{group1: {leaf1: 0}}")}
	plain, defaults := thousand(false)
	ruled, _ := thousand(true)
	for _, c := range []struct{ name, contract string }{{"merge", free}, {"schema", plain}, {"schema,20-rules", ruled}} {
		bp := blueprint(b, defaults, c.contract)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e := values.Compute(bp, p, gateway); len(e.Origins) != 1000 || e.Violations != nil {
					b.Fatal(len(e.Origins), e.Violations)
				}
			}
		})
	}
}

// BenchmarkComputeSmall has values like those of the shipped blueprints.
func BenchmarkComputeSmall(b *testing.B) {
	bp, p := blueprint(b, "{service: {type: ClusterIP}}", contract), []*values.Policy{tenant(b, "{scaling: {max: 5}, listeners: [{name: a, port: 1}]}")}
	b.ReportAllocs()
	for b.Loop() {
		if e := values.Compute(bp, p, gateway); e.Violations != nil {
			b.Fatal(e.Violations)
		}
	}
}

// BenchmarkCompile compiles the schema of 1,000 leaves and 20 rules, as happens once for each generation of a blueprint.
func BenchmarkCompile(b *testing.B) {
	ruled, _ := thousand(true)
	raw, err := yaml.YAMLToJSON([]byte(ruled))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Compile(raw); err != nil {
			b.Fatal(err)
		}
	}
}
