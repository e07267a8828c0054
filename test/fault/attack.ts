import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';
import { endMembers, startMember } from '../fleet/member.ts';
import { HOSTILE_PATHS, startHostileSite } from '../hostile/http1-site.ts';
import { HTTP2_FLOODS, startHttp2Flood } from '../hostile/http2-floods.ts';
import { KILLERS, startKillerSite } from '../hostile/page-killers.ts';

export interface AttackOptions {
  readonly minutes: number;
  /** Pages of each crawl that goes on beside the attacks. */
  readonly pages: number;
  readonly say: (line: string) => void;
}

export interface AttackReport {
  /** Null while it ran, which is as it should be. */
  readonly exitCode: number | null;
  readonly attacks: number;
  /** How the attacks ended: error codes, or `ok`. */
  readonly ends: Readonly<Record<string, number>>;
  /** Answers of the API with status 500. */
  readonly serverErrors: number;
  readonly crawls: number;
  /** Crawls whose results were not each page exactly once. */
  readonly wrongCrawls: readonly string[];
  /** Resident memory of the server's process after the first round of attacks, at its largest, and at the end. */
  readonly firstMb: number;
  readonly mostMb: number;
  readonly lastMb: number;
  /** The longest that `/healthz` took. */
  readonly slowestHealthMs: number;
}

const API_KEY = 'sk_test_0123456789abcdef0123456789abcdef';
const POLICY =
  'default: { rate: unlimited, concurrency: 8 }\ndomains: { 127.0.0.1: { consent: [identity] } }\n';
/** Time limit of one attack: a hostile site keeps its connection for as long as it may. */
const TIMEOUT_MS = 20_000;
const ATTACKS_AT_ONCE = 3;
const SETTLE_MS = 15_000;
const CLOSE_MS = 30_000;

/** A site of pages that link to each other in a chain of ten, to tell whether a crawl beside the attacks is exact. */
async function startPlainSite(pages: number) {
  const server = createServer((request, response) => {
    const number = Number(/^\/\w+\/(\d+)$/.exec(request.url ?? '')?.[1] ?? Number.NaN);
    if (!(number < pages)) {
      response.writeHead(404).end();
      return;
    }
    const run = request.url?.split('/')[1];
    const links = Array.from({ length: 10 }, (_, index) => number * 10 + index + 1)
      .filter((next) => next < pages)
      .map((next) => `<a href="/${run}/${next}">${next}</a>`);
    response.setHeader('content-type', 'text/html');
    response.end(
      `<!doctype html><title>Page ${number}</title><p>${'Some words. '.repeat(40)}${links.join(' ')}`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    origin: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024);
}

/**
 * Attacks a running server with hostile pages, responses and frames while it crawls a harmless site again and again. The
 * server has to stay, its memory has to return, and every crawl has to be exact.
 */
export async function attack({ minutes, pages, say }: AttackOptions): Promise<AttackReport> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-attack-'));
  const certificate = selfSigned();
  await writeFile(join(dir, 'policy.yaml'), POLICY);
  await writeFile(join(dir, 'trusted.pem'), certificate.cert);
  const [hostile, killers, plain] = await Promise.all([
    startHostileSite(),
    startKillerSite(),
    startPlainSite(pages),
  ]);
  const floods = await Promise.all(
    HTTP2_FLOODS.map(async (kind) => ({ kind, server: await startHttp2Flood(kind, 0, certificate) })),
  );
  const server = await startMember(
    join(dir, 'server'),
    'all',
    { allowPrivate: true, apiKey: API_KEY, policyFile: join(dir, 'policy.yaml'), browserPages: 3 },
    { trusts: join(dir, 'trusted.pem') },
  );
  const endsAt = performance.now() + minutes * 60_000;
  const isOver = () => performance.now() > endsAt || server.exitCode !== null;
  const ends: Record<string, number> = {};
  const wrongCrawls: string[] = [];
  let [attacks, crawls, serverErrors, slowestHealthMs, firstMb, mostMb] = [0, 0, 0, 0, 0, 0];

  async function ask(
    path: string,
    body?: unknown,
  ): Promise<{ status: number; data: Record<string, unknown> }> {
    const answer = await fetch(server.origin + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.status === 500) serverErrors += 1;
    return { status: answer.status, data: (await answer.json()) as Record<string, unknown> };
  }

  const plans = [
    ...Object.keys(HOSTILE_PATHS).flatMap((path) => [
      { url: hostile.origin + path },
      { url: hostile.origin + path, identity: 'browser' },
      { url: hostile.origin + path, engine: 'browser' },
    ]),
    ...Object.keys(KILLERS).map((path) => ({ url: killers.origin + path })),
    {
      url: `${killers.origin}/evaluates`,
      actions: [{ type: 'evaluate', script: `'\\u0001'.repeat(100e6)` }],
    },
    ...floods.flatMap(({ kind, server: { origin } }) => [
      { url: `${origin}/${kind}` },
      { url: `${origin}/${kind}`, identity: 'browser' },
    ]),
  ];

  async function attackInTurn(first: number): Promise<void> {
    for (let turn = first; !isOver(); turn += ATTACKS_AT_ONCE) {
      const plan = plans[turn % plans.length];
      const { data } = await ask('/v1/scrape', { ...plan, timeoutMs: TIMEOUT_MS, maxAttempts: 2 }).catch(
        () => ({
          data: { error: { code: 'NO_ANSWER' } },
        }),
      );
      const code = (data.error as { code?: string } | undefined)?.code ?? 'ok';
      ends[code] = (ends[code] ?? 0) + 1;
      attacks += 1;
      if (attacks === plans.length) firstMb = await residentMb(server.pid);
    }
  }

  async function crawlAgainAndAgain(): Promise<void> {
    while (!isOver()) {
      crawls += 1;
      const run = `run${crawls}`;
      const { data } = await ask('/v1/crawl', {
        urls: [`${plain.origin}/${run}/0`],
        maxPages: pages * 2,
        maxDepth: 50,
      });
      const { id } = data.data as { id: string };
      let view: Record<string, unknown> = {};
      do {
        await delay(500);
        view = (await ask(`/v1/jobs/${id}`)).data.data as Record<string, unknown>;
      } while (view.finishedAt === null && server.exitCode === null);
      const answer = await fetch(`${server.origin}/v1/jobs/${id}/results`, {
        headers: { authorization: `Bearer ${API_KEY}`, accept: 'application/x-ndjson' },
      });
      const urls = (await answer.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => (JSON.parse(line) as { url: string }).url);
      const isExact = urls.length === pages && new Set(urls).size === pages && view.status === 'completed';
      if (!isExact)
        wrongCrawls.push(
          `${run}: ${String(view.status)}, ${urls.length} results, ${new Set(urls).size} URLs`,
        );
    }
  }

  async function watch(): Promise<void> {
    for (let round = 1; !isOver(); round += 1) {
      const askedAt = performance.now();
      await fetch(`${server.origin}/healthz`).catch(() => undefined);
      slowestHealthMs = Math.max(slowestHealthMs, Math.round(performance.now() - askedAt));
      mostMb = Math.max(mostMb, await residentMb(server.pid));
      if (round % 60 === 0)
        say(`${attacks} attacks, ${crawls} crawls, ${await residentMb(server.pid)} MB (most ${mostMb})`);
      await delay(1_000);
    }
  }

  try {
    const attackers = Array.from({ length: ATTACKS_AT_ONCE }, (_, index) => attackInTurn(index));
    await Promise.all([...attackers, crawlAgainAndAgain(), watch()]);
    await delay(SETTLE_MS);
    const lastMb = await residentMb(server.pid);
    const { exitCode } = server;
    return {
      exitCode,
      attacks,
      ends,
      serverErrors,
      crawls,
      wrongCrawls,
      firstMb,
      mostMb,
      lastMb,
      slowestHealthMs,
    };
  } finally {
    const closing = endMembers().then(() =>
      Promise.all([
        hostile.close(),
        killers.close(),
        plain.close(),
        ...floods.map(({ server: each }) => each.close()),
      ]),
    );
    // A hostile server may not close at all, which must not cost the report of an hour.
    await Promise.race([closing, delay(CLOSE_MS)]);
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
