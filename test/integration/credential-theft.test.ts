import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey, newSecret } from '../../src/capabilities/accounts/api-key.ts';
import { EXECUTABLE } from '../../src/fetch/browser/browser.fixture.ts';
import { type ApiAnswer, type ApiWorld, openApiWorld } from './api-world.ts';

const LIMIT_MS = 120_000;
const PASSWORD = 'canary pass<word>&1';
const TOKEN = 'canary-bearer-token';
const COOKIE = 'canary-cookie-value';

/** A site that shows what it is told, in every way that a careless site may. */
const LOGIN = `<!doctype html><title>Log in</title><form method=post action=/echo>
  <input id=user name=user><input id=password name=password type=password>
  <input id=search name=search><button>Go</button></form>
  <p id=mirror></p><a id=show href="#" onclick="document.getElementById('password').type = 'text'">show</a>
  <script>password.oninput = () => {
    password.setAttribute('value', password.value);
    mirror.textContent = password.value + ' ' + btoa(password.value);
    console.error('typed ' + password.value);
    fetch('/echo', { method: 'POST', body: password.value });
  };</script>`;

let site: Server;
let port: number;
let heard = '';
let world: ApiWorld;
/** Secrets of keys, by what they may do. */
const keys = { write: '', use: '', read: '', look: '' };

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { headers, url = '' } = request;
  const body = await text(request);
  heard += `${headers.host} ${url} ${JSON.stringify(headers)} ${body}\n`;
  response.setHeader('content-type', 'text/html; charset=utf-8');
  if (url === '/robots.txt') response.writeHead(404).end();
  else if (url === '/login') response.end(LOGIN);
  else if (url === '/framing') response.end(`<iframe src="http://localhost:${port}/login"></iframe>`);
  else if (url === '/get') {
    response.end('<form action=/found><input id=password name=p type=password><button>Go</button></form>');
  } else {
    const told = `${decodeURIComponent(body.replaceAll('+', ' '))} ${JSON.stringify(headers)}`;
    response.end(`<title>You said</title><main id=said><p>${told}</p></main>`);
  }
}

beforeAll(async () => {
  site = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  ({ port } = site.address() as AddressInfo);
  world = await openApiWorld();
  const scopes = {
    write: ['write'],
    use: ['write', 'credentials'],
    read: ['write', 'credentials:read'],
    look: ['read'],
  } as const;
  for (const name of Object.keys(keys) as (keyof typeof keys)[]) {
    const secret = newSecret();
    const options = { name, scopes: scopes[name], ratePerMinute: null, expiresAt: null };
    await world.platform.store.createKey(newKey(world.account, secret, options, Date.now()));
    keys[name] = secret;
  }
  const hosts = [`127.0.0.1:${port}`];
  const all = {
    form: { kind: 'login', hosts, username: 'ann', password: PASSWORD },
    basic: { kind: 'basic', hosts, username: 'ann', password: PASSWORD },
    bearer: { kind: 'bearer', hosts, token: TOKEN },
    cookies: { kind: 'cookies', hosts, cookies: { sid: COOKIE } },
  };
  for (const [name, payload] of Object.entries(all)) {
    const put = await world.call({ method: 'PUT', url: `/v1/credentials/${name}`, payload });
    expect(put.status).toBe(200);
    expect((await as('use', '/v1/sessions', { name, credentials: name })).status).toBe(201);
  }
}, LIMIT_MS);
afterAll(async () => {
  await world?.close();
  site?.closeAllConnections();
  site?.close();
}, LIMIT_MS);

function as(who: keyof typeof keys, url: string, payload?: unknown): Promise<ApiAnswer> {
  const headers = { authorization: `Bearer ${keys[who]}` };
  if (payload === undefined) return world.call({ method: 'GET', url, headers });
  return world.call({ method: 'POST', url, headers, payload: payload as Record<string, unknown> });
}

const FORMATS = ['html', 'rawHtml', 'text', 'markdown', 'links', 'metadata'];
const scrape = (who: keyof typeof keys, path: string, more: Record<string, unknown>) =>
  as(who, '/v1/scrape', {
    url: `http://127.0.0.1:${port}${path}`,
    formats: FORMATS,
    timeoutMs: 30_000,
    maxAttempts: 1,
    ...more,
  });
const typed = (selector: string, value = '{{password}}') => ({ type: 'type', selector, text: value });

/** The secrets, and what of them a page could show. */
const CANARIES = [PASSWORD, 'canary pass', 'canary%20pass', btoa(PASSWORD).slice(0, 20), TOKEN, COOKIE];
const found = (answered: ApiAnswer) =>
  CANARIES.filter((canary) => JSON.stringify(answered.body).includes(canary));

describe('stored credentials', { timeout: LIMIT_MS }, () => {
  test('are of no use to a key that may only write', async () => {
    const made = await as('write', '/v1/sessions', { name: 'mine', credentials: 'form' });
    expect([made.status, made.body.error?.code]).toEqual([403, 'FORBIDDEN']);
    for (const session of ['form', 'bearer']) {
      const { status, body } = await scrape('write', '/echo', { session });
      expect([status, body.error?.code]).toEqual([403, 'FORBIDDEN']);
    }
    expect(heard).not.toContain(TOKEN);
  });

  test.each(['basic', 'bearer', 'cookies'])(
    'of the kind %s are not shown by a page that repeats them',
    async (session) => {
      const shown = await scrape('use', '/echo', { session, engine: 'http' });
      expect([shown.status, shown.body.data?.title]).toEqual([200, 'You said']);
      expect(JSON.stringify(shown.body.data)).toContain('[hidden]');
      expect(found(shown)).toEqual([]);
      const trusted = await scrape('read', '/echo', { session, engine: 'http' });
      expect(JSON.stringify(trusted.body.data)).not.toContain('[hidden]');
    },
  );

  describe.skipIf(EXECUTABLE === null)('typed into a page', () => {
    const browser = { session: 'form', engine: 'browser' };

    test('are not read by a script of the caller’s, which is not run', async () => {
      const script =
        '[...document.querySelectorAll("input")].map((each) => each.value).join() + document.cookie';
      const actions = [typed('#password'), { type: 'evaluate', script }];
      const refused = await scrape('use', '/login', { ...browser, actions });
      expect([refused.status, refused.body.error?.code]).toEqual([403, 'FORBIDDEN']);
      const trusted = await scrape('read', '/login', { ...browser, actions });
      expect(JSON.stringify(trusted.body.data?.actions)).toContain('canary pass');
    });

    test('are in no form in which the page mirrors them', async () => {
      const actions = [typed('#user', '{{username}}'), typed('#password'), { type: 'wait', ms: 300 }];
      const formats = [...FORMATS, 'xhr'];
      const mirrored = await scrape('use', '/login', { ...browser, formats, actions, inline: true });
      expect([mirrored.status, mirrored.body.data?.title]).toEqual([200, 'Log in']);
      expect(String(mirrored.body.data?.html)).toContain('[hidden]');
      expect(JSON.stringify(mirrored.body.data?.consoleErrors)).toContain('typed [hidden]');
      expect(found(mirrored)).toEqual([]);
    });

    test('reach the site, and not those who read its answer', async () => {
      const submit = [
        typed('#password'),
        { type: 'click', selector: 'button' },
        { type: 'wait', selector: '#said' },
      ];
      const echoed = await scrape('use', '/login', { ...browser, actions: submit });
      expect(echoed.body.data?.title, JSON.stringify(echoed.body)).toBe('You said');
      expect(found(echoed)).toEqual([]);
      expect(heard).toContain(new URLSearchParams({ password: PASSWORD }).toString());
    });

    test('are put into no field that shows them', async () => {
      const { body } = await scrape('use', '/login', { ...browser, actions: [typed('#search')] });
      expect(JSON.stringify(body.data?.error)).toMatch(/ACTION_FAILED.*field of the type password/);
      expect(String(body.data?.html)).not.toContain('[hidden]');
    });

    test('are put into no frame of another host', async () => {
      const inFrame = typed('iframe >> internal:control=enter-frame >> #password');
      const { body } = await scrape('use', '/framing', { ...browser, actions: [inFrame] });
      expect(JSON.stringify(body.data?.error)).toMatch(/ACTION_FAILED.*not for localhost/);
      expect(heard).toContain(`localhost:${port} /login`);
      expect(heard.split('\n').filter((line) => /^localhost.*canary/.test(line))).toEqual([]);
    });

    test('are in no URL that a form leads to', async () => {
      const actions = [typed('#password'), { type: 'click', selector: 'button' }, { type: 'wait', ms: 500 }];
      const led = await scrape('use', '/get', { ...browser, actions });
      expect(found(led)).toEqual([]);
      expect(heard).not.toContain('/found?');
    });

    test('are not shown to a key that only looks at jobs of one that may read them', async () => {
      const job = await as('read', '/v1/scrape', {
        url: `http://127.0.0.1:${port}/echo`,
        session: 'bearer',
        engine: 'http',
        async: true,
      });
      const id = String(job.body.data?.id);
      await world.ended({ id } as Parameters<ApiWorld['ended']>[0]);
      const looked = await as('look', `/v1/jobs/${id}/results`);
      expect([looked.status, looked.body.error?.code]).toEqual([403, 'FORBIDDEN']);
      expect((await as('read', `/v1/jobs/${id}/results`)).status).toBe(200);
    });
  });
});
