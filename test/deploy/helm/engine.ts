import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const CHART = join(ROOT, 'deploy/helm/scrapifie');
const RELEASE = { release: 'scrapifie', namespace: 'scraping', kubeVersion: '1.34.0' } as const;

export type Values = Readonly<Record<string, unknown>>;

/** An object of Kubernetes as the chart renders it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes say what the fields are; tests look at few of them
  readonly [field: string]: any;
}

export interface Rendered {
  readonly manifests: readonly Manifest[];
  readonly notes: string;
}

interface Asked {
  readonly release?: string;
  readonly kubeVersion?: string;
  /** Objects that `lookup` finds, by kind/name. */
  readonly cluster?: Readonly<Record<string, object>>;
}

type Result = { readonly files: Readonly<Record<string, string>> } | { readonly error: string };

/** Only Debian and its kin have the libraries that Helm renders with as packages; scripts/servers.sh installs them there. */
export const canRender = (): boolean => existsSync('/usr/bin/apt-get');

/** Renders the chart once for each set of values, by one start of the engine. A set that is refused gives an Error. */
export function renderAll(sets: readonly Values[], asked: Asked = {}): readonly (Rendered | Error)[] {
  const program = execFileSync('sh', [join(ROOT, 'scripts/helm-engine.sh')], { encoding: 'utf8' }).trim();
  const input = JSON.stringify({ chart: CHART, ...RELEASE, ...asked, sets });
  const answer = execFileSync(program, { input, encoding: 'utf8', maxBuffer: 64 * 1_048_576 });
  return (JSON.parse(answer) as Result[]).map((result) =>
    'error' in result ? new Error(result.error) : readFiles(result.files),
  );
}

export function render(values: Values, asked: Asked = {}): Rendered {
  const [rendered] = renderAll([values], asked);
  if (rendered === undefined || rendered instanceof Error)
    throw rendered ?? new Error('nothing was rendered');
  return rendered;
}

/** Kubernetes reads YAML 1.1, in which `yes` and `on` are true; keys that stand twice are an error. */
export function readManifests(text: string, name: string): readonly Manifest[] {
  return parseAllDocuments(text, { version: '1.1', uniqueKeys: true }).flatMap((document) => {
    const [problem] = document.errors;
    if (problem !== undefined) throw new Error(`${name}: ${problem.message}`);
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

function readFiles(files: Readonly<Record<string, string>>): Rendered {
  const manifests = Object.entries(files)
    .filter(([name]) => name.endsWith('.yaml'))
    .flatMap(([name, text]) => readManifests(text, name));
  return { manifests, notes: files['templates/NOTES.txt'] ?? '' };
}
