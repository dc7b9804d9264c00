package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/test/hostile"
)

// shape is the structure of what was rendered: identities without names, key paths, and the types of leaves.
func shape(r Result) []string {
	var lines []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(path+"/"+key, v[key])
			}
		case []any:
			for i, item := range v {
				walk(fmt.Sprintf("%s/%d", path, i), item)
			}
		case string:
			lines = append(lines, path+" string")
		default:
			lines = append(lines, fmt.Sprintf("%s %v", path, v))
		}
	}
	for _, o := range r.Objects {
		lines = append(lines, fmt.Sprintf("%s %s in %s", o.Template, o.GroupVersionKind(), o.GetNamespace()))
		walk("", o.Object)
	}
	return lines
}

// mutants is how many made-up texts a plain run of the tests asks a fuzz target about, besides its corpus.
const mutants = 2000

// FuzzRenderHostile holds M1: whatever a string is, the structure is that of a harmless string, or the rendering fails; and no
// error quotes it.
func FuzzRenderHostile(f *testing.F) {
	for _, s := range hostile.Strings {
		f.Add(s)
	}
	check := structureHolds(f)
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

func TestNoStringChangesTheStructure(t *testing.T) {
	check := structureHolds(t)
	for s := range hostile.Mutants(hostile.Strings, mutants) {
		check(t, s)
	}
}

// structureHolds renders a string in all positions, and compares with a harmless one.
func structureHolds(t testing.TB) func(t *testing.T, s string) {
	t.Helper()
	templates := map[string]string{"helpers": bindHelpers + `{{ define "labels" }}` + "\na: {{ .Values.s }}\nb: {{ .Values.s | quote }}\n{{ end }}"}
	i := 0
	for _, name := range slices.Sorted(maps.Keys(positions)) {
		i++
		templates[fmt.Sprintf("p%d", i)] = namedMap(fmt.Sprintf("p%d", i), strings.TrimSuffix(positions[name].template, "\n"))
	}
	templates["labels"] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: labels\n  labels: {{ include \"labels\" . | nindent 4 }}\n  annotations:\n    {{- toYaml (dict \"x\" .Values.s) | nindent 4 }}\n"
	templates["lines"] = namedMap("lines", "data:\n  v: |\n    {{- .Values.s | nindent 4 }}\n  w: |\n{{ .Values.s | indent 4 }}")
	p := mustCompile(t, templates)
	render := func(s string) Result {
		run := p.Gateway.Start(Context{Namespace: "team-a", Values: map[string]any{"s": s}})
		run.Advance(nothing)
		return run.Result()
	}
	want := shape(render("benign"))
	return func(t *testing.T, s string) {
		t.Helper()
		result := render(s)
		for _, failed := range result.Failed {
			if len(s) > 12 && strings.Contains(failed.Error(), s) {
				t.Errorf("the error quotes the value: %s", failed.Error())
			}
		}
		if len(result.Failed) > 0 {
			return
		}
		if diff := cmp.Diff(want, shape(result)); diff != "" {
			t.Errorf("%q changes the structure (-benign +hostile):\n%s", s, diff)
		}
	}
}

// sources are templates that use what there is.
var sources = []string{
	"data: {v: {{ .Values.a.b | default \"x\" | quote }}}", "{{ range $i, $e := .Listeners }}{{ $e.name }}{{ else }}{{ break }}{{ end }}",
	"{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}", "{{ with $x := .Values }}{{ $x.a }}{{ end }}",
	"{{ (index .Resources.other 0).status.x }}", "{{ and 1 (or .a .b) | not }}", "{{ $x := list }}{{ range until 9 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}",
	"{{- /* c */ -}}{{ block \"b\" . }}x{{ end }}", "{{ tpl .Values.t . }}", "{{ fail (printf \"%s\" .Values.a) }}", "{{ 1 | .Values }}{{ nil }}{{ \"a\" | print }}",
	"{{ continue }}{{ range 3 }}{{ continue }}{{ end }}", "{{ include (print \"h\") . | fromYaml | toJson | nindent 3 }}", "---\n? a\n: b", "{{ (.Values).a }}{{ ((dict \"a\" 1)).a }}{{ list.a }}",
}

// FuzzTemplateSource holds that no text, whether the author's or one that tpl is given, makes us panic or run on, and that equal
// input gives equal output.
func FuzzTemplateSource(f *testing.F) {
	for _, text := range sources {
		f.Add(text)
	}
	f.Fuzz(checkSource)
}

func TestNoTemplatePanicsOrRunsOn(t *testing.T) {
	for text := range hostile.Mutants(slices.Concat(sources, slices.Collect(maps.Values(workload))), mutants) {
		checkSource(t, text)
	}
}

func checkSource(t *testing.T, text string) {
	t.Helper()
	run := func() (Result, string) {
		p, err := Compile(blueprint(map[string]string{"t": configMap(text), "other": namedMap("other", ""), "helpers": `{{ define "h" }}a: {{ . | toJson }}{{ end }}`}))
		if err != nil {
			return Result{}, err.Error()
		}
		r := p.Gateway.Start(Context{Namespace: "a", Values: map[string]any{"t": text, "a": map[string]any{"b": "c"}}, Listeners: []any{map[string]any{"name": "n"}}})
		r.Advance(nothing)
		r.Advance(func(string) []*unstructured.Unstructured { return []*unstructured.Unstructured{object(t, "other", "")} })
		return r.Result(), ""
	}
	first, firstProblem := run()
	second, secondProblem := run()
	if diff := cmp.Diff(first, second) + cmp.Diff(firstProblem, secondProblem); diff != "" {
		t.Errorf("twice the same input (-first +second):\n%s", diff)
	}
}
