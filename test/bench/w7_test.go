package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/test/helm"
)

// BenchmarkW7 measures what a Gateway of W1 costs without a cluster: its listeners are merged, its values computed and its six
// templates rendered. Bare text/template with YAML decoding of the same texts takes its turn with it, and Helm follows.
func BenchmarkW7(b *testing.B) {
	const rounds = 500
	in := pureInputs(b)
	bare := bareTemplates(b, in)
	for b.Loop() {
		var ours, rendering, theirs time.Duration
		for range rounds {
			start := time.Now()
			in.Merged = gateway.Merge(in.Snapshot)
			parent := desired.Gateway(in)
			computed := time.Now()
			for len(parent.Advance(observedConfig)) > 0 {
			}
			rendered := time.Now()
			if result := parent.Result(); len(result.Objects) != objectsPerGateway {
				b.Fatalf("rendered %d objects: %v %v", len(result.Objects), result.Pending, result.Failed)
			}
			bare(b)
			theirs += time.Since(rendered)
			ours += rendered.Sub(start)
			rendering += rendered.Sub(computed)
		}
		const beside = ", beside bare text/template and YAML"
		results.add(row{workload: "W7 a Gateway of W1: its templates" + beside, target: "<= 1.5x", took: rendering, least: theirs, many: rounds})
		results.add(row{workload: "W7 a Gateway of W1: merge, values and templates" + beside, target: "<= 1.5x", took: ours, least: theirs, many: rounds})
		results.add(row{workload: "W7 a Gateway of W1: merge, values and templates, beside Helm", target: "< 1x", took: ours, least: rounds * helmEach(b, in), many: rounds})
	}
}

// pureInputs are what a Gateway of W1 is rendered from.
func pureInputs(b *testing.B) desired.Inputs {
	b.Helper()
	blueprint := newBlueprint()
	compiled, v := desired.Compile(blueprint)
	if !v.OK {
		b.Fatal(v.Message)
	}
	return desired.Inputs{
		Snapshot:            gateway.Snapshot{Class: newClass("pure"), Blueprint: blueprint, Gateway: newGateway("team-a", "pure", 0)},
		Program:             compiled.Program,
		Blueprint:           compiled.Values,
		ControllerNamespace: v1alpha1.DefaultControllerNamespace,
	}
}

// config is the live object that one of the templates waits for.
var config = &unstructured.Unstructured{Object: map[string]any{
	"apiVersion": "v1", "kind": "ConfigMap",
	"metadata": map[string]any{"name": "gw-0", "namespace": "team-a", "uid": "5b7c"},
}}

func observedConfig(template string) []*unstructured.Unstructured {
	if template == "config" {
		return []*unstructured.Unstructured{config}
	}
	return nil
}

// plainData is what templates read of a Gateway of W1, made by hand.
func plainData(b *testing.B, in desired.Inputs) map[string]any {
	b.Helper()
	return map[string]any{
		"Gateway": plain(b, in.Snapshot.Gateway), "Values": map[string]any{"minReplicas": 2},
		"Hostnames": map[string]any{"Union": []string{hostname(in.Snapshot.Gateway)}},
		"Resources": map[string]any{"config": []any{config.Object}},
	}
}

func hostname(gw *gatewayv1.Gateway) string { return string(*gw.Spec.Listeners[0].Hostname) }

func plain(b *testing.B, object any) map[string]any {
	b.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		b.Fatal(err)
	}
	m := map[string]any{}
	if err := json.Unmarshal(text, &m); err != nil {
		b.Fatal(err)
	}
	return m
}

// bareTemplates returns the least that anybody has to do: execute the templates and decode what they print.
func bareTemplates(b *testing.B, in desired.Inputs) func(*testing.B) {
	b.Helper()
	funcs := sprig.TxtFuncMap()
	funcs["toYaml"] = func(v any) (string, error) {
		out, err := yaml.Marshal(v)
		return string(bytes.TrimSuffix(out, []byte("\n"))), err
	}
	var templates []*template.Template
	texts := in.Snapshot.Blueprint.Spec.GatewayTemplate.ResourceTemplates
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		templates = append(templates, template.Must(template.New(name).Funcs(funcs).Parse(texts[name])))
	}
	data := plainData(b, in)
	return func(b *testing.B) {
		for _, t := range templates {
			var out bytes.Buffer
			if err := t.Execute(&out, data); err != nil {
				b.Fatal(err)
			}
			object := map[string]any{}
			if err := yaml.Unmarshal(out.Bytes(), &object); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// helmEach is what Helm takes for the templates of one Gateway: the difference that many of them make to `helm template`, which leaves
// out how long the process takes to start. Each Gateway has its own files, as it has in a chart; Helm parses them each time.
func helmEach(b *testing.B, in desired.Inputs) time.Duration {
	b.Helper()
	const few, many = 1, 101
	took := map[int]time.Duration{}
	for _, n := range []int{few, many} {
		chart := helmChart(b, in, n)
		for range 3 {
			started := time.Now()
			if _, err := helm.Run(b, nil, "template", "bench", chart); err != nil {
				b.Fatal(err)
			}
			if d := time.Since(started); took[n] == 0 || d < took[n] {
				took[n] = d
			}
		}
	}
	return (took[many] - took[few]) / (many - few)
}

// helmChart writes a chart with the templates for n Gateways, and returns its folder.
func helmChart(b *testing.B, in desired.Inputs, n int) string {
	b.Helper()
	data := plainData(b, in)
	inner := data["Values"]
	delete(data, "Values")
	values, err := yaml.Marshal(map[string]any{"data": data, "inner": inner})
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: bench\nversion: 0.0.1\n",
		"values.yaml": string(values),
	}
	for name, text := range in.Snapshot.Blueprint.Spec.GatewayTemplate.ResourceTemplates {
		for i := range n {
			files[filepath.Join("templates", fmt.Sprintf("%s-%d.yaml", name, i))] =
				`{{- with merge (dict "Values" .Values.inner) .Values.data }}` + "\n" + text + "{{- end }}\n"
		}
	}
	chart := b.TempDir()
	if err := os.Mkdir(filepath.Join(chart, "templates"), 0o750); err != nil {
		b.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(chart, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return chart
}
