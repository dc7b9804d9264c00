package integration_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// networkPolicyTemplate yields an object of a kind that has no status, and of which the API server knows most fields as a whole only.
const networkPolicyTemplate = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  podSelector: {matchLabels: {app: {{ .Gateway.metadata.name }}}}
  ingress: [{ports: [{port: 80}, {port: 443}]}]
  policyTypes: [Ingress]
`

// readerTemplate writes what it reads in another NetworkPolicy.
const readerTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-reader
data:
  types: {{ (index .Resources.network 0).spec.policyTypes | toJson | quote }}
`

func (w *world) networkPolicy(name string) func() (networkingv1.NetworkPolicySpec, error) {
	return func() (networkingv1.NetworkPolicySpec, error) {
		o := &networkingv1.NetworkPolicy{}
		err := shared.client.Get(w.Context(), w.key(name), o)
		return o.Spec, err
	}
}

// This test counts requests and restarts the manager, so it is not parallel. Nobody else renders NetworkPolicies.
func TestWhatIsKnownByItsMetadataIsKeptInOrderAllTheSame(t *testing.T) {
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate, "network": networkPolicyTemplate}, with(defaults(map[string]string{"one": "1"})))
	w.gateway("edge")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	w.counts(1)
	idle(t)
	policy, err := w.networkPolicy("edge")()
	if err != nil {
		t.Fatal(err)
	}

	heard := newAudit(t)
	restart(t)
	idle(t)
	// The metadata does not tell whether the lists of the NetworkPolicy are as rendered, so it is read, once.
	want := []string{"get networkpolicies edge"}
	if diff := cmp.Diff(want, heard.requests(shared.manager, w, append([]string{"get"}, mutating...)...)); diff != "" {
		t.Errorf("requests after a restart: -want +got:\n%s", diff)
	}
	heard = newAudit(t)
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Annotations["example.com/note"] = "theirs" })
	idle(t)
	if diff := cmp.Diff([]string(nil), heard.requests(shared.manager, w, append([]string{"get"}, mutating...)...)); diff != "" {
		t.Errorf("requests after a change that does not matter: -want +got:\n%s", diff)
	}

	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["one"] = "changed" })
	becomes(t, "a value that was changed is restored", map[string]string{"one": "1"}, w.data("edge"))
	network := &networkingv1.NetworkPolicy{}
	network.Name = "edge"
	change(w, network, func(o *networkingv1.NetworkPolicy) { o.Spec.Ingress = o.Spec.Ingress[:0] })
	becomes(t, "a list that was emptied is restored", policy, w.networkPolicy("edge"))

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates["reader"] = readerTemplate
	})
	becomes(t, "what nobody read before is read", map[string]string{"types": `["Ingress"]`}, w.data("edge-reader"))
	change(w, network, func(o *networkingv1.NetworkPolicy) { o.Spec.Ingress = o.Spec.Ingress[:0] })
	becomes(t, "a list that was emptied is restored still", policy, w.networkPolicy("edge"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
}
