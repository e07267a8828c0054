import { type Command, Option } from 'commander';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { wholeNumber } from './flag-values.ts';
import { given } from './flags.ts';
import { readYamlFile } from './yaml-file.ts';

/** Flags of the commands that make monitors. */
export interface MonitorFlags {
  readonly site?: true;
  readonly sitemap?: true;
  readonly watch?: readonly string[];
  readonly ignore?: readonly string[];
  readonly threshold?: number;
  readonly confirm?: number;
  readonly settle?: string;
  readonly maxPages?: number;
  readonly maxDepth?: number;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly noise?: boolean;
  readonly recheck?: boolean;
  readonly file?: string;
}

const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

function share(text: string): number {
  const [, number = '', percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text) ?? [];
  const value = percent === '%' ? Number(number) / 100 : Number(number);
  if (number === '' || value > 1) {
    throw new ScrapifieError('INVALID_USAGE', '--threshold must be a share such as 0.05 or 5%.');
  }
  return value;
}

export const MONITOR_FLAG_OF = {
  name: 'The name',
  urls: 'URL',
  site: 'URL',
  sitemap: 'URL',
  'schedule.cron': '--cron',
  'schedule.every': '--every',
  watch: '--watch',
  ignore: '--ignore',
  threshold: '--threshold',
  confirm: '--confirm',
  settle: '--settle',
  maxPages: '--max-pages',
  maxDepth: '--max-depth',
  include: '--include',
  exclude: '--exclude',
};

export const withMonitorFlags = (command: Command): Command =>
  command
    .option('--site', 'the URL is a site: follow its links and sitemaps')
    .option('--sitemap', 'the URL is a sitemap: watch the pages that it lists')
    .addOption(
      new Option(
        '--watch <what>',
        'text, markdown, field:NAME, or a CSS selector or XPath; may be repeated (default: the text, title, price and availability)',
      ).argParser(collect),
    )
    .addOption(
      new Option(
        '--ignore <what>',
        '/REGEX/, field:NAME, or a CSS selector or XPath; may be repeated',
      ).argParser(collect),
    )
    .option('--threshold <share>', 'least share that has to change, e.g. 5%', share)
    .option('--confirm <n>', 'looks in a row that must see a change (default: 3)', wholeNumber)
    .option('--settle <time>', 'how long a page that is gone or wholly another must stay so (default: 6h)')
    .option('--max-pages <n>', 'pages of a site or sitemap at most (default: 500)', wholeNumber)
    .option('--max-depth <n>', 'links to follow from the start of a site at most', wholeNumber)
    .addOption(
      new Option('--include <pattern>', 'only pages of a site that match; may be repeated').argParser(
        collect,
      ),
    )
    .addOption(
      new Option('--exclude <pattern>', 'no pages of a site that match; may be repeated').argParser(collect),
    )
    .option('--no-noise', 'compare everything, also what differs at every visit')
    .option('--no-recheck', 'do not look again soon at pages that seem to have changed')
    .option(
      '--file <path>',
      'a file with what POST /v1/monitors takes; other options go before what it says',
    );

/** What POST /v1/monitors takes, from flags and URLs. */
export function monitorInput(
  cwd: string,
  urls: readonly string[],
  flags: MonitorFlags,
): Record<string, unknown> {
  const { site, sitemap, watch, ignore, threshold, confirm, settle, maxPages, maxDepth, include, exclude } =
    flags;
  if (site && sitemap) throw new ScrapifieError('INVALID_USAGE', 'Give --site or --sitemap, and not both.');
  if ((site || sitemap) && urls.length > 1) {
    throw new ScrapifieError('INVALID_USAGE', '--site and --sitemap take one URL.');
  }
  const fromFile = flags.file === undefined ? {} : (readYamlFile(cwd, flags.file, '--file').value as object);
  const target =
    urls.length === 0 ? {} : site ? { site: urls[0] } : sitemap ? { sitemap: urls[0] } : { urls };
  return {
    ...fromFile,
    ...target,
    ...given({
      watch: watch === undefined ? undefined : watchOf(watch),
      ignore: ignore === undefined ? undefined : ignoreOf(ignore),
      threshold: threshold === undefined ? undefined : { share: threshold },
      confirm,
      settle,
      maxPages,
      maxDepth,
      include,
      exclude,
      learnNoise: flags.noise === false ? false : undefined,
      recheck: flags.recheck === false ? false : undefined,
    }),
  };
}

const FIELD = 'field:';
const fieldsOf = (list: readonly string[]) =>
  list.filter((each) => each.startsWith(FIELD)).map((each) => each.slice(FIELD.length));

const watchOf = (list: readonly string[]) => ({
  text: list.includes('text'),
  markdown: list.includes('markdown'),
  fields: fieldsOf(list),
  selectors: list.filter((each) => each !== 'text' && each !== 'markdown' && !each.startsWith(FIELD)),
});

const PATTERN = /^\/(.+)\/$/;

function ignoreOf(list: readonly string[]) {
  // An XPath begins with two slashes and does not end with one.
  const patterns = list.flatMap((each) => PATTERN.exec(each)?.[1] ?? []);
  return {
    patterns,
    fields: fieldsOf(list),
    selectors: list.filter((each) => !PATTERN.test(each) && !each.startsWith(FIELD)),
  };
}
