import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type RedisServer, startRedis } from '../../fleet/servers/redis.ts';
import { type Answer, type ApiClient, createApiClient } from './api-client.ts';
import { type Canaries, findCanaries } from './canaries.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers, launch, type MemberSettings } from './member.ts';
import { monitorRedis, type RedisMonitor } from './redis-monitor.ts';

const LIMIT_MS = 120_000;
const ROLE = `canary_${randomUUID().replaceAll('-', '')}`;
/** With characters that are written otherwise in a URL, so that both ways of writing it are looked for. */
const secret = (name: string) => `cnry-${name}/${randomUUID()}@x`;
const plain = (name: string) => `cnry-${name}-${randomUUID()}`;

/** Secrets of the installation itself. */
const OURS: Canaries = {
  databasePassword: secret('database'),
  redisPassword: secret('redis'),
  s3Secret: new URL(inject('s3Url')).password,
  apiKey: plain('api-key'),
};
/** Secrets that come with requests. */
const THEIRS: Canaries = {
  authorization: plain('authorization'),
  apiKeyHeader: plain('api-key-header'),
  webhookHeader: plain('webhook'),
  cookie: plain('cookie'),
  urlPassword: plain('url-password'),
  urlToken: plain('url-token'),
  postBody: plain('post-body'),
  idempotencyKey: plain('idempotency'),
  wrongKey: plain('wrong-key'),
  redirectPassword: plain('redirect-password'),
  answeredCookie: plain('answered-cookie'),
};

let dir: string;
let site: Server;
let origin: string;
let redis: RedisServer;
let crew: Crew;
let client: ApiClient;
let members: CrewMember[];
let heard: string;
/** The secret of a key made by command, and everything Redis was told. */
let madeKey: string;
let redisWords = '';
let monitor: RedisMonitor;
const answers: Answer[] = [];
const commands: string[] = [];

async function admin(text: string): Promise<void> {
  const connection = new Client({ connectionString: inject('postgresUrl') });
  await connection.connect();
  try {
    await connection.query(text);
  } finally {
    await connection.end();
  }
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-secrets-'));
  heard = '';
  site = createServer((request, response) => {
    heard += `${request.method} ${request.url} ${JSON.stringify(request.headers)}\n`;
    if (request.url?.startsWith('/failing')) response.destroy();
    else if (request.url === '/redirect') {
      response.writeHead(302, { location: `http://me:${THEIRS.redirectPassword}@127.0.0.1:1/` }).end();
    } else {
      response.setHeader('set-cookie', `session=${THEIRS.answeredCookie}`);
      response.setHeader('content-type', 'text/html');
      response.end('<title>A page</title><p>Nothing to hide.</p>');
    }
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  redis = await startRedis({ dir: join(dir, 'redis'), password: OURS.redisPassword ?? '' });
  monitor = await monitorRedis(redis.url, (words) => {
    redisWords += `${words}\n`;
  });
  await admin(`CREATE ROLE ${ROLE} SUPERUSER LOGIN PASSWORD '${OURS.databasePassword}'`);
  crew = await gatherCrew({
    place: { redisUrl: redis.url },
    settings: { logLevel: 'trace', apiKey: OURS.apiKey ?? '' },
    login: { user: ROLE, password: OURS.databasePassword ?? '' },
  });
  const api = await crew.add('api');
  client = createApiClient(() => api.origin, OURS.apiKey ?? '');
  members = [
    api,
    ...(await Promise.all([crew.add('http-worker'), crew.add('scheduler'), crew.add('browser-worker')])),
  ];
}, LIMIT_MS);
afterAll(async () => {
  monitor?.close();
  await crew?.close();
  await endMembers();
  await admin(`DROP ROLE IF EXISTS ${ROLE}`);
  await redis?.stop();
  site?.closeAllConnections();
  site?.close();
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

const all = (): Canaries => ({ ...OURS, ...THEIRS, madeKey });
function expectNone(...texts: readonly string[]): void {
  expect(texts.flatMap((text) => findCanaries(text, all()))).toEqual([]);
}
/** Cookies that a site sets are part of the caller's own result; those of a session are hidden there. */
const withoutCookies = (text: string) => text.replace(/"cookies":\[[^\]]*\]/g, '');
/** To whom a job belongs its URLs are told as they were asked for; a log must not have them. */
const withoutUrls = (text: string) => text.replaceAll(`token=${THEIRS.urlToken}`, '');

async function command(args: readonly string[], settings: MemberSettings = {}): Promise<string> {
  const one = launch(join(dir, randomUUID()), args, {
    ...crew.place,
    logLevel: 'trace',
    apiKey: OURS.apiKey ?? '',
    ...settings,
  });
  await one.ended;
  commands.push(one.output());
  return one.output();
}

describe('secrets', { timeout: LIMIT_MS }, () => {
  it('reach those they are meant for', async () => {
    madeKey = /sk_[\w-]+/.exec(await command(['keys', 'create', 'canary']))?.[0] ?? '';
    expect(madeKey).toMatch(/^sk_/);
    // The one place where it is shown.
    commands.pop();
    const made = createApiClient(() => members[0]?.origin ?? '', madeKey);
    const headers = {
      authorization: `Bearer ${THEIRS.authorization}`,
      'x-api-key': `${THEIRS.apiKeyHeader}`,
      'x-webhook-secret': `${THEIRS.webhookHeader}`,
    };
    const page = { headers, cookies: { session: `${THEIRS.cookie}` } };
    const scraped = await made.post('/v1/scrape', {
      url: `${origin}/page`,
      ...page,
      method: 'POST',
      body: `password=${THEIRS.postBody}`,
    });
    expect(scraped.status, scraped.text).toBe(200);
    for (const [name, value] of Object.entries(headers)) expect(heard).toContain(`"${name}":"${value}"`);
    expect(heard).toContain(`session=${THEIRS.cookie}`);

    const crawled = await client.post(
      '/v1/batch',
      {
        urls: [
          `${origin}/token?token=${THEIRS.urlToken}`,
          `${origin}/failing?token=${THEIRS.urlToken}`,
          `${origin}/redirect`,
        ],
        options: { ...page, maxAttempts: 1 },
      },
      { 'idempotency-key': `${THEIRS.idempotencyKey}` },
    );
    expect(crawled.status, crawled.text).toBe(202);
    const job = String(crawled.body.data?.id);
    await client.ended(job);
    answers.push(scraped, crawled, await client.get(`/v1/jobs/${job}`), await client.get('/v1/jobs'));
    answers.push(
      await client.get('/v1/keys'),
      await client.get('/v1/account'),
      await client.get('/v1/domains'),
    );
    for (const list of ['results', 'errors', 'urls']) {
      const answer = await client.get(`/v1/jobs/${job}/${list}`);
      expect(answer.status).toBe(200);
      answers.push(answer);
    }
    await command(['jobs', 'show', job]);
  });

  it('are not repeated by an answer that refuses', async () => {
    const wrong = createApiClient(() => members[0]?.origin ?? '', `${THEIRS.wrongKey}`);
    const refusals = [
      await wrong.get('/v1/jobs'),
      await client.post('/v1/scrape', { url: `http://me:${THEIRS.urlPassword}@127.0.0.1/` }),
      await client.post('/v1/scrape', { url: `ftp://me:${THEIRS.urlPassword}@127.0.0.1/` }),
      await client.post('/v1/scrape', { url: `me:${THEIRS.urlPassword}@127.0.0.1` }),
      await client.post('/v1/crawl', { urls: [`http://me:${THEIRS.urlPassword}@127.0.0.1/`] }),
      await client.post('/v1/scrape', { url: origin, headers: { cookie: `${THEIRS.cookie}` } }),
      await client.post('/v1/scrape', {
        url: origin,
        headers: { authorization: `${THEIRS.authorization}\n` },
      }),
      await client.post('/v1/scrape', { url: origin, cookies: { session: `${THEIRS.cookie} ;` } }),
      await client.post('/v1/keys', { name: 'x' }, { 'idempotency-key': `${THEIRS.idempotencyKey}` }),
      await client.get(`/v1/domains/me:${THEIRS.urlPassword}@127.0.0.1`),
    ];
    for (const { status, text } of refusals) {
      expect(status, text).toBeGreaterThanOrEqual(400);
      expect(status, text).toBeLessThan(500);
    }
    answers.push(...refusals);
  });

  it('are in no answer of the API', () => {
    expectNone(
      ...answers.map(
        ({ text, headers }) => `${withoutCookies(withoutUrls(text))} ${JSON.stringify([...headers])}`,
      ),
    );
  });

  it('are in no command’s output', async () => {
    await command(['doctor', '--json', '--no-scrape', '--port', '0']);
    await command(['doctor', '--no-scrape', '--port', '0']);
    await command(['migrate']);
    await command(['jobs', 'list', '--json']);
    await command(['keys', 'list', '--json']);
    expect(commands).toHaveLength(6);
    expectNone(...commands.map(withoutUrls));
  });

  it('are in no message about a server that refuses or is away, however much is logged', async () => {
    const { databaseUrl, redisUrl, s3Url } = crew.place;
    const odd = (url: string, change: Partial<Pick<URL, 'port' | 'pathname' | 'password'>>) =>
      Object.assign(new URL(url), change).href;
    const failures: readonly MemberSettings[] = [
      { databaseUrl: odd(databaseUrl, { port: '1' }) },
      { databaseUrl: odd(databaseUrl, { pathname: '/nowhere' }) },
      { databaseUrl: odd(databaseUrl, { password: encodeURIComponent(`${OURS.databasePassword}-wrong`) }) },
      { databaseUrl: `${databaseUrl.replace('postgres', 'nonsense')}` },
      { databaseUrl: databaseUrl.replace('@127.0.0.1', '@127.0.0.1:99999999') },
      { redisUrl: odd(redisUrl, { port: '1' }) },
      { redisUrl: odd(redisUrl, { password: encodeURIComponent(`${OURS.redisPassword}-wrong`) }) },
      { redisUrl: odd(redisUrl, { pathname: '/9999' }) },
      { redisUrl: redisUrl.replace('redis:', 'nonsense:') },
      { s3Url: odd(s3Url, { port: '1' }) },
      { s3Url: odd(s3Url, { pathname: '/nowhere' }) },
      { s3Url: odd(s3Url, { password: `${OURS.s3Secret}wrong` }) },
      { s3Url: s3Url.replace('http:', 'nonsense:') },
      { s3Url: `${s3Url}&secret=${OURS.s3Secret}` },
      { apiKey: `${OURS.apiKey}`.slice(0, 15) },
    ];
    const outputs = await Promise.all(
      failures.map((settings) => command(['doctor', '--no-scrape', '--port', '0'], settings)),
    );
    for (const [at, output] of outputs.entries()) {
      expect(output.length, Object.keys(failures[at] ?? {})[0]).toBeGreaterThan(0);
      expectNone(output);
    }
    const started = await Promise.all(
      failures
        .filter((_, at) => [2, 4, 6, 11].includes(at))
        .map((settings) => command(['serve', '--port', '0'], settings)),
    );
    for (const output of started) {
      expect(output).toContain('error ');
      expectNone(output);
    }
  });

  it('are in no metric and no state of readiness, whole or broken', async () => {
    const tell = async () => {
      for (const { origin: at } of members) {
        for (const path of ['/metrics', '/readyz', '/healthz']) {
          expectNone((await createApiClient(() => at, 'none').get(path)).text);
        }
      }
    };
    await tell();
    for (const { to } of members) for (const line of [to.postgres, to.redis, to.s3]) line.set('cut');
    await tell();
    expectNone((await client.get('/v1/jobs?limit=3')).text);
    for (const { to } of members) for (const line of [to.postgres, to.redis, to.s3]) line.set('open');
  });

  it('are not what Redis is told or keeps', async () => {
    expect(redisWords).toContain('scrape-http');
    // Logins are not told by Redis; what it keeps is looked at besides.
    expectNone(redisWords);
    const connection = new Redis(redis.url);
    try {
      for (const key of await connection.keys('*')) {
        expectNone(key);
        expectNone((await connection.dumpBuffer(key))?.toString('latin1') ?? '');
      }
    } finally {
      connection.disconnect();
    }
  });

  it('are in no title of a process', async () => {
    for (const { pid } of members) {
      for (const file of ['cmdline', 'comm']) expectNone(await readFile(`/proc/${pid}/${file}`, 'utf8'));
    }
  });

  it('are kept of keys as hashes only', async () => {
    const rows = await crew.sql(
      'SELECT row_to_json(keys)::text AS row FROM keys UNION ALL SELECT row_to_json(audit_log)::text FROM audit_log',
    );
    expect(rows.length).toBeGreaterThan(1);
    expectNone(JSON.stringify(rows));
  });

  it('are in no line of any log, from the first to the last', async () => {
    for (const one of members) one.signal('SIGTERM');
    for (const one of members) await one.ended;
    for (const one of members) {
      expect(one.output()).toContain('"level":"');
      expectNone(one.output());
    }
  });
});
