package integration_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// following gives a blueprint a schema for its values. It comes after what gives it values.
func following(schema string) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return func(spec *v1alpha1.GatewayClassBlueprintSpec) {
		spec.Values.Schema = &v1alpha1.ValuesSchema{OpenAPIV3Schema: &apiextensionsv1.JSON{Raw: []byte(schema)}}
	}
}

// logSchema allows some words for the value "log".
const logSchema = `{"type": "object", "properties": {"log": {"type": "string", "enum": ["info", "debug", "error"]}}}`

// wrongLog is what a policy says of itself that sets another.
const wrongLog = "Accepted=False/Invalid: the blueprint's schema does not allow it: /log should be one of [info debug error]; "

func TestAValueThatTheSchemaDoesNotAllowHoldsItsTargetsUntilItIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(logs("info")), following(logSchema))
	edge := w.gateway("edge")
	w.gateway("other")
	policy := config("tenant", target("Gateway", "edge"), logs("debug"))
	all := config("all", target("Namespace", w.namespace), v1alpha1.ValuesBlocks{})
	w.create(policy)
	w.create(all)
	becomes(t, "the value is allowed", map[string]string{"log": "debug"}, w.data("edge"))
	before, other := w.settled("edge"), w.settled("other")

	change(w, policy, func(p *v1alpha1.GatewayConfig) { p.Spec.Default = tree2JSON(map[string]any{"log": "never-shown"}) })
	becomes(t, "the policy says what is wrong", map[string][]string{"Gateway/NS/edge": {wrongLog + "what was rendered last stays"}}, w.policyTells(policy))
	w.gatewayComplains(edge, "Programmed=False/Invalid", "/log should be one of [info debug error] (GatewayConfig/"+w.namespace+"/tenant default)")
	is(t, "what is rendered stays", before, w.state("edge"))

	change(w, policy, func(p *v1alpha1.GatewayConfig) {
		p.Spec.Default = tree2JSON(map[string]any{"log": map[string]string{"never": "shown"}})
	})
	w.gatewayComplains(edge, "Programmed=False/Invalid", "/log must be of type string (GatewayConfig/"+w.namespace+"/tenant default)")
	is(t, "what is rendered still stays", before, w.state("edge"))
	is(t, "another Gateway is not touched", other, w.state("other"))
	is(t, "and is Programmed", programmed, w.gatewayConditions("other"))

	change(w, policy, func(p *v1alpha1.GatewayConfig) { p.Spec.ValuesBlocks = logs("error") })
	becomes(t, "mended, it is rendered", map[string]string{"log": "error"}, w.data("edge"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	becomes(t, "the policy is in effect", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(policy))
}

// Whoever may attach a ListenerSet must not be able to stop the Gateway for everybody.
func TestAGuestCannotStopItsHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"log": logTemplate}, with(logs("info")), following(logSchema), forRoutes(routeLogTemplate))
	w.gateway("edge", admitting(gatewayv1.NamespacesFromAll))
	w.listenerSet("sibling", "edge", "sibling.example.com")
	guest := newWorldOf(t, w.name)
	guest.listenerSetFor(w, "guest.example.com")
	good := config("good", target("Namespace", guest.namespace), logs("debug"))
	guest.create(good)
	all := func(host, guest string) map[string]string {
		return map[string]string{"gateway": host, "edge.own": host, "sibling.l0": host, "guest.l0": guest}
	}
	becomes(t, "the guest has values of its own", all("info", "debug"), w.data("edge"))
	inEffect := map[string][]string{"ListenerSet/NS/guest": {policyValid, policyInEffect}}
	becomes(t, "which are in effect", inEffect, guest.policyTells(good))

	bad := config("bad", target("ListenerSet", "guest"), logs("never-shown"))
	guest.create(bad)
	becomes(t, "the guest goes without them", all("info", "info"), w.data("edge"))
	becomes(t, "is told what is wrong", map[string][]string{
		"ListenerSet/NS/guest": {wrongLog + "the listeners of the ListenerSet go without it"},
	}, guest.policyTells(bad))
	becomes(t, "and of what that has done to others", map[string][]string{
		"ListenerSet/NS/guest": {policyValid, "Programmed=False/Overridden: not in effect: default (SetAside)"},
	}, guest.policyTells(good))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	host := config("host", target("Gateway", "edge"), logs("error"))
	w.create(host)
	becomes(t, "the host goes on", all("error", "error"), w.data("edge"))

	change(guest, bad, func(p *v1alpha1.GatewayConfig) {
		p.Spec.ValuesBlocks = v1alpha1.ValuesBlocks{
			Override: tree2JSON(map[string]string{"log": "debug"}),
			Merge:    &v1alpha1.ValuesMerge{Override: &v1alpha1.BlockMerge{When: "self.log =="}},
		}
	})
	guest.policyComplains(bad, "Accepted=False/Invalid", "spec.merge.override.when", "does not compile")
	is(t, "a guard that cannot be read does no more", all("error", "error"), w.data("edge"))
	is(t, "and the Gateway is Programmed", programmed, w.gatewayConditions("edge"))

	guest.delete(bad)
	becomes(t, "without it the guest has its own again", all("error", "debug"), w.data("edge"))
	becomes(t, "and they are in effect", inEffect, guest.policyTells(good))
}

func TestAPolicyForListenersThatNobodyReadsIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(logs("info")))
	w.gateway("edge")
	policy := config("listener", withListener(target("Gateway", "edge"), "own"), logs("debug"))
	w.create(policy)
	refused := "blueprint NS does not read listener values; leave sectionName and listenerSelector out of spec.targetRefs"
	becomes(t, "it is told so", map[string][]string{"Gateway/NS/edge": {"Accepted=False/Invalid: " + refused + "[0]"}}, w.policyTells(policy))
	becomes(t, "and does nothing", map[string]string{"log": "info"}, w.data("edge"))

	change(w, policy, func(p *v1alpha1.GatewayConfig) {
		p.Spec.TargetRefs = append(p.Spec.TargetRefs, target("Gateway", "edge"))
	})
	becomes(t, "what it says of the Gateway counts", map[string][]string{"Gateway/NS/edge": {
		policyValid + "; but not all of it has an effect: " + refused + "[0]", policyInEffect,
	}}, w.policyTells(policy))
	becomes(t, "and is rendered", map[string]string{"log": "debug"}, w.data("edge"))

	change(w, policy, func(p *v1alpha1.GatewayConfig) { p.Spec.TargetRefs = p.Spec.TargetRefs[:1] })
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = templates{"values": logTemplate}
	})
	becomes(t, "a blueprint that reads listeners accepts it", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(policy))
	becomes(t, "and renders it", map[string]string{"gateway": "info", "edge.own": "debug"}, w.data("edge"))
}

func TestAPolicyThatOnlyRemovesAffectsItsTargets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"log": logTemplate}, with(defaults(map[string]string{"log": "info", "noise": "much"})), forRoutes(routeLogTemplate))
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("shop", "edge", "shop.example.com")
	w.route("cart", toListenerSet("shop"))
	affected := w.affected("edge", "shop", "cart")
	removing := func(name string, target v1alpha1.PolicyTargetReference) client.Object {
		policy := config(name, target, v1alpha1.ValuesBlocks{})
		policy.Spec.Remove = []string{"noise"}
		return policy
	}
	for name, c := range map[string]struct {
		target v1alpha1.PolicyTargetReference
		want   []string
	}{
		"a-namespace": {target("Namespace", w.namespace), []string{"Gateway", "HTTPRoute under shop"}},
		"b-gateway":   {target("Gateway", "edge"), []string{"Gateway", "HTTPRoute under shop"}},
		"c-listener":  {withListener(target("Gateway", "edge"), "own"), []string{"Gateway/own"}},
		"d-set":       {target("ListenerSet", "shop"), []string{"ListenerSet", "HTTPRoute under shop"}},
		"e-entry":     {withListener(target("ListenerSet", "shop"), "l0"), []string{"ListenerSet/l0"}},
		"f-route":     {target("HTTPRoute", "cart"), []string{"HTTPRoute under shop"}},
	} {
		want := map[string]string{}
		for _, place := range c.want {
			want[place+" GatewayConfigAffected"] = "by GatewayConfig/NS/" + name
		}
		policy := removing(name, c.target)
		w.create(policy)
		becomes(t, name+" is named where it removes something", want, affected)
		w.delete(policy)
		becomes(t, "and no more when it is gone", map[string]string{}, affected)
	}
}
