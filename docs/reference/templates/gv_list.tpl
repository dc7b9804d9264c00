{{- define "gvList" -}}
<!-- Written by `make generate` from the Go types in api/. Edit those. -->
# API reference

The same texts, for the version that a cluster has installed: `kubectl explain <kind> --recursive`.
{{- range . }}
{{ template "gvDetails" . }}
{{- end }}
{{ end -}}
