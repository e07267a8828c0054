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
