import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_SCOPES, newKey, newSecret } from '../../src/capabilities/accounts/api-key.ts';
import type { ScrapeResult } from '../../src/capabilities/jobs/results/job-reader.ts';
import { createSessions } from '../../src/capabilities/sessions/sessions.ts';
import { createVault } from '../../src/capabilities/sessions/vault.ts';
import { MARK_PX, TALL_PX } from '../site/pages/javascript/acts.ts';
import { LOGIN } from '../site/pages/javascript/doors.ts';
import type { ApiAnswer, ApiWorld } from './api-world.ts';
import { openBrowserWorld } from './browser-world.ts';
import { pixelsOf } from './png-pixels.ts';

const LIMIT_MS = 90_000;
const WINDOW_PX = { width: 1_280, height: 800 };
let world: ApiWorld;
let host: string;
const secret = newSecret();
beforeAll(async () => {
  world = await openBrowserWorld({ site: { pages: 20 } });
  host = world.site.hostUrl(1);
  const wish = { name: 'pictures', scopes: ALL_SCOPES, ratePerMinute: null, expiresAt: null };
  await world.platform.store.createKey(newKey(world.account, secret, wish, Date.now()));
});
afterAll(() => world.close(), LIMIT_MS);

const ask = (path: string, more: Record<string, unknown>): Promise<ApiAnswer> =>
  world.post('/v1/scrape', {
    url: host + path,
    formats: ['html'],
    timeoutMs: 60_000,
    maxAttempts: 1,
    ...more,
  });

async function scrape(path: string, more: Record<string, unknown>): Promise<ScrapeResult> {
  const { status, body } = await ask(path, more);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data as unknown as ScrapeResult;
}

/** The bytes that an address of an answer leads to. */
async function bytesAt(url: string | undefined) {
  const { pathname } = new URL(url ?? '');
  const answer = await world.api.inject({ url: pathname, headers: { authorization: `Bearer ${secret}` } });
  expect(answer.statusCode).toBe(200);
  return { bytes: answer.rawPayload, contentType: answer.headers['content-type'] };
}

describe('pictures', () => {
  test(
    'of the window, the whole page and one element are as large as what they show, and look like it',
    async () => {
      const shot = async (screenshot: Record<string, unknown>) => {
        const result = await scrape('/js/tall', { screenshot });
        expect(result.screenshot?.contentType).toBe('image/png');
        return pixelsOf((await bytesAt(result.screenshot?.url)).bytes);
      };
      const view = await shot({});
      expect([view.width, view.height]).toEqual([WINDOW_PX.width, WINDOW_PX.height]);
      const whole = await shot({ fullPage: true });
      expect([whole.width, whole.height]).toEqual([WINDOW_PX.width, TALL_PX]);
      expect([300, 900, 5_700].map((y) => whole.at(1_200, y))).toEqual([
        [0, 250, 120],
        [25, 225, 120],
        [225, 25, 120],
      ]);
      const mark = await shot({ selector: '#mark' });
      expect([mark.width, mark.height]).toEqual([MARK_PX.width, MARK_PX.height]);
      expect(mark.at(100, 50)).toEqual([200, 0, 0]);
    },
    LIMIT_MS,
  );

  test(
    'come as JPEG and inside the answer when asked for',
    async () => {
      const { screenshot } = await scrape('/js/tall', {
        screenshot: { format: 'jpeg', quality: 50 },
        inline: true,
      });
      const bytes = Buffer.from(screenshot?.base64 ?? '', 'base64');
      expect(screenshot).toMatchObject({ contentType: 'image/jpeg', bytes: bytes.length });
      expect(bytes.subarray(0, 3).toString('hex')).toBe('ffd8ff');
    },
    LIMIT_MS,
  );
});

test(
  'a PDF is one',
  async () => {
    const { pdf } = await scrape('/js/list', { formats: ['pdf', 'html'] });
    const { bytes, contentType } = await bytesAt(pdf?.url);
    expect([contentType, bytes.subarray(0, 5).toString()]).toEqual(['application/pdf', '%PDF-']);
    expect(bytes.subarray(-10).toString()).toContain('%%EOF');
    expect(bytes.length).toBe(pdf?.bytes);
  },
  LIMIT_MS,
);

test(
  'what scripts ask for is recorded, whoever made the request and whatever came of it',
  async () => {
    const { xhr } = await scrape('/js/xhr', { formats: ['xhr', 'html'], wait: { selector: '#done' } });
    const lines = (xhr ?? []).map(
      ({ method, url, statusCode }) => `${method} ${url.slice(host.length)} ${statusCode}`,
    );
    expect(lines.sort()).toEqual([
      'GET /js/api/list 200',
      'GET /js/api/no-such-thing 404',
      'GET /js/api/plain-text 200',
      'POST /js/api/echo 200',
    ]);
    const text = (path: string) => xhr?.find(({ url }) => url.endsWith(path))?.text;
    expect(text('/plain-text')).toBe('Plain words.\n');
    expect(JSON.parse(text('/echo') ?? '')).toEqual({ method: 'POST', body: '{"asked":"politely"}' });
  },
  LIMIT_MS,
);

test(
  'errors of the console are told',
  async () => {
    const { consoleErrors } = await scrape('/js/errors', { engine: 'browser' });
    const all = consoleErrors?.join('\n') ?? '';
    for (const said of ['The first error 1', 'The second error', 'The third error', '404']) {
      expect(all).toContain(said);
    }
    expect(all).not.toContain('Only');
  },
  LIMIT_MS,
);

describe('each action does what it says', () => {
  const cases: readonly (readonly [string, readonly Record<string, unknown>[], string])[] = [
    [
      'click',
      [
        { type: 'click', selector: '#add' },
        { type: 'click', selector: '#add' },
      ],
      'Count: 2',
    ],
    ['type', [{ type: 'type', selector: '#name', text: 'Märta and co' }], 'Hello, Märta and co'],
    [
      'press on an element',
      [
        { type: 'type', selector: '#name', text: 'Ada' },
        { type: 'press', selector: '#name', key: 'Enter' },
      ],
      'Entered Ada',
    ],
    ['press anywhere', [{ type: 'press', key: 'F2' }], 'Key F2'],
    ['select', [{ type: 'select', selector: '#colour', value: 'blue' }], 'Chosen blue'],
    [
      'wait',
      [
        { type: 'click', selector: '#slow' },
        { type: 'wait', selector: '#arrived' },
      ],
      'It was worth it',
    ],
    [
      'scroll to an element',
      [
        { type: 'scroll', selector: '#bottom' },
        { type: 'wait', ms: 100 },
      ],
      'The bottom was seen',
    ],
    [
      'scroll by pixels',
      [
        { type: 'scroll', pixels: 5_000 },
        { type: 'wait', ms: 100 },
      ],
      'The bottom was seen',
    ],
    ['click on a link', [{ type: 'click', selector: '#go' }], 'This is where actions lead.'],
  ];
  test.each(cases)(
    '%s',
    async (_, actions, shows) => {
      const result = await scrape('/js/actions', { actions });
      expect(result.html).toContain(shows);
      expect(result.actions?.map(({ type }) => type)).toEqual(actions.map(({ type }) => type));
    },
    LIMIT_MS,
  );

  test(
    'evaluate and screenshot bring something back',
    async () => {
      const { actions } = await scrape('/js/actions', {
        actions: [
          { type: 'evaluate', script: 'secret' },
          { type: 'click', selector: '#add' },
          { type: 'screenshot', selector: '#count' },
          { type: 'evaluate', script: 'document.getElementById("count").textContent' },
        ],
      });
      expect(actions?.map(({ value }) => value)).toEqual([
        { answer: 42, of: ['everything', 'else'] },
        undefined,
        undefined,
        'Count: 1',
      ]);
      const picture = pixelsOf((await bytesAt(actions?.[2]?.screenshot?.url)).bytes);
      expect(picture.height).toBeLessThan(60);
    },
    LIMIT_MS,
  );
});

describe('what cannot be done', () => {
  /** The browser is none the worse for it. */
  const stillWorks = async () => {
    const { html } = await scrape('/js/list', { engine: 'browser', wait: { selector: '#note' } });
    expect(html).toContain('The list has 30 entries.');
  };

  test.each([
    ['wait.selector', { wait: { selector: '#never' }, timeoutMs: 4_000 }, /wait\.selector #never/],
    [
      'actions.1',
      {
        actions: [
          { type: 'click', selector: '#add' },
          { type: 'click', selector: '#no-such-button', timeoutMs: 500 },
          { type: 'click', selector: '#add' },
        ],
      },
      /actions\.1 click #no-such-button/,
    ],
    ['evaluate', { actions: [{ type: 'evaluate', script: 'nothing.here' }] }, /actions\.0 evaluate/],
    ['screenshot', { screenshot: { selector: '#nowhere' }, timeoutMs: 4_000 }, /screenshot/],
  ])(
    '%s is named, and what there was is kept',
    async (_, more, step) => {
      const result = await scrape('/js/actions', more);
      expect(result.error?.code).toMatch(/^(ACTION_FAILED|TASK_TIMEOUT)$/);
      expect(`${result.error?.message} ${result.error?.details?.step}`).toMatch(step);
      expect(result.html).toContain('Things to do');
      if ('actions' in more && more.actions.length === 3) {
        expect(result.html).toContain('Count: 1');
        expect(result.actions).toHaveLength(1);
      }
      await stillWorks();
    },
    LIMIT_MS,
  );

  test.each([
    ['a proxy that is no URL', { proxy: { url: 'not a proxy' } }, 'proxy.url'],
    ['a proxy of a kind that nobody speaks', { proxy: { url: 'gopher://127.0.0.1:70' } }, 'proxy.url'],
    ['a country that does not exist', { proxy: { country: 'xx' } }, 'proxy.country'],
    ['an action that does not exist', { actions: [{ type: 'dance' }] }, 'actions'],
    ['a click on nothing', { actions: [{ type: 'click' }] }, 'actions'],
    ['a browser’s work without a browser', { engine: 'http', wait: { ms: 5 } }, 'wait'],
  ])('%s is refused by its name', async (_, more, path) => {
    const { status, body } = await ask('/js/actions', more);
    expect([status, body.error?.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(JSON.stringify(body.error?.details)).toContain(path);
  });

  test.each(['http', 'browser'])(
    'a proxy where nobody listens is a failure of the proxy, with %s',
    async (engine) => {
      const { body } = await ask('/js/static/1', { engine, proxy: { url: 'http://127.0.0.1:9' } });
      expect(body.error?.code).toBe('PROXY_FAILED');
      await stillWorks();
    },
    LIMIT_MS,
  );

  test(
    'a session remembers a login by form, forgets it when it is deleted, and is refused when it has ended',
    async () => {
      const name = 'members';
      const actions = [
        { type: 'type', selector: '#user', text: LOGIN.user },
        { type: 'type', selector: '#password', text: LOGIN.password },
        { type: 'click', selector: '#enter' },
      ];
      await scrape('/js/login', { session: name, actions });
      const member = await scrape('/js/members', { session: name });
      expect([member.title, member.trace.attempts[0]?.engine]).toEqual(['Members only', 'http']);
      const removed = await world.call({ method: 'DELETE', url: `/v1/sessions/${name}` });
      expect(removed.status).toBe(200);
      expect((await scrape('/js/members', { session: name })).title).toBe('Sign in');

      const { store, settings } = world.platform;
      const longAgo = createSessions({
        store,
        vault: createVault(settings.vaultKey),
        now: () => Date.now() - 30 * 3_600_000,
        hours: settings.sessionHours,
      });
      await longAgo.open(world.account, 'yesterday');
      for (const engine of ['http', 'browser']) {
        const { status, body } = await ask('/js/members', { session: 'yesterday', engine });
        expect([status, body.error?.code]).toEqual([410, 'SESSION_EXPIRED']);
      }
    },
    LIMIT_MS,
  );
});

test(
  'a page that never finishes loading is read when its time is up',
  async () => {
    const result = await scrape('/js/never-loaded', { engine: 'browser', timeoutMs: 5_000 });
    expect(result.html).toContain('A page that never finishes loading');
    expect(result.error?.code).toBe('TASK_TIMEOUT');
  },
  LIMIT_MS,
);

test.each(['/js/busy-loop', '/js/crash'])(
  '%s ends in a typed error, and the next page comes',
  async (path) => {
    const { status, body } = await ask(path, { engine: 'browser', wait: { ms: 2_000 }, timeoutMs: 8_000 });
    const code = body.error?.code ?? (body.data as unknown as ScrapeResult | undefined)?.error?.code;
    expect([path, status, code]).toEqual([
      path,
      expect.any(Number),
      expect.stringMatching(/^(BROWSER_CRASHED|TASK_TIMEOUT|ACTION_FAILED)$/),
    ]);
    const { html } = await scrape('/js/list', { engine: 'browser', wait: { selector: '#note' } });
    expect(html).toContain('The list has 30 entries.');
  },
  LIMIT_MS,
);
