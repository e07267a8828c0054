import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startProxy } from '../proxies/forwarding-proxy.ts';
import { type OtlpReceiver, pathOf, startOtlpReceiver, treeProblems } from '../tracing/otlp-receiver.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Canaries, findCanaries } from './canaries.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 180_000;
const CALLER = '00f067aa0ba902b7';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const plain = (name: string) => `cnry-${name}-${randomUUID()}`;

const SECRETS: Canaries = {
  urlToken: plain('url-token'),
  path: plain('path'),
  authorization: plain('authorization'),
  cookie: plain('cookie'),
  answeredCookie: plain('answered-cookie'),
  proxyPassword: plain('proxy-password'),
  webhookPath: plain('webhook-path'),
  webhookHeader: plain('webhook-header'),
  webhookSecret: plain('webhook-secret'),
  body: plain('body'),
};

let receiver: OtlpReceiver;
let crew: Crew;
let client: ApiClient;
const delivered: IncomingHttpHeaders[] = [];
const visited: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
const members: CrewMember[] = [];
const servers: Server[] = [];

/** Two hosts, each with two pages that are made by a script. robots.txt is answered when both hosts were asked for it. */
async function startSites(): Promise<readonly string[]> {
  const { promise: bothAsked, resolve } = Promise.withResolvers<void>();
  const asked = new Set<number>();
  const page = (title: string) =>
    `<title>${title}</title><main></main><script>document.querySelector('main').innerHTML =
    '<p>${SECRETS.body}</p><a href="/second?token=${SECRETS.urlToken}">second</a>'</script>`;
  const start = async (): Promise<string> => {
    const server = createServer(async (request, response) => {
      const { url = '', headers } = request;
      visited.push({ url, headers });
      if (url === '/robots.txt') {
        asked.add((server.address() as AddressInfo).port);
        if (asked.size === 2) resolve();
        await bothAsked;
        response.end('User-agent: *\nDisallow: /none\n');
        return;
      }
      response.setHeader('set-cookie', `own=${SECRETS.answeredCookie}`);
      response.setHeader('content-type', 'text/html');
      response.end(page(url));
    });
    return listening(server);
  };
  return Promise.all([start(), start()]);
}

/** Takes the webhook of the job. */
function startHookReceiver(): Promise<string> {
  return listening(
    createServer((request, response) => {
      delivered.push(request.headers);
      request.resume().on('end', () => response.writeHead(204).end());
    }),
  );
}

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  // Each worker owns one host at a time, so that two hosts need both.
  const settings = { otelUrl: receiver.url, traceRatio: 0, maxHosts: 1, browserPages: 2 };
  crew = await gatherCrew({ settings });
  const roles = ['api', 'http-worker', 'http-worker', 'browser-worker', 'scheduler'] as const;
  members.push(...(await Promise.all(roles.map((role) => crew.add(role)))));
  client = createApiClient(() => members[0]?.origin ?? '', crew.apiKey);
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await receiver?.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
}, LIMIT_MS);

test(
  'a rendered crawl across five processes is one tree without a gap and without a secret',
  async () => {
    const proxy = await startProxy({ login: ['me', SECRETS.proxyPassword ?? ''] });
    const hosts = await startSites();
    const hook = await startHookReceiver();
    const answer = await client.post(
      '/v1/crawl',
      {
        urls: hosts.map((host) => `${host}/${SECRETS.path}/?token=${SECRETS.urlToken}`),
        maxPages: 4,
        sitemap: 'skip',
        options: {
          engine: 'browser',
          headers: { authorization: `Bearer ${SECRETS.authorization}` },
          cookies: { session: SECRETS.cookie },
          proxy: { url: proxy.url() },
        },
        webhook: {
          url: `${hook}/${SECRETS.webhookPath}?token=${SECRETS.urlToken}`,
          secret: SECRETS.webhookSecret,
          headers: { 'x-key': SECRETS.webhookHeader },
          events: ['job.completed'],
        },
      },
      { traceparent: `00-${TRACE}-${CALLER}-01` },
    );
    expect(answer.status, answer.text).toBe(202);
    expect(answer.headers.get('traceparent')).toMatch(new RegExp(`^00-${TRACE}-[\\da-f]{16}-01$`));
    const job = await client.ended(String(answer.body.data?.id));
    expect(job, JSON.stringify(job)).toMatchObject({ status: 'completed', progress: { pages: 4 } });
    await vi.waitFor(() => expect(delivered).toHaveLength(1), { timeout: 60_000 });
    // What waits is sent when a process drains.
    for (const member of members) member.signal('SIGTERM');
    expect(await Promise.all(members.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);

    const { spans } = receiver;
    expect(treeProblems(spans, CALLER)).toEqual([]);
    const paths = Object.groupBy(
      spans,
      (span) => `${span.resource['scrapifie.role']}: ${pathOf(span, spans)}`,
    );
    const counts = Object.fromEntries(Object.entries(paths).map(([path, found]) => [path, found?.length]));
    const CREATE = 'POST /v1/crawl > create crawl';
    const ATTEMPT = `http-worker: ${CREATE} > slice > attempt`;
    expect(counts).toEqual({
      'api: POST /v1/crawl': 1,
      [`api: ${CREATE}`]: 1,
      [`http-worker: ${CREATE} > slice`]: expect.any(Number),
      [ATTEMPT]: 4,
      [`${ATTEMPT} > render`]: 4,
      [`browser-worker: ${CREATE} > slice > attempt > render > render`]: 4,
      [`${ATTEMPT} > read`]: 4,
      [`${ATTEMPT} > read > extract`]: 4,
      [`${ATTEMPT} > read > store body`]: 4,
      [`${ATTEMPT} > ledger commit`]: 4,
      [`http-worker: ${CREATE} > crawl`]: 1,
      [`scheduler: ${CREATE} > deliver job.completed`]: 1,
    });
    expect(new Set(spans.map(({ resource }) => resource['service.instance.id'])).size).toBe(5);
    const [delivery] = spans.filter(({ name }) => name.startsWith('deliver'));
    expect(delivered[0]?.traceparent).toBe(`00-${TRACE}-${delivery?.spanId}-01`);

    expect(proxy.asked.length).toBeGreaterThan(0);
    expect(findCanaries(JSON.stringify(visited), SECRETS).length).toBeGreaterThan(0);
    expect(findCanaries(receiver.text(), SECRETS)).toEqual([]);
    // Sites learn nothing of traces.
    expect(JSON.stringify(visited)).not.toMatch(/traceparent|4bf92f3577b34da6/);
  },
  LIMIT_MS,
);
