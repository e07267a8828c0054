import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { checkRecovery, recoveriesOf } from './check-recovery.ts';
import { goodHistory } from './history.fixture.ts';
import type {
  ActionRecord,
  CallRecord,
  ExitRecord,
  History,
  JobView,
  ReceivedRecord,
  RequestRecord,
  TenantRecord,
} from './history.ts';
import { saveHistory } from './history-files.ts';
import { verdictOn } from './verdict.ts';

const good = goodHistory();
const START = good.expected.startedAt;
const HOST = 'a.test:81';

/** The checks that object, each once. */
function objections(change: Partial<History>): string[] {
  return [...new Set(verdictOn({ ...good, ...change }).violations.map(({ check }) => check))];
}

const [job] = good.jobs;
const last = job?.last;
if (job === undefined || last === null || last === undefined) throw new Error('The fixture has no job.');
const withJob = (change: Partial<JobView>): Partial<History> => ({
  jobs: [{ ...job, last: { ...last, ...change } }],
});
const withCounter = (counter: Partial<JobView['counters']>) =>
  withJob({ counters: { ...last.counters, ...counter } });
const replaced = <T>(items: readonly T[], at: number, change: Partial<T>): T[] =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item));

function request(at: number, change: Partial<RequestRecord> = {}): RequestRecord {
  return {
    ...{ at: START + at, endedAt: START + at + 50, host: HOST, path: '/own/x', status: 200 },
    ...{ worker: 'http-worker-1', remotePort: 1, inFlight: 1, ...change },
  };
}

test('a history without fault is found to be one', () => {
  expect(verdictOn(good).violations).toEqual([]);
  expect(verdictOn(good).figures.summary).toMatchObject({
    pages: 12,
    requests: 14,
    robotsRequests: 2,
    refetches: 0,
  });
});

describe('results', () => {
  test.each<[string, Partial<History>, string[]]>([
    ['a result is missing', { results: good.results.slice(1) }, ['lost', 'counter']],
    [
      'a result is there twice',
      { results: [...good.results, ...good.results.slice(0, 1)] },
      ['twice', 'counter'],
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
      ['lost', 'result'],
    ],
    ['a URL is not in the ledger', { urls: good.urls.slice(1) }, ['lost', 'counter']],
    [
      'a URL is in the ledger twice',
      { urls: [...good.urls, ...good.urls.slice(0, 1)] },
      ['twice', 'counter'],
    ],
    [
      'a URL with a result counts as failed',
      { urls: replaced(good.urls, 3, { state: 'failed' }) },
      ['lost', 'counter'],
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
      request(100_000 + at + 60, { path: '/own/y' }),
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
  const last = good.urls.findIndex(({ url }) => url === `http://${HOST}/own/5`);
  const lateBy = (ms: number, actions: History['actions'] = []): Partial<History> => ({
    ...withJob({ finishedAt: START + ms + 200 }),
    actions,
    urls: replaced(good.urls, last, { finishedAt: START + ms + 150 }),
    requests: good.requests.map((one) =>
      one.host === HOST && one.path === '/own/5'
        ? { ...one, at: START + ms, endedAt: START + ms + 100 }
        : one,
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
    expect(objections(lateBy(90_000, [action('postgres', 5_000, 20_000)]))).toContain('takeover');
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

describe('several jobs', () => {
  const JOB = 'crawl-1';
  const call = (what: CallRecord['what'], at: number, change: Partial<CallRecord> = {}): CallRecord => ({
    ...{ job: JOB, what, at: START + at, endedAt: START + at + 10, status: 200, answer: null, ...change },
  });
  const goesBack = (from: number, until: number): Partial<History> => ({
    actions: [
      {
        kind: 'go back in time',
        target: 'postgres',
        from: START + from,
        until: START + until,
        forgets: true,
      },
    ],
  });
  const calls = (...more: CallRecord[]): Partial<History> => ({ calls: [...good.calls, ...more] });

  test('the same key is answered the same, unless the store has forgotten the first answer', () => {
    const other = calls(call('accept', 9_000, { answer: 'id-2', status: 202 }));
    const stored = { stored: ['id-1', 'id-2'] };
    expect(objections({ ...other, ...stored })).toEqual(['idempotency']);
    expect(objections({ ...other, ...stored, ...goesBack(-1_000, 8_000) })).toEqual([]);
    expect(objections({ ...other, ...stored, ...goesBack(1_000, 8_000) })).toEqual(['idempotency']);
  });

  test('a scrape has the right page, and is still there in the end', () => {
    const scrape = (answer: string) => calls(call('scrape', 500, { job: 'scrape-1', answer }));
    expect(objections({ ...scrape('id-9 right http://x/'), stored: ['id-1', 'id-9'] })).toEqual([]);
    expect(objections({ ...scrape('id-9 wrong: y http://x/'), stored: ['id-1', 'id-9'] })).toEqual([
      'result',
    ]);
    expect(objections(scrape('id-9 right http://x/'))).toEqual(['lost']);
    expect(objections({ ...scrape('id-9 right http://x/'), ...goesBack(0, 8_000) })).toEqual([]);
  });

  test('a job that was accepted is not gone, unless the store has forgotten it', () => {
    expect(objections(calls(call('gone', 9_000, { status: 404, answer: 'id-1' })))).toEqual(['lost']);
    const forgotten = calls(call('gone', 9_000, { status: 404, answer: 'id-1' }));
    expect(objections({ ...forgotten, ...goesBack(-5, 8_000) })).toEqual([]);
    expect(objections({ jobs: [{ ...job, last: null }] })).toEqual(['lost']);
  });

  test('a job that no client was told of is one too many', () => {
    expect(objections({ stored: ['id-1', 'id-7'] })).toEqual(['twice']);
  });

  test('a cancelled job asks for nothing until it is resumed', () => {
    const life = calls(call('cancel', 100_000), call('quiet', 101_000), call('resume', 110_000));
    const later = withJob({ finishedAt: START + 120_000 });
    expect(objections({ ...life, ...later })).toEqual([]);
    const asked = { requests: [...good.requests, request(105_000)] };
    expect(objections({ ...life, ...later, ...asked })).toEqual(['cancelled']);
    expect(objections({ ...life, ...later, ...asked, ...goesBack(100_500, 104_000) })).toEqual([]);
  });

  test('hostile pages end in an error with a name, or well', () => {
    const url = good.urls[0]?.url ?? '';
    const hostile = (codes: string[]) => ({ ...job, wanted: { ...job.wanted, [url]: { codes } } });
    const failed = (errorCode: string): Partial<History> => ({
      urls: replaced(good.urls, 0, { state: 'failed', errorCode }),
      results: good.results.slice(1),
    });
    const counted = { ...last.counters, pages: 11, done: 11, failed: 1 };
    const jobs = [{ ...hostile(['CONNECTION_RESET']), last: { ...last, counters: counted } }];
    expect(objections({ ...failed('CONNECTION_RESET'), jobs })).toEqual([]);
    expect(objections({ ...failed('INTERNAL'), jobs })).toEqual(['typed']);
    expect(objections({ jobs: [hostile(['CONNECTION_RESET'])] })).toEqual([]);
  });

  test('a page that was shown has the right title', () => {
    const url = good.urls[0]?.url ?? '';
    const jobs = [{ ...job, wanted: { ...job.wanted, [url]: { title: 'Wanted' } } }];
    expect(objections({ jobs, results: replaced(good.results, 0, { title: 'Wanted' }) })).toEqual([]);
    expect(objections({ jobs, results: replaced(good.results, 0, { title: 'Other' }) })).toEqual(['result']);
  });

  test('what a retry has forgotten of its attempts still counts', () => {
    const counters = { ...last.counters, bytes: 99_000 };
    expect(objections(withJob({ counters }))).toEqual(['counter']);
    expect(objections({ ...withJob({ counters }), ...calls(call('retry', 9_000)) })).toEqual([]);
  });
});

describe('processes that are only restarted', () => {
  const gentle = (change: Partial<History> = {}): Partial<History> => ({
    expected: { ...good.expected, isGentle: true },
    ...change,
  });
  const refusal = (status: number | null, retryAfter: string | null) => ({
    refusals: [{ at: START + 5_000, what: 'POST /v1/scrape', status, told: 'why', retryAfter }],
  });

  test('owe clients an answer, or a refusal with the time of the next try', () => {
    expect(objections(gentle())).toEqual([]);
    expect(objections(gentle(refusal(503, '1')))).toEqual([]);
    expect(objections(gentle(refusal(429, '5')))).toEqual([]);
    expect(objections(gentle(refusal(503, null)))).toEqual(['request']);
    expect(objections(gentle(refusal(502, '1')))).toEqual(['request']);
    expect(objections(gentle(refusal(null, null)))).toEqual(['request']);
    expect(objections(refusal(null, null))).toEqual([]);
  });

  test('owe sites that no page is fetched twice, unless its job was cancelled or retried', () => {
    const first = good.requests.find(({ path }) => path === '/own/1');
    if (first === undefined) throw new Error('The fixture has no such request.');
    const again = { ...first, at: first.at + 1_000, endedAt: first.at + 1_100 };
    const finished = withJob({ finishedAt: START + 600_000 });
    const requests = [...good.requests, again].toSorted((a, b) => a.at - b.at);
    expect(objections(gentle({ ...finished, requests }))).toContain('fetched twice');
    const cancel = { ...good.calls[0], what: 'cancel', status: 200, answer: null } as CallRecord;
    expect(objections(gentle({ ...finished, requests, calls: [...good.calls, cancel] }))).not.toContain(
      'fetched twice',
    );
  });
});

describe('processes', () => {
  const exit = (change: Partial<ExitRecord>): Partial<History> => ({
    exits: [
      {
        ...{
          process: 'api-1',
          at: START + 50_000,
          startedAt: START + 10_000,
          code: 0,
          signal: null,
          asked: 'stop',
        },
        ...change,
      },
    ],
  });
  const fault = (kind: string, target: string, from: number, until: number): Partial<History> => ({
    actions: [{ kind, target, from: START + from, until: START + until }],
  });
  const outage = fault('restart', 'postgres', 45_000, 49_000);

  test.each<[string, Partial<History>, string[]]>([
    ['ends with 0 when told to stop', exit({}), []],
    ['ends with 5 when told to stop', exit({ code: 5 }), ['exit']],
    ['ends with 5 when told to stop while a server is away', { ...exit({ code: 5 }), ...outage }, []],
    [
      'has to be killed when told to stop',
      { ...exit({ code: null, signal: 'SIGKILL' }), ...outage },
      ['exit'],
    ],
    ['is killed', exit({ code: null, signal: 'SIGKILL', asked: 'kill' }), []],
    ['ends by itself', exit({ code: 1, asked: null }), ['exit']],
    ['ends by itself with 0', exit({ code: 0, asked: null }), ['exit']],
    ['aborts', exit({ code: null, signal: 'SIGABRT', asked: null }), ['exit']],
    [
      'aborts when told to',
      {
        ...exit({ code: null, signal: 'SIGABRT', asked: null }),
        ...fault('abort', 'api-1', 49_000, 52_000),
      },
      [],
    ],
    [
      'cannot start without a server',
      { ...exit({ code: 5, asked: null, startedAt: START + 44_000 }), ...outage },
      [],
    ],
  ])('one %s', (_, change, expected) => {
    expect(objections(change)).toEqual(expected);
  });

  test('one whose memory grows without end is noticed', () => {
    const memory = (lastBytes: number): Partial<History> => ({
      memory: [100_000_000, lastBytes].map((rssBytes, index) => ({
        ...{ process: 'api-1', at: START + index, rssBytes },
      })),
    });
    expect(objections(memory(300_000_000))).toEqual([]);
    expect(objections(memory(900_000_000))).toEqual(['memory']);
  });

  test('nothing may be left behind, and a run without enough faults shows nothing', () => {
    const leftovers = [{ place: 's3', what: 'objects', count: 2, examples: ['a', 'b'] }];
    expect(objections({ leftovers })).toEqual(['left behind']);
    expect(objections({ expected: { ...good.expected, leastFaults: 1 } })).toEqual(['faults']);
  });
});

describe('recovery', () => {
  /** Two workers, each at hosts of its own, with a request a second, the second one silent for a while. */
  const history = (silentFrom: number, silentUntil: number, actions: ActionRecord[]) => ({
    actions,
    requests: [1, 2].flatMap((worker) =>
      Array.from({ length: 200 }, (_, second) => second * 1_000)
        .filter((at) => worker === 1 || at < silentFrom || at > silentUntil)
        .map((at) => request(at, { worker: `http-worker-${worker}`, host: `${worker}-${at}.test:81` })),
    ),
  });
  const action = (kind: string, target: string, from: number, until: number): ActionRecord => ({
    ...{ kind, target, from: START + from, until: START + until },
  });

  test('is the time until the last worker asks for something again', () => {
    const { actions, requests } = history(10_000, 30_000, [action('flush', 'redis', 10_000, 12_500)]);
    expect(recoveriesOf({ actions, requests })).toMatchObject([{ worker: 'http-worker-2', ms: 18_500 }]);
  });

  test('leaves out the time of other faults', () => {
    const faults = [action('flush', 'redis', 10_000, 12_500), action('restart', 'postgres', 13_000, 23_000)];
    const [flush] = recoveriesOf(history(10_000, 30_000, faults));
    expect(flush).toMatchObject({ action: { kind: 'flush' }, ms: 8_500 });
  });

  test('a worker that does not come back within a minute is noticed, one that was not hurt is none of it', () => {
    const evidence = { at: String, near: String };
    const checked = (...parts: Parameters<typeof history>) =>
      checkRecovery(recoveriesOf(history(...parts)), evidence);
    const halfOpen = [action('half-open', 'redis', 10_000, 20_000)];
    expect(checked(10_000, 50_000, halfOpen)).toEqual([]);
    expect(checked(10_000, 90_000, halfOpen)).toMatchObject([{ check: 'recovery' }]);
    expect(checked(10_000, 500_000, halfOpen)).toMatchObject([{ check: 'recovery' }]);
    expect(checked(10_000, 500_000, [action('kill', 'http-worker-1', 10_000, 20_000)])).toEqual([]);
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
      expect(stdout).toContain(`http://${HOST}/own/0 is done (no reason) with 0 results`);
      expect(stdout).toContain('"violations":2');
      await rm(join(dir, 'jobs.ndjson'));
      expect((await check(dir)).code).toBe(2);
      expect((await check()).code).toBe(2);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});

describe('accounts', () => {
  const tenant: TenantRecord = {
    ...{ id: 'tenant-1', webhookId: 'wh_1', scheduleId: 's-1', everyMs: 3_000 },
    credits: { allowanceCredits: 90, balanceCredits: 5, heldCredits: 0 },
    ...{ granted: 100, used: 5 },
    jobs: [{ id: 'job-1', status: 'completed', finishedAt: START + 500 }],
    deliveries: [
      { ...delivery('e-1', 'job.started'), endedAt: START + 300 },
      { ...delivery('e-2', 'job.completed'), endedAt: START + 800 },
    ],
    runs: [tick(0), { ...tick(3_000), status: 'missed', missed: { lastAt: iso(6_000) } }, tick(9_000)],
    foreign: [{ path: '/v1/jobs/other', status: 404 }],
  };
  const received = [
    message('e-1', 'job.started', 200, 250),
    message('e-2', 'job.completed', 500, 600),
    message('e-2', 'job.completed', 200, 750),
  ];
  const [first, second] = tenant.deliveries;
  const judged = (change: Partial<TenantRecord>, got = received) =>
    objections({ tenants: [{ ...tenant, ...change }], received: got });

  function delivery(eventId: string, event: string) {
    return { id: `dl-${eventId}`, eventId, event, jobId: 'job-1', state: 'delivered' };
  }
  function iso(ms: number): string {
    return new Date(START + ms).toISOString();
  }
  function tick(ms: number) {
    return { at: iso(ms), trigger: 'tick', status: 'started', missed: null };
  }
  function message(eventId: string, event: string, status: number, ms: number): ReceivedRecord {
    return { at: START + ms, account: 'tenant-1', eventId, event, jobId: 'job-1', status };
  }

  test('are as promised when credits add up, every event was taken once in order and every tick has its run', () => {
    expect(judged({})).toEqual([]);
  });

  test.each<[string, Partial<TenantRecord>, ReceivedRecord[] | undefined, string[]]>([
    ['credits are lost', { used: 4 }, undefined, ['credits']],
    [
      'credits stay held',
      { credits: { allowanceCredits: 90, balanceCredits: 0, heldCredits: 5 } },
      undefined,
      ['credits'],
    ],
    [
      'another account’s job is shown',
      { foreign: [{ path: '/v1/jobs/x', status: 200 }] },
      undefined,
      ['isolation'],
    ],
    ['the end of a job is not told', { deliveries: first ? [first] : [] }, undefined, ['delivery']],
    [
      'the end of a job is told twice',
      { deliveries: [...tenant.deliveries, ...(second ? [{ ...second, eventId: 'e-1' }] : [])] },
      undefined,
      ['delivery'],
    ],
    ['a receiver did not get what was stored as delivered', {}, received.slice(0, 2), ['delivery']],
    [
      'an event is sent again after its success was stored',
      {},
      [...received, message('e-2', 'job.completed', 200, 5_000)],
      ['delivery'],
    ],
    ['the end is sent before the start', {}, received.toReversed().map(again), ['order']],
    ['a tick is missing', { runs: [tick(0), tick(9_000)] }, undefined, ['tick']],
    ['a tick has two runs', { runs: [...tenant.runs, tick(9_000)] }, undefined, ['tick']],
    [
      'a job has not ended',
      { jobs: [{ id: 'job-1', status: 'running', finishedAt: null }] },
      undefined,
      ['open'],
    ],
  ])('%s', (_, change, got, expected) => {
    expect(judged(change, got)).toEqual(expected);
  });

  function again(record: ReceivedRecord, index: number): ReceivedRecord {
    return { ...record, at: START + 100 * index };
  }

  test('are not judged by what a store that went back has forgotten', () => {
    const back: ActionRecord = {
      ...{ kind: 'go back in time', target: 'postgres', from: START, until: START + 10, forgets: true },
    };
    expect(objections({ tenants: [{ ...tenant, deliveries: [] }], received: [], actions: [back] })).toEqual(
      [],
    );
  });
});
