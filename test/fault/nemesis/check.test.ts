import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { goodHistory } from './history.fixture.ts';
import type { History, RequestRecord } from './history.ts';
import { saveHistory } from './history-files.ts';
import { verdictOn } from './verdict.ts';

const good = goodHistory();
const START = good.job.createdAt;
const HOST = 'a.test:81';

/** The checks that object, each once. */
function objections(change: Partial<History>): string[] {
  return [...new Set(verdictOn({ ...good, ...change }).violations.map(({ check }) => check))];
}

const withJob = (job: Partial<History['job']>) => ({ job: { ...good.job, ...job } });
const withCounter = (counter: Partial<History['job']['counters']>) =>
  withJob({ counters: { ...good.job.counters, ...counter } });
const replaced = <T>(items: readonly T[], at: number, change: Partial<T>): T[] =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item));

function request(at: number, change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    ...{ at: START + at, endedAt: START + at + 50, host: HOST, path: '/x', status: 200 },
    ...{ worker: 'http-worker-1', remotePort: 1, inFlight: 1, ...change },
  };
}

test('a history without fault is found to be one', () => {
  expect(verdictOn(good).violations).toEqual([]);
  expect(verdictOn(good).figures).toMatchObject({ pages: 12, requests: 14, robotsRequests: 2, refetches: 0 });
});

describe('results', () => {
  test.each<[string, Partial<History>, string[]]>([
    ['a result is missing', { results: good.results.slice(1) }, ['result', 'counter']],
    [
      'a result is there twice',
      { results: [...good.results, ...good.results.slice(0, 1)] },
      ['result', 'counter'],
    ],
    [
      'a result has the hash of something else',
      { results: replaced(good.results, 2, { contentHash: 'x' }) },
      ['result'],
    ],
    ['a body is gone', { results: replaced(good.results, 2, { bodyHash: null }) }, ['body']],
    ['a body is another one', { results: replaced(good.results, 2, { bodyHash: 'x' }) }, ['body']],
    [
      'there is a result of what is no page',
      { results: replaced(good.results, 0, { url: `http://${HOST}/no-page` }) },
      ['result'],
    ],
    ['a URL is not in the ledger', { urls: good.urls.slice(1) }, ['ledger', 'counter']],
    [
      'a URL is in the ledger twice',
      { urls: [...good.urls, ...good.urls.slice(0, 1)] },
      ['ledger', 'counter'],
    ],
    [
      'a URL with a result counts as failed',
      { urls: replaced(good.urls, 3, { state: 'failed' }) },
      ['ledger', 'counter'],
    ],
  ])('when %s', (_, change, expected) => {
    expect(objections(change)).toEqual(expected);
  });

  test.each<[string, Partial<History>]>([
    ['one page too many is counted', withCounter({ pages: 13 })],
    ['something is open', withCounter({ open: 1 })],
    ['less than nothing is open', withCounter({ open: -1 })],
    ['bytes are counted twice', withCounter({ bytes: 13_000 })],
  ])('when %s', (_, change) => {
    expect(objections(change)).toEqual(['counter']);
  });
});

describe('the end of the job', () => {
  test.each<[string, Partial<History>]>([
    ['it has not ended', withJob({ status: 'running', finishedAt: null })],
    ['it has ended early', withJob({ stopReason: 'budget.pages' })],
    ['it has failed in part', withJob({ status: 'partially_completed' })],
    ['somebody asks on after it', { requests: [...good.requests, request(60_000)] }],
  ])('when %s', (_, change) => {
    expect(objections(change)).toEqual(['end']);
  });
});

describe('politeness', () => {
  const inTheEnd = withJob({ finishedAt: START + 600_000 });

  test('a host that gets one request more than its rate in a second is forgiven, two are not', () => {
    const paced = [100, 600, 1_099].map((at) => request(100_000 + at));
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...paced] })).toEqual([]);
    const fast = [100, 400, 700, 1_000].map((at) => request(100_000 + at));
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...fast] })).toEqual(['rate']);
  });

  test('robots.txt counts', () => {
    const fast = [100, 400, 700, 1_000].map((at) => request(100_000 + at, { path: '/robots.txt' }));
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...fast] })).toEqual(['rate']);
  });

  test('pauses that are cut short again and again are noticed though no second has too many', () => {
    const pairs = [0, 2_000, 4_000, 6_000].flatMap((at) => [
      request(100_000 + at),
      request(100_000 + at + 60, { path: '/y' }),
    ]);
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...pairs] })).toEqual(['pauses']);
  });

  test('more requests under way than connections are allowed', () => {
    const requests = replaced(good.requests, 4, { inFlight: 3 });
    expect(objections({ requests })).toEqual(['connections']);
  });

  test('two workers with requests under way at one host', () => {
    const both = [
      request(100_000, { endedAt: START + 100_900 }),
      request(100_600, { worker: 'http-worker-2' }),
    ];
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...both] })).toEqual(['owner']);
  });

  test('a worker whose request was never answered counts as under way', () => {
    const both = [request(100_000, { endedAt: null }), request(130_000, { worker: 'http-worker-2' })];
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...both] })).toEqual(['owner']);
  });

  test('two workers that take turns at one host', () => {
    const turns = [0, 550, 1_100, 1_650].map((at, index) =>
      request(100_000 + at, { worker: `http-worker-${1 + (index % 2)}` }),
    );
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...turns] })).toEqual(['owner']);
  });

  test('a host that is handed over once is none of that', () => {
    const handed = [0, 550, 1_100, 1_650].map((at, index) =>
      request(100_000 + at, { worker: index < 2 ? 'http-worker-1' : 'http-worker-2' }),
    );
    expect(objections({ ...inTheEnd, requests: [...good.requests, ...handed] })).toEqual([]);
  });
});

describe('a dead owner', () => {
  const last = good.urls.findIndex(({ url }) => url === `http://${HOST}/5`);
  const lateBy = (ms: number, actions: History['actions'] = []): Partial<History> => ({
    ...withJob({ finishedAt: START + ms + 200 }),
    actions,
    urls: replaced(good.urls, last, { finishedAt: START + ms + 150 }),
    requests: good.requests.map((one) =>
      one.host === HOST && one.path === '/5' ? { ...one, at: START + ms, endedAt: START + ms + 100 } : one,
    ),
  });
  const action = (target: string, from: number, until: number) => ({
    ...{ kind: 'pause' as const, target, from: START + from, until: START + until },
  });

  test('is replaced within a minute', () => {
    expect(objections(lateBy(50_000))).toEqual([]);
    expect(objections(lateBy(70_000))).toEqual(['takeover']);
    expect(objections(lateBy(70_000, [action('http-worker-1', 3_000, 60_000)]))).toEqual(['takeover']);
  });

  test('is waited for longer when two died one after the other, or a server was away', () => {
    const two = [action('http-worker-1', 3_000, 30_000), action('http-worker-2', 35_000, 60_000)];
    expect(objections(lateBy(70_000, two))).toEqual([]);
    expect(objections(lateBy(70_000, [action('postgres', 5_000, 20_000)]))).toEqual([]);
    expect(objections(lateBy(90_000, [action('postgres', 5_000, 20_000)]))).toEqual(['takeover']);
  });

  test('is named with what was done to it', () => {
    const change = lateBy(70_000, [action('http-worker-1', 3_000, 60_000)]);
    const [violation] = verdictOn({ ...good, ...change }).violations;
    expect(violation?.what).toContain(HOST);
    expect(violation?.what).toContain('near: pause http-worker-1 from 3.000 s to 60.000 s');
  });

  test('is no matter when the host has no work', () => {
    const requests = [...good.requests, request(300_000)];
    expect(objections({ ...withJob({ finishedAt: START + 600_000 }), requests })).toEqual([]);
  });
});

describe('the program', () => {
  const PROGRAM = fileURLToPath(new URL('check.ts', import.meta.url));
  const check = (...args: string[]) =>
    new Promise<{ code: unknown; stdout: string }>((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], (error, stdout) =>
        resolve({ code: error === null ? 0 : error.code, stdout }),
      );
    });

  test('says by its end whether all is well, and tells every violation', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'scrapifie-check-'));
    try {
      await saveHistory(dir, good);
      expect(await check(dir)).toMatchObject({ code: 0, stdout: expect.stringContaining('"violations":0') });
      await saveHistory(dir, { ...good, results: good.results.slice(1) });
      const { code, stdout } = await check(dir);
      expect(code).toBe(1);
      expect(stdout).toContain(`http://${HOST}/0 has no result`);
      expect(stdout).toContain('"violations":2');
      await rm(join(dir, 'job.json'));
      expect((await check(dir)).code).toBe(2);
      expect((await check()).code).toBe(2);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});
