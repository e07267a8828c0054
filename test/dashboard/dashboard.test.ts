import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_KEY } from './dashboard-server.ts';
import { type DashboardWorld, openDashboardWorld } from './dashboard-world.ts';
import { openDetails, openPreviews, openResults, openStoredPages, runUnguarded } from './hostile-content.ts';
import { arrowToTab, pressAt, tabTo, typeAt } from './keyboard.ts';
import { type Seed, seedDashboard } from './seed.ts';
import { VECTORS } from './vectors.ts';
import { routesOfDashboard, VIEWS, type View } from './views.ts';
import {
  codeInPage,
  DESK,
  follow,
  openWatched,
  PHONE,
  seriousViolations,
  showTheme,
  tooWide,
  type WatchedPage,
  watch,
} from './visit.ts';

/** Ends what hangs: other tests have the processors too. */
const TIMEOUT_MS = 240_000;
let world: DashboardWorld;
let seed: Seed;
let desk: WatchedPage;
let phone: WatchedPage;
beforeAll(async () => {
  world = await openDashboardWorld();
  [seed, desk, phone] = await Promise.all([
    seedDashboard(world),
    openWatched(world, DESK),
    openWatched(world, PHONE),
  ]);
}, TIMEOUT_MS);
afterAll(() => world?.close());

/** Routes that were opened by their address, as a shared link is. */
const opened = new Set<string>();

/** What is wrong with a view, as it opens in one theme and as it is in the other. */
async function look(
  { page, complaints, settled }: WatchedPage,
  { address, route, press, showsCode }: View,
  [first, second]: readonly ['light' | 'dark', 'light' | 'dark'],
): Promise<string[]> {
  complaints.length = 0;
  await showTheme(page, first);
  // The first view of a route is opened by its address, at one size; the others are come to as by a link, which is quicker.
  const isFirst = !opened.has(route) && opened.add(route) !== undefined;
  if (isFirst || page.url() === 'about:blank') await page.goto(`${world.origin}${address(seed)}`);
  else await follow(page, address(seed));
  await settled();
  if (press !== null) {
    const button = page.getByRole('button', { name: press, exact: true });
    await button.or(page.getByLabel(press, { exact: true })).click();
    await settled();
  }
  if (showsCode) await page.locator('main').getByText('alert(').filter({ visible: true }).first().waitFor();
  const found = [...(await seriousViolations(page)), ...(await tooWide(page)), ...(await codeInPage(page))];
  if ((await page.getByRole('navigation', { name: 'Main', includeHidden: true }).count()) !== 1)
    found.push('the menu is not there');
  await showTheme(page, second);
  // Everything but colours is the same in both.
  found.push(...(await seriousViolations(page, ['color-contrast'])));
  return [...found, ...complaints];
}

describe('a walk through the dashboard', { timeout: TIMEOUT_MS }, () => {
  it('comes by every route', () => {
    const walked = new Set(['/sign-in', ...VIEWS.map(({ route }) => route)]);
    expect(routesOfDashboard().filter((route) => !walked.has(route))).toEqual([]);
    expect(routesOfDashboard().length).toBeGreaterThan(20);
  });

  it.each(VIEWS)(
    'finds $name open to all, quiet and in its bounds, on a desk and a phone, light and dark',
    async (view) => {
      const [atDesk, atPhone] = await Promise.all([
        look(desk, view, ['light', 'dark']),
        look(phone, view, ['dark', 'light']),
      ]);
      expect({ atDesk, atPhone }).toEqual({ atDesk: [], atPhone: [] });
    },
  );
});

describe('the page to sign in', { timeout: TIMEOUT_MS }, () => {
  it.each([
    ['a desk', DESK],
    ['a phone', PHONE],
  ])('is open to all on %s, and leads on to the page that was asked for', async (_, viewport) => {
    const context = await world.browser.newContext({ viewport });
    const { page, complaints, settled } = await watch(await context.newPage(), world.origin);
    await page.goto(`${world.origin}/webhooks`);
    await page.waitForURL(/\/sign-in/);
    await settled();
    const found = [...(await seriousViolations(page)), ...(await tooWide(page)), ...(await codeInPage(page))];
    await showTheme(page, 'dark');
    found.push(...(await seriousViolations(page, ['color-contrast'])));
    await page.getByLabel('API key').fill(API_KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    expect([...found, ...complaints]).toEqual([]);
    await context.close();
  });
});

describe('the main tasks without a mouse', { timeout: TIMEOUT_MS }, () => {
  /** A page of its own: each task begins where a person comes in. */
  const begin = async () => {
    desk.complaints.length = 0;
    await desk.page.goto(`${world.origin}/`);
    await desk.settled();
    return desk.page;
  };

  it('a page is scraped in the playground and its text is read', async () => {
    const page = await begin();
    await pressAt(page, 'Playground');
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await typeAt(page, 'URL', `${world.origin}/sample/shop/`);
    await page.keyboard.press('Enter');
    await page.getByRole('tab', { name: 'Markdown', exact: true }).waitFor();
    await tabTo(page, 'Page');
    await arrowToTab(page, 'Markdown');
    await page.getByRole('tabpanel', { name: 'Markdown' }).getByRole('heading').first().waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('a crawl is started and one of its pages is opened', async () => {
    const page = await begin();
    // Nothing is waited for in between: people type on at once.
    await page.keyboard.press('ControlOrMeta+k');
    await page.keyboard.type('new crawl');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'New job' }).waitFor();
    await typeAt(page, 'Start URLs', `${world.origin}/sample/shop/`);
    await pressAt(page, 'Start crawl');
    await page.getByRole('heading', { level: 1, name: /sample\/shop/ }).waitFor();
    await page.getByText('partially completed').first().waitFor();
    await tabTo(page, 'Overview');
    await arrowToTab(page, 'Pages');
    await page.getByRole('grid', { name: 'Pages of the job' }).getByRole('row').nth(1).waitFor();
    await tabTo(page, 'Pages of the job');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/jobs\/[^/]+\/url\?/);
    await page.getByRole('tab', { name: 'Content', exact: true }).waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('a monitor is set', async () => {
    const page = await begin();
    await pressAt(page, 'Monitors');
    await page.getByRole('heading', { level: 1, name: 'Monitors' }).waitFor();
    await pressAt(page, 'New monitor');
    await page.getByRole('dialog', { name: 'New monitor' }).waitFor();
    await typeAt(page, 'Name', 'Set by keys');
    await typeAt(page, 'URLs, one on each line', `${world.origin}/sample/shop/`);
    await pressAt(page, 'Create monitor');
    await page.getByRole('heading', { level: 1, name: 'Set by keys' }).waitFor();
    expect(desk.complaints).toEqual([]);
  });
});

describe('code that sites send', { timeout: TIMEOUT_MS }, () => {
  it('comes in more than a hundred forms, many of which run where nothing holds them', async () => {
    expect(new Set(Object.values(VECTORS).flat()).size).toBeGreaterThan(100);
    expect((await runUnguarded(world)).size).toBeGreaterThan(20);
  });

  it('runs in no result of the playground', async () => {
    desk.complaints.length = 0;
    expect(await openResults(desk, world)).toBeGreaterThan(20);
    expect(desk.complaints).toEqual([]);
  });

  it('runs in no page of a job, whichever way it is shown', async () => {
    phone.complaints.length = 0;
    expect(await openStoredPages(phone, world, seed)).toBeGreaterThan(50);
    expect(phone.complaints).toEqual([]);
  });

  it('runs in no preview, even in a frame that would let it', async () => {
    desk.complaints.length = 0;
    expect(await openPreviews(desk, world, seed)).toBeGreaterThan(60);
    expect(desk.complaints).toEqual([]);
  });

  it('runs in no difference, delivery, robots.txt or notification', async () => {
    desk.complaints.length = 0;
    await openDetails(desk, world, seed);
    expect(desk.complaints).toEqual([]);
  });
});
