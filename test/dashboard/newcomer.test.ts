import { readFileSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from '../integration/cli-command.ts';
import { makeRun, openBrowser, type RunningServer } from './dashboard-server.ts';

/** Ends what hangs; the crawl keeps to two requests a second. */
const WAIT_MS = 60_000;
const TIMEOUT_MS = 240_000;
let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

it(
  'a newcomer gets from the printed link to a scrape, a crawl, a file and a monitor by what the pages say',
  async () => {
    const folder = temporaryFolder();
    const server = await makeRun(['--port', '0', '--data-dir', folder.path('data')]);
    const page = await browser.newPage();
    try {
      page.setDefaultTimeout(WAIT_MS);
      const problems = problemsOf(page, server);
      await signInByLink(page, server);
      await scrape(page);
      await crawl(page);
      await takeFile(page, folder.path('shop.csv'));
      await watch(page);
      expect(problems).toEqual([]);
    } finally {
      await page.close();
      await server.stop();
      folder.remove();
    }
  },
  TIMEOUT_MS,
);

/** Errors of the console, and requests to anywhere but the server. */
function problemsOf(page: Page, { origin }: RunningServer): readonly string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) problems.push(`asked ${request.url()}`);
  });
  return problems;
}

const link = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name });
const button = (page: Page, name: string) =>
  page.getByRole('main').getByRole('button', { name, exact: true });
const goHome = (page: Page) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Home' }).click();
/** The steps of the guide that are done, by their titles. */
const doneSteps = (page: Page) =>
  page
    .getByRole('listitem')
    .filter({ has: page.getByLabel('done', { exact: true }) })
    .getByRole('heading')
    .allTextContents();

async function signInByLink(page: Page, server: RunningServer): Promise<void> {
  await page.goto(server.link);
  await page.getByRole('heading', { name: 'Welcome to Scrapifie' }).waitFor();
  expect(page.url()).toBe(`${server.origin}/`);
}

async function scrape(page: Page): Promise<void> {
  await link(page, 'Scrape a sample page').click();
  await page.getByRole('tab', { name: 'Markdown' }).click();
  await page
    .getByRole('tabpanel', { name: 'Markdown' })
    .getByRole('heading', { name: 'The Night Sky' })
    .waitFor();
  await goHome(page);
  await expect.poll(() => doneSteps(page)).toEqual(['Try a page']);
}

async function crawl(page: Page): Promise<void> {
  await link(page, 'Crawl the sample site').click();
  await button(page, 'Start crawl').click();
  await page.getByRole('heading', { level: 1, name: /sample\/shop/ }).waitFor();
  // The shop has a link that leads nowhere, so that a first crawl shows what a failure looks like.
  await page.getByText('partially completed').first().waitFor();
  await goHome(page);
  await expect.poll(() => doneSteps(page)).toEqual(['Try a page', 'Crawl a site', 'See the results']);
}

async function takeFile(page: Page, path: string): Promise<void> {
  await link(page, 'Open the crawl').click();
  await button(page, 'Export').click();
  await page.getByRole('combobox', { name: 'Format' }).selectOption({ label: 'CSV' });
  await button(page, 'Write file').click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    link(page, 'Download Full csv').click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^127\.0\.0\.1-\d+-full-\d{4}-\d\d-\d\d-\w+\.csv$/);
  await download.saveAs(path);
  const rows: Record<string, string>[] = parse(readFileSync(path), { columns: true });
  const row = page.getByRole('table', { name: 'Exports of the job' }).getByRole('row', { name: /Full/ });
  expect(await row.getByRole('cell').allTextContents()).toContain(String(rows.length));
  expect(rows.map(({ title }) => title)).toContain('The Night Sky');
}

async function watch(page: Page): Promise<void> {
  await goHome(page);
  await link(page, 'Watch a sample page').click();
  const dialog = page.getByRole('dialog', { name: 'New monitor' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('My first monitor');
  await dialog.getByRole('button', { name: 'Create monitor' }).click();
  await page.getByRole('heading', { level: 1, name: 'My first monitor' }).waitFor();
  await goHome(page);
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await expect.poll(() => page.getByRole('heading', { name: 'First steps' }).count()).toBe(0);
}
