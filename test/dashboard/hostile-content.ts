import type { DashboardWorld } from './dashboard-world.ts';
import type { Seed } from './seed.ts';
import { codeInPage, follow, type WatchedPage, watchCode } from './visit.ts';

/** Pages of the hostile site, each of another kind. */
const PATHS = [
  'html',
  'markdown',
  'notes.md',
  'vector.svg',
  'data.json',
  'table.csv',
  'headers',
  'broken',
  'title/0',
];
/** The playground shows all parts of these pages; the rest are shown by the pages of a job, from the same parts. */
const SCRAPED = ['html', 'notes.md', 'data.json'];

/** Opens the pages themselves, as a careless dashboard would show them; returns what ran. */
export async function runUnguarded({ browser, site }: DashboardWorld): Promise<ReadonlySet<string>> {
  const ran = new Set<string>();
  const context = await browser.newContext();
  await watchCode(context, (what) => ran.add(what));
  const page = await context.newPage();
  for (const path of ['alone', 'vector.svg']) await page.goto(`${site.origin}/${path}`);
  await context.close();
  return ran;
}

/** Notes the code that has become part of the page after each step. */
async function lookAround({ page, settled, complaints }: WatchedPage): Promise<void> {
  await settled();
  complaints.push(...(await codeInPage(page)));
}

/** Each tab of the page that is open, from the first to the last. */
async function openTabs(watched: WatchedPage): Promise<number> {
  const tabs = watched.page.getByRole('main').getByRole('tab');
  const count = await tabs.count();
  for (let place = 0; place < count; place++) {
    await tabs.nth(place).click();
    await lookAround(watched);
  }
  return count;
}

/** Scrapes hostile pages in the playground and opens each tab of the results; returns how many there were. */
export async function openResults(watched: WatchedPage, { origin, site }: DashboardWorld): Promise<number> {
  let tabs = 0;
  for (const path of SCRAPED) {
    await watched.page.goto(`${origin}/playground?url=${encodeURIComponent(`${site.origin}/${path}`)}`);
    await watched.settled();
    await watched.page.getByRole('button', { name: 'Run', exact: true }).click();
    await watched.page.getByRole('tab', { name: 'Markdown', exact: true }).waitFor();
    tabs += await openTabs(watched);
  }
  return tabs;
}

/** Opens the page of each hostile URL in the crawl, with all of its tabs; returns how many there were. */
export async function openStoredPages(
  watched: WatchedPage,
  { origin, site }: DashboardWorld,
  { hostileJob }: Seed,
): Promise<number> {
  let tabs = 0;
  for (const path of PATHS) {
    const address = `/jobs/${hostileJob}/url?u=${encodeURIComponent(`${site.origin}/${path}`)}`;
    if (tabs === 0) await watched.page.goto(`${origin}${address}`);
    else await follow(watched.page, address);
    await watched.settled();
    tabs += await openTabs(watched);
  }
  return tabs;
}

/**
 * Shows the previews of all pages of the crawl, in frames that hold them less than those of the dashboard: without a sandbox
 * of the frame, only what the server does to a preview keeps it from running code.
 */
export async function openPreviews(
  { page }: WatchedPage,
  { origin, call }: DashboardWorld,
  { hostileJob }: Seed,
): Promise<number> {
  const { items } = await call(`/v1/jobs/${hostileJob}/rows?limit=500`);
  const rows = items as readonly {
    readonly page: string;
    readonly contentType: string | null;
    readonly state: string;
  }[];
  const addresses = rows
    .filter(({ contentType, state }) => state === 'done' && contentType?.includes('html'))
    .map((row) => `/v1/jobs/${hostileJob}/pages/${row.page}/preview`);
  await page.goto(`${origin}/keys`);
  await page.evaluate(`Promise.all(${JSON.stringify(addresses)}.map((src) => new Promise((loaded) => {
    document.body.append(Object.assign(document.createElement('iframe'), { src, onload: loaded }));
  })))`);
  return addresses.length;
}

/** Opens the parts of pages that a click shows: differences, deliveries, robots.txt, notifications. */
export async function openDetails(
  watched: WatchedPage,
  { origin }: DashboardWorld,
  { monitor, webhook, host, hostileJob, earlierHostileJob }: Seed,
): Promise<void> {
  const { page } = watched;
  const open = async (address: string) => {
    await page.goto(`${origin}${address}`);
    await watched.settled();
  };
  const inDialog = async () => {
    await page.getByRole('dialog').getByText('alert(').first().waitFor();
    await lookAround(watched);
  };
  await open(`/monitors/${monitor}`);
  await page.getByRole('button', { name: 'Difference' }).first().click();
  await inDialog();
  await open(`/webhooks/${webhook}`);
  const delivered = page.getByRole('row').filter({ hasText: 'delivered' });
  await delivered.getByRole('button', { name: 'Details' }).first().click();
  await inDialog();
  for (const changed of ['/title/0', '/notes.md', '/data.json']) {
    await open(`/jobs/${hostileJob}?tab=compare&against=${earlierHostileJob}`);
    await page.getByRole('main').getByRole('table').getByRole('button', { name: changed }).click();
    await inDialog();
  }
  await open(`/domains/${encodeURIComponent(host)}`);
  await page.getByText('/robots.txt, ').click();
  await page.getByRole('main').getByText('alert(1001)').first().waitFor();
  await lookAround(watched);
  await open('/');
  await page.getByRole('button', { name: /^Notifications/ }).click();
  await page.getByText(host).first().waitFor();
  await lookAround(watched);
}
