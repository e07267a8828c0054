import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LOG_LEVELS } from '../../src/core/observe/log-sink.ts';
import { LOG_FIELDS } from '../../src/core/observe/logger.ts';
import { endCommands, originOf, startCommand, temporaryFolder } from './cli-command.ts';

/** Recognisable wherever it turns up, also in part. */
const HUSH = 'hush9Qz';
const API_KEY = `${HUSH}-the-key-of-the-api`;
const WAIT = { timeout: 60_000, interval: 50 };
const folder = temporaryFolder();

let site: Server;
let lines: Record<string, unknown>[];
let text: string;
let dashboardText: string;

/** Links, a missing page, a page that breaks off, and a title that tries to write to the terminal of its reader. */
function serveSite(): Server {
  return createServer((request, response) => {
    const url = request.url ?? '/';
    if (url.startsWith('/gone')) return void response.writeHead(404).end();
    if (url.startsWith('/broken')) return void request.socket.destroy();
    if (url === '/robots.txt') return void response.end('User-agent: *\nAllow: /\n');
    response.setHeader('content-type', 'text/html');
    response.setHeader('set-cookie', `sid=${HUSH}`);
    response.end(
      `<title>\u001b[2J\u009b31m\u202e forged</title><a href="/gone?token=${HUSH}">a</a><a href="/broken">b</a>
       <a href="/page?password=${HUSH}">c</a><p>A page with some words on it.</p>`,
    );
  });
}

beforeAll(async () => {
  site = serveSite();
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  const { port } = site.address() as AddressInfo;
  const closed = createServer();
  closed.listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const dead = `127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await closed[Symbol.asyncDispose]();
  const server = startCommand(
    ['serve', '--port', '0', '--data-dir', folder.path('data'), '--allow-private'],
    {
      env: {
        SCRAPIFIE_LOG_LEVEL: 'trace',
        SCRAPIFIE_API_KEY: API_KEY,
        SCRAPIFIE_PROXIES: `http://user:${HUSH}@${dead}`,
        SCRAPIFIE_SMTP_URL: `smtp://user:${HUSH}@${dead}`,
        SCRAPIFIE_SMTP_FROM: 'bot@example.com',
        SCRAPIFIE_LLM_URL: `http://${dead}/v1`,
        SCRAPIFIE_LLM_KEY: `${HUSH}-model`,
        SCRAPIFIE_LLM_MODEL: 'small',
        SCRAPIFIE_OTEL_URL: `http://user:${HUSH}@${dead}`,
        SCRAPIFIE_OTEL_HEADERS: `authorization=Bearer%20${HUSH}`,
        SCRAPIFIE_TRACE_RATIO: '1',
        SCRAPIFIE_EXPORT_S3_URL: `http://key:${HUSH}@${dead}/bucket`,
      },
    },
  );
  const origin = await originOf(server);
  const call = async (expected: number, method: string, path: string, body?: unknown, key = API_KEY) => {
    const response = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', cookie: `a=${HUSH}` },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { data?: unknown; error?: unknown };
    expect(response.status, `${method} ${path}: ${JSON.stringify(answer.error)}`).toBe(expected);
    return answer.data;
  };
  const base = `http://127.0.0.1:${port}`;
  const secrets = {
    headers: { authorization: `Bearer ${HUSH}`, 'x-api-key': HUSH },
    cookies: { session: HUSH },
  };
  const webhook = {
    url: `http://${dead}/hook/${HUSH}?token=${HUSH}`,
    secret: `${HUSH}-secret-of-the-webhook`,
  };
  await call(201, 'POST', '/v1/webhooks', { ...webhook, events: ['job.*'] });
  await call(200, 'PUT', '/v1/credentials/login', { kind: 'bearer', hosts: ['127.0.0.1'], token: HUSH });
  await call(422, 'POST', '/v1/scrape', { url: `http://me:${HUSH}@127.0.0.1:${port}/` });
  await call(200, 'POST', '/v1/scrape', { url: `${base}/?token=${HUSH}`, ...secrets });
  await call(200, 'POST', '/v1/scrape', { url: `${base}/gone?api_key=${HUSH}` });
  await call(502, 'POST', '/v1/scrape', {
    url: `${base}/`,
    proxy: { urls: [`http://me:${HUSH}@${dead}`] },
    maxAttempts: 1,
  });
  const rules = { title: { css: 'h1', required: true } };
  await call(200, 'POST', '/v1/scrape', { url: `${base}/`, extract: { rules, llm: true }, maxAttempts: 1 });
  await call(400, 'POST', '/v1/scrape', `{"url": "${HUSH}`);
  await call(422, 'GET', `/v1/jobs?api_key=${HUSH}`);
  await call(401, 'GET', '/v1/jobs', undefined, `${HUSH}-wrong-key-of-nobody`);
  const crawl = await call(202, 'POST', '/v1/crawl', {
    ...{ urls: [`${base}/`], sitemap: 'skip', maxPages: 10, options: { ...secrets, maxAttempts: 1 } },
  });
  const { id } = crawl as { id: string };
  await vi.waitFor(async () => {
    const job = await call(200, 'GET', `/v1/jobs/${id}`);
    expect((job as { finishedAt: string | null }).finishedAt).not.toBeNull();
  }, WAIT);
  dashboardText = JSON.stringify(await call(200, 'GET', '/v1/system/log?limit=1000'));
  server.child.kill('SIGTERM');
  const ended = await server.ended;
  expect(ended.exitCode).toBe(0);
  text = ended.stderr;
  lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}, 180_000);
afterAll(async () => {
  await endCommands();
  site.closeAllConnections();
  await site[Symbol.asyncDispose]();
  folder.remove();
});

const TYPES: Readonly<Record<string, string>> = { string: 'string', number: 'number', object: 'object' };
/** Other names for what has a name in the schema. */
const WRONG_NAMES =
  /^(?:reqId|request_id|job|job_id|task|task_id|trace_id|webhook|schedule|account|error|message)$/;

describe('the log of a server with a crawl', () => {
  it('has the fields of the schema in every line, each of its type', () => {
    expect(lines.length).toBeGreaterThan(30);
    for (const line of lines) {
      for (const { name, type, isAlways } of LOG_FIELDS) {
        if (isAlways || line[name] !== undefined)
          expect(typeof line[name], JSON.stringify(line)).toBe(TYPES[type]);
      }
      expect(LOG_LEVELS).toContain(line.level);
      expect(line.service).toBe('scrapifie');
      expect(new Date(String(line.time)).toISOString()).toBe(line.time);
      expect(line.msg).not.toBe('');
      expect(Object.keys(line).filter((name) => WRONG_NAMES.test(name) || name.endsWith('_'))).toEqual([]);
    }
  });

  it('has no name twice in a line', () => {
    for (const line of text.trimEnd().split('\n')) {
      // What was escaped for terminals is one character again.
      const plain = line.replace(/\\u(?:007f|00[89][0-9a-f]|20[0-9a-f]{2}|feff|061c)/g, 'x');
      expect(plain.length).toBe(JSON.stringify(JSON.parse(line)).length);
    }
  });

  it('ties a request to its job, and the job to its end and to its URLs', () => {
    const accepted = lines.find(({ msg, kind }) => msg === 'job accepted' && kind === 'crawl');
    const { jobId } = accepted ?? {};
    const of = (wanted: string) => lines.filter(({ msg, jobId: id }) => msg === wanted && id === jobId);
    expect(of('job ended')).toEqual([
      expect.objectContaining({ kind: 'crawl', status: expect.any(String), pages: expect.any(Number) }),
    ]);
    expect(of('request').find(({ route }) => route === '/v1/crawl')).toMatchObject({
      ...{ requestId: expect.any(String), status: 202, level: 'info' },
    });
    expect(of('task completed').every(({ taskId }) => typeof taskId === 'number')).toBe(true);
    expect(of('task completed').length).toBeGreaterThan(0);
    const traces = ['job accepted', 'request', 'task completed', 'job ended'].map(
      (msg) => of(msg)[0]?.traceId,
    );
    expect(traces[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(traces).size).toBe(1);
  });

  it('has no error and no warning for what clients and sites do wrong', () => {
    const levels = new Set(
      lines.filter(({ msg }) => msg === 'request' || msg === 'task failed').map(({ level }) => level),
    );
    expect([...levels].filter((level) => level === 'error' || level === 'fatal')).toEqual([]);
    const failed = lines.filter(({ msg }) => msg === 'task failed');
    expect(failed.map(({ level }) => level)).toEqual(failed.map(() => 'debug'));
    expect(lines.filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
  });

  it('has no secret, at the level trace, and neither has the log of the dashboard', () => {
    expect(text.split('\n').filter((line) => line.includes(HUSH))).toEqual([]);
    expect(dashboardText).toContain('job accepted');
    expect(dashboardText).not.toContain(HUSH);
  });
});

it('docs/logs.md has the schema as it is', () => {
  const page = readFileSync(new URL('../../docs/logs.md', import.meta.url), 'utf8').replaceAll(/ +/g, ' ');
  for (const { name, type, meaning, isAlways } of LOG_FIELDS) {
    expect(page).toContain(
      `| \`${name}\` | ${type} | ${isAlways ? 'every line' : 'where it applies'} | ${meaning} |`,
    );
  }
});
