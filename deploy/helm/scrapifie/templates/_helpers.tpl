{{/* Names, labels and choices that several templates share. */}}

{{/* At most 40 characters: Kubernetes puts the name of a StatefulSet and a hash into a label, which has 63. */}}
{{- define "scrapifie.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains "scrapifie" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-scrapifie" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels of every object. Takes (dict "root" $ "component" "api"). */}}
{{- define "scrapifie.labels" -}}
{{ include "scrapifie.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: scrapifie
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels of pods: without the version of the chart, because a pod is replaced when one of its labels changes. */}}
{{- define "scrapifie.podLabels" -}}
{{ include "scrapifie.selectorLabels" . }}
app.kubernetes.io/part-of: scrapifie
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Labels that selectors use: they never change between versions, because selectors of Deployments cannot. */}}
{{- define "scrapifie.selectorLabels" -}}
app.kubernetes.io/name: scrapifie
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* The roles of this installation, as a list in JSON: `all` for one process, else the enabled parts of the fleet. */}}
{{- define "scrapifie.roles" -}}
{{- if eq .Values.mode "single" -}}
{{- list "all" | toJson -}}
{{- else -}}
{{- $roles := list -}}
{{- range $role := list "api" "http-worker" "browser-worker" "stealth-worker" "scheduler" -}}
{{- if (index $.Values.roles $role).enabled -}}{{- $roles = append $roles $role -}}{{- end -}}
{{- end -}}
{{- $roles | toJson -}}
{{- end -}}
{{- end -}}

{{/* The role that answers clients. */}}
{{- define "scrapifie.apiRole" -}}
{{- if eq .Values.mode "single" -}}all{{- else -}}api{{- end -}}
{{- end -}}

{{/* Name of the Deployment or StatefulSet of a role. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.roleName" -}}
{{- if eq .role "all" -}}{{ include "scrapifie.fullname" .root }}{{- else -}}{{ include "scrapifie.fullname" .root }}-{{ .role }}{{- end -}}
{{- end -}}

{{/* The image of a role: with a browser where pages are rendered, else the smaller one. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.image" -}}
{{- $image := .root.Values.image -}}
{{- $hasBrowser := has .role (list "all" "browser-worker" "stealth-worker") -}}
{{- $digest := ternary $image.digest $image.slimDigest $hasBrowser -}}
{{- $tag := default .root.Chart.AppVersion $image.tag -}}
{{- if $digest -}}
{{- printf "%s@%s" $image.repository $digest -}}
{{- else -}}
{{- printf "%s:%s%s" $image.repository $tag (ternary "" $image.slimSuffix $hasBrowser) -}}
{{- end -}}
{{- end -}}

{{- define "scrapifie.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "scrapifie.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- required "serviceAccount.name must name a ServiceAccount when serviceAccount.create is false" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* The Secret that all secrets of the installation are read from. */}}
{{- define "scrapifie.secretName" -}}
{{- if eq .Values.secrets.source "existing" -}}
{{- required "secrets.name must name your Secret when secrets.source is existing" .Values.secrets.name -}}
{{- else -}}
{{- default (printf "%s-secrets" (include "scrapifie.fullname" .)) .Values.secrets.name -}}
{{- end -}}
{{- end -}}

{{/* "true" where the chart runs this server itself. Takes (dict "root" $ "service" "postgresql"). One process needs none of them. */}}
{{- define "scrapifie.bundles" -}}
{{- if and (eq .root.Values.mode "fleet") (index .root.Values .service).bundled -}}true{{- end -}}
{{- end -}}

{{/* Seconds until a pod that was told to stop is killed. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.graceSeconds" -}}
{{- $drain := .root.Values.drain -}}
{{- $notice := ternary (add $drain.preStopSeconds $drain.noticeSeconds) 0 (eq .role "api") -}}
{{- add $notice $drain.seconds $drain.closeSeconds -}}
{{- end -}}
