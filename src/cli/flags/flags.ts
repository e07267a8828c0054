import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { FieldProblem } from '../../capabilities/jobs/request/invalid-request.ts';
import { FORMATS } from '../../capabilities/jobs/request/page-options.ts';
import { ignoredText, loadSettings, type SettingOverrides } from '../../core/config/load.ts';
import { parsePlainly, sentenceOf } from '../../core/config/plain-problems.ts';
import type { IgnoredSettings } from '../../core/config/setting-sources.ts';
import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { tellOnce } from '../output/screen.ts';
import type { Shell } from '../shell/shell.ts';
import {
  byteCount,
  collect,
  creditAmount,
  duration,
  extractFlag,
  list,
  listOf,
  orNone,
  rate,
  wholeNumber,
} from './flag-values.ts';
import { OPTION_FLAGS } from './option-flags.ts';

/** Options that several commands have, each defined once. */

export const formatFlag = (formats: readonly string[]): Option =>
  new Option('--format <name>', 'format to keep of each page; repeat it or use commas')
    .choices(formats)
    .argParser(listOf(formats));

export const FLAGS = {
  ...OPTION_FLAGS,
  json: () => new Option('--json', 'print JSON'),
  quiet: () => new Option('--quiet', 'show no progress and no notes; errors are shown').conflicts('verbose'),
  verbose: () =>
    new Option('--verbose', 'tell of each page how it came about: attempts, reasons, evidence and cost'),
  dataDir: () => new Option('--data-dir <dir>', 'data folder of the server, or the folder of a crawl'),
  api: () => new Option('--api <url>', 'work on this running server instead (default: SCRAPIFIE_API_URL)'),
  apiKey: () =>
    new Option(
      '--api-key <key>',
      'API key for it; other users of the machine may see it (default: SCRAPIFIE_API_KEY)',
    ),
  format: () => formatFlag(FORMATS),
  extract: extractFlag,
  rules: () => new Option('--rules <file>', 'YAML or JSON file with rules for what to read out of the page'),
  schema: () => new Option('--schema <file>', 'JSON Schema that the result of the rules is checked against'),
  llm: () =>
    new Option(
      '--llm',
      'ask the language model of the settings for required fields that the rules left empty',
    ),
  llmDerived: () =>
    new Option(
      '--llm-derived <field>',
      'the same; this field need not stand on the page word for word (all: none need); repeatable',
    ).argParser(list),
  actions: () => new Option('--actions <file>', 'YAML or JSON file with a list of actions on the page'),
  allowPrivate: () => new Option('--allow-private', 'fetch loopback and private addresses too'),
  noRobots: () => new Option('--no-robots', 'do not obey robots.txt: you take responsibility for this run'),
  timeout: () => new Option('--timeout <ms>', 'time for a page').argParser(duration),
  include: () =>
    new Option(
      '--include <pattern>',
      'only URLs that match: a glob for the whole path, or re: and an RE2 expression; repeatable',
    ).argParser(collect),
  exclude: () =>
    new Option('--exclude <pattern>', 'no URLs that match; patterns as for --include').argParser(collect),
  sitemap: () =>
    new Option('--sitemap <how>', 'read sitemaps: not at all, too, or nothing else').choices([
      'skip',
      'include',
      'only',
    ]),
  sitemapUrl: () =>
    new Option('--sitemap-url <url>', 'a sitemap to start from; repeatable').argParser(collect),
  allowSubdomains: () => new Option('--allow-subdomains', 'follow links to subdomains too'),
  allowExternal: () => new Option('--allow-external', 'follow links to any host'),
  // The names of earlier versions.
  subdomains: () => new Option('--subdomains').implies({ allowSubdomains: true }).hideHelp(),
  external: () => new Option('--external').implies({ allowExternal: true }).hideHelp(),
  allowedDomain: () =>
    new Option(
      '--allowed-domain <host>',
      'a host that belongs to the crawl, *. for its subdomains only; repeatable (default: those of the start URLs)',
    ).argParser(list),
  ignoreQueryParameter: () =>
    new Option(
      '--ignore-query-parameter <name>',
      'a query parameter that makes no other page; * at its end is a wildcard; repeatable',
    ).argParser(list),
  keepFragment: () => new Option('--keep-fragment', 'URLs that differ after # are different pages'),
  noObeyNofollow: () => new Option('--no-obey-nofollow', 'follow links marked nofollow'),
  noObeyNoindex: () => new Option('--no-obey-noindex', 'keep pages marked noindex'),
  noFollowCanonical: () =>
    new Option('--no-follow-canonical', 'pages are different ones whatever rel=canonical says'),
  noAvoidQueryTraps: () =>
    new Option('--no-avoid-query-traps', 'follow links of calendars and filters without end'),
  ifModified: () =>
    new Option(
      '--if-modified',
      'crawl again in a folder that has a finished crawl: pages are asked for only if they changed',
    ),
  maxAge: () =>
    new Option(
      '--max-age <time>',
      'take a page that the data folder has stored within this time, e.g. 2h, without a request',
    ).argParser(duration),
  noReuse: () => new Option('--no-reuse', 'the page answers no later call with --max-age'),
  routes: () =>
    new Option(
      '--routes <file>',
      'YAML or JSON file with a list of routes: what becomes of pages by their URL',
    ),
  maxPages: () =>
    new Option('--max-pages <n>', 'pages to fetch at most, or none for no limit (default: 10000)').argParser(
      orNone(wholeNumber),
    ),
  maxDepth: () =>
    new Option('--max-depth <n>', 'links to follow from a start URL at most').argParser(orNone(wholeNumber)),
  maxBytes: () =>
    new Option('--max-bytes <size>', 'bytes to download at most, e.g. 500MB').argParser(orNone(byteCount)),
  maxDuration: () =>
    new Option('--max-duration <time>', 'time to work at most, e.g. 30m').argParser(orNone(duration)),
  maxBrowserTime: () =>
    new Option('--max-browser-time <time>', 'time that browsers may work at most, over all pages').argParser(
      orNone(duration),
    ),
  maxProxyBytes: () =>
    new Option('--max-proxy-bytes <size>', 'bytes to download through proxies at most').argParser(
      orNone(byteCount),
    ),
  maxCredits: () =>
    new Option('--max-credits <n>', 'credits that it may cost at most').argParser(orNone(creditAmount)),
  maxLoginWalls: () =>
    new Option(
      '--max-login-walls <n>',
      'stop after so many pages in a row that ask to log in; 0: never (default: 5 with a session, 25 without)',
    ).argParser(wholeNumber),
  concurrency: () =>
    new Option('--concurrency <n>', 'fetches at once, over all hosts').argParser(orNone(wholeNumber)),
  method: () => new Option('--method <name>', 'HTTP method').choices(['GET', 'POST']),
  body: () => new Option('--body <text>', 'request body; needs --method POST'),
  pageTimeout: () => new Option('--page-timeout <time>', 'time for one attempt').argParser(duration),
  rate: () => new Option('--rate <n>', 'requests per second to each host, or "unlimited"').argParser(rate),
} as const;

/** The options that say where a command works, and `--json`. */
export const withPlaceFlags = (command: Command): Command =>
  command.addOption(FLAGS.dataDir()).addOption(FLAGS.api()).addOption(FLAGS.apiKey()).addOption(FLAGS.json());

/** The options of a place and an account, for commands about what belongs to an account. */
export const withAccountFlags = (command: Command): Command =>
  withPlaceFlags(command).addOption(
    new Option('--account <id>', 'of another account of the data folder; with --api, the key decides'),
  );

/** Parses what the flags came to; a problem is reported under the name of the flag it came from. */
export function parseFlags<T extends z.ZodType>(
  schema: T,
  input: unknown,
  flagOf: Readonly<Record<string, string>>,
): z.output<T> {
  const { data, problems } = parsePlainly(schema, input);
  if (problems === null) return data;
  throw usageError(
    problems.map(({ path, text }) => ({ field: path.join('.'), message: text })),
    flagOf,
  );
}

/** Does what may find more wrong in a parsed request, such as a pattern; reported under the names of flags as well. */
export function checkFlags(check: () => unknown, flagOf: Readonly<Record<string, string>>): void {
  try {
    check();
  } catch (error) {
    if (!isScrapifieError(error) || error.code !== 'VALIDATION_FAILED' || !Array.isArray(error.details))
      throw error;
    throw usageError(error.details as FieldProblem[], flagOf);
  }
}

function usageError(
  problems: readonly FieldProblem[],
  flagOf: Readonly<Record<string, string>>,
): ScrapifieError {
  const told = problems.map(({ field, message: text }) => {
    const known = Object.keys(flagOf).find((name) => field === name || field.startsWith(`${name}.`));
    if (known === undefined) return sentenceOf(text, field);
    // A place in a list that was typed says nothing; one in a file does.
    const within = field.slice(known.length + 1);
    const told = /\D/.test(within) ? sentenceOf(text, within) : `${text.replace(/\.$/, '')}.`;
    return `${flagOf[known]}: ${told}`;
  });
  return new ScrapifieError('INVALID_USAGE', told.join(' '));
}

/** An object without the keys whose value is undefined, so that defaults of the schema apply. */
export function given<T extends Record<string, unknown>>(values: T): Partial<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export function readSettings(
  shell: Shell,
  overrides: SettingOverrides = {},
  options: { readonly isServing?: boolean } = {},
): Settings {
  const onIgnored = (ignored: IgnoredSettings): void =>
    tellOnce(shell, `Settings are ignored: ${ignoredText(ignored)}.`);
  return loadSettings(shell.environment, { cwd: shell.cwd, overrides, onIgnored, ...options });
}
