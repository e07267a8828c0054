/** A page of the documentation. */
export interface ContentsEntry {
  /** The file, from the root of the project. */
  readonly file: string;
  /** Address of the page below `/help/`. */
  readonly slug: string;
  /** In the sidebar; null takes the title of the page. */
  readonly label: string | null;
}

export interface ContentsGroup {
  readonly name: string;
  readonly entries: readonly ContentsEntry[];
}

/** Where pages go that no group below names, so that a new file is found without a change here. */
const MORE = 'More';
/** Names of the groups that reference pages are added to, and that decisions are added to. */
export const REFERENCE = 'Reference';
const INSIDE = 'Inside';

const GROUPS: readonly (readonly [string, readonly (readonly [string, string?])[]])[] = [
  [
    'Start here',
    [
      ['docs/quickstart.md', 'Quickstart'],
      ['docs/dashboard.md', 'Dashboard'],
      ['docs/concepts.md', 'Concepts'],
      ['docs/politeness.md', 'Politeness and law'],
      ['docs/comparison.md', 'Beside other tools'],
    ],
  ],
  [
    'Guides',
    [
      ['docs/guides/extract-data.md', 'Extract data'],
      ['docs/guides/price-monitor.md', 'Watch prices'],
      ['docs/guides/change-alerts.md', 'Change alerts'],
      ['docs/guides/seo-audit.md', 'SEO audit in CI'],
      ['docs/guides/sitemap-to-parquet.md', 'Sitemap to Parquet'],
      ['docs/guides/log-in.md', 'Behind a log-in'],
      ['docs/guides/llm-feed.md', 'Feed a language model'],
      ['docs/guides/small-cluster.md', 'A small cluster'],
      ['docs/guides/from-firecrawl.md', 'From Firecrawl'],
      ['docs/guides/from-crawlee.md', 'From Crawlee'],
      ['docs/guides/from-scrapy.md', 'From Scrapy'],
    ],
  ],
  [
    'Fetching',
    [
      ['docs/scrape-options.md', 'Options of a page'],
      ['docs/crawl-options.md', 'Options of a crawl'],
      ['docs/browsers.md', 'Browsers'],
      ['docs/proxies.md', 'Proxies'],
      ['docs/sessions.md', 'Sessions and credentials'],
      ['docs/solvers.md', 'Solver services'],
    ],
  ],
  [
    'Extracting',
    [
      ['docs/types.md', 'Types'],
      ['docs/rules.md', 'Rules'],
      ['docs/llm.md', 'Language models'],
    ],
  ],
  [
    'Using results',
    [
      ['docs/job-views.md', 'Looking at a job'],
      ['docs/exports.md', 'Exports'],
      ['docs/lake.md', 'Lake of Parquet files'],
      ['docs/query.md', 'Queries and SQL'],
      ['docs/search.md', 'Full-text search'],
      ['docs/diff.md', 'Comparing crawls'],
      ['docs/snapshots.md', 'History of pages'],
      ['docs/archives.md', 'Web archives'],
    ],
  ],
  [
    'Automating',
    [
      ['docs/schedules.md', 'Schedules'],
      ['docs/monitors.md', 'Monitors'],
      ['docs/events.md', 'Events'],
      ['docs/webhooks.md', 'Webhooks, chats, e-mail'],
      ['docs/library.md', 'Library and npm package'],
      ['docs/plugins.md', 'Plug-ins'],
      ['docs/clients.md', 'Client libraries'],
      ['sdk/typescript/README.md', 'TypeScript client'],
      ['sdk/python/README.md', 'Python client'],
      ['sdk/go/README.md', 'Go client'],
      ['docs/firecrawl.md', 'Clients of Firecrawl'],
      ['docs/mcp.md', 'MCP server'],
    ],
  ],
  [
    REFERENCE,
    [
      ['docs/command-line.md', 'Command line'],
      ['docs/configuration.md', 'Settings'],
      ['docs/errors.md', 'Error and exit codes'],
      ['policies/default.yaml', 'Default policy file'],
    ],
  ],
  [
    'Running it',
    [
      ['docs/accounts.md', 'Accounts and keys'],
      ['docs/credits.md', 'Credits and usage'],
      ['docs/retention.md', 'Retention'],
      ['docs/backup.md', 'Backup and move'],
      ['docs/operations.md', 'Operations'],
      ['docs/logs.md', 'Logs'],
      ['docs/system.md', 'The installation'],
      ['docs/upgrading.md', 'Versions and upgrades'],
      ['docs/deployment.md', 'Ways to run it'],
      ['docs/scaling.md', 'Scaling out'],
      ['docs/kubernetes.md', 'Kubernetes'],
      ['docs/aws.md', 'On AWS'],
      ['docs/metrics.md', 'Metrics'],
      ['docs/runbooks.md', 'Runbooks'],
      ['docs/tracing.md', 'Tracing'],
      ['docs/security.md', 'Security'],
      ['docs/site-owners.md', 'Site owners'],
    ],
  ],
  [
    INSIDE,
    [
      ['docs/architecture.md', 'How it is built'],
      ['docs/extraction.md', 'How content is found'],
      ['docs/performance.md', 'Performance'],
      ['bench/results/latest.md', 'Latest measurements'],
      ['docs/seed-map.md', 'Earlier endpoints'],
      ['docs/style.md', 'Style of the code'],
      ['CONTRIBUTING.md', 'Contributing'],
      ['CHANGELOG.md', 'Changelog'],
      ['SECURITY.md', 'Reporting a hole'],
    ],
  ],
];

/** `docs/guides/log-in.md` is `guides/log-in`, `sdk/go/README.md` is `sdk/go`; the start page has the empty slug. */
export function slugOf(file: string): string {
  return file
    .replace(/^docs\//, '')
    .replace(/\.(?:md|yaml)$/, '')
    .replace(/\/README$/, '')
    .replace(/^index$/, '')
    .toLowerCase();
}

const entryOf = (file: string, label: string | null): ContentsEntry => ({ file, slug: slugOf(file), label });

/** The groups of the sidebar, made of the files that exist. */
export function contentsOf(files: ReadonlySet<string>): readonly ContentsGroup[] {
  const named = new Set(GROUPS.flatMap(([, pages]) => pages.map(([file]) => file)));
  const groups = GROUPS.map(([name, pages]) => ({
    name,
    entries: pages
      .filter(([file]) => files.has(file))
      .map(([file, label]) => entryOf(file, label ?? null))
      .concat(name === INSIDE ? decisionsIn(files) : []),
  }));
  const others = [...files].filter(
    (file) => !named.has(file) && file !== 'docs/index.md' && !file.startsWith('docs/decisions/'),
  );
  const more = { name: MORE, entries: others.sort().map((file) => entryOf(file, null)) };
  return [...groups, more].filter(({ entries }) => entries.length > 0);
}

function decisionsIn(files: ReadonlySet<string>): ContentsEntry[] {
  return [...files]
    .filter((file) => file.startsWith('docs/decisions/'))
    .sort()
    .map((file) => entryOf(file, null));
}

/** Files outside of `docs/` that have a page. */
export const FILES_ELSEWHERE: readonly string[] = GROUPS.flatMap(([, pages]) =>
  pages.map(([file]) => file).filter((file) => !file.startsWith('docs/')),
);
