{{- define "type_members" -}}
{{- if eq .Name "metadata" -}}
name, namespace, labels and the like, as on every object
{{- else -}}
{{ markdownRenderFieldDoc .Doc }}
{{- end -}}
{{- end -}}
