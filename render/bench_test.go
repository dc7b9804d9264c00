package render

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// workload is what one Gateway of workload W1 renders: six templates, one of which reads another's live object.
var workload = map[string]string{
	"gateway": `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: {{ .Gateway.metadata.name }}-shadow
  namespace: {{ .Gateway.metadata.namespace }}
  labels: {{ toYaml .Values.labels | nindent 4 }}
spec:
  gatewayClassName: {{ .Values.inner }}
  listeners:
  {{- range .Listeners }}
  - name: {{ .name }}
    port: {{ .port }}
    protocol: HTTP
    hostname: {{ .hostname | quote }}
  {{- end }}
`,
	"ingress": `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Gateway.metadata.name }}
  namespace: {{ .Gateway.metadata.namespace }}
spec:
  ingressClassName: nginx
  rules:
  {{- range .Hostnames.Union }}
  - host: {{ . | quote }}
    http:
      paths:
      - path: /
        pathType: Prefix
        backend:
          service:
            name: {{ $.Gateway.metadata.name }}-shadow
            port:
              number: 80
  {{- end }}
`,
	"hpa": `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .Gateway.metadata.name }}
  namespace: {{ .Gateway.metadata.namespace }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .Gateway.metadata.name }}-shadow
  {{- if .Values.hpa.minReplicas }}
  minReplicas: {{ .Values.hpa.minReplicas }}
  {{- end }}
  maxReplicas: {{ .Values.hpa.maxReplicas }}
  metrics:
  - type: Resource
    resource:
      name: cpu
      target:
        type: Utilization
        averageUtilization: {{ .Values.hpa.averageUtilization }}
`,
	"pdb": `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .Gateway.metadata.name }}
  namespace: {{ .Gateway.metadata.namespace }}
spec:
  minAvailable: {{ .Values.pdb.minAvailable }}
  selector:
    matchLabels:
      gateway: {{ .Gateway.metadata.name }}-shadow
`,
	"config": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-config
  namespace: {{ .Gateway.metadata.namespace }}
data:
  region: {{ .Values.region | quote }}
  hostnames: {{ .Hostnames.Union | toJson | quote }}
`,
	"derived": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-derived
  namespace: {{ .Gateway.metadata.namespace }}
data:
  uid: {{ (index .Resources.config 0).metadata.uid }}
`,
}

func workloadContext() Context {
	return Context{
		Namespace: "team-a",
		Gateway:   map[string]any{"metadata": map[string]any{"name": "web", "namespace": "team-a"}},
		Listeners: []any{
			map[string]any{"name": "http", "port": int64(80), "protocol": "HTTP", "hostname": "*.example.com"},
			map[string]any{"name": "https", "port": int64(443), "protocol": "HTTPS", "hostname": "shop.example.com"},
		},
		Hostnames: Hostnames{Union: []string{"*.example.com", "shop.example.com"}},
		Values: map[string]any{
			"labels": map[string]any{"team": "a", "tier": "public"}, "inner": "istio", "region": "eu-north-1",
			"hpa": map[string]any{"minReplicas": int64(1), "maxReplicas": int64(3), "averageUtilization": int64(60)},
			"pdb": map[string]any{"minAvailable": "1"},
		},
	}
}

// BenchmarkRender times our rendering and bare text/template with YAML decoding of the same templates in turns, so that both see
// the same machine, and reports the ratio.
func BenchmarkRender(b *testing.B) {
	program := mustCompile(b, workload)
	context := workloadContext()
	config := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "web-config", "namespace": "team-a", "uid": "5b7c"},
	}}
	bare := bareRender(b, context, config)
	var ours, theirs time.Duration
	for b.Loop() {
		start := b.Elapsed()
		run := program.Gateway.Start(context)
		run.Advance(func(string) []*unstructured.Unstructured { return []*unstructured.Unstructured{config} })
		result := run.Result()
		middle := b.Elapsed()
		if len(result.Objects) != len(workload) {
			b.Fatalf("rendered %d objects: %v %v", len(result.Objects), result.Pending, result.Failed)
		}
		bare()
		ours, theirs = ours+middle-start, theirs+b.Elapsed()-middle
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N), "ns/gatewright")
	b.ReportMetric(float64(theirs.Nanoseconds())/float64(b.N), "ns/bare")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
}

// bareRender is the least that anybody has to do: execute the templates and decode what they print.
func bareRender(b *testing.B, c Context, config *unstructured.Unstructured) func() {
	funcs := sprig.TxtFuncMap()
	funcs["toYaml"] = func(v any) (string, error) {
		out, err := yaml.Marshal(v)
		return string(bytes.TrimSuffix(out, []byte("\n"))), err
	}
	templates := map[string]*template.Template{}
	for name, text := range workload {
		templates[name] = template.Must(template.New(name).Funcs(funcs).Parse(text))
	}
	data := map[string]any{
		"Gateway": c.Gateway, "Listeners": c.Listeners, "Values": c.Values, "Hostnames": c.Hostnames,
		"Resources": map[string]any{"config": []any{config.Object}},
	}
	order := slices.Sorted(maps.Keys(templates))
	return func() {
		for _, name := range order {
			var out bytes.Buffer
			if err := templates[name].Execute(&out, data); err != nil {
				b.Fatal(err)
			}
			object := map[string]any{}
			if err := yaml.Unmarshal(out.Bytes(), &object); err != nil {
				b.Fatal(err)
			}
		}
	}
}
