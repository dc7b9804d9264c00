package integration_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

const (
	// waitingTemplate waits for the addresses of the template "shadow".
	waitingTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-address
data:
  address: {{ (index (index .Resources.shadow 0).status.addresses 0).value | quote }}
`
	// fragileTemplate fails where the value "broken" is "yes".
	fragileTemplate = `
{{- if eq .Values.broken "yes" }}
{{- fail "broken on purpose" }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-fragile
`
	// policyTemplate yields an object of a kind that no other test renders, so that it is this blueprint alone that records it.
	policyTemplate = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  podSelector: {}
`
	// portTemplate yields a Service that the API server refuses for some values of "port".
	portTemplate = `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Gateway.metadata.name }}-port
spec:
  ports:
    - port: {{ .Values.port | int }}
`
)

// reported is what the Rendering of a Gateway says of its objects.
type reported struct {
	BlueprintGeneration int64
	// Objects are the states by "Kind/name", or by "template/name" for what yields no object yet.
	Objects map[string]v1alpha1.ObjectState
}

func (w *world) reported(gateway string) func() (reported, error) {
	return func() (reported, error) {
		rdg := &v1alpha1.Rendering{}
		err := shared.client.Get(w.Context(), w.key(gateway), rdg)
		got := reported{rdg.Status.BlueprintGeneration, map[string]v1alpha1.ObjectState{}}
		for _, o := range rdg.Status.Objects {
			if o.Kind == "" {
				got.Objects["template/"+o.Template] = o.State
				continue
			}
			got.Objects[o.Kind+"/"+o.Name] = o.State
		}
		return got, err
	}
}

// kinds are those that a blueprint says its objects may have.
func (w *world) kinds() ([]string, error) {
	blueprint := &v1alpha1.GatewayClassBlueprint{}
	err := shared.client.Get(w.Context(), client.ObjectKey{Name: w.name}, blueprint)
	var kinds []string
	for _, kind := range blueprint.Status.Kinds {
		kinds = append(kinds, kind.Kind)
	}
	return kinds, err
}

// without removes a template from a blueprint.
func without(template string) func(*v1alpha1.GatewayClassBlueprint) {
	return func(b *v1alpha1.GatewayClassBlueprint) { delete(b.Spec.GatewayTemplate.ResourceTemplates, template) }
}

func TestATemplateThatGoesTakesItsObjectsAndItsKindAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, with(defaults(map[string]string{"one": "1"})))
	gw := w.gateway("edge")
	becomes(t, "both objects are there", []string{"ConfigMap/edge", "Service/edge"}, names(w.children(gw, configMaps, services)))
	is(t, "both kinds are recorded", []string{"ConfigMap", "Service"}, w.kinds)
	before := w.settled("edge")

	change(w, blueprint, without("service"))
	becomes(t, "the Service is gone", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps, services)))
	becomes(t, "its kind is recorded no more", []string{"ConfigMap"}, w.kinds)
	becomes(t, "the report is of what is left",
		reported{blueprint.Generation, map[string]v1alpha1.ObjectState{"ConfigMap/edge": v1alpha1.ObjectCurrent}}, w.reported("edge"))
	is(t, "the ConfigMap stays as it was", before, w.state("edge"))
}

func TestAnObjectThatIsRenamedReplacesTheOldOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"service": strings.ReplaceAll(serviceTemplate, "{{ .Gateway.metadata.name }}", "{{ .Values.name }}")},
		with(defaults(map[string]string{"name": "old"})))
	gw := w.gateway("edge")
	becomes(t, "it has its first name", []string{"Service/old"}, names(w.children(gw, services)))

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"name": "new"})
	})
	becomes(t, "it has its second name only", []string{"Service/new"}, names(w.children(gw, services)))
}

func TestNothingIsPrunedWhileATemplateWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"shadow": shadowTemplate, "waiting": waitingTemplate, "policy": policyTemplate},
		with(defaults(map[string]string{"class": "played-by-nobody"})))
	gw := w.gateway("edge")
	children := names(w.children(gw, configMaps, networkPolicies, shadowGateways))
	becomes(t, "all but what waits is there", []string{"Gateway/edge-shadow", "NetworkPolicy/edge"}, children)

	change(w, blueprint, without("policy"))
	becomes(t, "the new generation is rendered, and the policy is held back", reported{blueprint.Generation, map[string]v1alpha1.ObjectState{
		"Gateway/edge-shadow": v1alpha1.ObjectInProgress, "template/waiting": v1alpha1.ObjectPending, "NetworkPolicy/edge": v1alpha1.ObjectApplied,
	}}, w.reported("edge"))
	is(t, "the policy is there", []string{"Gateway/edge-shadow", "NetworkPolicy/edge"}, children)
	is(t, "the Gateway waits", []string{"Accepted=True/Accepted", "Programmed=False/Pending"}, w.gatewayConditions("edge"))
	is(t, "its kind stays recorded", []string{"ConfigMap", "Gateway", "NetworkPolicy"}, sorted(w.kinds))

	w.play("edge-shadow")
	becomes(t, "nothing waits any more, and the policy goes", []string{"ConfigMap/edge-address", "Gateway/edge-shadow"}, children)
	becomes(t, "its kind goes too", []string{"ConfigMap", "Gateway"}, sorted(w.kinds))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}

// play programs a Gateway that the player leaves alone.
func (w *world) play(name string) {
	w.Helper()
	gw := read(w, &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}})
	before := gw.DeepCopy()
	addressType := gatewayv1.IPAddressType
	gw.Status.Addresses = []gatewayv1.GatewayStatusAddress{{Type: &addressType, Value: playedAddress}}
	gw.Status.Conditions = []metav1.Condition{{
		Type: "Programmed", Status: metav1.ConditionTrue, Reason: "Programmed", LastTransitionTime: metav1.Now(),
		ObservedGeneration: gw.Generation,
	}}
	if err := shared.client.Status().Patch(w.Context(), gw, client.MergeFrom(before)); err != nil {
		w.Fatalf("programming Gateway %s: %v", name, err)
	}
}

func TestNothingIsPrunedWhileATemplateFails(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		template      string
		good, bad     map[string]string
		whileBad      []string
		badConditions []string
	}{
		"in a template": {
			fragileTemplate, map[string]string{"broken": "no"}, map[string]string{"broken": "yes"},
			[]string{"ConfigMap/edge-fragile", "Service/edge"},
			[]string{"Accepted=True/Accepted", "Programmed=False/Invalid"},
		},
		"at the API server": {
			portTemplate, map[string]string{"port": "80"}, map[string]string{"port": "70000"},
			[]string{"Service/edge", "Service/edge-port"},
			[]string{"Accepted=True/Accepted", "Programmed=False/Pending"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			blueprint := w.class(templates{"bad": c.template, "service": serviceTemplate}, with(defaults(c.good)))
			gw := w.gateway("edge")
			children := w.children(gw, configMaps, services)
			becomes(t, "all is well", programmed, w.gatewayConditions("edge"))
			before, err := children()
			if err != nil {
				t.Fatal(err)
			}

			change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
				without("service")(b)
				b.Spec.Values.Default = tree2JSON(c.bad)
			})
			becomes(t, "the Gateway says that it fails", c.badConditions, w.gatewayConditions("edge"))
			is(t, "nothing went, and nothing was written", before, children)

			change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) { b.Spec.Values.Default = tree2JSON(c.good) })
			delete(before, "Service/edge")
			becomes(t, "mended, the Service goes and the rest stays", before, children)
			becomes(t, "all is well again", programmed, w.gatewayConditions("edge"))
		})
	}
}

func TestALabelAloneIsNoPermitToDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	gw := w.gateway("edge")
	w.settled("edge")

	clone := configMap("clone")
	clone.Labels = map[string]string{v1alpha1.LabelOwnerUID: string(gw.UID), v1alpha1.LabelTemplate: "values"}
	clone.Data = map[string]string{"theirs": "1"}
	w.create(clone)
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"one": "2"})
	})
	becomes(t, "the change is rendered, and the clone is reported", reported{blueprint.Generation, map[string]v1alpha1.ObjectState{
		"ConfigMap/edge": v1alpha1.ObjectCurrent, "ConfigMap/clone": v1alpha1.ObjectApplied,
	}}, w.reported("edge"))
	is(t, "the clone is as it was", map[string]string{"theirs": "1"}, w.data("clone"))
	if got := read(w, &corev1.ConfigMap{ObjectMeta: clone.ObjectMeta}); got.DeletionTimestamp != nil || got.ResourceVersion != clone.ResourceVersion {
		t.Errorf("the clone was touched: resourceVersion %s, before %s", got.ResourceVersion, clone.ResourceVersion)
	}
}

// sorted makes the order of what is observed not matter.
func sorted(observe func() ([]string, error)) func() ([]string, error) {
	return func() ([]string, error) {
		list, err := observe()
		slices.Sort(list)
		return list, err
	}
}
