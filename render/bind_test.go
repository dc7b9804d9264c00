package render

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/test/hostile"
)

// positions are the places in which authors print values. Each says what its object must hold at `data.v` for a given string.
var positions = map[string]struct {
	template string
	want     func(s string) string
}{
	"a plain scalar is the string":                   {"data:\n  v: {{ .Values.s }}\n", same1},
	"a plain scalar after a comment line":            {"data:\n  # {{ .Values.s }}\n  v: {{ .Values.s }}\n", same1},
	"part of a plain scalar":                         {"data:\n  v: pre-{{ .Values.s }}-post\n", func(s string) string { return "pre-" + s + "-post" }},
	"the start of a plain scalar":                    {"data:\n  v: {{ .Values.s }}-post\n", func(s string) string { return s + "-post" }},
	"two values side by side":                        {"data:\n  v: {{ .Values.s }}{{ .Values.s }}\n", func(s string) string { return s + s }},
	"double quotes of the author's":                  {"data:\n  v: \"{{ .Values.s }}\"\n", same1},
	"within double quotes of the author's":           {"data:\n  v: \"a {{ .Values.s }} b\"\n", func(s string) string { return "a " + s + " b" }},
	"single quotes of the author's":                  {"data:\n  v: '{{ .Values.s }}'\n", same1},
	"quote":                                          {"data:\n  v: {{ .Values.s | quote }}\n", same1},
	"quote in a flow map":                            {"data: {v: {{ .Values.s | quote }}}\n", same1},
	"a flow map":                                     {"data: {v: {{ .Values.s }}}\n", same1},
	"quote within single quotes is part of the text": {"data:\n  v: '{{ .Values.s | quote }}'\n", func(s string) string { return fmt.Sprintf("%q", s) }},
	"toYaml of a string":                             {"data:\n  v: {{ toYaml .Values.s }}\n", same1},
	"toYaml of a map":                                {"data:\n  {{- toYaml (dict \"v\" .Values.s) | nindent 2 }}\n", same1},
	"toYaml of a map, set in a line of its own":      {"data:\n  {{ toYaml (dict \"v\" .Values.s) | nindent 4 }}\n", same1},
	"toJson of a map":                                {"data: {{ toJson (dict \"v\" .Values.s) }}\n", same1},
	"toPrettyJson of a map":                          {"data: {{ toPrettyJson (dict \"v\" .Values.s) | nindent 2 }}\n", same1},
	"toJson that is quoted":                          {"data:\n  v: {{ toJson .Values.s | quote }}\n", jsonText},
	"toJson in single quotes":                        {"data:\n  v: '{{ toJson .Values.s }}'\n", jsonText},
	"a block scalar":                                 {"data:\n  v: |-\n    a {{ .Values.s }} b\n", func(s string) string { return "a " + s + " b" }},
	"toYaml in a block scalar is YAML in the text":   {"data:\n  v: |-\n    {{- toYaml (dict \"k\" .Values.s) | nindent 4 }}\n", func(s string) string { return "k: " + yamlText(s) }},
	"quote in a block scalar is quoted in the text":  {"data:\n  v: |-\n    k={{ .Values.s | quote }}\n", func(s string) string { return fmt.Sprintf("k=%q", s) }},
	"printf":                    {"data:\n  v: {{ printf \"a: %s\\n- b\" .Values.s }}\n", func(s string) string { return "a: " + s + "\n- b" }},
	"a helper":                  {"data:\n  v: {{ include \"h\" . }}\n", same1},
	"a helper that is quoted":   {"data:\n  v: {{ include \"h\" . | quote }}\n", same1},
	"a helper of several lines": {"data:\n  {{- include \"lines\" . | nindent 2 }}\n", same1},
	"a helper of several lines in a variable":  {"{{- $x := include \"lines\" . }}\ndata: {{ $x | trim | nindent 2 }}\n", same1},
	"a template action":                        {"data:\n  v: {{ template \"h\" . }}\n", same1},
	"a helper that is parsed stays structured": {"data:\n  {{- include \"lines\" . | fromYaml | toYaml | nindent 2 }}\n", same1},
	"a string that tpl made is a string":       {"data:\n  v: {{ tpl \"{{ .Values.s }}\" . }}\n", same1},
	"a variable":                               {"{{- $x := .Values.s }}\ndata:\n  v: {{ $x }}\n", same1},
	"an item of a list in a range":             {"data:\n  {{- range list .Values.s }}\n  v: {{ . }}\n  {{- end }}\n", same1},
	"the value of a map in a range":            {"data:\n  {{- range $k, $v := dict \"v\" .Values.s }}\n  {{ $k }}: {{ $v }}\n  {{- end }}\n", same1},
	"a value out of a changed map":             {"{{- $m := set (dict) \"k\" .Values.s }}\ndata:\n  v: {{ $m.k }}\n", same1},
	"default":                                  {"data:\n  v: {{ .Values.none | default .Values.s }}\n", same1},
	"a value that is encoded and decoded":      {"data:\n  v: {{ .Values.s | b64enc | b64dec }}\n", same1},
	"a value through JSON":                     {"data:\n  v: {{ (fromJson (toJson .Values.s)) }}\n", same1},
}

func same1(s string) string { return s }

const bindHelpers = `
{{- define "h" -}}{{ .Values.s }}{{- end -}}
{{- define "lines" }}
v: {{ .Values.s }}
{{ end -}}
`

// TestStringsStayStrings holds more than M1 asks: a string neither changes the structure nor makes the rendering fail, it
// arrives as it is.
func TestStringsStayStrings(t *testing.T) {
	for name, position := range positions {
		t.Run(name, func(t *testing.T) {
			p := mustCompile(t, map[string]string{"t": configMap(position.template), "helpers": bindHelpers})
			for _, s := range hostile.Strings {
				run := p.Gateway.Start(Context{Namespace: "team-a", Values: map[string]any{"s": s}})
				run.Advance(nothing)
				want := Result{Objects: []Object{{Template: "t", Unstructured: &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap",
					"metadata": map[string]any{"name": "fixed", "namespace": "team-a"},
					"data":     map[string]any{"v": position.want(s)},
				}}}}}
				if diff := cmp.Diff(want, run.Result()); diff != "" {
					t.Errorf("%q (-want +got):\n%s", s, diff)
				}
			}
		})
	}
}

func TestTypesOfPlainScalars(t *testing.T) {
	cases := map[string]struct {
		field, values string
		want          any
	}{
		"a number is a number":                                    {"v: {{ .Values.v }}", `{"v": 80}`, int64(80)},
		"a negative number is a number":                           {"v: {{ .Values.v }}", `{"v": -80}`, int64(-80)},
		"a fraction is a number":                                  {"v: {{ .Values.v }}", `{"v": 0.25}`, 0.25},
		"a large whole float is spelled out":                      {"v: {{ .Values.v }}", `{"v": 1e9}`, int64(1000000000)},
		"true is a boolean":                                       {"v: {{ .Values.v }}", `{"v": true}`, true},
		"a string that is a whole number, out of .Values, is one": {"v: {{ .Values.v }}", `{"v": "1"}`, int64(1)},
		"also through with":                                       {"v: {{ with .Values }}{{ .v }}{{ end }}", `{"v": "1"}`, int64(1)},
		"also through range":                                      {"v: {{ range .Values.v }}{{ . }}{{ end }}", `{"v": ["1"]}`, int64(1)},
		"also through get":                                        {`v: {{ get .Values "v" }}`, `{"v": "1"}`, int64(1)},
		"also with a default":                                     {`v: {{ .Values.v | default "x" }}`, `{"v": "1"}`, int64(1)},
		"also through a variable":                                 {`v: {{ $x := .Values.v }}{{ $x }}`, `{"v": "1"}`, int64(1)},
		"but not if it is quoted":                                 {"v: {{ .Values.v | quote }}", `{"v": "1"}`, "1"},
		"nor if the author quotes it":                             {`v: "{{ .Values.v }}"`, `{"v": "1"}`, "1"},
		"nor if it is a part of something":                        {"v: 1{{ .Values.v }}", `{"v": "1"}`, "11"},
		"nor if it only looks like a number to YAML":              {"v: {{ .Values.v }}", `{"v": "0777"}`, "0777"},
		"nor if it is a float":                                    {"v: {{ .Values.v }}", `{"v": "1e3"}`, "1e3"},
		"nor if it is too large":                                  {"v: {{ .Values.v }}", `{"v": "9223372036854775808"}`, "9223372036854775808"},
		"nor if it is true":                                       {"v: {{ .Values.v }}", `{"v": "true"}`, "true"},
		"nor if it does not come out of .Values":                  {"v: {{ .Gateway.metadata.name }}", `{}`, "123"},
		"nor as a computed value":                                 {`v: {{ .Values.v | trim }}`, `{"v": "1"}`, "1"},
		"nor with a default from elsewhere":                       {"v: {{ .Values.v | default .Gateway.metadata.name }}", `{"v": "1"}`, "1"},
		"nor is a key":                                            {"v: {{ range $k, $v := .Values }}{{ $k }}{{ end }}", `{"7": "1"}`, "7"},
		"nor if it is taken from a helper that is parsed":         {`v: {{ (include "parsed" . | fromYaml).a }}`, `{"v": "1"}`, "1"},
		"int makes a number of a string":                          {"v: {{ .Values.v | int }}", `{"v": "8"}`, int64(8)},
		"what the author writes means what it means to kubectl":   {"v: yes", `{}`, true},
		"an octal of the author's too":                            {"v: 0777", `{}`, int64(511)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := mustCompile(t, map[string]string{"helpers": `{{ define "parsed" }}a: {{ .Values.v }}{{ end }}`, "t": "apiVersion: v1\nkind: Service\nmetadata:\n  name: fixed\nspec:\n  " + c.field + "\n"})
			run := p.Gateway.Start(Context{Namespace: "team-a", Values: tree(t, c.values), Gateway: tree(t, `{"metadata": {"name": "123"}}`)})
			run.Advance(nothing)
			result := run.Result()
			if len(result.Objects) != 1 {
				t.Fatalf("%+v", result.Failed)
			}
			if diff := cmp.Diff(map[string]any{"v": c.want}, result.Objects[0].Object["spec"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNumbersStayStringsWhereKubernetesWantsStrings(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Values.v }}\n  labels: {l: {{ .Values.v }}}\n  annotations: {a: {{ .Values.v }}}\ndata: {d: {{ .Values.v }}}\n"
	got, problem := renderOne(t, text, "", `{"v": "123"}`)
	want := tree(t, `{"apiVersion": "v1", "kind": "ConfigMap", "data": {"d": "123"},
		"metadata": {"name": "123", "namespace": "team-a", "labels": {"l": "123"}, "annotations": {"a": "123"}}}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", problem, diff)
	}
}

func TestWhatCannotBePrinted(t *testing.T) {
	cases := map[string]struct{ field, values, want string }{
		"a map":                                {"v: {{ .Values.m }}", `{"m": {"a": 1}}`, "line 6: {{ .Values.m }}: .Values.m is a map, and only strings, numbers and booleans can be printed as they are; pipe it through toYaml or toJson"},
		"a list":                               {"v: {{ .Values.m }}", `{"m": [1]}`, "line 6: {{ .Values.m }}: .Values.m is a list, and only strings, numbers and booleans can be printed as they are; pipe it through toYaml or toJson"},
		"a value that is not set":              {"v: {{ .Values.m.x }}", `{"m": {}}`, "line 6: {{ .Values.m.x }}: .Values.m.x is not set; give it a default in the blueprint's spec.values.default"},
		"a value whose parent is not set":      {"v: {{ .Values.m.x }}", `{}`, "line 6: {{ .Values.m.x }}: .Values.m is not set (in .Values.m.x); give it a default in the blueprint's spec.values.default"},
		"null":                                 {"v: {{ .Values.m }}", `{"m": null}`, "line 6: {{ .Values.m }}: .Values.m is not set; give it a default in the blueprint's spec.values.default"},
		"a field that is not set":              {"v: {{ .Gateway.spec }}", `{}`, "line 6: {{ .Gateway.spec }}: .Gateway.spec is not set; test for it with if, or give a default with `| default`"},
		"a field of a string":                  {"v: {{ .Values.m.x }}", `{"m": "secret"}`, `line 6: {{ .Values.m.x }}: .Values.m is a string, not a map, so it has no "x"`},
		"a variable that is nil":               {"v: {{ $x := .Values.m }}{{ $x }}", `{}`, "line 6: {{ $x }}: $x is not set; give it a default"},
		"a field of nothing":                   {"v: {{ with .Values.m }}{{ range . }}{{ .x }}{{ end }}{{ end }}", `{"m": [null]}`, "line 6: {{ .x }}: .x: there is nothing here to take it from"},
		"nothing, in quotes":                   {"v: {{ quote .Values.m }}", `{}`, "line 6: {{ quote .Values.m }}: .Values.m is not set; give it a default in the blueprint's spec.values.default"},
		"a string cut within a character":      {`v: {{ trunc 1 .Values.m }}`, `{"m": "é"}`, "line 6: {{ trunc 1 .Values.m }}: a string is not valid UTF-8; a function cut it in the middle of a character"},
		"a string of several lines, as YAML":   {`v: {{ nindent 4 .Values.m }}`, `{"m": "a: 1\nb: 2"}`, "line 6: line 7 of what the template prints: data.v: a string of several lines is indented where YAML is expected; if the string is YAML, parse it first: `fromYaml | toYaml | nindent`, else quote it"},
		"a line that a value should have made": {"a: b\n  {{ printf \"%s: 1\" .Values.m }}", `{"m": "secret"}`, "line 7: line 7 of what the template prints: could not find expected ':'; note that a printed value is always one scalar: to insert a map or a list, print it with toYaml and nindent"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, got := renderOne(t, configMap("data:\n  "+c.field+"\n"), "", c.values)
			if diff := cmp.Diff("blueprint test, template t, "+c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
