{{- define "davit.agent.account" -}}
{{ default (include "davit.name" .) .values.serviceAccount.name }}
{{- end -}}

{{- define "davit.agent.configuration" -}}
# An agent of region {{ .Values.agent.region }}, as the chart's values say.
[host]
state_dir = "/var/lib/davit"
metrics_listen = "0.0.0.0:9100"

[rpc.client.control]
url = {{ required "agent.server.url: the address of the server is needed" .Values.agent.server.url | toJson }}
token_file = "/etc/davit-token/token"
region = {{ required "agent.region: the region of this cluster is needed" .Values.agent.region | toJson }}
{{- if .Values.agent.server.ca }}
ca_file = "/etc/davit/ca.crt"
{{- end }}

[plugin.cluster]
module = "cluster_kubernetes"
in_cluster = true
{{- with .Values.agent.namespaces }}
namespaces = {{ toJson . }}
{{- end }}
{{- include "davit.kinds" .Values.agent.kinds }}
{{- if gt (int .Values.agent.replicas) 1 }}

[plugin.leader]
module = "leader"
cluster = "cluster"
server = "control"
namespace = {{ .Release.Namespace | toJson }}
{{- end }}

[plugin.reporter]
module = "reporter"
server = "control"

[plugin.applier]
module = "applier"
cluster = "cluster"
status = "reporter"

[plugin.watcher]
module = "watcher"
server = "control"
sink = "applier"
status = "reporter"
{{- end -}}

{{- /* The rules of the kinds that are on, as JSON: {"rules": [...]}. With `mode`, a key of files/rules.yaml. */ -}}
{{- define "davit.agent.rules" -}}
{{- $shipped := .root.Files.Get "files/rules.yaml" | fromYaml -}}
{{- $rules := list -}}
{{- range $kind, $k := .values.kinds -}}
{{- if $k.enabled -}}
{{- if $k.rules -}}
{{- $rules = concat $rules $k.rules -}}
{{- else if hasKey $shipped.kinds $kind -}}
{{- $rules = concat $rules (get (get $shipped.kinds $kind) $.mode) -}}
{{- else -}}
{{- fail (printf "agent.kinds.%s: give its rules, which `davit check --rights` prints" $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- dict "rules" (uniq $rules) | toJson -}}
{{- end -}}
