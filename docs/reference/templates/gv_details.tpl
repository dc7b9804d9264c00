{{- define "gvDetails" -}}
{{- $gv := . }}
## {{ $gv.GroupVersionString }}

Kinds:
{{ range $gv.SortedKinds }}
- {{ $gv.TypeForKind . | markdownRenderTypeLink }}
{{- end }}

{{- /* The kinds come first, for they are what people look up; then what they are made of. */}}
{{- range $gv.SortedTypes }}{{ if .GVK }}{{ template "type" . }}{{ end }}{{ end }}
{{- range $gv.SortedTypes }}{{ if not .GVK }}{{ template "type" . }}{{ end }}{{ end }}
{{- end -}}
