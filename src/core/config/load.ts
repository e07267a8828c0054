import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { isFolderOfOthers, whyDistrusted } from './folder-trust.ts';
import { nearestName } from './nearest-name.ts';
import { parsePlainly } from './plain-problems.ts';
import { pluginPaths } from './plugin-part.ts';
import { settingConflicts } from './setting-conflicts.ts';
import type { SettingSource } from './setting-list.ts';
import { type IgnoredSettings, otelSettings, readDotEnv } from './setting-sources.ts';
import { environmentName, type Settings, settingNames, settingsSchema } from './settings.ts';

type SettingName = keyof Settings;

/** Settings given on the command line or by code that uses the library, as text or parsed; `undefined` is as good as left out. */
export type SettingOverrides = {
  readonly [Name in SettingName]?: z.input<typeof settingsSchema>[Name] | undefined;
};

export interface LoadOptions {
  /** Where `.env` is looked for and what relative paths start from. */
  readonly cwd: string;
  /** Win over the environment, which wins over `.env`. */
  readonly overrides?: SettingOverrides;
  /** `code`: of the library, which has no flags; problems name its options. */
  readonly overridesFrom?: 'command line' | 'code';
  /**
   * For a server: what its role needs is checked as well, and settings that would be ignored because `.env` is not trusted
   * are a problem. A server without its database or its guards would be another one.
   */
  readonly isServing?: boolean;
  /** Told of settings that are ignored because `.env` is not trusted. */
  readonly onIgnored?: (ignored: IgnoredSettings) => void;
}

/** One entry of the details of INVALID_SETTINGS. Never holds a value: any of them could be a secret. */
export interface SettingProblem {
  /** What the operator wrote: a variable, or the option of the command line. */
  readonly setting: string;
  readonly source: Source;
  readonly problem: string;
}
type Source = Exclude<SettingSource, 'default'>;

interface Given {
  readonly label: string;
  readonly source: Source;
  readonly value: unknown;
}

const settingByVariable = new Map(settingNames.map((name) => [environmentName(name), name] as const));

/**
 * Reads every setting once, at start. A value may stand in the environment, in `.env`, or in a file named by the
 * variable with `_FILE` behind it; an empty value counts as not given. Standard variables of OpenTelemetry count where
 * ours say nothing. Throws one INVALID_SETTINGS that lists every problem, and names variables but no values.
 */
export function loadSettings(environment: NodeJS.ProcessEnv, options: LoadOptions): Settings {
  const problems: SettingProblem[] = [];
  const given = new Map<SettingName, Given>();
  const ignored = collectAll(environment, options.cwd, given, problems);
  if (ignored !== null && options.isServing === true) {
    problems.push({ setting: '.env', source: '.env', problem: `is not used: ${ignoredText(ignored)}` });
  } else if (ignored !== null) options.onIgnored?.(ignored);
  const { overridesFrom: source = 'command line' } = options;
  for (const name of settingNames) {
    const value = options.overrides?.[name];
    if (value !== undefined) {
      const label = source === 'code' ? `settings.${name}` : optionName(name);
      given.set(name, { label, source, value });
    }
  }

  const values = Object.fromEntries([...given].map(([name, { value }]) => [name, value]));
  const parsed = parsePlainly(settingsSchema, values);
  const report = (name: SettingName, problem: string): void => {
    const { label, source } = given.get(name) ?? {
      label: environmentName(name),
      source: 'environment' as const,
    };
    problems.push({ setting: label, source, problem });
  };
  const wrong = new Set<string>();
  for (const { path, text } of parsed.problems ?? []) {
    const name = path[0] as SettingName;
    wrong.add(name);
    report(name, text === 'must be a URL' ? 'must be a URL as docs/configuration.md shows it' : text);
  }
  // What is right by itself is checked together even where other settings are wrong, so that one start tells all.
  const sound = Object.fromEntries(Object.entries(values).filter(([name]) => !wrong.has(name)));
  const conflicts = settingConflicts(settingsSchema.parse(sound), wrong, options);
  for (const { name, problem } of conflicts) report(name, problem);
  if (parsed.problems !== null || problems.length > 0) throw invalidSettings(problems);

  const settings = parsed.data;
  const dataDir = resolve(options.cwd, settings.dataDir);
  const isFound = !given.has('dataDir') && settings.databaseUrl === undefined;
  if (options.isServing === true && isFound) refuseFolderOfOthers(dataDir);
  return Object.freeze({
    ...settings,
    dataDir,
    plugins: pluginPaths(settings.plugins)
      .map((path) => resolve(options.cwd, path))
      .join(','),
    ...(settings.replay === undefined ? {} : { replay: resolve(options.cwd, settings.replay) }),
    ...(settings.policyFile === undefined ? {} : { policyFile: resolve(options.cwd, settings.policyFile) }),
    ...(settings.vaultKeyPath === undefined
      ? {}
      : { vaultKeyPath: resolve(options.cwd, settings.vaultKeyPath) }),
  });
}

/**
 * A data folder that is only found, because the program was started beside it, and that another user made, may hold that
 * user's keys and webhooks. Throws DATA_DIR_UNUSABLE.
 */
export function refuseFolderOfOthers(dataDir: string): void {
  if (!isFolderOfOthers(dataDir)) return;
  throw new ScrapifieError(
    'DATA_DIR_UNUSABLE',
    `${dataDir} belongs to another user, whose keys and webhooks would count. Name it with --data-dir or SCRAPIFIE_DATA_DIR if it is the one to use, or start in another folder.`,
  );
}

/** Where each setting that is not left to its default is given. */
export function settingSources(
  environment: NodeJS.ProcessEnv,
  { cwd, overrides = {} }: Pick<LoadOptions, 'cwd' | 'overrides'>,
): ReadonlyMap<string, SettingSource> {
  const given = new Map<SettingName, Given>();
  collectAll(environment, cwd, given, []);
  const sources = new Map<string, SettingSource>([...given].map(([name, { source }]) => [name, source]));
  for (const [name, value] of Object.entries(overrides))
    if (value !== undefined) sources.set(name, 'command line');
  return sources;
}

/** The settings that the environment or `.env` give, right or wrong. */
export function givenSettings(environment: NodeJS.ProcessEnv, cwd: string): ReadonlySet<string> {
  const given = new Map<SettingName, Given>();
  collectAll(environment, cwd, given, []);
  return new Set(given.keys());
}

/** Turns the name of a setting into its option: `dataDir` becomes `--data-dir`. */
function optionName(setting: string): string {
  return `--${setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** What is ignored, why, and what to do. */
export function ignoredText({ path, distrust, variables }: IgnoredSettings): string {
  return `${whyDistrusted(path, distrust)}, and sets ${variables.join(', ')}; read it, and run "scrapifie trust ${dirname(path)}" if it may`;
}

/** Takes the settings out of `.env` and the environment, and those that standard variables give besides. Returns what of `.env` is ignored. */
function collectAll(
  environment: NodeJS.ProcessEnv,
  cwd: string,
  given: Map<SettingName, Given>,
  problems: SettingProblem[],
): IgnoredSettings | null {
  const { variables: dotEnv, ignored } = readDotEnv(cwd, environment, (setting, problem) =>
    problems.push({ setting, source: '.env', problem }),
  );
  collectVariables(dotEnv, '.env', cwd, given, problems);
  collectVariables(environment, 'environment', cwd, given, problems);
  const sourceOf = (variable: string): Source =>
    environment[variable] === undefined ? '.env' : 'environment';
  const hasOwnReceiver = given.has('otelUrl');
  const standard = otelSettings({ ...dotEnv, ...environment }, (variable, problem) => {
    if (!hasOwnReceiver) problems.push({ setting: variable, source: sourceOf(variable), problem });
  });
  for (const { setting, variable, value } of standard) {
    // Headers may hold the key to another receiver.
    const isForOther = setting === 'otelHeaders' && hasOwnReceiver;
    if (given.has(setting) || isForOther) continue;
    put(given, setting, { label: variable, source: sourceOf(variable), value });
  }
  return ignored;
}

/** Takes the settings out of one source; what an earlier source gave for the same setting is replaced. */
function collectVariables(
  variables: NodeJS.ProcessEnv,
  source: Source,
  cwd: string,
  given: Map<SettingName, Given>,
  problems: SettingProblem[],
): void {
  for (const [variable, text] of Object.entries(variables)) {
    if (!variable.startsWith('SCRAPIFIE_') || text === undefined) continue;
    const report = (problem: string): void => void problems.push({ setting: variable, source, problem });

    const name = settingByVariable.get(variable);
    if (name !== undefined) {
      const other = variables[`${variable}_FILE`];
      if (text.trim() !== '' && other !== undefined && other.trim() !== '') {
        report(`is given together with ${variable}_FILE; keep one of them`);
      } else if (other === undefined || other.trim() === '') {
        put(given, name, { label: variable, source, value: text.trim() });
      }
      continue;
    }

    const inFile = variable.endsWith('_FILE') ? settingByVariable.get(variable.slice(0, -5)) : undefined;
    if (inFile !== undefined) {
      if (text.trim() === '') continue;
      const content = readSecret(resolve(cwd, text.trim()), report);
      if (content !== null) put(given, inFile, { label: variable, source, value: content });
      continue;
    }

    const nearest = nearestName(variable, settingByVariable.keys());
    report(`is not a setting${nearest === null ? '' : `; did you mean ${nearest}?`}`);
  }
}

function put(given: Map<SettingName, Given>, name: SettingName, entry: Given): void {
  // An empty variable in the environment takes back what .env says.
  if (entry.value === '') given.delete(name);
  else given.set(name, entry);
}

/** Beyond every setting, JSON with many plans included. */
const MAX_SECRET_LENGTH = 1_000_000;

/** As much of a file as tells whether it is too long: some, such as /dev/zero, have no end. */
function readStart(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(4 * MAX_SECRET_LENGTH + 4);
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, buffer, length, buffer.length - length, null);
      length += read;
      if (read === 0 || length === buffer.length) return buffer.toString('utf8', 0, length);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** Secret files usually end in a newline that is not part of the secret. */
function readSecret(file: string, report: (problem: string) => void): string | null {
  try {
    const content = readStart(file).replace(/\r?\n$/, '');
    if (content.length > MAX_SECRET_LENGTH)
      report(`names a file of more than ${MAX_SECRET_LENGTH} characters`);
    else if (content === '') report('names an empty file');
    else return content;
  } catch (error) {
    report(`names a file that cannot be read (${systemCode(error)})`);
  }
  return null;
}

function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

function invalidSettings(problems: readonly SettingProblem[]): ScrapifieError {
  const lines = problems.map(({ setting, source, problem }) => {
    const where = source === '.env' && setting !== '.env' ? ' (in .env)' : '';
    return `  ${setting}${where} ${problem}`;
  });
  const count = problems.length === 1 ? 'One setting is' : `${problems.length} settings are`;
  return new ScrapifieError('INVALID_SETTINGS', `${count} wrong:\n${lines.join('\n')}`, {
    details: problems,
  });
}
