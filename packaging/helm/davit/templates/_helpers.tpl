{{- /* What the components share. `component` is a dict of root ($), name ("agent") and values (.Values.agent). */ -}}

{{- define "davit.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "davit.name" -}}
{{ include "davit.fullname" .root }}-{{ .name }}
{{- end -}}

{{- define "davit.selector" -}}
app.kubernetes.io/name: davit
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "davit.labels" -}}
{{ include "davit.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "davit.metadata" -}}
name: {{ include "davit.name" . }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "davit.labels" . | nindent 2 }}
{{- end -}}

{{- /* With `suffix`. */ -}}
{{- define "davit.metadata.of" -}}
name: {{ include "davit.name" . }}-{{ .suffix }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "davit.labels" . | nindent 2 }}
{{- end -}}

{{- define "davit.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}

{{- define "davit.pod.metadata" -}}
labels:
  {{- include "davit.labels" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  davit.dev/configuration: {{ .configuration | sha256sum }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- /* Nothing of a pod is privileged, and nothing of its image is written. */ -}}
{{- define "davit.pod" -}}
automountServiceAccountToken: {{ .token }}
terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "davit.container" -}}
name: davit
image: {{ include "davit.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: ["run", "/etc/davit"]
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: ["ALL"]
readinessProbe:
  httpGet: {path: /readyz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
resources:
  {{- toYaml .values.resources | nindent 2 }}
{{- end -}}

{{- /* The tables of the kinds that are on. */ -}}
{{- define "davit.kinds" -}}
{{- range $kind, $k := . }}
{{- if $k.enabled }}

[plugin.{{ eq $kind "cluster" | ternary "kind_cluster" $kind }}]
module = "{{ default (printf "kind_%s" $kind) $k.module }}"
{{- with $k.config }}
{{ trimSuffix "\n" . }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "davit.egress" -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
    {{- range .ports }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
{{- with .egress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
