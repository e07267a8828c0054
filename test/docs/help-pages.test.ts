import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchEnvironment } from '../../src/core/config/search-environment.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { openPlatform, type Platform } from '../property/api-platform.ts';

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1360, height: 900 };
/** Pages with what is widest: tables, long code, pictures. */
const WIDE_PAGES = [
  '',
  'concepts',
  'comparison',
  'errors',
  'configuration',
  'command-line',
  'api/scrape',
  'guides/from-scrapy',
];

let platform: Platform;
let browser: Browser;
let page: Page;
let origin: string;
/** What the console said, and addresses that were asked for elsewhere. */
const complaints: string[] = [];

beforeAll(async () => {
  const found = await findBrowser({ executable: null, env: searchEnvironment() });
  if (found === null) throw new Error('These tests need a browser: run `make browser`.');
  platform = await openPlatform();
  origin = await platform.api.listen({ port: 0, host: '127.0.0.1' });
  browser = await chromium.launch({ executablePath: found.path, args: ['--no-sandbox'] });
  const context = await browser.newContext({
    colorScheme: 'light',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(request.url());
  });
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await platform?.close();
});

describe('the pages of the documentation in a browser', () => {
  it('are searched from the keyboard, down to the row of a table', async () => {
    await page.setViewportSize(DESK);
    await page.goto(`${origin}/help`);
    await page.keyboard.press('/');
    await page.keyboard.type('robots_unreachable');
    await page.waitForSelector('#hits a');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${origin}/help/errors#ROBOTS_UNREACHABLE`);
    const box = await page.locator('#ROBOTS_UNREACHABLE').boundingBox();
    expect(box?.y).toBeGreaterThan(0);
    expect(box?.y).toBeLessThan(DESK.height);
  });

  it('find nothing politely', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('xyzzyplugh');
    await page.waitForSelector('#hits p');
    await page.keyboard.press('Escape');
    expect(await page.locator('#hits').isHidden()).toBe(true);
  });

  it('keep the theme that was chosen', async () => {
    const colour = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await colour();
    await page.click('.theme');
    const dark = await colour();
    expect(dark).not.toBe(light);
    await page.goto(`${origin}/help/quickstart`);
    expect(await colour()).toBe(dark);
    await page.click('.theme');
    expect(await colour()).toBe(light);
  });

  it('copy code', async () => {
    await page.locator('.code').first().hover();
    await page.locator('.copy').first().click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('make run');
  });

  it('lead on to the next page and back', async () => {
    await page.click('.pager .next');
    await page.waitForURL(`${origin}/help/dashboard`);
    await page.click('.pager .prev');
    await page.waitForURL(`${origin}/help/quickstart`);
  });

  it('fit on a phone, where a button opens the list of pages', async () => {
    await page.setViewportSize(PHONE);
    const tooWide: string[] = [];
    for (const slug of WIDE_PAGES) {
      await page.goto(`${origin}/help/${slug}`);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > PHONE.width) tooWide.push(`${slug}: ${width}`);
    }
    expect(tooWide).toEqual([]);
    expect(await page.locator('#sidebar').isVisible()).toBe(false);
    await page.click('.menu');
    expect(await page.locator('#sidebar').isVisible()).toBe(true);
  });

  it('break no rule of their content security policy and ask no other server', () => {
    expect(complaints).toEqual([]);
  });
});
