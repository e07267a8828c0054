{{/* The environment of the program: settings that are no secret come from a ConfigMap, the others from the Secret. */}}

{{/* A setting as text. Helm reads whole numbers as floats, which would be printed as 1.073741824e+10. */}}
{{- define "scrapifie.settingText" -}}
{{- if kindIs "float64" . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{/* Settings of every process, as JSON: those that the chart derives, then those of the values, which win. */}}
{{- define "scrapifie.settings" -}}
{{- $derived := dict -}}
{{- if and (eq .Values.mode "fleet") .Values.cleanup.enabled -}}
{{- /* The CronJob does the work of the scheduler; both at once would refuse each other. */ -}}
{{- $_ := set $derived "SCRAPIFIE_CLEANUP_MINUTES" "0" -}}
{{- end -}}
{{- if and .Values.ingress.enabled .Values.ingress.tls .Values.ingress.hosts -}}
{{- $_ := set $derived "SCRAPIFIE_PUBLIC_URL" (printf "https://%s" (first .Values.ingress.hosts)) -}}
{{- end -}}
{{- if or .Values.policy.content .Values.policy.existingConfigMap -}}
{{- $_ := set $derived "SCRAPIFIE_POLICY_FILE" "/etc/scrapifie/policy/policy.yaml" -}}
{{- end -}}
{{- if .Values.proxies.existingSecret -}}
{{- $_ := set $derived "SCRAPIFIE_PROXY_FILE" "/etc/scrapifie/proxies/proxies.yaml" -}}
{{- end -}}
{{- $texts := dict -}}
{{- range $name, $value := merge (deepCopy .Values.settings) $derived -}}
{{- $_ := set $texts $name (include "scrapifie.settingText" $value) -}}
{{- end -}}
{{- toJson $texts -}}
{{- end -}}

{{/* One variable from the Secret. Takes (dict "root" $ "name" "SCRAPIFIE_API_KEY"). */}}
{{- define "scrapifie.secretVariable" -}}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ include "scrapifie.secretName" .root }}
      key: {{ .name }}
{{- end -}}

{{/* Not empty where Prometheus reads the metrics with a key. */}}
{{- define "scrapifie.hasMetricsKey" -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.serviceMonitor.useKey -}}true{{- end -}}
{{- end -}}

{{/*
Where a server of the fleet is: composed where the chart runs it, from the Secret where it does not, and left out where the
settings name it (an S3 URL without keys is no secret). Takes (dict "root" $ "service" … "name" … "password" … "url" …).
*/}}
{{- define "scrapifie.serverVariable" -}}
{{- if include "scrapifie.bundles" (dict "root" .root "service" .service) }}
{{ include "scrapifie.secretVariable" (dict "root" .root "name" .password) }}
- name: {{ .name }}
  value: {{ .url | quote }}
{{- else if and (eq .root.Values.mode "fleet") (not (hasKey .root.Values.settings .name)) }}
{{ include "scrapifie.secretVariable" (dict "root" .root "name" .name) }}
{{- end -}}
{{- end -}}

{{/* The variables of a process besides those of the ConfigMap. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.environment" -}}
{{- $root := .root -}}
{{- $role := .role -}}
{{- $fullname := include "scrapifie.fullname" $root -}}
- name: SCRAPIFIE_ROLE
  value: {{ $role }}
- name: SCRAPIFIE_HOST
  value: "0.0.0.0"
- name: SCRAPIFIE_PORT
  value: "3000"
- name: SCRAPIFIE_DATA_DIR
  value: /data
- name: SCRAPIFIE_DRAIN_MS
  value: {{ mul 1000 $root.Values.drain.seconds | quote }}
{{- if eq $role "api" }}
- name: SCRAPIFIE_DRAIN_NOTICE_MS
  value: {{ mul 1000 $root.Values.drain.noticeSeconds | quote }}
{{- end }}
{{- include "scrapifie.serverVariable" (dict "root" $root "service" "postgresql" "name" "SCRAPIFIE_DATABASE_URL" "password" "POSTGRES_PASSWORD" "url" (printf "postgres://scrapifie:$(POSTGRES_PASSWORD)@%s-postgresql:5432/scrapifie" $fullname)) }}
{{- include "scrapifie.serverVariable" (dict "root" $root "service" "redis" "name" "SCRAPIFIE_REDIS_URL" "password" "REDIS_PASSWORD" "url" (printf "redis://:$(REDIS_PASSWORD)@%s-redis:6379/0" $fullname)) }}
{{- include "scrapifie.serverVariable" (dict "root" $root "service" "minio" "name" "SCRAPIFIE_S3_URL" "password" "MINIO_ROOT_PASSWORD" "url" (printf "http://scrapifie:$(MINIO_ROOT_PASSWORD)@%s-minio:9000/scrapifie?region=us-east-1" $fullname)) }}
{{- if eq $root.Values.mode "fleet" }}
{{ include "scrapifie.secretVariable" (dict "root" $root "name" "SCRAPIFIE_VAULT_KEY") }}
{{- end }}
{{- if has $role (list "api" "all") }}
{{ include "scrapifie.secretVariable" (dict "root" $root "name" "SCRAPIFIE_API_KEY") }}
{{- end }}
{{- if include "scrapifie.hasMetricsKey" $root }}
{{ include "scrapifie.secretVariable" (dict "root" $root "name" "SCRAPIFIE_METRICS_KEY") }}
{{- end }}
{{- range $name := $root.Values.secrets.settings }}
{{ include "scrapifie.secretVariable" (dict "root" $root "name" $name) }}
{{- end }}
{{- $own := (index $root.Values.roles $role).settings }}
{{- range $name := keys $own | sortAlpha }}
- name: {{ $name }}
  value: {{ include "scrapifie.settingText" (index $own $name) | quote }}
{{- end }}
{{- with $root.Values.extraEnvironment }}
{{ toYaml . }}
{{- end }}
{{- end -}}
