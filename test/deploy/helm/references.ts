import type { Manifest } from './engine.ts';

/** A container, an init container or a pod of a manifest, with the pod around it. */
interface Pod {
  readonly owner: string;
  readonly labels: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes say what a pod is
  readonly spec: any;
}

/** Objects that manifests name without making them; the values or the documentation say that they must exist. */
export type Declared = ReadonlySet<string>;

const nameOf = ({ kind, metadata }: Manifest): string => `${kind}/${metadata.name}`;

export function podsOf(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap((manifest) => {
    const { kind, spec } = manifest;
    const template =
      kind === 'Pod' ? manifest : kind === 'CronJob' ? spec.jobTemplate.spec.template : spec?.template;
    if (template?.spec?.containers === undefined) return [];
    return [{ owner: nameOf(manifest), labels: template.metadata.labels, spec: template.spec }];
  });
}

/** What manifests name and no manifest is: Secrets, ConfigMaps, accounts, ports, targets, labels. Empty: all is there. */
export function danglingReferences(manifests: readonly Manifest[], declared: Declared): readonly string[] {
  const byName = new Map(manifests.map((manifest) => [nameOf(manifest), manifest]));
  // The operator makes the Secret of the same name.
  const made = new Set([...byName.keys(), ...declared]);
  for (const { kind, spec } of manifests)
    if (kind === 'ExternalSecret') made.add(`Secret/${spec.target.name}`);
  const problems: string[] = [];
  const need = (owner: string, name: string) => {
    if (!made.has(name)) problems.push(`${owner} needs ${name}`);
  };
  const needKey = (owner: string, name: string, key: string) => {
    need(owner, name);
    const found = byName.get(name);
    const data: Readonly<Record<string, string>> | undefined = found?.data ?? found?.stringData;
    if (data !== undefined && !(key in data)) problems.push(`${owner} needs the key ${key} of ${name}`);
  };
  const pods = podsOf(manifests);
  for (const pod of pods) checkPod(pod, { problems, need, needKey });
  const selects = (owner: string, labels: Readonly<Record<string, string>>) => {
    const found = pods.filter((pod) =>
      Object.entries(labels).every(([name, value]) => pod.labels[name] === value),
    );
    if (found.length === 0) problems.push(`${owner} selects no pod`);
    return found;
  };
  for (const manifest of manifests) {
    const { kind, spec } = manifest;
    const owner = nameOf(manifest);
    if (kind === 'Service') {
      const portNames = selects(owner, spec.selector).flatMap(({ spec: pod }) =>
        pod.containers.flatMap(({ ports = [] }: { ports?: { name: string }[] }) =>
          ports.map(({ name }) => name),
        ),
      );
      for (const { targetPort } of spec.ports) {
        if (!portNames.includes(targetPort))
          problems.push(`${owner} leads to the port ${targetPort}, which no pod has`);
      }
    }
    if (kind === 'Deployment' || kind === 'StatefulSet') {
      const own = spec.template.metadata.labels;
      for (const [label, value] of Object.entries(spec.selector.matchLabels)) {
        if (own[label] !== value) problems.push(`${owner} does not select its own pods by ${label}`);
      }
      if (selects(owner, spec.selector.matchLabels).length > 1)
        problems.push(`${owner} selects pods of others`);
    }
    if (kind === 'StatefulSet') need(owner, `Service/${spec.serviceName}`);
    if (kind === 'PodDisruptionBudget') selects(owner, spec.selector.matchLabels);
    if (kind === 'HorizontalPodAutoscaler') need(owner, `Deployment/${spec.scaleTargetRef.name}`);
    if (kind === 'ScaledObject') need(owner, `Deployment/${spec.scaleTargetRef.name}`);
    if (kind === 'Ingress') {
      for (const { http } of spec.rules) {
        for (const { backend } of http.paths) need(owner, `Service/${backend.service.name}`);
      }
    }
    if (kind === 'HTTPRoute') {
      for (const { backendRefs } of spec.rules)
        for (const { name } of backendRefs) need(owner, `Service/${name}`);
    }
    if (kind === 'ExternalSecret') need(owner, `${spec.secretStoreRef.kind}/${spec.secretStoreRef.name}`);
    if (kind === 'SecretStore')
      need(owner, `ServiceAccount/${spec.provider.aws.auth.jwt.serviceAccountRef.name}`);
    if (kind === 'ServiceMonitor') {
      const labels = Object.entries<string>(spec.selector.matchLabels);
      const services = manifests.filter(
        (each) =>
          each.kind === 'Service' && labels.every(([name, value]) => each.metadata.labels?.[name] === value),
      );
      if (services.length !== 1) problems.push(`${owner} selects ${services.length} Services`);
      for (const { port, authorization } of spec.endpoints) {
        if (!services.every((each) => each.spec.ports.some(({ name }: { name: string }) => name === port))) {
          problems.push(`${owner} asks for the port ${port}, which its Service does not have`);
        }
        if (authorization !== undefined) {
          const { name, key } = authorization.credentials;
          needKey(owner, `Secret/${name}`, key);
        }
      }
    }
    if (kind === 'NetworkPolicy') {
      // Jobs may be none in an installation; the policy for them stands for those to come.
      if (!('scrapifie/client' in spec.podSelector.matchLabels)) selects(owner, spec.podSelector.matchLabels);
      for (const { to = [] } of spec.egress ?? []) {
        for (const { podSelector, namespaceSelector } of to) {
          if (podSelector !== undefined && namespaceSelector === undefined)
            selects(owner, podSelector.matchLabels);
        }
      }
    }
  }
  return problems;
}

interface Checks {
  readonly problems: string[];
  need(owner: string, name: string): void;
  needKey(owner: string, name: string, key: string): void;
}

function checkPod({ owner, spec }: Pod, { problems, need, needKey }: Checks): void {
  if (spec.serviceAccountName !== undefined) need(owner, `ServiceAccount/${spec.serviceAccountName}`);
  if (spec.priorityClassName !== undefined) need(owner, `PriorityClass/${spec.priorityClassName}`);
  for (const { name } of spec.imagePullSecrets ?? []) need(owner, `Secret/${name}`);
  const volumes = new Set<string>();
  for (const { name, secret, configMap, persistentVolumeClaim } of spec.volumes ?? []) {
    volumes.add(name);
    if (secret !== undefined) need(owner, `Secret/${secret.secretName}`);
    if (configMap !== undefined) need(owner, `ConfigMap/${configMap.name}`);
    if (persistentVolumeClaim !== undefined)
      need(owner, `PersistentVolumeClaim/${persistentVolumeClaim.claimName}`);
  }
  for (const container of spec.containers) {
    for (const { name, value, valueFrom } of container.env ?? []) {
      const key = valueFrom?.secretKeyRef;
      if (key !== undefined) needKey(owner, `Secret/${key.name}`, key.key);
      if (value === undefined && valueFrom === undefined) problems.push(`${owner}: ${name} has no value`);
    }
    checkComposed(owner, container.env ?? [], problems);
    for (const { configMapRef } of container.envFrom ?? []) need(owner, `ConfigMap/${configMapRef.name}`);
    const ports = new Set((container.ports ?? []).map(({ name }: { name: string }) => name));
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const asked = container[probe]?.httpGet ?? container[probe]?.tcpSocket;
      if (asked !== undefined && !ports.has(asked.port)) {
        problems.push(
          `${owner}: the ${probe} asks for the port ${asked.port}, which the container does not have`,
        );
      }
    }
  }
}

/** `$(NAME)` in a value stands for a variable before it; Kubernetes leaves it as it is where there is none. */
function checkComposed(
  owner: string,
  variables: readonly { readonly name: string; readonly value?: string }[],
  problems: string[],
): void {
  const before = new Set<string>();
  for (const { name, value = '' } of variables) {
    if (before.has(name)) problems.push(`${owner}: ${name} is set twice`);
    for (const [, used = ''] of value.matchAll(/\$\(([A-Z_]+)\)/g)) {
      if (!before.has(used)) problems.push(`${owner}: ${name} uses ${used}, which is not set before it`);
    }
    before.add(name);
  }
}
