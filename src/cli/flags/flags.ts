import { type Command, Option } from 'commander';
import type { z } from 'zod';
import type { IgnoredSettings } from '../../config/dot-env.ts';
import { ignoredText, loadSettings, type SettingOverrides } from '../../config/load.ts';
import { parsePlainly, sentenceOf } from '../../config/plain-problems.ts';
import type { Settings } from '../../config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { FieldProblem } from '../../jobs/invalid-request.ts';
import { FORMATS } from '../../jobs/page-fields.ts';
import { OTHER_BROWSERS } from '../../model/identity.ts';
import { PROXY_TIERS } from '../../model/proxy.ts';
import { tellOnce } from '../output/tell-once.ts';
import type { Shell } from '../shell/shell.ts';
import {
  byteCount,
  collect,
  cookie,
  creditAmount,
  duration,
  header,
  list,
  listOf,
  orNone,
  place,
  rate,
  size,
  wholeNumber,
} from './flag-values.ts';
import { engineFlag, extractFlag } from './plugin-choice.ts';

/** Options that several commands have, each defined once. */

export const formatFlag = (formats: readonly string[]): Option =>
  new Option('--format <name>', 'format to keep of each page; repeat it or use commas')
    .choices(formats)
    .argParser(listOf(formats));

export const FLAGS = {
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
  onlyMainContent: () =>
    new Option('--no-only-main-content', 'text, markdown and content of the whole page, navigation included'),
  includeTags: () =>
    new Option(
      '--include-tags <selector>',
      'text, markdown, content and html of the elements that match only; repeatable',
    ).argParser(collect),
  excludeTags: () =>
    new Option(
      '--exclude-tags <selector>',
      'remove the elements that match before anything else; repeatable',
    ).argParser(collect),
  maxPdfPages: () =>
    new Option('--max-pdf-pages <n>', 'pages that are read of a PDF (default: 500)').argParser(wholeNumber),
  engine: engineFlag,
  waitFor: () => new Option('--wait-for <selector>', 'read the page when an element matches'),
  waitMs: () => new Option('--wait-ms <time>', 'read the page after a pause, e.g. 2s').argParser(duration),
  waitUntil: () =>
    new Option('--wait-until <event>', 'how far the page must have loaded').choices([
      'load',
      'domcontentloaded',
      'networkidle',
    ]),
  scroll: () => new Option('--scroll', 'go down the page until it grows no more'),
  noScroll: () => new Option('--no-scroll', 'do not scroll, whatever type is extracted'),
  viewport: () =>
    new Option('--viewport <size>', 'size of the window in pixels, e.g. 1920x1080').argParser(size),
  mobile: () => new Option('--mobile', 'show pages as on a phone'),
  geolocation: () =>
    new Option('--geolocation <place>', 'where the browser is, e.g. 52.52,13.405').argParser(place),
  locale: () => new Option('--locale <tag>', 'language of the browser, e.g. de-DE'),
  timezone: () => new Option('--timezone <name>', 'time zone of the browser, e.g. Europe/Berlin'),
  actions: () => new Option('--actions <file>', 'YAML or JSON file with a list of actions on the page'),
  fullPage: () => new Option('--full-page', 'pictures of whole pages'),
  session: () => new Option('--session <name>', 'session that keeps cookies, storage, proxy and identity'),
  proxy: () =>
    new Option(
      '--proxy <url>',
      'proxy to go through, e.g. socks5://user:password@host:1080; repeatable, used in turn',
    ).argParser(collect),
  proxyTier: () =>
    new Option('--proxy-tier <name>', 'kind of proxy from the proxy file').choices(PROXY_TIERS),
  maxProxyTier: () =>
    new Option('--max-proxy-tier <name>', 'dearest kind of proxy that may be used').choices(PROXY_TIERS),
  country: () => new Option('--country <code>', 'where the proxy is to be, e.g. de'),
  identity: () =>
    new Option('--identity <kind>', 'identify as a bot, or look like a regular browser').choices([
      'bot',
      'browser',
    ]),
  identityBrowser: () =>
    new Option('--identity-browser <name>', 'browser that plain HTTP looks like, instead of Chrome').choices(
      OTHER_BROWSERS,
    ),
  allowPrivate: () => new Option('--allow-private', 'fetch loopback and private addresses too'),
  noRobots: () => new Option('--no-robots', 'do not obey robots.txt: you take responsibility for this run'),
  timeout: () => new Option('--timeout <ms>', 'time for a page').argParser(duration),
  taskTimeout: () =>
    new Option(
      '--task-timeout <ms>',
      'time for all attempts at a page and the pauses between them',
    ).argParser(duration),
  header: () => new Option('--header <line>', `request header 'Name: value'; repeatable`).argParser(header),
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
  cookie: () => new Option('--cookie <pair>', `cookie 'name=value' to send; repeatable`).argParser(cookie),
  crossOriginHeader: () =>
    new Option(
      '--cross-origin-header <name>',
      'a --header that also goes to other origins, where redirects and links lead; repeatable',
    ).argParser(list),
  maxAttempts: () =>
    new Option('--max-attempts <n>', 'tries per URL, the first one included').argParser(wholeNumber),
  maxBodyBytes: () =>
    new Option('--max-body-bytes <size>', 'largest body that is read, e.g. 20MB').argParser(byteCount),
  blockResources: () =>
    new Option(
      '--block-resources <kind>',
      'what a browser need not load: images, fonts, media, trackers; repeat it or use commas',
    ).argParser(list),
  scrollSteps: () =>
    new Option('--scroll-steps <n>', 'screens to scroll at most; implies --scroll').argParser(wholeNumber),
  scrollPause: () =>
    new Option('--scroll-pause <time>', 'pause after each screen; implies --scroll').argParser(duration),
  screenshotSelector: () =>
    new Option('--screenshot-selector <selector>', 'a picture of the first element that matches'),
  screenshotFormat: () =>
    new Option('--screenshot-format <name>', 'format of pictures').choices(['png', 'jpeg']),
  screenshotQuality: () =>
    new Option('--screenshot-quality <n>', 'quality of a jpeg, 0 to 100').argParser(wholeNumber),
  method: () => new Option('--method <name>', 'HTTP method').choices(['GET', 'POST']),
  body: () => new Option('--body <text>', 'request body; needs --method POST'),
  pageTimeout: () => new Option('--page-timeout <time>', 'time for one attempt').argParser(duration),
  rate: () => new Option('--rate <n>', 'requests per second to each host, or "unlimited"').argParser(rate),
} as const;

/** The options that say where a command works, and `--json`. */
export const withPlaceFlags = (command: Command): Command =>
  command.addOption(FLAGS.dataDir()).addOption(FLAGS.api()).addOption(FLAGS.apiKey()).addOption(FLAGS.json());

/** The same, for commands about what belongs to an account. */
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
