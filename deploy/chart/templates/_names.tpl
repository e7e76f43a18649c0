{{/* The name of what belongs to the release: once "firekeeper" if the release is called so. */}}
{{- define "firekeeper.name" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name }}
{{- .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name)) | trunc 53 | trimSuffix "-" }}
{{- end }}

{{- define "firekeeper.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "firekeeper.name" .) }}{{ else }}{{ required "serviceAccount.name is needed with serviceAccount.create=false" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "firekeeper.selector" -}}
{{ include "firekeeper.selectorOf" (list . "controller") }}
{{- end }}

{{- define "firekeeper.labels" -}}
{{ include "firekeeper.labelsOf" (list . "controller") }}
{{- end }}

{{/* The labels that select the pods of a component: list of the root and the component. */}}
{{- define "firekeeper.selectorOf" -}}
app.kubernetes.io/component: {{ index . 1 }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/name: prometheus-operator
{{- end }}

{{- define "firekeeper.labelsOf" -}}
{{ include "firekeeper.selectorOf" . }}
{{- with index . 0 }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ include "firekeeper.chart" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "firekeeper.chart" -}}
{{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "firekeeper.webhook" -}}
{{ include "firekeeper.name" . }}-admission-webhook
{{- end }}

{{- define "firekeeper.discovery" -}}
{{ include "firekeeper.name" . }}-discovery
{{- end }}

{{/* The Secret of the webhook's certificate. */}}
{{- define "firekeeper.webhookSecret" -}}
{{ .Values.webhook.secretName | default (printf "%s-certs" (include "firekeeper.webhook" .)) }}
{{- end }}

{{/* The namespaces whose objects the webhooks check, as a selector: those that the operator watches. */}}
{{- define "firekeeper.webhookNamespaces" -}}
{{- $selector := .Values.webhook.namespaceSelector }}
{{- with .Values.namespaces }}
{{- $selector = $selector | default (dict "matchExpressions" (list (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" .))) }}
{{- end }}
{{- with .Values.denyNamespaces }}
{{- $selector = $selector | default (dict "matchExpressions" (list (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" .))) }}
{{- end }}
{{- toYaml $selector }}
{{- end }}

{{/* RBAC objects of a file for this release: list of the root, the file, the name of all of them, the component and the namespace. */}}
{{- define "firekeeper.rbac" -}}
{{- $top := index . 0 }}{{ $name := index . 2 }}{{ $component := index . 3 }}{{ $namespace := index . 4 }}
{{- range splitList "\n---\n" ($top.Files.Get (index . 1)) }}
{{- $object := fromYaml . }}
---
apiVersion: {{ $object.apiVersion }}
kind: {{ $object.kind }}
metadata:
  name: {{ $name }}
  {{- if $object.metadata.namespace }}
  namespace: {{ $namespace }}
  {{- end }}
  labels:
    {{- include "firekeeper.labelsOf" (list $top $component) | nindent 4 }}
{{- with $object.rules }}
rules:
{{ toYaml . }}
{{- end }}
{{- with $object.roleRef }}
roleRef:
  apiGroup: {{ .apiGroup }}
  kind: {{ .kind }}
  name: {{ $name }}
subjects:
- kind: ServiceAccount
  name: {{ include "firekeeper.account" $top }}
  namespace: {{ $top.Release.Namespace }}
{{- end }}
{{- end }}
{{- end }}

{{/* An image: list of the root and its key in image. */}}
{{- define "firekeeper.image" -}}
{{- $top := index . 0 }}{{ $key := index . 1 }}
{{- $registry := ($top.Values.global).imageRegistry }}
{{- with $registry }}{{ trimSuffix "/" . }}/{{ end }}{{ index $top.Values.image $key }}:{{ $top.Values.image.tag | default (printf "v%s" $top.Chart.AppVersion) }}
{{- with index $top.Values.image.digests $key }}@{{ . }}{{ end }}
{{- end }}

{{/* The rules of the ClusterRole in files/rbac.yaml; with rbac.leastPrivilege without list and watch of Secrets; with namespaces, for a Role in each. */}}
{{- define "firekeeper.rules" -}}
{{- $least := .Values.rbac.leastPrivilege }}{{ $narrow := .Values.namespaces }}
{{- range splitList "\n---\n" (.Files.Get "files/rbac.yaml") }}
{{- $object := fromYaml . }}
{{- if eq $object.kind "ClusterRole" }}
{{- range $object.rules }}
{{- if and $least (has "secrets" .resources) }}
{{- $_ := set . "verbs" (without .verbs "list" "watch") }}
{{- end }}
{{- if and $narrow (has "namespaces" .resources) }}
{{- $_ := set . "verbs" (list "get") }}
{{- end }}
{{- end }}
{{- toYaml $object.rules }}
{{- end }}
{{- end }}
{{- end }}

{{- define "firekeeper.securityContext" -}}
{{ toYaml .Values.containerSecurityContext }}
{{- end }}

{{- define "firekeeper.podSecurityContext" -}}
{{ toYaml .Values.podSecurityContext }}
{{- end }}

{{/* The flags that decide what the operator manages. */}}
{{- define "firekeeper.scope" -}}
{{- with .Values.namespaces }}
- --namespaces={{ join "," . }}
{{- end }}
{{- with .Values.denyNamespaces }}
- --deny-namespaces={{ join "," . }}
{{- end }}
{{- range $kind, $flag := dict "prometheus" "prometheus" "alertmanager" "alertmanager" "thanosRuler" "thanos-ruler" }}
{{- with index $.Values.instanceNamespaces $kind }}
- --{{ $flag }}-instance-namespaces={{ join "," . }}
{{- end }}
{{- end }}
{{- range $gate, $enabled := .Values.featureGates }}
- --feature-gates={{ $gate }}={{ $enabled }}
{{- end }}
{{- end }}
