package integration_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// complains waits until an object's condition of a type is as told and its message holds all these words.
func (w *world) complains(o client.Object, conditions func() []metav1.Condition, want string, words ...string) {
	w.Helper()
	eventually(w, fmt.Sprintf("%T %s says %s", o, o.GetName(), want), func() error {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		all := conditions()
		for i := range all {
			if told(all[i:i+1], o.GetGeneration())[0] != want {
				continue
			}
			for _, word := range words {
				if !strings.Contains(all[i].Message, word) {
					return fmt.Errorf("the message lacks %q: %s", word, all[i].Message)
				}
			}
			return nil
		}
		return fmt.Errorf("it says %v", told(all, o.GetGeneration()))
	})
}

func (w *world) blueprintComplains(b *v1alpha1.GatewayClassBlueprint, want string, words ...string) {
	w.Helper()
	w.complains(b, func() []metav1.Condition { return b.Status.Conditions }, want, words...)
}

func (w *world) classComplains(class *gatewayv1.GatewayClass, want string, words ...string) {
	w.Helper()
	w.complains(class, func() []metav1.Condition { return class.Status.Conditions }, want, words...)
}

func (w *world) gatewayComplains(gw *gatewayv1.Gateway, want string, words ...string) {
	w.Helper()
	w.complains(gw, func() []metav1.Condition { return gw.Status.Conditions }, want, words...)
}

// waits are the conditions of a Gateway that nobody has looked at yet.
var waits = []string{"Accepted=Unknown/Pending", "Programmed=Unknown/Pending"}

func TestABlueprintThatCannotBeUsedSaysWhere(t *testing.T) {
	t.Parallel()
	type spec = v1alpha1.GatewayClassBlueprintSpec
	text := func(text string) func(*spec) {
		return func(s *spec) { s.GatewayTemplate.ResourceTemplates["bad"] = text }
	}
	cases := map[string]struct {
		spoil func(*spec)
		words []string
	}{
		"a template that does not parse":     {text("kind: ConfigMap\nmetadata:\n  name: {{ .Gateway.metadata.name"), []string{"bad", "line 3"}},
		"a function that does not exist":     {text("kind: {{ env \"HOME\" }}"), []string{"bad", "line 1", "env"}},
		"a template that waits for itself":   {text(waitFor("bad")), []string{"bad"}},
		"a template that waits for no other": {text(waitFor("nobody")), []string{"bad", "nobody"}},
		"a kind of our own":                  {text("apiVersion: gatewright.dev/v1alpha1\nkind: GatewayConfig\nmetadata:\n  name: a"), []string{"bad", "gatewright.dev"}},
		"a kind that lends rights":           {text("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a"), []string{"bad", "ClusterRole", "permits"}},
		"helpers that do not parse":          {func(s *spec) { s.Helpers = "{{ define" }, []string{"spec.helpers", "line 1"}},
		"a status template that is no YAML":  {func(s *spec) { s.GatewayTemplate.Status = &v1alpha1.StatusTemplate{Template: "{{ end }}"} }, []string{"status", "line 1"}},
		"a condition that is no expression":  {spoilValues, []string{"spec.values.constraints[0].when"}},
		"readyWhen that is no expression":    {func(s *spec) { s.ReadyWhen = map[string]string{"good": "object."} }, []string{"spec.readyWhen good", "does not compile"}},
		"an identity that nobody can have":   {func(s *spec) { s.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Namespace: "a:b", Name: "c"} }, []string{"spec.serviceAccountRef.namespace"}},
		"a route template that does not parse": {func(s *spec) {
			s.GRPCRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: templates{"bad": "{{ end }}"}}
		}, []string{"grpcRouteTemplate bad", "line 1"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			blueprint := w.class(templates{"good": serviceTemplate}, c.spoil)
			gw := w.gateway("edge")
			w.blueprintComplains(blueprint, "Accepted=False/Invalid", c.words...)
			w.classComplains(newClass(w.name, ""), "Accepted=False/InvalidParameters", w.name, c.words[0])
			w.gatewayComplains(gw, "Accepted=Unknown/Pending", w.name, c.words[0])
			is(t, "the Gateway waits", waits, w.gatewayConditions("edge"))
			is(t, "nothing is rendered", nothing, w.left(gw, configMaps, services))

			change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
				b.Spec = newBlueprint("", templates{"good": serviceTemplate}).Spec
			})
			becomes(t, "mended, it is rendered", programmed, w.gatewayConditions("edge"))
			w.classComplains(newClass(w.name, ""), "Accepted=True/Accepted", w.name)
		})
	}
}

func waitFor(template string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  uid: {{ (index .Resources.%s 0).metadata.uid }}", template)
}

func spoilValues(s *v1alpha1.GatewayClassBlueprintSpec) {
	s.Values = &v1alpha1.BlueprintValues{ValuesBlocks: v1alpha1.ValuesBlocks{Constraints: []v1alpha1.Constraint{
		{Name: "bad", When: "self.", Override: tree2JSON(map[string]string{"one": "1"})},
	}}}
}

func TestABrokenEditOfABlueprintLeavesTheLastGoodOneServing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	gw := w.gateway("edge")
	before := w.settled("edge")
	good := blueprint.Generation

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates["values"] = "{{ broken"
	})
	w.blueprintComplains(blueprint, "Accepted=False/Invalid", "values", "line 1")
	w.classComplains(newClass(w.name, ""), "Accepted=False/InvalidParameters", w.name)

	// The last good generation still serves whatever comes, not only what was there.
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["one"] = "changed" })
	becomes(t, "what was changed by hand is restored", before, w.state("edge"))
	w.create(config("edge", target("Gateway", "edge"), defaults(map[string]string{"one": "tenant's"})))
	becomes(t, "a policy reaches what is rendered", map[string]string{"one": "tenant's"}, w.data("edge"))
	w.gateway("newcomer")
	becomes(t, "a new Gateway is rendered", map[string]string{"one": "1"}, w.data("newcomer"))
	is(t, "the Gateway stays Programmed", programmed, w.gatewayConditions("edge"))
	becomes(t, "the report names the generation that was rendered",
		reported{good, map[string]v1alpha1.ObjectState{"ConfigMap/edge": v1alpha1.ObjectCurrent}}, w.reported("edge"))

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates["values"] = valuesTemplate + "binaryData:\n  mended: eWVz\n"
	})
	becomes(t, "mended, the new generation is rendered", map[string]string{"mended": "yes"}, func() (map[string]string, error) {
		o := configMap("edge")
		o.Namespace = w.namespace
		err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(o), o)
		got := map[string]string{}
		for key, value := range o.BinaryData {
			got[key] = string(value)
		}
		return got, err
	})
	is(t, "nothing was made anew", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps)))
}

func TestAClassThatNamesNoBlueprintSaysSo(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ref   func(name string) *gatewayv1.ParametersReference
		words []string
	}{
		"no reference at all": {
			func(string) *gatewayv1.ParametersReference { return nil }, []string{"spec.parametersRef", "not set"},
		},
		"a reference to nothing": {
			func(name string) *gatewayv1.ParametersReference {
				return newClass("", name+"-missing").Spec.ParametersRef
			}, []string{"there is no GatewayClassBlueprint", "-missing"},
		},
		"a reference to another kind": {
			func(name string) *gatewayv1.ParametersReference {
				return &gatewayv1.ParametersReference{Kind: "ConfigMap", Name: name}
			}, []string{"spec.parametersRef", "kind " + v1alpha1.KindGatewayClassBlueprint},
		},
		"a reference with a namespace": {
			func(name string) *gatewayv1.ParametersReference {
				ref := newClass("", name).Spec.ParametersRef
				ref.Namespace = new(gatewayv1.Namespace("default"))
				return ref
			}, []string{"spec.parametersRef", "namespace"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.create(newBlueprint(w.name, templates{"service": serviceTemplate}))
			class := newClass(w.name, "")
			class.Spec.ParametersRef = c.ref(w.name)
			w.create(class)
			gw := w.gateway("edge")
			w.classComplains(class, "Accepted=False/InvalidParameters", c.words...)
			w.gatewayComplains(gw, "Accepted=Unknown/Pending", c.words...)

			change(w, class, func(class *gatewayv1.GatewayClass) {
				class.Spec.ParametersRef = newClass("", w.name).Spec.ParametersRef
			})
			becomes(t, "mended, the Gateway is rendered", programmed, w.gatewayConditions("edge"))
		})
	}
}

func TestABlueprintThatComesLaterIsTakenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.create(newClass(w.name, w.name))
	gw := w.gateway("edge")
	w.gatewayComplains(gw, "Accepted=Unknown/Pending", "there is no GatewayClassBlueprint "+w.name)

	w.create(newBlueprint(w.name, templates{"service": serviceTemplate}))
	becomes(t, "the Gateway is rendered", programmed, w.gatewayConditions("edge"))
	w.classComplains(newClass(w.name, ""), "Accepted=True/Accepted", w.name)
}

// What is wrong with one Gateway's rendering stops that Gateway where it was, and nobody else.
func TestARenderingThatFailsSaysWhereAndStopsNobodyElse(t *testing.T) {
	t.Parallel()
	// Each template yields a good ConfigMap unless the value "bad" is "yes".
	const good = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Gateway.metadata.name }}-bad\n"
	spoiled := func(text string) string { return good + "{{- if eq .Values.bad \"yes\" }}\n" + text + "\n{{- end }}\n" }
	cases := map[string]struct {
		template string
		words    []string
	}{
		"a template that calls fail":            {spoiled(`{{ fail "no such luck" }}`), []string{"no such luck", "line 6"}},
		"a value that is required":              {spoiled(`{{ required "nothing.at.all must be set" .Values.nothing }}`), []string{"nothing.at.all must be set", "line 6"}},
		"text that is no YAML":                  {spoiled("data: {"), []string{"template bad"}},
		"a key that comes twice":                {spoiled("kind: Secret"), []string{"template bad", "kind"}},
		"a list":                                {spoiled("---\n- one\n- two"), []string{"template bad"}},
		"an object without a name":              {spoiled("---\napiVersion: v1\nkind: ConfigMap"), []string{"template bad", "metadata"}},
		"an object in another namespace":        {spoiled("  namespace: kube-system"), []string{"template bad", "metadata.namespace"}},
		"a label of ours":                       {spoiled("  labels: {gatewright.dev/owner-uid: stolen}"), []string{"template bad", "metadata.labels"}},
		"a Gateway of the class itself":         {spoiled("---" + shadowTemplate), []string{"template bad", "spec.gatewayClassName"}},
		"a loop that never ends":                {spoiled(`{{ range int64 9000000000000000000 }}{{ end }}`), []string{"template bad", "line 6", "steps"}},
		"loops in loops":                        {spoiled(`{{ range until 10000 }}{{ range until 10000 }}{{ range until 10000 }}x{{ end }}{{ end }}{{ end }}`), []string{"template bad", "line 6"}},
		"a string that is doubled":              {spoiled(`{{ $x := "xxxxxxxx" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}`), []string{"template bad", "line 6", "too large"}},
		"a template that is rendered by itself": {spoiled(`{{ tpl "{{ $t := .Values.bomb }}{{ tpl $t . }}" (dict "Values" (dict "bomb" "{{ tpl .Values.bomb . }}")) }}`), []string{"template bad", "line 6", "32 deep"}},
		"an object too many":                    {spoiled("{{ range until 300 }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: edge-bad-{{ . }}\n{{ end }}"), []string{"template bad", "200 objects"}},
		"a Pod that runs as somebody else":      {spoiled("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: edge-bad\nspec: {serviceAccountName: admin, containers: [{name: a, image: a}]}"), []string{"template bad", "Pod", "spec.serviceAccountName"}},
		"a token of somebody else":              {spoiled("---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: edge-bad\ntype: kubernetes.io/service-account-token"), []string{"template bad", "Secret", "spec.permits.kinds"}},
		"two templates with one object":         {spoiled("---" + serviceTemplate), []string{"Service"}},
		"a field that the kind does not have":   {spoiled("nonsense: 1"), []string{"ConfigMap edge-bad", "nonsense"}},
		"a field of the wrong type":             {spoiled("immutable: 7"), []string{"ConfigMap edge-bad", "immutable", "expected boolean"}},
		"a value that the kind does not take":   {spoiled("---\napiVersion: v1\nkind: Service\nmetadata:\n  name: edge-bad\nspec:\n  ports:\n    - port: 70000"), []string{"Service edge-bad", "spec.ports[0].port"}},
		"two list items with one key":           {spoiled("---\napiVersion: v1\nkind: Service\nmetadata:\n  name: edge-bad\nspec:\n  ports:\n    - port: 80\n    - port: 80"), []string{"Service edge-bad", ".spec.ports", "duplicate"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.class(templates{"bad": c.template, "service": serviceTemplate, "values": valuesTemplate},
				with(defaults(map[string]string{"bad": "no", "class": w.name})))
			tenant := config("edge", target("Gateway", "edge"), defaults(map[string]string{}))
			w.create(tenant)
			gw, neighbour := w.gateway("edge"), w.gateway("neighbour")
			children := w.children(gw, configMaps, services)
			for _, name := range []string{"edge", "neighbour"} {
				becomes(t, name+" is well", programmed, w.gatewayConditions(name))
			}
			before, err := children()
			if err != nil {
				t.Fatal(err)
			}

			change(w, tenant, func(p *v1alpha1.GatewayConfig) { p.Spec.Default = tree2JSON(map[string]string{"bad": "yes"}) })
			w.says("edge", c.words...)
			after, err := children()
			if err != nil {
				t.Fatal(err)
			}
			for name := range before {
				if name != "ConfigMap/edge" && before[name] != after[name] {
					t.Errorf("%s was written or is gone: %v, before %v", name, after[name], before[name])
				}
			}
			w.create(config("neighbour", target("Gateway", "neighbour"), defaults(map[string]string{"new": "1"})))
			becomes(t, "the neighbour moves on", map[string]string{"bad": "no", "class": w.name, "new": "1"}, w.data("neighbour"))
			becomes(t, "the neighbour is well", programmed, w.gatewayConditions(neighbour.Name))

			w.delete(tenant)
			becomes(t, "mended, the Gateway is well", programmed, w.gatewayConditions("edge"))
		})
	}
}

func TestAKindThatIsNotServedIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	group := w.name + ".example.com"
	w.class(templates{"service": serviceTemplate, "widget": `
apiVersion: ` + group + `/v1
kind: Widget
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  size: 1
`, "reader": waitFor("widget")})
	gw := w.gateway("edge")
	w.says("edge", "Widget", group, "CRD")
	is(t, "the Gateway waits", []string{"Accepted=True/Accepted", "Programmed=False/Pending"}, w.gatewayConditions("edge"))
	is(t, "the other object is there", []string{"Service/edge"}, names(w.children(gw, configMaps, services)))

	crd := widgets(group)
	w.create(crd)
	becomes(t, "once it is served, all of it is rendered", programmed, w.gatewayConditions("edge"))

	// A kind that goes takes its objects along, and must not take the watch on others along.
	w.delete(crd)
	w.says("edge", "Widget", group, "CRD")
	w.create(config("edge", target("Gateway", "edge"), defaults(map[string]string{"one": "1"})))
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "edge"}}
	w.delete(service)
	becomes(t, "the other object is kept in order", []string{"Service/edge"}, names(w.children(gw, services)))
}

// widgets is the CRD of a kind that nobody else has.
func widgets(group string) *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget", ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
}

// A blueprint that renders Gateways of a class that is rendered, too, could go on for ever.
func TestAGatewayOfAnotherClassOfOursIsNotRendered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"shadow": shadowTemplate}, with(defaults(map[string]string{"class": w.name + "-inner"})))
	w.create(newBlueprint(w.name+"-inner", templates{"shadow": shadowTemplate}, with(defaults(map[string]string{"class": w.name}))))
	w.create(newClass(w.name+"-inner", w.name+"-inner"))
	gw := w.gateway("edge")
	w.gatewayComplains(gw, "Programmed=False/Invalid", "shadow", "spec.gatewayClassName")
	is(t, "nothing is rendered", []string{"Rendering/edge"}, w.left(gw, shadowGateways))
}

func TestWhatAGatewayAsksForAndIsNotActedOnIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"service": serviceTemplate})
	cases := map[string]struct {
		ask   func(*gatewayv1.Gateway)
		want  string
		words []string
	}{
		"parameters of a kind that we do not know": {func(gw *gatewayv1.Gateway) {
			gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{
				ParametersRef: &gatewayv1.LocalParametersReference{Group: "", Kind: "ConfigMap", Name: "missing"},
			}
		}, "Accepted=False/InvalidParameters", []string{"spec.infrastructure.parametersRef"}},
		"a protocol that the blueprint has no routes for": {func(gw *gatewayv1.Gateway) {
			gw.Spec.Listeners[0].Protocol, gw.Spec.Listeners[0].Hostname = gatewayv1.TCPProtocolType, nil
		}, "Accepted=False/ListenersNotValid", []string{"own", "UnsupportedProtocol"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, w.name)
			gw := w.gateway("edge", c.ask)
			w.gatewayComplains(gw, c.want, c.words...)
		})
	}
}
