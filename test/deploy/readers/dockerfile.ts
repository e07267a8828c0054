import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One line of a Dockerfile, its continuations joined and its comments left out. */
export interface Instruction {
  /** In capitals, such as `COPY`. */
  readonly keyword: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** The stage or the image that it begins with. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** What `docker run` does with an image unless it is told otherwise. */
export interface ImageConfig {
  readonly variables: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
  readonly stopSignal: string;
}

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
export const readText = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

export function stagesOf(text: string): readonly Stage[] {
  const lines = text.replace(/^\s*#.*\n/gm, '').replace(/\\\n\s*/g, ' ');
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const [, word = '', rest = ''] of lines.matchAll(/^([A-Za-z]+)\s+(.*?)\s*$/gm)) {
    const keyword = word.toUpperCase();
    if (keyword === 'FROM') {
      const [from = '', name] = rest.replace(/--\S+\s+/g, '').split(/\s+AS\s+/i);
      stages.push({ name: name ?? String(stages.length), from, instructions: [] });
    } else stages.at(-1)?.instructions.push({ keyword, text: rest });
  }
  return stages;
}

/** The configuration of the image that a stage makes, with what it has from the stages below it. */
export function imageConfig(stages: readonly Stage[], target: string): ImageConfig {
  const stage = stages.find(({ name }) => name === target);
  if (stage === undefined) throw new Error(`The Dockerfile has no stage ${target}.`);
  const isOwn = stages.some(({ name }) => name === stage.from);
  let config: ImageConfig = isOwn
    ? imageConfig(stages, stage.from)
    : {
        variables: {},
        user: '',
        workdir: '/',
        entrypoint: [],
        command: [],
        healthcheck: [],
        ports: [],
        volumes: [],
        stopSignal: 'SIGTERM',
      };
  for (const { keyword, text } of stage.instructions)
    config = { ...config, ...changeOf(keyword, text, config) };
  return config;
}

function changeOf(keyword: string, text: string, config: ImageConfig): Partial<ImageConfig> {
  switch (keyword) {
    case 'ENV':
      return { variables: { ...config.variables, ...variablesOf(text) } };
    case 'USER':
      return { user: text };
    case 'WORKDIR':
      return { workdir: text };
    case 'ENTRYPOINT':
      return { entrypoint: JSON.parse(text) as string[], command: [] };
    case 'CMD':
      return { command: JSON.parse(text) as string[] };
    case 'HEALTHCHECK':
      return { healthcheck: JSON.parse(text.replace(/^.*?CMD\s+/, '')) as string[] };
    case 'EXPOSE':
      return { ports: [...config.ports, ...text.split(/\s+/).map((port) => Number.parseInt(port, 10))] };
    case 'VOLUME':
      return { volumes: [...config.volumes, ...text.split(/\s+/)] };
    case 'STOPSIGNAL':
      return { stopSignal: text };
    default:
      return {};
  }
}

const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)=(?:"([^"]*)"|(\S*))/g)].map(([, name, quoted, bare]) => [name, quoted ?? bare]),
  );
