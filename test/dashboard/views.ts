import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Seed } from './seed.ts';

/** An address of the dashboard that is walked: of one route, and of one of its tabs or filters. */
export interface View {
  readonly name: string;
  /** As the router has it, such as `/jobs/$id`. */
  readonly route: string;
  readonly address: (seed: Seed) => string;
  /** True where code of the hostile site has to stand as text. */
  readonly showsCode: boolean;
  /** What has to be pressed before there is anything to see. */
  readonly press: string | null;
}

const SOURCES = fileURLToPath(new URL('../../dashboard/src', import.meta.url));

/** The paths of all routes, read from the sources of the router. `/kit` is for people who build pages, and not built. */
export function routesOfDashboard(): readonly string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /(?:^|\/)(?:routes\.tsx?|router\.tsx)$/.test(file))
    .flatMap((file) =>
      [...readFileSync(`${SOURCES}/${file}`, 'utf8').matchAll(/^ +path: '([^']+)',$/gm)].map(
        ([, path = '']) => path,
      ),
    )
    .filter((path) => path !== '/kit')
    .sort();
}

/** Tabs of a page, read from the list that the page itself reads its address by. */
function listOf(file: string, name: string): readonly string[] {
  const text = readFileSync(`${SOURCES}/${file}`, 'utf8');
  const found = new RegExp(`${name} = \\[([^\\]]+)\\] as const`).exec(text)?.[1];
  if (found === undefined) throw new Error(`${file} has no list ${name}.`);
  return [...found.matchAll(/'([^']+)'/g)].map(([, value = '']) => value);
}

type More = Partial<Pick<View, 'showsCode' | 'press'>>;
const view = (route: string, rest: string, address: (seed: Seed) => string, more: More = {}): View => ({
  name: `${route} ${rest}`.trim(),
  route,
  address,
  showsCode: false,
  press: null,
  ...more,
});
/** A view whose address is the same whatever the installation holds. */
const at = (route: string, query = '', more: More = {}) =>
  view(route, query, () => (query === '' ? route : `${route}?${query}`), more);

const SHOWS = { showsCode: true } as const;
const urlOf = ({ hostileUrl }: Seed): string => encodeURIComponent(hostileUrl);
const asked = (language: string, text: string, shown: string, more: More): View =>
  at('/query', `${new URLSearchParams({ language, view: shown, text })}`, { press: 'Run', ...more });

const RESULT_TABS = listOf('features/playground/routes.ts', 'RESULT_TABS');
const JOB_TABS = listOf('features/jobs/address.ts', 'TABS');
const PAGE_VIEWS = listOf('features/job-pages/routes.ts', 'PAGE_VIEWS');
const SYSTEM_TABS = listOf('features/system/routes.ts', 'TABS');
/** Tabs that say how something was fetched or set up, and nothing that the site wrote. */
const WITHOUT_CODE: readonly string[] = [
  'page',
  'network',
  'timing',
  'why',
  'tree',
  'exports',
  'overview',
  'settings',
  'compare',
  'files',
];

export const VIEWS: readonly View[] = [
  at('/'),
  at('/playground'),
  view('/playground', 'with a URL', (seed) => `/playground?url=${urlOf(seed)}`),
  ...RESULT_TABS.map((tab) =>
    view('/playground', tab, ({ htmlJob }) => `/playground?job=${htmlJob}&tab=${tab}`, {
      showsCode: ['html', 'data'].includes(tab),
    }),
  ),
  at('/jobs'),
  at('/jobs', 'status=failed&kind=crawl'),
  at('/jobs/new'),
  view('/jobs/new', 'clone', ({ hostileJob }) => `/jobs/new?clone=${hostileJob}`),
  ...JOB_TABS.map((tab) =>
    view('/jobs/$id', tab, ({ hostileJob }) => `/jobs/${hostileJob}?tab=${tab}`, {
      showsCode: !WITHOUT_CODE.includes(tab),
    }),
  ),
  view(
    '/jobs/$id',
    'compared',
    ({ hostileJob, earlierHostileJob }) => `/jobs/${hostileJob}?tab=compare&against=${earlierHostileJob}`,
  ),
  view('/jobs/$id', 'of the shop', ({ shopJob }) => `/jobs/${shopJob}`),
  ...PAGE_VIEWS.map((shown) =>
    view(
      '/jobs/$id/url',
      shown,
      (seed) => `/jobs/${seed.hostileJob}/url?u=${urlOf(seed)}&view=${shown}`,
      SHOWS,
    ),
  ),
  at('/monitors', '', SHOWS),
  view('/monitors', 'new', (seed) => `/monitors?new=true&url=${urlOf(seed)}`),
  view('/monitors/$id', '', ({ monitor }) => `/monitors/${monitor}`, SHOWS),
  at('/schedules', '', SHOWS),
  at('/schedules', 'view=calendar', SHOWS),
  at('/schedules', 'new=true'),
  view('/schedules/$id', '', ({ schedule }) => `/schedules/${schedule}`, SHOWS),
  at('/webhooks'),
  view('/webhooks/$id', '', ({ webhook }) => `/webhooks/${webhook}`),
  at('/search'),
  at('/search', 'q=alert', SHOWS),
  at('/search', 'q=xyzzyplugh'),
  asked('typed', '{"from":"pages","select":["url","title"]}', 'table', SHOWS),
  asked('typed', '{"from":"pages","group":["statusCode"]}', 'chart', {}),
  asked('sql', 'SELECT url, title FROM pages', 'table', SHOWS),
  at('/exports'),
  at('/domains'),
  view('/domains/$host', '', ({ host }) => `/domains/${encodeURIComponent(host)}`),
  at('/proxies'),
  at('/sessions'),
  at('/sessions', 'tab=credentials'),
  at('/usage'),
  at('/keys', '', SHOWS),
  at('/accounts', '', SHOWS),
  view('/accounts/$id', '', ({ account }) => `/accounts/${account}`, SHOWS),
  at('/audit'),
  // Lines that come and go while axe looks at the page are neither of one theme nor of the other.
  ...SYSTEM_TABS.map((tab) => at('/system', `tab=${tab}`, tab === 'log' ? { press: 'Follow' } : {})),
  view('$', 'no such page', () => '/no-such-page'),
];
