import { parseEnv } from 'node:util';
import { type Distrust, readFolderFile } from './folder-trust.ts';
import { environmentName, settingNames, settingsSchema } from './settings.ts';

/** What a `.env` that is not trusted sets, beyond what any file may set. */
export interface IgnoredSettings {
  readonly path: string;
  readonly distrust: Distrust;
  /** Names of the variables that are ignored. */
  readonly variables: readonly string[];
}

export interface DotEnv {
  readonly variables: NodeJS.ProcessEnv;
  /** Null when all that it says counts. */
  readonly ignored: IgnoredSettings | null;
}

const NOTHING: DotEnv = { variables: {}, ignored: null };

/** Tells whether the setting counts from the `.env` of a folder that is not trusted. */
export const isFromAnyFolder = (name: (typeof settingNames)[number]): boolean =>
  settingsSchema.shape[name].meta()?.fromAnyFolder === true;

const FROM_ANY_FOLDER: ReadonlySet<string> = new Set(
  settingNames.filter(isFromAnyFolder).map(environmentName),
);
/** Variables of this program, and those of OpenTelemetry that stand in for them where its settings are left out. */
const READ_BY_US = /^(?:SCRAPIFIE|OTEL)_\w+$/;

/**
 * The variables of `.env` in the folder. Of a file that is not trusted only those count whose settings may come from any
 * folder, and never a `_FILE`, which would read a file of this machine.
 */
export function readDotEnv(
  cwd: string,
  environment: NodeJS.ProcessEnv,
  report: (variable: string, problem: string) => void,
): DotEnv {
  let file: ReturnType<typeof readFolderFile>;
  try {
    file = readFolderFile(cwd, '.env', environment);
  } catch (error) {
    report('.env', `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
    return NOTHING;
  }
  if (file === null) return NOTHING;
  const { path, text, distrust } = file;
  const variables = parseEnv(text);
  if (distrust === null) {
    // parseEnv passes over lines it cannot read; for ours that would be a setting accepted and ignored.
    for (const [, variable = ''] of text.matchAll(
      /^[ \t]*(?:export[ \t]+)?(SCRAPIFIE_\w*)(?![ \t]*=|\w)/gm,
    )) {
      report(variable, 'has no = after its name');
    }
    return { variables, ignored: null };
  }
  const given = Object.entries(variables);
  const ignored = given.flatMap(([name, value = '']) =>
    // What the environment gives would not have counted either.
    READ_BY_US.test(name) &&
    !FROM_ANY_FOLDER.has(name) &&
    value.trim() !== '' &&
    environment[name] === undefined
      ? [name]
      : [],
  );
  return {
    variables: Object.fromEntries(given.filter(([name]) => FROM_ANY_FOLDER.has(name))),
    ignored: ignored.length === 0 ? null : { path, distrust, variables: ignored },
  };
}

/** A setting that a standard variable of OpenTelemetry gives. */
export interface OtelSetting {
  readonly setting:
    | 'otelUrl'
    | 'otelHeaders'
    | 'otelServiceName'
    | 'otelAttributes'
    | 'traceRatio'
    | 'traceQueue';
  readonly variable: string;
  readonly value: string;
}

type Report = (variable: string, problem: string) => void;

const DEFAULT_ENDPOINT = 'http://localhost:4318';
const TRACES_PATH = '/v1/traces';
const PROTOCOL = 'http/protobuf';
const RATIOS: Readonly<Record<string, string>> = { parentbased_always_on: '1', parentbased_always_off: '0' };
const RATIO_SAMPLER = 'parentbased_traceidratio';

/**
 * Reads the standard variables of OpenTelemetry as settings of the same meaning. They count only where they name a receiver:
 * such variables are often set for all programs of a machine. Headers are for the receiver that stands beside them.
 */
export function otelSettings(variables: NodeJS.ProcessEnv, report: Report): readonly OtelSetting[] {
  const read = (name: string) => variables[name]?.trim() || undefined;
  const first = (...names: string[]) => names.find((name) => read(name) !== undefined) ?? '';
  const endpoint = endpointOf(read, report);
  if (endpoint === null) return [];
  const protocol = first('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== '' && read(protocol) !== PROTOCOL) report(protocol, `must be ${PROTOCOL}`);
  const given = (setting: OtelSetting['setting'], variable: string): OtelSetting[] => {
    const value = read(variable);
    return value === undefined ? [] : [{ setting, variable, value }];
  };
  return [
    endpoint,
    ...given('otelHeaders', first('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS')),
    ...given('otelAttributes', 'OTEL_RESOURCE_ATTRIBUTES'),
    ...given('otelServiceName', 'OTEL_SERVICE_NAME'),
    ...given('traceQueue', 'OTEL_BSP_MAX_QUEUE_SIZE'),
    ...ratioOf(read, report),
  ];
}

/** Null when no receiver is named, or tracing is turned off. */
function endpointOf(read: (name: string) => string | undefined, report: Report): OtelSetting | null {
  const exporter = read('OTEL_TRACES_EXPORTER');
  if (exporter === 'none' || read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null;
  if (exporter !== undefined && exporter !== 'otlp') report('OTEL_TRACES_EXPORTER', 'must be otlp or none');
  const own = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  if (own !== undefined)
    return { setting: 'otelUrl', variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', value: own };
  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (base === undefined && exporter !== 'otlp') return null;
  const variable = base === undefined ? 'OTEL_TRACES_EXPORTER' : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  return {
    setting: 'otelUrl',
    variable,
    value: `${(base ?? DEFAULT_ENDPOINT).replace(/\/+$/, '')}${TRACES_PATH}`,
  };
}

function ratioOf(read: (name: string) => string | undefined, report: Report): OtelSetting[] {
  const sampler = read('OTEL_TRACES_SAMPLER');
  if (sampler === undefined) return [];
  const fixed = RATIOS[sampler];
  if (fixed !== undefined) return [{ setting: 'traceRatio', variable: 'OTEL_TRACES_SAMPLER', value: fixed }];
  if (sampler !== RATIO_SAMPLER) {
    report('OTEL_TRACES_SAMPLER', `must be ${[...Object.keys(RATIOS), RATIO_SAMPLER].join(', ')}`);
    return [];
  }
  const value = read('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  return [{ setting: 'traceRatio', variable: 'OTEL_TRACES_SAMPLER_ARG', value }];
}
