import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPlugins } from '../../src/capabilities/plugins/load-plugins.ts';
import type { Webhooks } from '../../src/capabilities/webhooks/webhooks.ts';
import {
  type ErrorCode,
  extract,
  openScrapifie,
  type Scrapifie,
  ScrapifieError,
} from '../../src/library/index.ts';
import { type Site, startSite } from '../site/site.ts';
import { openScraper, type Scraper } from './world.ts';

const folder = mkdtempSync(join(tmpdir(), 'scrapifie-plugins-'));
const SDK = fileURLToPath(new URL('../../src/capabilities/plugins/index.ts', import.meta.url));

/** A module of a plug-in, as an operator would write it. */
function moduleOf(name: string, code: string): string {
  const path = join(folder, `${name}.ts`);
  writeFileSync(
    path,
    `import { defineExtractor, definePlugin, field } from ${JSON.stringify(SDK)};\n${code}`,
  );
  return path;
}

const WINE = moduleOf(
  'wine',
  `export default definePlugin({
    name: 'wine',
    extractors: [
      defineExtractor({
        name: 'bottle',
        says: 'A bottle of wine.',
        fields: { name: field('text', 'Its name.'), vintage: field('count', 'The year.'), price: field('price', 'The price.') },
        weigh: ({ document }) => (document.text('.vintage') === null ? 0 : 0.99),
        read({ document }, draft) {
          draft.give('name', document.text('h1'), 'markup');
          draft.give('vintage', document.text('.vintage'), 'markup');
          draft.give('price', document.text('.price'), 'markup');
        },
      }),
      defineExtractor({
        name: 'corked',
        says: 'Throws in the middle.',
        fields: { name: field('text', 'Its name.'), price: field('price', 'The price.') },
        weigh() { throw new Error('cannot weigh'); },
        read({ document }, draft) {
          draft.give('name', document.text('h1'), 'markup');
          throw new Error('the cork broke');
        },
      }),
    ],
  });`,
);

const html = '<h1>Chablis</h1><p class="vintage">2019</p><b class="price">€ 24.50</b>';
const url = 'https://shop.example/chablis';
const settings = { allowPrivate: true, extractThreads: 1 };

async function failure(work: Promise<unknown>): Promise<{ code: ErrorCode; message: string }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ScrapifieError)) throw new Error(`not a ScrapifieError: ${error}`);
  return error;
}

let site: Site;
let scrapifie: Scrapifie;
beforeAll(async () => {
  site = await startSite({ pages: 5 });
  scrapifie = await openScrapifie({ settings, plugins: [WINE] });
});
afterAll(async () => {
  await scrapifie.close();
  await site.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('an extractor of a plug-in', () => {
  it('reads fields with their source in the threads that read pages', async () => {
    const read = await scrapifie.extract({ html, url }, { extract: { type: 'wine:bottle' } });
    expect(read).toMatchObject({
      extracted: { name: 'Chablis', vintage: 2019, price: 24.5 },
      extractedType: 'wine:bottle',
      extractedProbability: 0.99,
    });
    expect(read.extractedBy?.name).toMatchObject({ source: 'markup' });
  });

  it('is weighed by auto beside the types of Scrapifie', async () => {
    const read = await scrapifie.extract({ html, url }, { extract: { type: 'auto' } });
    expect(read.extractedType).toBe('wine:bottle');
  });

  it('reads pages of crawls', async () => {
    const crawled = scrapifie.crawl(`${site.url}/big/`, {
      ratePerSecond: 'unlimited',
      options: { extract: { type: 'wine:bottle' } },
    });
    const names = [];
    for await (const { extracted } of crawled) names.push(extracted?.name);
    expect(names).toHaveLength(5);
    expect(names.every((name) => typeof name === 'string')).toBe(true);
  });

  it('that throws costs its field, with a code, and keeps what it had read', async () => {
    const read = await scrapifie.extract({ html, url }, { extract: { type: 'wine:corked' } });
    expect(read.extracted).toEqual({ name: 'Chablis', price: null });
    expect(read.extractProblems).toEqual([
      { path: '', code: 'PLUGIN_FAILED', message: 'wine:corked threw: the cork broke' },
      { path: '', code: 'PLUGIN_FAILED', message: 'wine:corked threw: cannot weigh' },
    ]);
  });

  it('that no plug-in has is refused before anything is fetched', async () => {
    const missing = { extract: { type: 'wine:glass' } } as const;
    expect((await failure(scrapifie.scrape(`${site.url}/big/`, missing))).code).toBe('UNSUPPORTED_OPTION');
    expect((await failure(extract({ html, url }, missing))).code).toBe('UNSUPPORTED_OPTION');
  });
});

describe('a channel of a plug-in', () => {
  const sent = join(folder, 'sent.ndjson');
  const PAGER = moduleOf(
    'pager',
    `import { appendFileSync } from 'node:fs';
     import { ScrapifieError } from ${JSON.stringify(SDK)};
     export default definePlugin({
       name: 'pager',
       deliverers: [
         {
           name: 'sms',
           says: 'A text message.',
           refuse: (url) => (url.startsWith('tel:') ? null : 'Must be tel: and a number.'),
           async send({ url, type, notice, json }) {
             appendFileSync(${JSON.stringify(sent)}, JSON.stringify({ url, type, title: notice.title, event: JSON.parse(json).type }) + '\\n');
           },
         },
         { name: 'broken', says: 'Throws.', send() { throw new Error('no signal'); } },
         { name: 'never', says: 'Gives up.', async send() { throw new ScrapifieError('FORBIDDEN', 'no such number'); } },
       ],
     });`,
  );
  let scraper: Scraper;
  let webhooks: Webhooks;
  beforeAll(async () => {
    scraper = await openScraper({ settings: { plugins: PAGER } });
    ({ webhooks } = scraper.platform.capabilities);
  });
  afterAll(() => scraper.close());

  /** The delivery of a test message once its first attempt was made. */
  async function delivered(format: 'pager:sms' | 'pager:broken' | 'pager:never') {
    const { account } = scraper;
    const { webhook } = await webhooks.create(account, { url: 'tel:+4930123456', format, events: ['job.*'] });
    const { id } = await webhooks.test(account, webhook.id);
    const look = () => webhooks.delivery(account, id);
    await expect.poll(async () => (await look()).attempts, { timeout: 20_000 }).toBeGreaterThan(0);
    return { webhook, delivery: await look() };
  }

  it('gets the event for people and as JSON; its address is hidden', async () => {
    const { webhook, delivery } = await delivered('pager:sms');
    expect(delivery.state).toBe('delivered');
    expect(webhook.target).toBe('tel:[hidden]');
    const [line = ''] = readFileSync(sent, 'utf8').split('\n');
    expect(JSON.parse(line)).toEqual({
      url: 'tel:+4930123456',
      type: 'webhook.test',
      title: expect.any(String),
      event: 'webhook.test',
    });
  });

  it('that throws costs the attempt, which is made again; a final error ends the delivery', async () => {
    const broken = await delivered('pager:broken');
    expect(broken.delivery.state).toBe('pending');
    expect(JSON.stringify(broken.delivery)).toContain(
      'PLUGIN_FAILED: The channel pager:broken threw: no signal',
    );
    const never = await delivered('pager:never');
    expect(never.delivery.state).toBe('failed');
    expect(JSON.stringify(never.delivery)).toContain('FORBIDDEN: no such number');
  });

  it('refuses addresses that are none of its own, and channels that are not there', async () => {
    const create = (url: string, format: 'pager:sms' | 'pager:fax') =>
      failure(webhooks.create(scraper.account, { url, format, events: ['*'] }));
    expect((await create('https://a.example/', 'pager:sms')).message).toContain('Must be tel: and a number.');
    expect((await create('tel:+49', 'pager:fax')).message).toContain('No plug-in of this installation');
  });
});

describe('an engine of a plug-in', () => {
  const LAB = moduleOf(
    'lab',
    `const traits = { says: 'For tests.', cost: 5, runsScripts: false, isDisguised: false };
     const answering = (name, fetch, more = {}) => ({ ...traits, ...more, name, open: () => ({ fetch }) });
     export default definePlugin({
       name: 'lab',
       engines: [
         {
           ...traits,
           name: 'marked',
           abilities: ['messages'],
           open: ({ web }) => ({ fetch: (request) => web.fetch({ ...request, headers: { ...request.headers, 'x-lab': 'yes' } }) }),
         },
         answering('canned', async () => ({ statusCode: 200, body: '<title>Canned</title><h1>Canned</h1>' })),
         answering('led', async () => ({ statusCode: 200, body: 'x', finalUrl: 'http://169.254.169.254/' })),
         answering('broken', () => { throw new Error('no lamp'); }),
         answering('wrong', async () => ({ statusCode: 'ok' })),
         answering('huge', async () => ({ statusCode: 200, body: 'x'.repeat(2_000_000) })),
         answering('endless', () => new Promise(() => undefined)),
         answering('masked', async () => ({ statusCode: 200, body: '<h1>Masked</h1>' }), { isDisguised: true }),
       ],
     });`,
  );
  let lab: Scrapifie;
  let scraper: Scraper;
  beforeAll(async () => {
    lab = await openScrapifie({ settings, plugins: [LAB] });
    scraper = await openScraper({
      settings: { plugins: LAB },
      policy:
        'default: { rate: unlimited }\ndomains:\n  127.0.0.1: { engines: ["lab:canned", "lab:masked"] }\n',
    });
  });
  afterAll(async () => {
    await lab.close();
    await scraper.close();
  });
  const by = (engine: string, options: object = {}) =>
    lab.scrape(`${site.url}/big/1`, { engine: `lab:${engine}`, maxAttempts: 1, ...options });

  it('fetches by the HTTP of Scrapifie, and the trace names it', async () => {
    const page = await by('marked', { headers: { 'x-mine': 'too' } });
    expect(page).toMatchObject({ statusCode: 200, trace: { attempts: [{ engine: 'lab:marked' }] } });
    const heard = site.log.find(({ headers }) => headers['x-lab'] === 'yes');
    expect(heard?.headers['x-mine']).toBe('too');
  });

  it('answers by itself, with no more than status and body', async () => {
    expect(await by('canned')).toMatchObject({ statusCode: 200, title: 'Canned' });
  });

  it('that throws, answers nonsense, too much or not at all costs the page, with a code', async () => {
    expect(await failure(by('broken'))).toMatchObject({
      code: 'PLUGIN_FAILED',
      message: expect.stringContaining('The engine lab:broken threw: no lamp'),
    });
    expect((await failure(by('wrong'))).message).toContain('`statusCode` must be');
    expect((await failure(by('huge', { maxBodyBytes: 1_000_000 }))).code).toBe('BODY_LIMIT_EXCEEDED');
    const late = await failure(by('endless', { timeoutMs: 1_000, taskTimeoutMs: 1_000 }));
    expect(['TASK_TIMEOUT', 'REQUEST_TIMEOUT']).toContain(late.code);
  });

  it('is kept from addresses that are refused, before and after', async () => {
    const metadata = 'http://169.254.169.254/';
    const options = { engine: 'lab:canned', obeyRobots: false } as const;
    expect((await failure(lab.scrape(metadata, options))).code).toBe('ADDRESS_REFUSED');
    expect((await failure(by('led'))).code).toBe('ADDRESS_REFUSED');
  });

  it('is used where the policy names it, by `auto` as well, and needs consent for a disguise', async () => {
    const asked = { url: `${site.url}/big/2` };
    const page = await scraper.scrapeNow(asked);
    expect(page.trace.attempts).toMatchObject([{ engine: 'lab:canned' }]);
    expect((await failure(scraper.scrapeNow({ ...asked, engine: 'lab:marked' }))).message).toContain(
      'does not allow engine `lab:marked`',
    );
    expect((await failure(scraper.scrapeNow({ ...asked, engine: 'lab:masked' }))).code).toBe(
      'CONSENT_REQUIRED',
    );
    expect((await failure(scraper.scrapeNow({ ...asked, engine: 'lab:none' }))).code).toBe(
      'UNSUPPORTED_OPTION',
    );
    // A program that uses the library acts for the operator: naming an engine is the consent to it.
    expect((await by('masked')).statusCode).toBe(200);
  });
});

describe('a module that is no plug-in', () => {
  it.each([
    ['cannot be loaded', 'throw new Error("boom");', 'cannot be loaded: boom'],
    ['has no default export', 'export const plugin = 1;', 'has no default export'],
    ['has a wrong name', 'export default { name: "Wine" };', '`name` must be lower-case'],
    [
      'offers what nothing uses',
      'export default { name: "w", checks: [] };',
      'offers checks, which nothing uses',
    ],
    [
      'has a field of an unknown kind',
      'export default { name: "w", extractors: [{ name: "a", fields: { x: { kind: "y" } } }] };',
      'the kind of `x` must be one of text,',
    ],
    [
      'throws when it is looked at',
      'export default { get name() { throw new Error("no name"); } };',
      'cannot be read: no name',
    ],
  ])('%s: the start fails, and says why', async (name, code, message) => {
    const plugins = [moduleOf(name.replaceAll(' ', '-'), code)];
    const refused = await failure(openScrapifie({ settings, plugins }));
    expect(refused.code).toBe('INVALID_SETTINGS');
    expect(refused.message).toContain(message);
  });

  it('never ends to load: the start fails after a time', async () => {
    const path = moduleOf('endless', 'await new Promise(() => {}); export default { name: "w" };');
    const refused = await failure(loadPlugins(path, 100));
    expect(refused).toMatchObject({ code: 'INVALID_SETTINGS' });
    expect(refused.message).toContain('not loaded after 0.1 s');
  });
});
