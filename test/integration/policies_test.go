package integration_test

import (
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// policyReports are what we say of a policy, by ancestor "Kind/name", and the messages by ancestor and condition type.
func (w *world) policyReports(policy v1alpha1.Policy) func() (map[string][]string, error) {
	return func() (map[string][]string, error) {
		o := policy.(client.Object)
		err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		got := map[string][]string{}
		for _, ancestor := range policy.PolicyStatus().Ancestors {
			got[fmt.Sprintf("%s/%s", *ancestor.AncestorRef.Kind, ancestor.AncestorRef.Name)] = told(ancestor.Conditions, o.GetGeneration())
		}
		return got, err
	}
}

// policyComplains waits until the condition of a policy's only ancestor says all these words.
func (w *world) policyComplains(policy v1alpha1.Policy, want string, words ...string) {
	w.Helper()
	w.complains(policy.(client.Object), func() []metav1.Condition {
		ancestors := policy.PolicyStatus().Ancestors
		if len(ancestors) != 1 {
			return nil
		}
		return ancestors[0].Conditions
	}, want, words...)
}

func TestTheAPIServerRefusesPoliciesThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	good := target("Gateway", "edge")
	cases := map[string]struct {
		policy client.Object
		words  string
	}{
		"a default that is a string":              {config("a", good, v1alpha1.ValuesBlocks{Default: tree2JSON("text")}), "spec.default"},
		"a default that is a list":                {config("a", good, v1alpha1.ValuesBlocks{Default: tree2JSON([]string{"text"})}), "spec.default"},
		"an override that is a number":            {config("a", good, v1alpha1.ValuesBlocks{Override: tree2JSON(7)}), "spec.override"},
		"no target":                               {&v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, "exactly one of targetRef and targetRefs"},
		"a target without name and selector":      {config("a", target("Gateway", ""), v1alpha1.ValuesBlocks{}), "selector: {}"},
		"a GatewayConfig for a class":             {config("a", target("GatewayClass", "edge"), v1alpha1.ValuesBlocks{}), "use a GatewayClassConfig"},
		"a GatewayClassConfig for a Gateway":      {classConfig("a", good, v1alpha1.ValuesBlocks{}), "use a GatewayConfig"},
		"a Namespace in the group of Gateway API": {config("a", withGroup(target("Namespace", "a"), gatewayv1.GroupName), v1alpha1.ValuesBlocks{}), "group must be"},
		"a Gateway in the core group":             {config("a", withGroup(good, ""), v1alpha1.ValuesBlocks{}), "group must be"},
		"a section of a Namespace":                {config("a", withSection(target("Namespace", "a")), v1alpha1.ValuesBlocks{}), "no sections"},
		"a strategy that does not exist": {
			config("a", good, v1alpha1.ValuesBlocks{Merge: &v1alpha1.ValuesMerge{Default: &v1alpha1.BlockMerge{Strategy: "replace"}}}), "atomic",
		},
		"values of a blueprint that are a list": {
			newBlueprint(w.name, templates{}, with(v1alpha1.ValuesBlocks{Default: tree2JSON([]string{"text"})})), "spec.values.default",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			w.place(c.policy)
			err := shared.client.Create(t.Context(), c.policy)
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("creating it: %v; want it refused with words %q", err, c.words)
			}
		})
	}
}

func withGroup(target v1alpha1.PolicyTargetReference, group gatewayv1.Group) v1alpha1.PolicyTargetReference {
	target.Group = group
	return target
}

func withSection(target v1alpha1.PolicyTargetReference) v1alpha1.PolicyTargetReference {
	target.SectionName = new(gatewayv1.SectionName("http"))
	return target
}

func TestAPolicySaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(v1alpha1.ValuesBlocks{
		Default: tree2JSON(map[string]string{"one": "1"}), Override: tree2JSON(map[string]string{"locked": "blueprint's"}),
	}))
	w.gateway("edge")
	edge := target("Gateway", "edge")
	type blocks = map[string]string
	inEffect := config("a-in-effect", edge, defaults(blocks{"two": "2"}))
	inPart := config("b-in-part", edge, defaults(blocks{"locked": "mine", "three": "3"}))
	shadowed := config("c-shadowed", edge, defaults(blocks{"locked": "mine"}))
	lost := config("d-lost", target("Gateway", "nobody"), defaults(blocks{"four": "4"}))
	classWide := classConfig("class", target("GatewayClass", w.name), defaults(blocks{"five": "5"}))
	for _, policy := range []client.Object{inEffect, inPart, shadowed, lost, classWide} {
		w.create(policy)
	}
	becomes(t, "one is in effect", map[string][]string{"Gateway/edge": {"Accepted=True/Accepted", "Programmed=True/Programmed"}}, w.policyReports(inEffect))
	becomes(t, "one is in part", map[string][]string{"Gateway/edge": {"Accepted=True/Accepted", "Programmed=True/PartiallyProgrammed"}}, w.policyReports(inPart))
	becomes(t, "one is shadowed", map[string][]string{"Gateway/edge": {"Accepted=True/Accepted", "Programmed=False/Overridden"}}, w.policyReports(shadowed))
	becomes(t, "one is lost", map[string][]string{"Gateway/nobody": {"Accepted=False/TargetNotFound"}}, w.policyReports(lost))
	becomes(t, "the provider's is told for the class", map[string][]string{
		"GatewayClass/" + w.name: {"Accepted=True/Accepted", "Programmed=True/Programmed"},
	}, w.policyReports(classWide))
	w.policyComplains(inPart, "Programmed=True/PartiallyProgrammed", "/locked", "GatewayClassBlueprint/"+w.name)
	w.policyComplains(lost, "Accepted=False/TargetNotFound", "nobody")

	// A target that comes later is found.
	w.gateway("nobody")
	becomes(t, "the lost one is found", map[string][]string{"Gateway/nobody": {"Accepted=True/Accepted", "Programmed=True/Programmed"}}, w.policyReports(lost))
	becomes(t, "and its value rendered", map[string]string{"one": "1", "four": "4", "five": "5", "locked": "blueprint's"}, w.data("nobody"))
}

// A typo in what guards a Gateway must not lift the guard: what is rendered stays as it is until the typo is mended.
func TestAPolicyThatGuardsAndCannotBeReadHoldsTheRendering(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"size": "small"})))
	gw := w.gateway("edge")
	guard := classConfig("guard", target("GatewayClass", w.name), v1alpha1.ValuesBlocks{
		Constraints: []v1alpha1.Constraint{{
			Name: "size", When: "self.size == 'large'", Override: tree2JSON(map[string]string{"size": "medium"}),
		}},
	})
	w.create(guard)
	tenant := config("tenant", target("Gateway", "edge"), defaults(map[string]string{"size": "large"}))
	w.create(tenant)
	becomes(t, "the guard clips the tenant's wish", map[string]string{"size": "medium"}, w.data("edge"))
	before := w.settled("edge")

	change(w, guard, func(p *v1alpha1.GatewayClassConfig) { p.Spec.Constraints[0].When = "self.size ==" })
	w.policyComplains(guard, "Accepted=False/Invalid", "spec.constraints[0].when")
	w.gatewayComplains(gw, "Programmed=False/Invalid", "GatewayClassConfig/"+w.namespace+"/guard")
	change(w, tenant, func(p *v1alpha1.GatewayConfig) {
		p.Spec.Default = tree2JSON(map[string]string{"size": "large", "new": "1"})
	})
	becomes(t, "the tenant's policy is looked at", map[string][]string{"Gateway/edge": {"Accepted=True/Accepted"}}, func() (map[string][]string, error) {
		got, err := w.policyReports(tenant)()
		for key := range got {
			got[key] = got[key][:1]
		}
		return got, err
	})
	is(t, "what is rendered stays", before, w.state("edge"))

	change(w, guard, func(p *v1alpha1.GatewayClassConfig) { p.Spec.Constraints[0].When = "self.size == 'large'" })
	becomes(t, "mended, the guard holds and the rest goes through", map[string]string{"size": "medium", "new": "1"}, w.data("edge"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}
