import { parse } from 'yaml';
import type { DeployedProcess, Deployment } from '../deployment.ts';
import { imageConfig, readText, stagesOf } from './dockerfile.ts';

interface Service {
  readonly image?: string;
  readonly build?: { readonly target?: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number | null>>;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly (string | { readonly target: string; readonly read_only?: boolean })[];
  readonly secrets?: readonly (string | { readonly source: string; readonly target?: string })[];
  readonly ports?: readonly (string | { readonly target: number })[];
  readonly stop_grace_period?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly deploy?: { readonly labels?: Readonly<Record<string, string>> };
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets?: Readonly<Record<string, { readonly file?: string; readonly external?: boolean }>>;
}

/** Docker's own default, when a service does not set `stop_grace_period`. */
const DEFAULT_GRACE = '10s';
/** The images of the Dockerfile: `scrapifie:TAG` has a browser, `scrapifie:TAG-slim` has none. */
const IMAGE = /^scrapifie:latest(-slim)?$/;

/** A compose file as Docker reads it, with the defaults of its variables; `given` has those without a default. */
export function readCompose(path: string, given: Readonly<Record<string, string>> = {}): ComposeFile {
  return parse(interpolated(readText(path), given), { merge: true }) as ComposeFile;
}

/** The processes of Scrapifie that a compose file, or a Swarm stack, starts. */
export function composeDeployment(path: string, given: Readonly<Record<string, string>> = {}): Deployment {
  const { services } = readCompose(path, given);
  const stages = stagesOf(readText('Dockerfile'));
  const processes = Object.entries(services).flatMap(([name, service]) => {
    const [isOurs, slim] = IMAGE.exec(service.image ?? '') ?? [];
    if (isOurs === undefined) return [];
    const target = slim === undefined ? 'browser' : 'slim';
    if ((service.build?.target ?? target) !== target)
      throw new Error(`${path}: ${name} builds another image than it names.`);
    return [processOf(name, service, imageConfig(stages, target))];
  });
  return { name: path, processes };
}

function processOf(name: string, service: Service, image: ReturnType<typeof imageConfig>): DeployedProcess {
  const own = Object.entries(service.environment ?? {}).map(([key, value]) => [key, String(value ?? '')]);
  const variables = { ...image.variables, ...Object.fromEntries(own) };
  const mounts = (service.volumes ?? []).map((volume) =>
    typeof volume === 'string'
      ? { target: targetOf(volume), isReadOnly: volume.endsWith(':ro') }
      : { target: volume.target, isReadOnly: volume.read_only === true },
  );
  const labels = Object.entries(service.deploy?.labels ?? {});
  const labelled = (end: string) => labels.flatMap(([label, value]) => (label.endsWith(end) ? [value] : []));
  const check = service.healthcheck?.test.join(' ') ?? image.healthcheck.join(' ');
  const asked = check.replace(/\$\{process\.env\.(\w+)\}/, (_, name: string) => variables[name] ?? '');
  const [, checkedPort, checkedPath] = /http:\/\/127\.0\.0\.1:(\d+)(\/\w+)/.exec(asked) ?? [];
  const published = (service.ports ?? []).map((port) =>
    typeof port === 'string'
      ? Number(
          port
            .split(':')
            .at(-1)
            ?.replace(/\/\w+$/, ''),
        )
      : port.target,
  );
  return {
    name,
    args: service.command ?? image.command,
    variables,
    secretFiles: (service.secrets ?? []).map(secretPath),
    writable: [
      ...(service.tmpfs ?? []).map((entry) => entry.split(':')[0] ?? ''),
      ...mounts.filter(({ isReadOnly }) => !isReadOnly).map(({ target }) => target),
      ...image.volumes,
    ],
    readable: mounts.filter(({ isReadOnly }) => isReadOnly).map(({ target }) => target),
    isReadOnly: service.read_only === true,
    user: service.user ?? image.user,
    hasBrowser: 'SCRAPIFIE_BROWSER_PATH' in image.variables,
    ports: [...published, Number(checkedPort), ...labelled('loadBalancer.server.port').map(Number)],
    httpPaths: [checkedPath ?? 'no path', ...labelled('healthCheck.path')],
    graceMs: durationMs(service.stop_grace_period ?? DEFAULT_GRACE),
  };
}

const secretPath = (secret: NonNullable<Service['secrets']>[number]): string =>
  `/run/secrets/${typeof secret === 'string' ? secret : (secret.target ?? secret.source)}`;

/** `./a:/b:ro` → `/b`; a volume without a name has its path alone. */
const targetOf = (volume: string): string => {
  const parts = volume.replace(/:r[ow]$/, '').split(':');
  return parts.at(-1) ?? '';
};

/** Reads a duration of Compose: `1m30s` is 90,000 ms. */
export function durationMs(text: string): number {
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
  return [...text.matchAll(/(\d+)(ms|s|m|h)/g)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (units[unit] ?? 0),
    0,
  );
}

/** `${NAME}`, `${NAME:-default}` and `${NAME:?why}`; `$$` stays, as a dollar sign for the container. */
function interpolated(text: string, given: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (all, name?: string, fallback?: string) => {
    if (name === undefined) return '$';
    const value = given[name] ?? fallback;
    if (value === undefined) throw new Error(`The variable ${name} of ${all} has no value.`);
    return value;
  });
}
