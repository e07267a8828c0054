{{/* Autoscaling: signals, their queries and the pace. */}}

{{/* A signal's name as an external metric. Takes (dict "root" $ "role" "api" "signal" (dict "name" …)). */}}
{{- define "scrapifie.signalMetric" -}}
{{- printf "%s_%s_%s" (include "scrapifie.fullname" .root) .role .signal.name | replace "-" "_" -}}
{{- end -}}

{{/*
The query of a signal, with a dead band: between `below` and `above` it answers `above`, at which nothing is scaled.
Takes (dict "root" $ "signal" (dict "query" "above" "below")).
*/}}
{{- define "scrapifie.signalQuery" -}}
{{- $query := tpl .signal.query .root -}}
{{- printf "((%s) > %v) or ((%s) < %v) or ((%s) * 0 + %v)" $query .signal.above $query .signal.below $query .signal.above -}}
{{- end -}}

{{/* How fast a role grows and shrinks. Takes the `autoscaling` of a role. */}}
{{- define "scrapifie.scalingBehavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies:
    - type: Pods
      value: {{ .step }}
      periodSeconds: {{ .cooldownSeconds }}
scaleDown:
  stabilizationWindowSeconds: {{ .scaleDownAfterSeconds }}
  policies:
    - type: Pods
      value: {{ .step }}
      periodSeconds: {{ .cooldownSeconds }}
{{- end -}}

{{/* A rule of prometheus-adapter for each signal that a HorizontalPodAutoscaler asks for; empty when there is none. */}}
{{- define "scrapifie.adapterRules" -}}
{{- range $role := include "scrapifie.roles" . | fromJsonArray }}
{{- $own := index $.Values.roles $role }}
{{- if and (ne $role "all") $own.autoscaling.enabled }}
{{- range $signal := $own.autoscaling.signals }}
- seriesQuery: {{ $signal.series | quote }}
  resources: {namespaced: false}
  name:
    matches: "^.*$"
    as: {{ include "scrapifie.signalMetric" (dict "root" $ "role" $role "signal" $signal) }}
  metricsQuery: {{ include "scrapifie.signalQuery" (dict "root" $ "signal" $signal) | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
