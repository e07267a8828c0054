import { EXIT } from '../../errors/registry.ts';
import { mapRequestSchema } from '../../jobs/job-request.ts';
import type { MapLink } from '../../jobs/map-result.ts';
import { type FetcherFlags, withFetcher } from '../backend/fetcher.ts';
import { FLAGS, given, parseFlags, wholeNumber } from '../flags/flags.ts';
import { PAGE_FLAG_OF, PAGE_FLAGS, type PageFlags, pageFieldsOf } from '../flags/page-flags.ts';
import type { DefineCommand } from '../shell/shell.ts';

interface MapFlags extends PageFlags, FetcherFlags {
  readonly json?: true;
  readonly sitemap?: string;
  readonly include?: string[];
  readonly exclude?: string[];
  readonly subdomains?: true;
  readonly limit?: number;
  readonly timeout?: number;
  readonly search?: string;
  readonly titles?: true;
  readonly robots: boolean;
}

const FLAG_OF = {
  url: 'URL',
  sitemap: '--sitemap',
  include: '--include',
  exclude: '--exclude',
  limit: '--limit',
  search: '--search',
  timeoutMs: '--timeout',
  ...Object.fromEntries(Object.entries(PAGE_FLAG_OF).map(([name, flag]) => [`options.${name}`, flag])),
};
/** A list on a terminal or in a pipe has no reason to be shorter than it may be. */
const MOST_URLS = 100_000;

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
    .addOption(FLAGS.subdomains())
    .option('--limit <n>', 'URLs to print at most (default: 100000)', wholeNumber)
    .option('--search <words>', 'only URLs whose address or title has all of these words, the best first')
    .option('--titles', 'print the title that is known for each URL behind it, after a tab')
    .addOption(FLAGS.timeout());
  for (const flag of [
    ...PAGE_FLAGS,
    'session',
    'allowPrivate',
    'noRobots',
    'dataDir',
    'api',
    'apiKey',
  ] as const)
    command.addOption(FLAGS[flag]());
  command.addHelpText('after', EXAMPLES).action(async (url: string, flags: MapFlags) => {
    const input = given({
      url,
      sitemap: flags.sitemap,
      include: flags.include,
      exclude: flags.exclude,
      search: flags.search,
      allowSubdomains: flags.subdomains,
      limit: flags.limit ?? MOST_URLS,
      timeoutMs: flags.timeout,
      options: given({ ...pageFieldsOf(flags), session: flags.session, obeyRobots: flags.robots }),
    });
    const request = parseFlags(mapRequestSchema, input, FLAG_OF);
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
    if (isTruncated) shell.stderr.write(`Only the first ${request.limit} URLs; there are more.\n`);
  });
};
