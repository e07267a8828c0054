import { draftMap } from '../../capabilities/jobs/accept/job-draft.ts';
import { mapRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import type { MapLink } from '../../capabilities/jobs/results/map-result.ts';
import { EXIT } from '../../core/errors/registry.ts';
import { type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { readActions, tellAssumedSchemes } from '../flags/command-inputs.ts';
import { wholeNumber } from '../flags/flag-values.ts';
import { checkFlags, FLAGS, given, parseFlags } from '../flags/flags.ts';
import {
  ARCHIVE_FLAGS,
  type OptionFlags,
  PAGE_FLAG_OF,
  PAGE_FLAGS,
  pageFieldsOf,
} from '../flags/option-flags.ts';
import { OPERATOR } from '../folders/one-off.ts';
import { helpBelow } from '../output/help.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface MapFlags extends OptionFlags, Omit<FetcherFlags, 'session'> {
  readonly json?: true;
  readonly quiet?: true;
  readonly sitemap?: string;
  readonly include?: string[];
  readonly exclude?: string[];
  readonly allowSubdomains?: true;
  readonly ignoreQueryParameter?: string[];
  readonly limit?: number;
  readonly timeout?: number;
  readonly pageTimeout?: number;
  readonly actions?: string;
  readonly search?: string;
  readonly titles?: true;
  readonly robots: boolean;
}

/** Which flag a field of the request comes from; the first that fits counts. */
export const MAP_FLAG_OF = {
  url: 'URL',
  sitemap: '--sitemap',
  include: '--include',
  exclude: '--exclude',
  allowSubdomains: '--allow-subdomains',
  ignoreQueryParameters: '--ignore-query-parameter',
  limit: '--limit',
  search: '--search',
  timeoutMs: '--timeout',
  'options.timeoutMs': '--page-timeout',
  ...Object.fromEntries(Object.entries(PAGE_FLAG_OF).map(([name, flag]) => [`options.${name}`, flag])),
};

const EXAMPLES = `
Reads the sitemaps and the links of the start page; fetches nothing else. Prints one URL per line.

Examples:
  scrapifie map https://example.com
  scrapifie map https://example.com/blog/ --include '/blog/*' --sitemap only`;

export const define: DefineCommand = (command, shell, endWith) => {
  command
    .argument('<url>', 'the site, or the part of it to start from')
    .addOption(FLAGS.json())
    .addOption(FLAGS.sitemap())
    .addOption(FLAGS.include())
    .addOption(FLAGS.exclude())
    .addOption(FLAGS.allowSubdomains())
    .addOption(FLAGS.subdomains())
    .addOption(FLAGS.ignoreQueryParameter())
    .option('--limit <n>', 'URLs to print at most (default: 5000)', wholeNumber)
    .option('--search <words>', 'only URLs whose address or title has all of these words, the best first')
    .option('--titles', 'print the title that is known for each URL behind it, after a tab')
    .addOption(FLAGS.timeout())
    .addOption(FLAGS.quiet());
  for (const flag of [
    ...PAGE_FLAGS,
    'pageTimeout',
    'actions',
    'allowPrivate',
    'noRobots',
    'dataDir',
    'api',
    'apiKey',
  ] as const)
    command.addOption(FLAGS[flag]());
  command.addOption(ARCHIVE_FLAGS.replay());
  command.addHelpText('afterAll', helpBelow(EXAMPLES)).action(async (url: string, flags: MapFlags) => {
    const input = given({
      url,
      sitemap: flags.sitemap,
      include: flags.include,
      exclude: flags.exclude,
      search: flags.search,
      allowSubdomains: flags.allowSubdomains,
      ignoreQueryParameters: flags.ignoreQueryParameter,
      limit: flags.limit,
      timeoutMs: flags.timeout,
      options: given({
        ...pageFieldsOf(flags),
        actions: readActions(shell.cwd, flags.actions),
        timeoutMs: flags.pageTimeout,
        obeyRobots: flags.robots,
      }),
    });
    const request = parseFlags(mapRequestSchema, input, MAP_FLAG_OF);
    checkFlags(() => draftMap(request, () => true, OPERATOR), MAP_FLAG_OF);
    if (!flags.quiet) tellAssumedSchemes(shell, [url]);
    const found = await withFetcher(shell, flags, (fetcher) => fetcher.map(input));
    if (found === null) {
      endWith(EXIT.interrupted);
      return;
    }
    const { urls, pages, isTruncated } = found;
    const lineOf = ({ url: each, title }: MapLink) =>
      flags.titles ? `${each}\t${title ?? ''}\n` : `${each}\n`;
    shell.stdout.write(
      flags.json ? `${JSON.stringify({ urls, pages, isTruncated }, null, 2)}\n` : pages.map(lineOf).join(''),
    );
    if (isTruncated && !flags.quiet)
      shell.stderr.write(`Only the first ${request.limit} URLs; there are more: --limit.\n`);
  });
};
