{{/* What the bundled servers have in common. */}}

{{/* Takes (dict "root" $ "service" "redis" "user" 999 "group" 1000): those of the server's official image. */}}
{{- define "scrapifie.serverPod" -}}
{{- $own := index .root.Values .service -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: 120
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .group }}
  fsGroup: {{ .group }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with $own.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $own.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .root.Values.priorityClasses.create }}
priorityClassName: {{ include "scrapifie.fullname" .root }}-front
{{- end }}
{{- end -}}

{{/* The volume of a server. It stays when the release is removed. Takes (dict "root" $ "service" "redis"). */}}
{{- define "scrapifie.serverClaim" -}}
{{- $own := index .root.Values .service -}}
persistentVolumeClaimRetentionPolicy:
  whenDeleted: Retain
  whenScaled: Retain
volumeClaimTemplates:
  - metadata:
      name: data
      labels:
        {{- include "scrapifie.selectorLabels" (dict "root" .root "component" .service) | nindent 8 }}
    spec:
      accessModes: [ReadWriteOnce]
      {{- with $own.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests:
          storage: {{ $own.size }}
{{- end -}}

{{/*
Refuses a PostgreSQL that has fewer connections than the pods may open, those of an upgrade included: the pool of each, while the
object store is away two more, and two for each of at most four page threads of an http-worker.
*/}}
{{- define "scrapifie.checkConnections" -}}
{{- $wanted := 0 -}}
{{- range $role := include "scrapifie.roles" . | fromJsonArray -}}
{{- $own := index $.Values.roles $role -}}
{{- $pods := int (ternary $own.autoscaling.maxReplicas $own.replicas $own.autoscaling.enabled) -}}
{{- $surge := int $own.maxSurge -}}
{{- if kindIs "string" $own.maxSurge -}}
{{- $surge = add1 (div (mul $pods (int (trimSuffix "%" $own.maxSurge))) 100) -}}
{{- end -}}
{{- $pool := int (dig $role "settings" "SCRAPIFIE_DATABASE_POOL" (dig "SCRAPIFIE_DATABASE_POOL" 8 $.Values.settings) $.Values.roles) -}}
{{- $each := add $pool (ternary 10 2 (eq $role "http-worker")) -}}
{{- $wanted = add $wanted (mul $each (add $pods $surge)) -}}
{{- end -}}
{{- /* Ten besides: for the superuser, a cleanup and people. */ -}}
{{- if gt (add $wanted 10) (int .Values.postgresql.maxConnections) -}}
{{- fail (printf "postgresql.maxConnections is %v, and the pods may open %v connections, ten are kept besides: raise it, or lower replicas or settings.SCRAPIFIE_DATABASE_POOL" .Values.postgresql.maxConnections $wanted) -}}
{{- end -}}
{{- end -}}
