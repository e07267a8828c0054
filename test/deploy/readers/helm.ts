import { type DeployedProcess, type Deployment, sampleSecret } from '../deployment.ts';
import type { Manifest } from '../helm/engine.ts';
import { podsOf } from '../helm/references.ts';
import { renderedSets } from '../helm/value-sets.ts';
import { imageConfig, readText, stagesOf } from './dockerfile.ts';

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** The processes of Scrapifie that the chart starts, for each of its sets of values. */
export function helmDeployments(): readonly Deployment[] {
  return [...renderedSets()].map(([name, { manifests }]) => ({
    name: `the Helm chart with ${name}`,
    processes: podsOf(manifests).flatMap((pod) =>
      pod.spec.containers
        .filter(({ args }: { args?: readonly string[] }) => args?.[0] === 'serve')
        .map((container: Manifest) => processOf(pod, container, manifests)),
    ),
  }));
}

type Pod = ReturnType<typeof podsOf>[number];

function processOf(
  { owner, labels, spec }: Pod,
  container: Manifest,
  manifests: readonly Manifest[],
): DeployedProcess {
  const stages = stagesOf(readText('Dockerfile'));
  const image = imageConfig(stages, container.image.endsWith('-slim') ? 'slim' : 'browser');
  const ports = new Map<string, number>(
    container.ports.map((port: { name: string; containerPort: number }) => [port.name, port.containerPort]),
  );
  const probes = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet);
  const selects = (service: Manifest) =>
    Object.entries(service.spec.selector).every(([label, value]) => labels[label] === value);
  const services = manifests.filter((each) => each.kind === 'Service' && selects(each));
  const targets: string[] = services.flatMap(({ spec }) =>
    spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
  );
  const mounted = (isReadOnly: boolean): string[] =>
    container.volumeMounts.flatMap((mount: { mountPath: string; readOnly?: boolean }) =>
      (mount.readOnly === true) === isReadOnly ? [mount.mountPath] : [],
    );
  const { runAsUser, runAsGroup } = spec.securityContext;
  return {
    name: owner,
    args: container.args,
    variables: { ...image.variables, ...settingsOf(container, manifests), ...composed(container.env) },
    secretFiles: [],
    writable: mounted(false),
    readable: mounted(true),
    isReadOnly: container.securityContext.readOnlyRootFilesystem,
    user: `${runAsUser}:${runAsGroup}`,
    hasBrowser: 'SCRAPIFIE_BROWSER_PATH' in image.variables,
    ports: [
      ...ports.values(),
      ...[...targets, ...probes.map(({ port }) => port)].map((name) => ports.get(name) ?? 0),
    ],
    httpPaths: [...probes.map(({ path }) => path), ...askedByOthers(manifests)],
    // SIGTERM comes after the pause.
    graceMs: (spec.terminationGracePeriodSeconds - (container.lifecycle?.preStop.sleep.seconds ?? 0)) * 1_000,
  };
}

/** What the ConfigMaps of a container set. */
function settingsOf(container: Manifest, manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  const names: string[] = container.envFrom.map(
    (from: { configMapRef: { name: string } }) => from.configMapRef.name,
  );
  const maps = manifests.filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && names.includes(metadata.name),
  );
  return Object.assign({}, ...maps.map(({ data }) => data));
}

/** Variables as Kubernetes composes them: `$(NAME)` stands for one before it. */
function composed(variables: readonly Variable[]): Readonly<Record<string, string>> {
  const known: Record<string, string> = {};
  for (const { name, value = sampleSecret(name) } of variables) {
    known[name] = value.replace(/\$\(([A-Z_]+)\)/g, (all, other: string) => known[other] ?? all);
  }
  return known;
}

/** Paths that Prometheus and load balancers ask for. */
function askedByOthers(manifests: readonly Manifest[]): readonly string[] {
  return manifests.flatMap(({ kind, spec, metadata }) => {
    if (kind === 'ServiceMonitor') return spec.endpoints.map(({ path }: { path: string }) => path);
    const annotations = kind === 'Ingress' ? Object.entries(metadata.annotations ?? {}) : [];
    return annotations.flatMap(([name, value]) => (name.endsWith('/healthcheck-path') ? [value] : []));
  });
}
