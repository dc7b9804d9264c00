{{- define "type" -}}
{{- $type := . -}}
{{- if markdownShouldRenderType $type }}

### {{ $type.Name }}

{{ $type.Doc }}
{{- with $type.References }}

Part of:{{ range $i, $_ := $type.SortedReferences }}{{ if $i }},{{ end }} {{ markdownRenderTypeLink . }}{{ end }}.
{{- end }}
{{- if $type.EnumValues }}

| Value | Meaning |
| --- | --- |
{{- range $type.EnumValues }}
| `{{ .Name }}` | {{ template "cell" .Doc }} |
{{- end }}
{{- else if $type.Members }}

| Field | Type | Meaning | Rules |
| --- | --- | --- | --- |
{{- if $type.GVK }}
| `apiVersion` | string | `{{ $type.GVK.Group }}/{{ $type.GVK.Version }}` | |
| `kind` | string | `{{ $type.GVK.Kind }}` | |
{{- end }}
{{- range $type.Members }}
| `{{ .Name }}` | {{ markdownRenderType .Type }} | {{ template "type_members" . }} | {{ template "rules" . }} |
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* A field's rules as text. "Optional: {}" is how the tool spells the marker +optional. */ -}}
{{- define "rules" -}}
{{- with .Default }}default {{ markdownRenderDefault . }}<br />{{ end -}}
{{- range $i, $rule := .Validation }}{{ if $i }}<br />{{ end }}{{ if eq $rule "Optional: {}" }}optional{{ else }}{{ markdownRenderFieldDoc $rule }}{{ end }}{{ end -}}
{{- end -}}

{{- define "cell" -}}{{ markdownRenderFieldDoc . }}{{- end -}}
