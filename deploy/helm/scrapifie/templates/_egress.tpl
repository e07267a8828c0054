{{/* What a pod may reach. Takes (dict "root" $ "hasInternet" true "internetPorts" (list 443)); no ports: every one. */}}

{{- define "scrapifie.egress" -}}
{{- $root := .root -}}
{{- $policy := $root.Values.networkPolicy -}}
- ports:
    - {port: 53, protocol: UDP}
    - {port: 53, protocol: TCP}
  to:
    {{- toYaml $policy.dns | nindent 4 }}
{{- range $service, $port := dict "postgresql" 5432 "redis" 6379 "minio" 9000 }}
{{- if include "scrapifie.bundles" (dict "root" $root "service" $service) }}
- ports:
    - {port: {{ $port }}, protocol: TCP}
  to:
    - podSelector:
        matchLabels:
          {{- include "scrapifie.selectorLabels" (dict "root" $root "component" $service) | nindent 10 }}
{{- end }}
{{- end }}
{{- range $policy.servers }}
- ports:
    - {port: {{ .port }}, protocol: TCP}
  to:
    - ipBlock:
        cidr: {{ .cidr }}
{{- end }}
{{- if .hasInternet }}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          {{- toYaml $policy.privateRanges | nindent 10 }}
    - ipBlock:
        cidr: ::/0
        except:
          {{- toYaml $policy.privateRangesIpv6 | nindent 10 }}
  ports:
    {{- if .internetPorts }}
    {{- range .internetPorts }}
    - {port: {{ . }}, protocol: TCP}
    {{- end }}
    {{- else }}
    - {port: 1, endPort: 65535, protocol: TCP}
    {{- end }}
{{- end }}
{{- with $policy.extraEgress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
