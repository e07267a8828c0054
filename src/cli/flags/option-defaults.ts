import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, type Option } from 'commander';
import { FOLDER_FILES, readFolderFile, whyDistrusted } from '../../core/config/folder-trust.ts';
import { givenSettings } from '../../core/config/load.ts';
import { nearestName } from '../../core/config/nearest-name.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { wordsOf } from '../output/help.ts';
import { tellOnce } from '../output/screen.ts';
import type { Shell } from '../shell/shell.ts';
import { parseYamlFile, readYamlFile, wrongFile, type YamlFile } from './yaml-file.ts';

/** The file with defaults of options, in the working folder. */
export const [, DEFAULTS_FILE] = FOLDER_FILES;

/** Options whose setting has another name. */
const SETTING_OF: Readonly<Record<string, string>> = { api: 'apiUrl' };
/** Options of which a command takes one: the one that was typed goes before the other one of the file. */
const EITHER: readonly (readonly string[])[] = [['dataDir', 'api']];
/** These make or need no such file. */
const WITHOUT_DEFAULTS: ReadonlySet<string> = new Set(['init', 'completion', 'demo', 'trust']);

/**
 * Gives the options of a command that were not typed the values of the file that `--config` names, or of
 * `scrapifie.yaml` in the working folder where that is trusted: an option may name places, addresses and private networks.
 * An option whose setting stands in the environment or in `.env` keeps that.
 * Throws one INVALID_USAGE with the line of every problem.
 */
export function applyDefaults(
  command: Command,
  shell: Shell,
  config: string | undefined,
  commands: readonly string[],
): void {
  const path = wordsOf(command).slice(1).join(' ');
  if (WITHOUT_DEFAULTS.has(path)) return;
  const name = config ?? DEFAULTS_FILE;
  const file = config === undefined ? fileOfFolder(shell) : readYamlFile(shell.cwd, config, '--config');
  if (file === null) return;
  const problems: string[] = [];
  const report = (place: readonly string[], text: string): void =>
    void problems.push(`  ${file.path}:${file.lineOf(place)}: ${text}`);
  const section = sectionOf(file, path, commands, report);
  const settings = givenSettings(shell.environment, shell.cwd);
  for (const [key, value] of Object.entries(section)) {
    const option = optionNamed(key, command);
    if (option === null) {
      report([path, key], unknownOption(key, path, command));
      continue;
    }
    try {
      const parsed = valueOfOption(option, value);
      if (parsed !== undefined && isFree(option, command, settings)) {
        command.setOptionValueWithSource(option.attributeName(), parsed, 'config');
      }
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      report([path, key], `${key}: ${error.message}`);
    }
  }
  if (problems.length === 0) return;
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`;
  throw new ScrapifieError('INVALID_USAGE', `${name} has ${count}:\n${problems.join('\n')}`);
}

/** Null when there is none, or none that counts, which is told. */
function fileOfFolder(shell: Shell): YamlFile | null {
  try {
    const file = readFolderFile(shell.cwd, DEFAULTS_FILE, shell.environment);
    if (file === null) return null;
    const { path, text, distrust } = file;
    if (distrust === null) return parseYamlFile(path, text, DEFAULTS_FILE);
    const advice = `read it, and run "scrapifie trust ${dirname(path)}" if it may`;
    tellOnce(shell, `Defaults of options are ignored: ${whyDistrusted(path, distrust)}; ${advice}.`);
    return null;
  } catch (error) {
    if (isScrapifieError(error)) throw error;
    throw wrongFile(DEFAULTS_FILE, `it cannot be read: ${(error as Error).message}`, error);
  }
}

type Report = (place: readonly string[], text: string) => void;

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The options of one command; the names of all others are checked as well. */
function sectionOf(
  file: YamlFile,
  path: string,
  commands: readonly string[],
  report: Report,
): Readonly<Record<string, unknown>> {
  // A file of comments holds nothing.
  const content = file.value ?? {};
  if (!isMap(content)) {
    report([], 'The file must hold names of commands with their options.');
    return {};
  }
  for (const name of Object.keys(content)) {
    if (commands.includes(name.split(' ', 1)[0] ?? '')) continue;
    const nearest = nearestName(name, commands);
    report([name], `"${name}" is no command${nearest === null ? '' : `; did you mean "${nearest}"?`}`);
  }
  const section = content[path] ?? {};
  if (isMap(section)) return section;
  report([path], `"${path}" must hold options, such as "${path}: { json: true }".`);
  return {};
}

const optionNamed = (key: string, command: Command): Option | null =>
  command.options.find(
    ({ long, hidden }) => long === `--${key}` && !hidden && key !== 'help' && key !== 'api-key',
  ) ?? null;

function unknownOption(key: string, path: string, command: Command): string {
  if (key === 'api-key')
    return 'api-key is a secret: put it into the environment or .env as SCRAPIFIE_API_KEY';
  const names = command.options.flatMap(({ long, hidden }) =>
    long == null || hidden ? [] : [long.slice(2)],
  );
  const nearest = nearestName(key, names);
  return `${key} is no option of "${path}"${nearest === null ? '' : `; did you mean ${nearest}?`}`;
}

/** The value as the command line would parse it; undefined for a switch that is off. Throws InvalidArgumentError. */
function valueOfOption(option: Option, value: unknown): unknown {
  if (!option.required && !option.optional) {
    if (typeof value !== 'boolean') throw new InvalidArgumentError('It must be true or false.');
    return value ? !option.negate : undefined;
  }
  const texts = Array.isArray(value) ? value : [value];
  let parsed: unknown;
  for (const [index, text] of texts.entries()) {
    if (typeof text !== 'string' && typeof text !== 'number') {
      throw new InvalidArgumentError('It must be a text or a number, or a list of them.');
    }
    const next: unknown =
      option.parseArg === undefined ? String(text) : option.parseArg(String(text), parsed as never);
    if (index > 0 && sizeOf(next) <= sizeOf(parsed))
      throw new InvalidArgumentError('It takes one value, not a list.');
    parsed = next;
  }
  return parsed;
}

/** How many values a repeatable option has gathered. */
const sizeOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.keys(value).length : 0;

/** Whether neither the command line nor the environment decides about the option. */
function isFree(option: Option, command: Command, settings: ReadonlySet<string>): boolean {
  const name = option.attributeName();
  const isTyped = (each: string): boolean => command.getOptionValueSource(each) === 'cli';
  const others = EITHER.find((names) => names.includes(name)) ?? [];
  const conflicts = command.options
    .filter((each) => conflictsOf(each).includes(name))
    .map((each) => each.attributeName());
  if ([name, ...others, ...conflictsOf(option), ...conflicts].some(isTyped)) return false;
  return !settings.has(SETTING_OF[name] ?? name);
}

/** The parser of commands keeps them, but does not declare them. */
const conflictsOf = (option: Option): readonly string[] =>
  (option as Option & { readonly conflictsWith?: readonly string[] }).conflictsWith ?? [];
