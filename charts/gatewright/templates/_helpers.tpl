{{- define "gatewright.name" -}}
{{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of the release's objects. A release that is named after the chart does not repeat it. */}}
{{- define "gatewright.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else if contains (include "gatewright.name" .) .Release.Name -}}
{{ .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name (include "gatewright.name" .) | trunc 52 | trimSuffix "-" }}
{{- end -}}
{{- end }}

{{/* Cluster-scoped objects bear the namespace too, so that a second release elsewhere does not take them over. */}}
{{- define "gatewright.clusterName" -}}
{{- $name := include "gatewright.fullname" . -}}
{{- if eq $name .Release.Namespace -}}{{ $name }}{{- else -}}{{ .Release.Namespace }}-{{ $name }}{{- end -}}
{{- end }}

{{- define "gatewright.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "gatewright.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end }}

{{/* What selects the controller's Pods. It must never change: a Deployment's selector cannot. */}}
{{- define "gatewright.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gatewright.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{/* Merged as maps, so that a label of the user's own that is ours as well does not stand there twice. */}}
{{- define "gatewright.labels" -}}
{{- $own := include "gatewright.ownLabels" . | fromYaml -}}
{{ merge $own .Values.commonLabels | toYaml }}
{{- end }}

{{- define "gatewright.podLabels" -}}
{{- $own := include "gatewright.ownLabels" . | fromYaml -}}
{{ merge $own .Values.podLabels .Values.commonLabels | toYaml }}
{{- end }}

{{- define "gatewright.ownLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "gatewright.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: controller
app.kubernetes.io/part-of: gatewright
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "gatewright.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}
