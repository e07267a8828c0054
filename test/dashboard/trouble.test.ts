import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endCommands, temporaryFolder } from '../integration/cli-command.ts';
import { API_KEY, openBrowser, type ServedDashboard, serve } from './dashboard-server.ts';
import { seriousViolations, showTheme } from './visit.ts';

const WAIT_MS = 30_000;
/** Ends what hangs, where a server is started anew in between. */
const LONG_MS = 180_000;
const folder = temporaryFolder();
let browser: Browser;
let server: ServedDashboard;
let context: BrowserContext;
let page: Page;
beforeAll(async () => {
  [browser, server] = await Promise.all([openBrowser(), serve(folder)]);
});
afterAll(async () => {
  await browser?.close();
  await endCommands();
  folder.remove();
});

const open = (path: string) => page.goto(`${server.origin}${path}`);
const button = (name: string, within: Locator | Page = page) =>
  within.getByRole('button', { name, exact: true });
const field = (name: string, within: Locator | Page = page) =>
  within.getByRole('textbox', { name, exact: true });
/** What stands at a field that is marked as wrong; screen readers read it with the field. */
async function errorAt(input: Locator): Promise<string | null> {
  await expect.poll(() => input.getAttribute('aria-invalid')).toBe('true');
  const id = await input.getAttribute('aria-describedby');
  return page.locator(`[id="${id}"]`).textContent();
}
const dialog = (name: string) => page.getByRole('dialog', { name });

/** What axe finds on the page with its dialog, in both themes. */
async function violations(): Promise<string[]> {
  const found = await seriousViolations(page);
  await showTheme(page, 'dark');
  found.push(...(await seriousViolations(page, ['color-contrast'])));
  await showTheme(page, 'light');
  return found;
}

async function newPage(key?: string): Promise<void> {
  context = await browser.newContext();
  page = await server.signIn(context, key);
  page.setDefaultTimeout(WAIT_MS);
}

describe('wrong input is told at its field, in words that say what to do', () => {
  beforeAll(() => newPage());
  afterAll(() => context?.close());

  it('in the playground, by the browser and by the server', async () => {
    await open('/playground');
    await button('Run').click();
    expect(await errorAt(field('URL'))).toBe('Write the address of a page, such as https://example.com/.');
    await field('URL').fill('ftp://example.com');
    expect(await errorAt(field('URL'))).toBe('Begin with http:// or https://.');
    await field('URL').fill('http://user:secret@example.com/');
    await button('Run').click();
    expect(await errorAt(field('URL'))).toMatch(/credentials|user name/);
  });

  it('in the form for a crawl, and its estimate', async () => {
    await open('/jobs/new');
    await page.getByText('Enter a URL to see what the job will take.').waitFor();
    await button('Start crawl').click();
    const urls = page.getByRole('textbox', { name: /^(Start )?URLs?/ }).first();
    expect(await errorAt(urls)).toBe('Enter at least one URL.');
    await urls.fill('ftp://example.com');
    expect(await errorAt(urls)).toBe('Each line must be the URL of a page, such as https://example.com/.');
    // The scheme may be left out, as in the playground.
    await urls.fill('127.0.0.1:4555\nexample.com/shop');
    await expect
      .poll(() => page.getByRole('region', { name: 'curl code' }).textContent())
      .toMatch(/http:\/\/127\.0\.0\.1:4555.*https:\/\/example\.com\/shop/s);
    const include = page.getByRole('textbox', { name: /Only|include/i }).first();
    await include.fill('(');
    await page.getByText(/No estimate yet/).waitFor();
    await button('Start crawl').click();
    expect(await errorAt(include)).toMatch(/pattern|expression/i);
    expect(new URL(page.url()).pathname).toBe('/jobs/new');
  });

  it('in the form for a monitor', async () => {
    await open('/monitors?new=true');
    const form = dialog('New monitor');
    await button('Create monitor', form).click();
    expect(await errorAt(field('Name', form))).toBe('Enter a name; messages begin with it.');
    const urls = field('URLs, one on each line', form);
    await urls.fill('example');
    expect(await errorAt(urls)).toBe('“example” is no URL. Begin with http:// or https://.');
    await form.getByRole('radio', { name: 'At times of the day (cron)' }).check();
    await field('Cron line', form).fill('99 * * * *');
    expect(await errorAt(field('Cron line', form))).toMatch(/minute/);
    await field('Name', form).fill('Shop');
    await urls.fill('https://example.com/');
    await field('Cron line', form).fill('0 6 * * *');
    await form.getByRole('combobox', { name: 'Tell me by' }).selectOption('webhook');
    await button('Create monitor', form).click();
    expect(await errorAt(field('Address', form))).toBe('Enter where messages go.');
    await field('Address', form).fill('nowhere');
    await button('Create monitor', form).click();
    expect(await errorAt(field('Address', form))).toMatch(/http/);
    expect(await violations()).toEqual([]);
  });

  it('in the form for a schedule', async () => {
    await open('/schedules?new=true');
    const form = dialog('New schedule');
    await button('Create schedule', form).click();
    expect(await errorAt(field('Name', form))).toMatch(/^Enter a name/);
    await field('Name', form).fill('Nightly');
    const job = form.getByRole('textbox', { name: 'Job' });
    await job.fill('{"kind": "crawl", "urls": ["nothing"]}');
    await button('Create schedule', form).click();
    await form.getByRole('alert').filter({ hasText: /URL/ }).first().waitFor();
    await job.fill('{');
    await button('Create schedule', form).click();
    await form.getByRole('alert').filter({ hasText: 'This is no valid JSON' }).waitFor();
    expect(await violations()).toEqual([]);
  });

  it('in the form for a webhook', async () => {
    await open('/webhooks');
    await button('New webhook').first().click();
    const form = dialog('New webhook');
    await button('Create webhook', form).click();
    expect(await errorAt(field('URL of the receiver', form))).toBe('Enter the URL of the receiver.');
    await field('URL of the receiver', form).fill('nowhere');
    await button('Create webhook', form).click();
    expect(await errorAt(field('URL of the receiver', form))).toMatch(/http/);
    expect(await violations()).toEqual([]);
  });

  it('in the form for a key', async () => {
    await open('/keys');
    await button('New key').first().click();
    const form = dialog('New key');
    await field('Requests a minute', form).fill('many');
    await button('Create key', form).click();
    expect(await errorAt(field('Name', form))).toBe('Enter a name that says which program uses the key.');
    expect(await errorAt(field('Requests a minute', form))).toBe(
      'Enter a whole number of requests, or leave it empty.',
    );
    expect(await violations()).toEqual([]);
  });

  it('in the form for an account', async () => {
    await open('/accounts');
    await button('New account').first().click();
    const form = dialog('New account');
    await field('Stored bytes', form).fill('much');
    await button('Create account', form).click();
    expect(await errorAt(field('Name', form))).toMatch(/^Enter a name/);
    expect(await errorAt(field('Stored bytes', form))).toMatch(/^Enter a whole number/);
    expect(await violations()).toEqual([]);
  });

  it('in the forms for a session and for credentials', async () => {
    await open('/sessions');
    await button('New session').first().click();
    const session = dialog('New session');
    await field('Valid for hours', session).fill('0');
    await button('Create session', session).click();
    expect(await errorAt(field('Name', session))).toBe('Enter a name; jobs use the session by it.');
    expect(await errorAt(field('Valid for hours', session))).toBe('Enter a whole number of hours.');
    await field('Name', session).fill('not / a name');
    await field('Valid for hours', session).fill('99999999');
    await button('Create session', session).click();
    expect(await errorAt(field('Name', session))).toMatch(/letters|characters/i);
    expect(await violations()).toEqual([]);
    await open('/sessions?tab=credentials');
    await button('New credentials').first().click();
    const form = dialog('New credentials');
    await button('Store credentials', form).click();
    expect(await errorAt(field('Hosts', form))).toMatch(/^Enter the hosts/);
    await field('Name', form).fill('shop');
    await field('Hosts', form).fill('not_a_host!');
    await field('User name', form).fill('me');
    await form.getByLabel('Password').fill('secret');
    await button('Store credentials', form).click();
    expect(await errorAt(field('Hosts', form))).toMatch(/host/);
    expect(await violations()).toEqual([]);
  });

  it('in the test of robots.txt', async () => {
    await open('/domains');
    await button('How is it treated?').click();
    expect(await errorAt(field('Host'))).toBe('Enter a host such as example.com.');
    await open('/domains/example.com');
    await field('URL').fill('https://other.example/');
    await button('Test').click();
    expect(await errorAt(field('URL'))).toMatch(/example\.com/);
  });
});

describe('what goes wrong meanwhile is shown', () => {
  afterEach(() => context?.close());
  const shopPage = () => `${server.origin}/sample/shop/books/the-night-sky`;

  it(
    'a server that is down, which the page notices, and gets over by itself when it is back',
    async () => {
      await newPage();
      await open(`/playground?url=${encodeURIComponent(shopPage())}`);
      await button('Run').waitFor();
      const { id } = await server.call('/v1/batch', { urls: [shopPage()] });
      const jobPage = await context.newPage();
      await jobPage.goto(`${server.origin}/jobs/${id}`);
      await jobPage.getByRole('tab', { name: 'Tree' }).waitFor();
      await server.kill();
      await page.getByText('No live connection to the server.').waitFor();
      await button('Run').click();
      await page.getByRole('alert').filter({ hasText: 'The server cannot be reached.' }).waitFor();
      // The script of this page was never loaded: the page opens when the server is back.
      await page.getByRole('link', { name: 'Schedules' }).click();
      // Nor was that of this tab.
      await jobPage.getByRole('tab', { name: 'Tree' }).click();
      await jobPage.getByText('No live connection to the server.').waitFor();
      server = await serve(folder, { port: Number(new URL(server.origin).port) });
      await page.getByRole('heading', { level: 1, name: 'Schedules' }).waitFor();
      await expect.poll(() => page.getByText('No live connection to the server.').count()).toBe(0);
      await jobPage
        .getByRole('tabpanel', { name: 'Tree' })
        .getByText(new URL(server.origin).host)
        .first()
        .waitFor();
    },
    LONG_MS,
  );

  it('a key that was revoked leads to the sign-in, and from there back', async () => {
    const made = await server.call('/v1/keys', { name: 'For a while', scopes: ['jobs:read'] });
    await newPage(String(made.secret));
    await open('/jobs?status=failed');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await server.call(`/v1/keys/${made.id}`, undefined, 'DELETE');
    await page.getByLabel('API key').fill(API_KEY);
    await button('Sign in').click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    expect(page.url()).toBe(`${server.origin}/jobs?status=failed`);
  });

  it('a job that was deleted', async () => {
    const job = await server.call('/v1/batch', { urls: [shopPage()] });
    await newPage();
    await open(`/jobs/${job.id}`);
    await page.getByText('completed', { exact: true }).first().waitFor();
    await server.call(`/v1/jobs/${job.id}`, undefined, 'DELETE');
    await page.getByRole('tab', { name: 'Pages' }).click();
    await page.getByRole('alert').filter({ hasText: 'deleted meanwhile' }).first().waitFor();
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'deleted meanwhile' }).first().waitFor();
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  it('a slow network, by places for what is on its way, and without sending a form twice', async () => {
    await newPage();
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    let sent = 0;
    await page.route('**/v1/keys*', async (route) => {
      if (route.request().method() === 'POST') sent += 1;
      await held;
      await route.continue();
    });
    await open('/keys');
    await page.locator('[class*="skeleton"]').first().waitFor();
    await button('New key').first().click();
    const form = dialog('New key');
    await field('Name', form).fill('Once');
    await button('Create key', form).dblclick();
    await field('Name', form).press('Enter');
    answer();
    await dialog('Key “Once”').waitFor();
    expect(sent).toBe(1);
    await button('Done', dialog('Key “Once”')).click();
    await page.getByRole('cell', { name: 'Once' }).first().waitFor();
  });

  it('a computer that is offline', async () => {
    await newPage();
    await open('/jobs');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await context.setOffline(true);
    await page.getByText('This computer is offline.').waitFor();
    await context.setOffline(false);
    await expect.poll(() => page.getByText('This computer is offline.').count()).toBe(0);
  });
});
