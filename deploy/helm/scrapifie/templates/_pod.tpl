{{/* Pods: what those of every role, and of the jobs, have in common. */}}

{{- define "scrapifie.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.security.user }}
runAsGroup: {{ .Values.security.group }}
fsGroup: {{ .Values.security.group }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  {{- toYaml .Values.security.seccompProfile | nindent 2 }}
{{- end -}}

{{- define "scrapifie.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* What a pod has whatever it runs. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.podBase" -}}
{{- $values := .root.Values -}}
{{- $role := index $values.roles .role -}}
serviceAccountName: {{ include "scrapifie.serviceAccountName" .root }}
# Nothing in the pod speaks to the Kubernetes API. The tokens of IRSA and Pod Identity are volumes of their own.
automountServiceAccountToken: false
# Else Kubernetes would set a variable for every Service of this chart, which the program refuses as unknown settings.
enableServiceLinks: false
securityContext:
  {{- include "scrapifie.podSecurity" .root | nindent 2 }}
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- $made := ternary "workers" "front" (contains "worker" .role) -}}
{{- if $role.priorityClassName }}
priorityClassName: {{ $role.priorityClassName }}
{{- else if $values.priorityClasses.create }}
priorityClassName: {{ include "scrapifie.fullname" .root }}-{{ $made }}
{{- end }}
{{- with $role.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $role.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $role.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The pod of a role: metadata and spec of a pod template. Takes (dict "root" $ "role" "api"). */}}
{{- define "scrapifie.rolePod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $role := index $values.roles .role -}}
{{- $fullname := include "scrapifie.fullname" $root -}}
{{- $hasBrowser := has .role (list "all" "browser-worker" "stealth-worker") -}}
metadata:
  labels:
    {{- include "scrapifie.podLabels" (dict "root" $root "component" .role) | nindent 4 }}
    scrapifie/metrics: "true"
    scrapifie/uses-servers: "true"
    {{- with $role.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # Pods are replaced when a setting changes, because settings are read once, at start.
    checksum/settings: {{ include "scrapifie.settings" $root | sha256sum }}
    {{- with $role.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "scrapifie.podBase" . | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "scrapifie.graceSeconds" . }}
  {{- if ne .role "all" }}
  topologySpreadConstraints:
    {{- range $key := $values.topologyKeys }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "scrapifie.selectorLabels" (dict "root" $root "component" $.role) | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: scrapifie
      image: {{ include "scrapifie.image" . }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [serve]
      securityContext:
        {{- include "scrapifie.containerSecurity" $root | nindent 8 }}
        {{- if $hasBrowser }}
        {{- with $values.security.browserSeccompProfile }}
        seccompProfile:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- with $values.security.browserAppArmorProfile }}
        appArmorProfile:
          {{- toYaml . | nindent 10 }}
        {{- end }}
        {{- end }}
      ports:
        - name: http
          containerPort: 3000
        {{- if and (has .role (list "api" "all")) $values.firecrawl.port }}
        - name: firecrawl
          containerPort: {{ $values.firecrawl.port }}
        {{- end }}
      env:
        {{- include "scrapifie.environment" . | nindent 8 }}
        {{- if and (has .role (list "api" "all")) $values.firecrawl.port }}
        - name: SCRAPIFIE_FIRECRAWL_PORT
          value: {{ $values.firecrawl.port | quote }}
        {{- end }}
        {{- if and $hasBrowser $values.security.unconfinedBrowsers }}
        - name: SCRAPIFIE_UNCONFINED_BROWSERS
          value: "true"
        {{- end }}
      envFrom:
        - configMapRef:
            name: {{ $fullname }}-settings
      startupProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 2
        timeoutSeconds: 3
        failureThreshold: {{ $values.probes.startupAttempts }}
      livenessProbe:
        httpGet: {path: /healthz, port: http}
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # Each look writes, reads and deletes a probe in the object store, so it comes no more often than needed.
      readinessProbe:
        httpGet: {path: /readyz, port: http}
        periodSeconds: {{ $values.probes.readinessSeconds }}
        timeoutSeconds: 5
        failureThreshold: 2
      {{- if eq .role "api" }}
      lifecycle:
        # Proxies of the cluster learn that the pod ends while it still answers; SIGTERM comes after this.
        preStop:
          sleep:
            seconds: {{ $values.drain.preStopSeconds }}
      {{- end }}
      resources:
        {{- toYaml $role.resources | nindent 8 }}
      volumeMounts:
        - {name: data, mountPath: /data}
        - {name: tmp, mountPath: /tmp}
        {{- if $hasBrowser }}
        - {name: shm, mountPath: /dev/shm}
        {{- end }}
        {{- if or $values.policy.content $values.policy.existingConfigMap }}
        - {name: policy, mountPath: /etc/scrapifie/policy, readOnly: true}
        {{- end }}
        {{- if $values.proxies.existingSecret }}
        - {name: proxies, mountPath: /etc/scrapifie/proxies, readOnly: true}
        {{- end }}
  volumes:
    {{- if ne .role "all" }}
    - name: data
      emptyDir:
        sizeLimit: {{ $role.dataSize }}
    {{- else if $values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ $values.persistence.existingClaim }}
    {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: {{ $role.tmpSize }}
    {{- if $hasBrowser }}
    # Chromium shares memory between its processes here; it counts as memory of the container.
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: {{ $role.sharedMemory }}
    {{- end }}
    {{- if or $values.policy.content $values.policy.existingConfigMap }}
    - name: policy
      configMap:
        name: {{ default (printf "%s-policy" $fullname) $values.policy.existingConfigMap }}
    {{- end }}
    {{- if $values.proxies.existingSecret }}
    - name: proxies
      secret:
        secretName: {{ $values.proxies.existingSecret }}
    {{- end }}
{{- end -}}
