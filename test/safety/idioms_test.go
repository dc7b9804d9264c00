package safety

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/test/helm"
)

// ordinary are values as people write them.
const ordinary = `
name: web
environment: staging
account: "123456789012"
arn: arn:aws:iam::123456789012:role/eks-gateway
path: /etc/ssl/certs/ca.crt
url: https://example.com:8443/a?b=c&d=e#f
cidrs: [10.0.0.0/8, 192.168.0.0/16, "::/0"]
hostname: "*.example.com"
version: v1.2.3
replicas: 3
ratio: 0.25
enabled: true
disabled: false
empty: ""
nothing: null
emptyMap: {}
emptyList: []
time: 30s
cpu: 250m
percent: 50%
email: ops@example.com
sentence: "It's what one says: hello, world"
labels: {team: payments, cost-center: "0042", on: "yes"}
annotations:
  example.com/role: arn:aws:iam::123456789012:role/x
  example.com/json: '{"a": [1, 2]}'
resources:
  requests: {cpu: 100m, memory: 128Mi}
  limits: {memory: 256Mi}
tolerations:
  - {key: dedicated, operator: Equal, value: gateway, effect: NoSchedule}
ports:
  - {name: http, port: 80}
  - {name: https, port: 443, tls: true}
nested: {a: {b: {c: deep}}}
options: {debug: true, retries: 3, ratio: 0.5}
port: "8080"
large: 1234567
pem: |
  -----BEGIN CERTIFICATE-----
  MIIBszCCAVmgAwIBAgIUQ0o1c3RhbXAwCgYIKoZIzj0EAwIwEjEQMA4GA1UEAwwH
  -----END CERTIFICATE-----
config: |
  [server]
  listen = "0.0.0.0:8080"   # everywhere

  [log]
  level = 'info'
script: |-
  #!/bin/sh
  echo "a: b" | sed 's/a/b/' > /dev/null
`

// idioms are ways of writing templates that blueprints and charts are full of. Each goes into an object's text.
var idioms = map[string]string{
	"names without quotes":               "data:\n  a: {{ .Values.name }}\n  b: {{ .Values.name }}-{{ .Values.environment }}\n",
	"an ARN":                             "data:\n  a: {{ .Values.arn }}\n  b: arn:aws:iam::{{ .Values.account }}:role/{{ .Values.name }}\n  c: \"{{ .Values.arn }}\"\n",
	"paths and URLs":                     "data:\n  a: {{ .Values.path }}\n  b: {{ .Values.url }}\n  c: {{ .Values.path }}/{{ .Values.name }}.pem\n",
	"CIDRs":                              "spec:\n  cidrs:\n  {{- range .Values.cidrs }}\n  - {{ . | quote }}\n  {{- end }}\n  first: {{ first .Values.cidrs }}\n",
	"a list by toYaml":                   "spec:\n  cidrs:\n    {{- toYaml .Values.cidrs | nindent 4 }}\n",
	"a list by toYaml at its key":        "spec:\n  cidrs: {{ toYaml .Values.cidrs | nindent 2 }}\n",
	"a hostname with a wildcard":         "spec:\n  a: {{ .Values.hostname | quote }}\n  b: \"{{ .Values.hostname }}\"\n  c: www{{ trimPrefix \"*\" .Values.hostname }}\n",
	"toYaml and nindent":                 "spec:\n  resources:\n    {{- toYaml .Values.resources | nindent 4 }}\n  tolerations:\n    {{- toYaml .Values.tolerations | nindent 4 }}\n",
	"toYaml and indent":                  "spec:\n  resources:\n{{ toYaml .Values.resources | indent 4 }}\n",
	"with":                               "spec:\n  {{- with .Values.tolerations }}\n  tolerations:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}\n  {{- with .Values.emptyMap }}\n  never: {{ . }}\n  {{- end }}\n",
	"conditionals":                       "spec:\n  {{- if .Values.enabled }}\n  a: {{ .Values.enabled }}\n  {{- else }}\n  b: x\n  {{- end }}\n  {{- if and .Values.disabled .Values.name }}\n  c: x\n  {{- else if eq .Values.environment \"staging\" }}\n  d: x\n  {{- end }}\n",
	"conditions of nothing":              "spec:\n  {{- if or .Values.nothing .Values.empty .Values.emptyList .Values.unknown }}\n  a: x\n  {{- else }}\n  b: x\n  {{- end }}\n",
	"numbers and booleans":               "spec:\n  a: {{ .Values.replicas }}\n  b: {{ .Values.ratio }}\n  c: {{ .Values.disabled }}\n  d: {{ .Values.replicas | quote }}\n  e: {{ add .Values.replicas 1 }}\n  f: {{ int .Values.replicas | mul 2 }}\n",
	"quantities":                         "spec:\n  a: {{ .Values.cpu }}\n  b: {{ .Values.percent }}\n  c: {{ .Values.time }}\n",
	"labels by range":                    "metadata:\n  labels:\n    {{- range $key, $value := .Values.labels }}\n    {{ $key }}: {{ $value | quote }}\n    {{- end }}\n",
	"annotations by toYaml":              "metadata:\n  annotations:\n    {{- toYaml .Values.annotations | nindent 4 }}\n",
	"a range with an index":              "spec:\n  ports:\n  {{- range $i, $port := .Values.ports }}\n  - name: {{ printf \"%s-%d\" $port.name $i }}\n    port: {{ $port.port }}\n    {{- if $port.tls }}\n    tls: true\n    {{- end }}\n  {{- end }}\n",
	"the root in a range":                "spec:\n  names:\n  {{- range .Values.ports }}\n  - {{ $.Values.name }}-{{ .name }}\n  {{- end }}\n",
	"a range over nothing":               "spec:\n  a: x\n  {{- range .Values.emptyList }}\n  - {{ . }}\n  {{- else }}\n  b: none\n  {{- end }}\n",
	"a literal block":                    "data:\n  nginx.conf: |\n    server {\n      server_name {{ .Values.hostname }};\n      root {{ .Values.path }};  # {{ .Values.name }}\n    }\n",
	"a file in a block":                  "data:\n  config.toml: |\n    {{- .Values.config | nindent 4 }}\n  run.sh: |-\n{{ .Values.script | indent 4 }}\n",
	"a folded block":                     "data:\n  a: >-\n    {{ .Values.sentence }}\n    and {{ .Values.name }}\n",
	"PEM in a block":                     "data:\n  ca.crt: |\n    {{- .Values.pem | nindent 4 }}\n",
	"PEM, quoted and encoded":            "data:\n  a: {{ .Values.pem | quote }}\n  b: {{ .Values.pem | b64enc }}\n  c: {{ .Values.pem | b64enc | quote }}\n",
	"toYaml in a block":                  "data:\n  values.yaml: |\n    {{- toYaml .Values.nested | nindent 4 }}\n",
	"toJson":                             "data:\n  a: {{ toJson .Values.nested | quote }}\n  b: '{{ toJson .Values.ports }}'\nspec: {{ toJson .Values.resources }}\n",
	"toJson in a block":                  "data:\n  a: |\n    {{ toJson .Values.ports }}\n    {{ .Values.resources | toPrettyJson | nindent 4 }}\n",
	"printf":                             "data:\n  a: {{ printf \"%s.%s.svc\" .Values.name .Values.environment }}\n  b: {{ printf \"%s:%d\" .Values.name (int .Values.replicas) | quote }}\n  c: {{ printf \"%05.1f|%-6s|%q\" .Values.ratio .Values.name .Values.environment | quote }}\n",
	"helpers":                            "metadata:\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\ndata:\n  name: {{ include \"fullname\" . }}\n  quoted: {{ include \"fullname\" . | quote }}\n  upper: {{ include \"fullname\" . | upper }}\n",
	"template":                           "data:\n  name: {{ template \"fullname\" . }}\n",
	"a helper that is parsed":            "data:\n  a: {{ (include \"labels\" . | fromYaml).app }}\n",
	"a helper with its own context":      "data:\n  a: {{ include \"pair\" (dict \"left\" .Values.name \"right\" \"x\") }}\n",
	"default and coalesce":               "data:\n  a: {{ .Values.unknown | default \"none\" }}\n  b: {{ default .Values.name .Values.empty }}\n  c: {{ coalesce .Values.nothing .Values.empty .Values.arn }}\n  d: {{ .Values.name | default \"none\" | quote }}\n",
	"fields of what may not be":          "data:\n  a: {{ ((.Values.nested.a).x) | default \"none\" }}\n  b: {{ (.Values.missing).deeper | default \"none\" | quote }}\n",
	"ternary":                            "data:\n  a: {{ ternary \"yes\" \"no\" .Values.enabled | quote }}\n  b: {{ .Values.disabled | ternary .Values.name .Values.arn }}\n",
	"required":                           "data:\n  a: {{ required \"name must be set\" .Values.name }}\n",
	"names that are cut":                 "data:\n  a: {{ printf \"%s-%s\" .Values.name .Values.arn | replace \":\" \"-\" | trunc 20 | trimSuffix \"-\" }}\n  b: {{ .Values.arn | sha256sum | trunc 8 | quote }}\n",
	"tpl":                                "data:\n  a: {{ tpl \"{{ .Values.name }}/x\" . }}\n",
	"lists":                              "data:\n  a: {{ join \",\" .Values.cidrs | quote }}\n  b: {{ .Values.cidrs | len }}-{{ has \"::/0\" .Values.cidrs }}\n  c: {{ list \"b\" \"a\" \"b\" | uniq | sortAlpha | join \"-\" }}\n  d: {{ index .Values.cidrs 1 }}\n  e: {{ splitList \"/\" .Values.path | last }}\n",
	"maps":                               "data:\n  a: {{ dict \"x\" .Values.name \"y\" 1 | toJson | quote }}\n  b: {{ dig \"a\" \"b\" \"c\" \"none\" .Values.nested }}\n  c: {{ get .Values.labels \"team\" }}\n  d: {{ hasKey .Values.labels \"none\" | quote }}\n  e: {{ keys .Values.labels | sortAlpha | join \",\" }}\n  f: {{ pick .Values.labels \"team\" | toJson | quote }}\n  g: {{ omit .Values.labels \"team\" \"on\" | toJson | quote }}\n",
	"merged maps":                        "data:\n  a: {{ merge (dict \"team\" \"mine\") .Values.labels | toJson | quote }}\n  b: {{ mergeOverwrite (dict \"team\" \"mine\") .Values.labels | toJson | quote }}\n",
	"variables":                          "{{- $name := printf \"%s-x\" .Values.name }}\n{{- $all := list }}\n{{- range .Values.ports }}{{ $all = append $all .name }}{{ end }}\ndata:\n  a: {{ $name }}\n  b: {{ $all | join \",\" }}\n",
	"loops over numbers":                 "data:\n  a: \"{{ range $i := until 3 }}{{ $i }}{{ end }}{{ range untilStep 0 6 2 }}{{ . }}{{ end }}\"\n",
	"regular expressions":                "data:\n  a: {{ regexReplaceAll \"[^a-z0-9-]\" (lower .Values.arn) \"-\" }}\n  b: {{ regexMatch \"^v[0-9]+\" .Values.version | quote }}\n  c: {{ regexFind \"[0-9]+\" .Values.arn | quote }}\n",
	"versions":                           "data:\n  a: {{ semverCompare \">=1.2.0\" .Values.version | quote }}\n  b: {{ .Values.version | trimPrefix \"v\" | quote }}\n",
	"words":                              "data:\n  a: {{ .Values.name | upper }}{{ .Values.name | title }}\n  b: {{ .Values.sentence | quote }}\n  c: {{ .Values.email }}\n  d: {{ \"a_b\" | camelcase }}-{{ \"FooBar\" | kebabcase }}-{{ \"fooBar\" | snakecase }}\n  e: {{ contains \"web\" .Values.name | quote }}\n  f: {{ hasPrefix \"arn:\" .Values.arn | quote }}\n",
	"kinds of values":                    "data:\n  a: {{ kindIs \"map\" .Values.nested | quote }}\n  b: {{ kindOf .Values.cidrs }}\n  c: {{ empty .Values.emptyList | quote }}\n",
	"comparisons":                        "data:\n  a: {{ gt (int .Values.replicas) 2 | quote }}\n  b: {{ and .Values.enabled (ne .Values.name \"x\") | quote }}\n  c: {{ eq .Values.name \"web\" \"other\" | quote }}\n  d: {{ not .Values.enabled | quote }}\n",
	"comments":                           "{{- /* nobody reads this */}}\n# a comment: {{ .Values.name }}\ndata: # and one more\n  a: x # {{ .Values.name }}\n",
	"trimmed space":                      "data:\n  {{- if .Values.enabled -}}\n  {{ \"\" }}\n  a: x\n  {{- end }}\n  b: {{- \" \" -}} y\n",
	"a flow map":                         "data: {a: {{ .Values.name }}, b: {{ .Values.arn | quote }}}\nspec: [{{ .Values.name }}, {{ .Values.replicas }}]\n",
	"keys of values":                     "data:\n  {{ .Values.name }}: a\n  {{ .Values.name }}.{{ .Values.environment }}.json: b\n",
	"several documents":                  "data: {a: b}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: second\n{{- if .Values.disabled }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: third\n{{- end }}\n",
	"an object for each item":            "{{- range .Values.ports }}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ $.Values.name }}-{{ .name }}\ndata:\n  port: {{ .port | quote }}\n{{- end }}\n",
	"environment variables by range":     "spec:\n  env:\n  {{- range $k, $v := .Values.options }}\n  - name: {{ $k | upper }}\n    value: {{ $v | quote }}\n  {{- end }}\n",
	"annotations by range":               "metadata:\n  annotations:\n    {{- range $key, $value := .Values.annotations }}\n    {{ $key | quote }}: {{ $value | quote }}\n    {{- end }}\n",
	"with and else":                      "spec:\n  {{- with .Values.emptyMap }}\n  a: {{ toYaml . }}\n  {{- else }}\n  b: none\n  {{- end }}\n  {{- with .Values.nested.a }}\n  c: {{ .b.c }}-{{ $.Values.name }}\n  {{- end }}\n",
	"else with":                          "spec:\n  {{- with .Values.empty }}\n  a: {{ . }}\n  {{- else with .Values.name }}\n  b: {{ . }}\n  {{- end }}\n",
	"a map that may not be":              "spec:\n  {{- $own := .Values.unknown | default dict }}\n  a: {{ $own.x | default \"none\" }}\n  b: {{ (.Values.nothing | default dict).y | default 5 }}\n  {{- toYaml (.Values.unknown | default (dict \"c\" 1)) | nindent 2 }}\n",
	"a list that may not be":             "spec:\n  a: {{ .Values.unknown | default list | len }}\n  {{- range .Values.unknown | default (list \"x\") }}\n  b: {{ . }}\n  {{- end }}\n",
	"what is empty by toYaml":            "spec:\n  a: {{ toYaml .Values.emptyList }}\n  b: {{ toYaml .Values.emptyMap }}\n  c:\n    {{- toYaml .Values.options | nindent 4 }}\n",
	"ports of numbers and strings":       "spec:\n  a: {{ .Values.port }}\n  b: {{ .Values.port | int }}\n  c: {{ .Values.port | quote }}\n  d: {{ (index .Values.ports 0).port }}\n  e: {{ .Values.port | atoi | add 1 }}\n",
	"large numbers":                      "spec:\n  a: {{ .Values.large | int64 }}\n  b: {{ .Values.large | int64 | quote }}\n  c: {{ mul .Values.large 2 }}\n",
	"a checksum of a helper":             "metadata:\n  annotations:\n    checksum/labels: {{ include \"labels\" . | sha256sum }}\n    checksum/values: {{ toYaml .Values.resources | sha256sum }}\n",
	"a name for all of it":               "metadata:\n  labels:\n    a: {{ printf \"%s-%s-%s\" .Values.name .Values.environment .Values.version | replace \"+\" \"_\" | trunc 63 | trimSuffix \"-\" | quote }}\n    b: {{ default .Values.name .Values.unknown | trunc 2 | trimSuffix \"-\" }}\n",
	"comments of templates":              "{{/* one */}}\n{{- /*\n  of several: lines\n*/ -}}\ndata:\n  a: {{/* within */}}x\n",
	"tpl of what toYaml prints":          "data:\n  a: |\n    {{- tpl (toYaml .Values.resources) . | nindent 4 }}\n    {{- tpl (toYaml (pick .Values.annotations \"example.com/role\")) . | nindent 4 }}\n",
	"data of a Secret":                   "data:\n  a: {{ .Values.name | b64enc }}\n  b: {{ printf \"%s:%s\" .Values.name .Values.port | b64enc | quote }}\n  {{- range $k, $v := .Values.labels }}\n  {{ $k }}: {{ $v | toString | b64enc | quote }}\n  {{- end }}\n",
	"text of several lines in quotation": "data:\n  a: {{ .Values.script | quote }}\n  b: {{ toJson .Values.script }}\n  c: {{ .Values.config | trim | quote }}\n",
	"blocks that keep or drop their end": "data:\n  a: |+\n    {{ .Values.name }}\n\n  b: |-\n    {{ .Values.name }}\n\n  c: >\n    {{ .Values.name }}\n    {{ .Values.arn }}\n",
	"JSON of what is in a list":          "metadata:\n  annotations:\n    a: {{ .Values.ports | toJson | quote }}\n    b: '{{ .Values.cidrs | toJson }}'\n    c: |-\n      [{{ range $i, $c := .Values.cidrs }}{{ if $i }}, {{ end }}{{ $c | quote }}{{ end }}]\n",
	"one of several":                     "data:\n  a: {{ if eq .Values.environment \"production\" }}{{ .Values.arn }}{{ else if hasPrefix \"stag\" .Values.environment }}{{ .Values.name }}{{ else }}x{{ end }}\n",
	"numbers that stand in quotation":    "data:\n  a: {{ index .Values.labels \"cost-center\" | quote }}\n  b: \"{{ .Values.replicas }}\"\n  c: '{{ .Values.account }}'\n",
}

const idiomHelpers = `
{{- define "fullname" -}}
{{- printf "%s-%s" .Values.name .Values.environment | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "labels" -}}
app: {{ include "fullname" . }}
{{- with .Values.labels }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- define "pair" -}}{{ .left }}={{ .right }}{{- end -}}
`

// Who knows how to write a chart knows how to write a blueprint: what is not a tenant's attack renders to what Helm renders.
func TestOrdinaryTemplatesRenderAsWithHelm(t *testing.T) {
	texts := map[string]string{}
	for name, text := range idioms {
		texts[name] = "apiVersion: v1\nkind: ConfigMap\n" + named(text)
	}
	want := helmRenders(t, texts)
	var tree map[string]any
	if err := yaml.Unmarshal([]byte(ordinary), &tree); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			run := compileText(t, text, idiomHelpers).Gateway.Start(render.Context{Namespace: "team-a", Values: tree})
			run.Advance(nothingLive)
			result := run.Result()
			for _, failed := range result.Failed {
				t.Error(failed.Error())
			}
			var got []any
			for _, o := range result.Objects {
				// Where objects lie is not in the text.
				o.SetNamespace("")
				got = append(got, asJSON(t, o.Object))
			}
			if diff := cmp.Diff(want[name], got); diff != "" {
				t.Errorf("(-Helm +Gatewright):\n%s", diff)
			}
		})
	}
}

// named gives an object's text a name, within its metadata if it has any.
func named(text string) string {
	if rest, ok := strings.CutPrefix(text, "metadata:\n"); ok {
		return "metadata:\n  name: x\n" + rest
	}
	return "metadata:\n  name: x\n" + text
}

// helmRenders has Helm render a chart with a template for each text, and returns their objects.
func helmRenders(t *testing.T, texts map[string]string) map[string][]any {
	t.Helper()
	chart, out := t.TempDir(), t.TempDir()
	write(t, filepath.Join(chart, "Chart.yaml"), "apiVersion: v2\nname: idioms\nversion: 0.1.0\n")
	write(t, filepath.Join(chart, "values.yaml"), ordinary)
	write(t, filepath.Join(chart, "templates", "_helpers.tpl"), idiomHelpers)
	files := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(texts)) {
		files[name] = fmt.Sprintf("t%d.yaml", i)
		write(t, filepath.Join(chart, "templates", files[name]), texts[name])
	}
	if _, err := helm.Run(t, nil, "template", "r", chart, "--output-dir", out); err != nil {
		t.Fatal(err)
	}
	objects := map[string][]any{}
	for name, file := range files {
		text, err := os.ReadFile(filepath.Join(out, "idioms", "templates", file))
		if err != nil {
			t.Fatal(err)
		}
		// What Helm prints of a template begins with a marker.
		for document := range strings.SplitSeq("\n"+string(text), "\n---\n") {
			var object map[string]any
			if err := yaml.Unmarshal([]byte(document), &object); err != nil {
				t.Fatalf("%s: what Helm renders: %v", name, err)
			}
			if len(object) > 0 {
				objects[name] = append(objects[name], asJSON(t, object))
			}
		}
		if len(objects[name]) == 0 {
			t.Fatalf("%s: Helm renders nothing:\n%s", name, text)
		}
	}
	return objects
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// asJSON is a tree with the types that JSON has.
func asJSON(t *testing.T, tree any) any {
	t.Helper()
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
