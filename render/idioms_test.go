package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestIdioms holds that blueprints written for text/template with sprig and missingkey=error render here as they did there: the
// ways of writing that such blueprints are full of.
func TestIdioms(t *testing.T) {
	templates := map[string]string{
		"shadow": `apiVersion: gateway.networking.k8s.io/v1beta1
kind: Gateway
metadata:
  name: {{ .Gateway.metadata.name }}-inner
  namespace: {{ .Gateway.metadata.namespace }}
  annotations:
    example.com/service: ClusterIP
    {{ if .Values.tags }}
    {{ toYaml .Values.tags | nindent 4 }}
    {{ end }}
spec:
  gatewayClassName: istio
  listeners:
  {{- range .Gateway.spec.listeners }}
  - name: {{ .name }}
    port: 80
    {{ if get . "hostname" }}
    hostname: {{ .hostname | quote }}
    {{ end -}}
    {{ if get . "allowedRoutes" }}
    allowedRoutes:
      {{ toYaml .allowedRoutes | nindent 6 }}
    {{ end -}}
  {{- end }}
`,
		"budget": `{{ if or (get .Values.pdb "minAvailable") (get .Values.pdb "maxUnavailable") }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ printf "%s-%s" .Gateway.metadata.namespace .Gateway.metadata.name | substr 0 20}}-{{ printf "%s" .Gateway.metadata.name | sha1sum | substr 0 6 }}
  annotations:
    {{ if .Values.none }}
    {{ toYaml .Values.none | nindent 4 }}
    {{ end }}
spec:
  {{ if get .Values.pdb "minAvailable" }}
  minAvailable: {{ .Values.pdb.minAvailable }}
  {{ else }} # one of the two
  maxUnavailable: {{ .Values.pdb.maxUnavailable }}
  {{ end }}
  cidrs:
    {{ range .Values.cidrs -}}
    - {{ . }}
    {{ end }}
  port: {{ .Values.port | quote }}
{{ end }}
`,
		"bound": `apiVersion: v1
kind: ConfigMap
metadata:
  name: bound
data:
  arn: {{ (index .Resources.budget 0).status.arn }}
`,
		"status": "addresses:\n- type: Hostname\n  value: {{ (index .Resources.budget 0).status.host }}\n",
	}
	run := mustCompile(t, templates).Gateway.Start(Context{
		Namespace: "team-a",
		Values:    tree(t, `{"tags": {"team": "a", "cost": "no"}, "none": [], "pdb": {"minAvailable": "1"}, "cidrs": ["0.0.0.0/0", "::/0"], "port": 15021}`),
		Gateway: tree(t, `{"metadata": {"name": "web", "namespace": "team-a"}, "spec": {"listeners": [
			{"name": "http", "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "other"}]}}`),
	})
	run.Advance(nothing)
	budget := &unstructured.Unstructured{Object: tree(t, `{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
		"metadata": {"name": "team-a-web-ca84d1", "namespace": "team-a"}, "status": {"arn": "arn:aws:elb:1/a", "host": "lb.example.com"}}`)}
	run.Advance(cluster{"budget": {budget}}.observe)
	var got []map[string]any
	for _, o := range run.Result().Objects {
		got = append(got, o.Object)
	}
	want := []map[string]any{
		tree(t, `{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "team-a-web-ca84d1", "namespace": "team-a"},
			"spec": {"minAvailable": 1, "cidrs": ["0.0.0.0/0", "::/0"], "port": "15021"}}`),
		tree(t, `{"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "Gateway", "metadata": {"name": "web-inner", "namespace": "team-a",
			"annotations": {"example.com/service": "ClusterIP", "team": "a", "cost": "no"}}, "spec": {"gatewayClassName": "istio", "listeners": [
			{"name": "http", "port": 80, "hostname": "*.example.com", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "other", "port": 80}]}}`),
		tree(t, `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "bound", "namespace": "team-a"}, "data": {"arn": "arn:aws:elb:1/a"}}`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v (-want +got):\n%s", summarize(run.Result()), diff)
	}
	if status := run.Status(cluster{"budget": {budget}}.observe); len(status.Addresses) != 1 || status.Addresses[0].Value != "lb.example.com" {
		t.Errorf("status: %+v", status)
	}
}
