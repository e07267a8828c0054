import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { DashboardWorld } from './dashboard-world.ts';

export const DESK = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };
const WAIT_MS = 60_000;

/** A page of the dashboard that notes everything which must not happen in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors and warnings of the console, CSP violations among them, scripts that failed, code that ran, foreign requests. */
  readonly complaints: string[];
  /** Waits until the page has asked for everything and shows it. */
  settled(): Promise<void>;
}

/** Scripts of vectors call `alert`; here it tells the test, in whichever frame. */
export async function watchCode(context: BrowserContext, ran: (what: string) => void): Promise<void> {
  await context.exposeBinding('alert', ({ frame }, what: unknown) =>
    ran(`alert(${what}) ran in ${frame.url()}`),
  );
}

/** The key is asked for once, so that the walk begins at the pages; the tests of signing in have their own page. */
export async function openWatched(
  { browser, origin, signIn }: DashboardWorld,
  viewport: { readonly width: number; readonly height: number },
): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport, colorScheme: 'light', reducedMotion: 'reduce' });
  return watch(await signIn(context), origin);
}

export async function watch(page: Page, origin: string): Promise<WatchedPage> {
  const complaints: string[] = [];
  await watchCode(page.context(), (what) => complaints.push(what));
  page.setDefaultTimeout(WAIT_MS);
  const open = new Set<unknown>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(`${error.stack ?? error.message}`));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (popup) => complaints.push(`a window: ${popup.url()}`));
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url());
    if (asked !== origin && !['data:', 'blob:', 'about:'].includes(protocol)) complaints.push(request.url());
    // The stream of live events does not end.
    if (request.resourceType() !== 'eventsource' && !request.url().includes('/events')) open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return {
    page,
    complaints,
    async settled() {
      await page.locator('h1').first().waitFor();
      await expect
        .poll(
          async () => {
            if (open.size > 0) return `${open.size} requests`;
            await page.evaluate(TWO_FRAMES);
            const busy = await page.locator('[class*="skeleton" i]:visible, main [aria-busy="true"]').count();
            return open.size > 0 || busy > 0 ? 'busy' : 'quiet';
          },
          { interval: 20, timeout: WAIT_MS, message: `${page.url()} comes to rest` },
        )
        .toBe('quiet');
    },
  };
}

const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';
/** Colours that fade from one theme to the other are neither; animations that do not end, or stand still, are left alone. */
const STILL = `${TWO_FRAMES}.then(() => Promise.race([
  new Promise((done) => setTimeout(done, 2_000)),
  Promise.allSettled(document.getAnimations()
    .filter((each) => each.effect?.getComputedTiming().endTime < 2_000).map((each) => each.finished)),
]))`;

/** Goes to an address within the page that is loaded, as a link of the dashboard does: no script is loaded again. */
export async function follow(page: Page, address: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
  await page.evaluate(TWO_FRAMES);
}

export async function showTheme(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(STILL);
}

const CONTRAST = 'color-contrast';

/**
 * What axe finds in the page, of the kinds that keep people out. Colours that are found wrong are looked at once more: while
 * a busy browser changes the theme, axe may read a text in the one and what is behind it in the other.
 */
export async function seriousViolations(
  page: Page,
  rules: readonly string[] | 'all' = 'all',
): Promise<string[]> {
  const found = await violationsOf(page, rules);
  const others = found.filter((each) => !each.startsWith(CONTRAST));
  if (others.length === found.length) return found;
  await page.evaluate(STILL);
  return [...others, ...(await violationsOf(page, [CONTRAST]))];
}

async function violationsOf(page: Page, rules: readonly string[] | 'all'): Promise<string[]> {
  if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await page.evaluate(axe.source);
  const options = {
    resultTypes: ['violations'],
    // Frames hold pages of sites, whose elements are not part of the dashboard.
    iframes: false,
    // Styles are asked of the browser; axe would read all their files once more for rules that are not among these.
    preload: false,
    ...(rules !== 'all' && { runOnly: rules }),
  };
  const found = await page.evaluate<axe.Result[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(
        ({ html, failureSummary = '' }) =>
          `${id}: ${html.slice(0, 200)} ${failureSummary.split('\n')[1]?.trim()}`,
      ),
    );
}

/** How far the page can be moved sideways, which no page should be at any size, and what reaches out. */
const SIDEWAYS = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const main = document.querySelector('main');
  if (scrollWidth <= clientWidth && (main === null || main.scrollWidth <= main.clientWidth)) return [];
  return [...document.querySelectorAll("main *, header *")]
    .filter((each) => each.getBoundingClientRect().right > clientWidth + 1)
    .slice(0, 5).map((each) => "too wide: " + each.outerHTML.slice(0, 160));
})()`;
export const tooWide = (page: Page): Promise<string[]> => page.evaluate<string[]>(SIDEWAYS);

/** Elements and attributes by which text of a site would become code; React writes none of them. */
const CODE_IN_PAGE = `[...document.querySelectorAll('*')].filter((each) =>
  [...each.attributes].some(({ name, value }) => name.startsWith('on') ||
    (/^(?:href|src|action|formaction|xlink:href|data|srcdoc)$/i.test(name) && /^[\\s\\0-\\x20]*(?:javascript|vbscript|data:text)/i.test(value))) ||
  (each.localName === 'script' && !(each.src.startsWith(location.origin + '/assets/') || each.src === location.origin + '/theme.js')) ||
  (each.localName === 'iframe' && each.getAttribute('sandbox') !== '') ||
  ['object', 'embed', 'base', 'frame'].includes(each.localName),
).map((each) => "code: " + each.outerHTML.slice(0, 200))`;
export const codeInPage = (page: Page): Promise<string[]> => page.evaluate<string[]>(CODE_IN_PAGE);
