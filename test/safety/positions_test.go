package safety

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/test/hostile"
)

// word is the harmless string that stands in for a hostile one; no template holds it otherwise.
const word = "benign"

// positions are the places in which templates print what a tenant wrote: .Values.s, and the key of .Values.m.
var positions = map[string]string{
	"a plain scalar":                    "data:\n  v: {{ .Values.s }}\n",
	"a part of a plain scalar":          "data:\n  v: arn:aws:{{ .Values.s }}/x\n",
	"double quotes":                     "data:\n  v: \"a {{ .Values.s }} b\"\n",
	"single quotes":                     "data:\n  v: 'a {{ .Values.s }} b'\n",
	"a flow map":                        "data: {v: {{ .Values.s }}, w: {{ .Values.s | quote }}}\n",
	"a flow list":                       "spec: [{{ .Values.s }}, a-{{ .Values.s }}]\n",
	"a literal block":                   "data:\n  v: |\n    a={{ .Values.s }};\n    b\n",
	"a folded block":                    "data:\n  v: >-\n    a={{ .Values.s }};\n    b\n",
	"a key":                             "data:\n  {{ .Values.s }}: x\n",
	"a key in quotes":                   "data:\n  \"a-{{ .Values.s }}\": x\n",
	"a key in a flow map":               "data: {x-{{ .Values.s }}: x}\n",
	"the key of a map in a range":       "data:\n  {{- range $k, $v := .Values.m }}\n  {{ $k }}: {{ $v }}\n  {{- end }}\n",
	"a key by toYaml":                   "data:\n  {{- toYaml .Values.m | nindent 2 }}\n",
	"a key by toJson":                   "data: {{ toJson .Values.m }}\n",
	"an item of a list":                 "spec:\n- {{ .Values.s }}\n- x: {{ .Values.s }}\n",
	"items of a range":                  "spec:\n  {{- range list .Values.s \"other\" }}\n  - {{ . }}\n  {{- end }}\n",
	"items by toYaml":                   "spec:\n  {{- toYaml (list .Values.s) | nindent 2 }}\n",
	"a helper":                          "data:\n  v: {{ include \"plain\" . }}\n",
	"a helper within quotes":            "data:\n  v: \"{{ include \"plain\" . }}\"\n",
	"a helper of labels":                "data:\n  {{- include \"labels\" . | nindent 2 }}\n",
	"a helper in a helper":              "data:\n  {{- include \"outer\" . | nindent 2 }}\n",
	"printf":                            "data:\n  v: {{ printf \"%s/%s\" .Values.s .Values.s }}\n",
	"printf as a line of YAML":          "data:\n  v: {{ printf \"a: %s\" .Values.s | quote }}\n",
	"print":                             "data:\n  v: {{ print .Values.s \"-x\" }}\n",
	"join":                              "data:\n  v: {{ list .Values.s \"x\" | join \",\" }}\n",
	"a comment":                         "# {{ .Values.s | quote }}\ndata:\n  v: x\n",
	"behind a comment":                  "data:\n  v: x # {{ .Values.s }}\n",
	"two on a line":                     "data:\n  {{ .Values.s }}: {{ .Values.s }}\n",
	"JSON in a block":                   "data:\n  v: |\n    {\"a\": \"{{ .Values.s }}\"}\n",
	"a field that Kubernetes knows not": "{{ .Values.s }}: x\n",
}

const positionHelpers = `
{{- define "plain" }}{{ .Values.s }}{{ end -}}
{{- define "labels" }}
a: {{ .Values.s }}
b: {{ .Values.s | quote }}
{{ end -}}
{{- define "outer" }}
c: {{ include "plain" . }}
{{- include "labels" . }}
{{ end -}}
`

// heads put the string into what an object is called, or marked with. What it must not become is refused there.
var heads = map[string]string{
	"a name":          "metadata:\n  name: {{ .Values.s }}\n",
	"part of a name":  "metadata:\n  name: x-{{ .Values.s }}\n",
	"a label":         "metadata:\n  name: x\n  labels:\n    a: {{ .Values.s }}\n    b: {{ .Values.s | quote }}\n",
	"a label's key":   "metadata:\n  name: x\n  labels:\n    {{ .Values.s }}: a\n",
	"an annotation":   "metadata:\n  name: x\n  annotations: {a: {{ .Values.s }}}\n",
	"labels of users": "metadata:\n  name: x\n  labels:\n    {{- toYaml .Values.m | nindent 4 }}\n",
}

// An object with a hostile string is the object with a harmless one in which one stands for the other, or there is none, and the
// template and its line are named.
func TestAStringIsNothingButItselfWhereverItStands(t *testing.T) {
	t.Parallel()
	const kind = "apiVersion: v1\nkind: ConfigMap\n"
	cases := map[string]string{}
	for name, text := range positions {
		cases[name] = kind + "metadata:\n  name: x\n" + text
	}
	for name, text := range heads {
		cases[name] = kind + text
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := compileText(t, text, positionHelpers)
			benign, problem := renderText(program, word)
			if problem != "" {
				t.Fatalf("the harmless string fails, too: %s", problem)
			}
			for _, s := range hostile.Strings {
				got, problem := renderText(program, s)
				switch {
				case problem != "" && (!strings.HasPrefix(problem, "blueprint positions, template t, line ") || len(s) > 12 && strings.Contains(problem, s)):
					t.Errorf("%q: the message names no line, or the string: %s", s, problem)
				case problem == "" && !cmp.Equal(instead(benign, s), got):
					t.Errorf("%q (-as the harmless one +got):\n%s", s, cmp.Diff(instead(benign, s), got))
				}
			}
		})
	}
}

// renderText renders with a string, and gives the object or why there is none.
func renderText(program *render.Program, s string) (object any, problem string) {
	run := program.Gateway.Start(render.Context{Namespace: "team-a", Values: map[string]any{"s": s, "m": map[string]any{s: "x"}}})
	run.Advance(nothingLive)
	result := run.Result()
	if len(result.Failed) > 0 {
		return nil, result.Failed[0].Error()
	}
	return result.Objects[0].Object, ""
}

// instead puts a string in the place of the harmless one.
func instead(tree any, s string) any {
	switch node := tree.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, child := range node {
			out[strings.ReplaceAll(key, word, s)] = instead(child, s)
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i, child := range node {
			out[i] = instead(child, s)
		}
		return out
	case string:
		return strings.ReplaceAll(node, word, s)
	}
	return tree
}
