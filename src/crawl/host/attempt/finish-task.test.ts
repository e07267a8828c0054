import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../../core/errors/registry.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../../core/model/attempt.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import { unpackRecord } from '../../../core/model/page-record.ts';
import type { RenderExtra } from '../../../core/model/render.ts';
import type { Task } from '../../../core/model/task.ts';
import type { LeaseRef } from '../../../core/ports/host-store.ts';
import type { FetchResponse } from '../../../fetch/engine.ts';
import { compileRules, readSitemapTask } from '../../read/find-tasks.ts';
import type { PageReader } from '../../read/page-reading.ts';
import { unreadPage } from '../../read/page-thread.ts';
import { readPageTask } from '../../read/read-page.ts';
import { type JobChanges, runningOf, T0, taskOf } from '../process/claimed-task.fixture.ts';
import { httpNext } from '../process/fetch-resources.fixture.ts';
import type { Fetched } from './fetch-task.ts';
import { finishTask, readAttempt, resultOf } from './finish-task.ts';

const LEASE: LeaseRef = {
  hostId: 3 as LeaseRef['hostId'],
  epoch: 5,
  incarnation: 'a' as LeaseRef['incarnation'],
};

/** Reads here instead of in a thread. */
const here: PageReader = {
  ready: Promise.resolve(),
  backlog: 0,
  isHolding: false,
  close: async () => {},
  async read(request) {
    const rules = compileRules(request.job);
    const isSitemap = request.task.kind === 'sitemap';
    return { ...(isSitemap ? await readSitemapTask(request, rules) : readPageTask(request, rules)), ms: 1 };
  },
};
const failing = (error: Error): PageReader => ({ ...here, read: () => Promise.reject(error) });

function response(changes: Partial<FetchResponse> & { text?: string } = {}): FetchResponse {
  const { text = '<title>Hello</title><p>Some text.', ...rest } = changes;
  return {
    url: 'http://site.test/page',
    finalUrl: 'http://site.test/page',
    statusCode: 200,
    headers: {},
    contentType: 'text/html',
    body: new TextEncoder().encode(text),
    wireBytes: 321,
    redirects: [],
    redirectedTo: null,
    ms: 12.4,
    httpVersion: '1.1',
    ...rest,
  };
}
const arrived = (changes: Parameters<typeof response>[0] = {}): Fetched => ({
  kind: 'response',
  response: response(changes),
});
const broke = (code: ErrorCode): Fetched => ({
  kind: 'error',
  error: new ScrapifieError(code, `It was ${code}.`),
  ms: 9.6,
});

async function finish(
  fetched: Fetched,
  {
    task = {},
    job = {},
    reader = here,
    limitMs = 60_000,
    engine = 'http',
  }: {
    task?: Partial<Task>;
    job?: JobChanges;
    reader?: PageReader;
    limitMs?: number;
    engine?: EngineName;
  } = {},
) {
  const running = await runningOf(job);
  const method = {
    engine,
    proxyTier: null,
    identity: 'bot',
    hasSolver: false,
    reason: 'plan.cheapest',
  } as const;
  const parts = { reader, lease: LEASE, method, now: () => T0 };
  const read = await readAttempt(taskOf(task), running, fetched, parts);
  const { maxAttempts } = running.job.options.page;
  const trace = task.trace ?? Array(task.attempts ?? 0).fill(EARLIER);
  const next = read.end === null ? httpNext(read.attempt, maxAttempts, trace) : null;
  const finished = finishTask(taskOf(task), running, read, next, LEASE, () => 0.5, limitMs);
  return { ...finished, running };
}

const EARLIER = {
  engine: 'http',
  proxyTier: null,
  reason: 'plan.cheapest',
  outcome: 'error',
  statusCode: 500,
  ms: 1,
  bytes: 0,
  at: '2026-01-01T00:00:00.000Z',
} as const;

describe('the time limit of a task', () => {
  const trace = [{ ...EARLIER, ms: 20_000, pauseMs: 2_000 }];

  it('counts attempts and the pauses between them, and ends the task with the last reason', async () => {
    const { completion } = await finish(broke('CONNECT_FAILED'), {
      task: { trace, attempts: 1 },
      limitMs: 23_000,
    });
    expect(completion).toMatchObject({
      end: { state: 'failed', rule: 'task.time-limit:23000', errorCode: 'TASK_TIMEOUT' },
      page: {
        errorCode: 'TASK_TIMEOUT',
        errorMessage:
          '2 attempts and the next pause take longer than the 23000 ms of the task. ' +
          'The last reason: CONNECT_FAILED: It was CONNECT_FAILED.',
      },
    });
  });

  it('is not reached while there is time, and the pause is recorded', async () => {
    const { completion } = await finish(broke('CONNECT_FAILED'), { task: { trace, attempts: 1 } });
    expect(completion.end).toMatchObject({ state: 'waiting', rule: 'retry:CONNECT_FAILED' });
    expect(completion.trace).toMatchObject([{ pauseMs: 2_000 }, { ms: 10, pauseMs: 2_000 }]);
  });

  it('does not count the pause that the host asked for', async () => {
    const limited = arrived({ statusCode: 429, headers: { 'retry-after': '3600' } });
    const { completion } = await finish(limited, { task: { trace, attempts: 1 } });
    expect(completion.end).toMatchObject({ state: 'waiting', readyAt: T0 + 3_600_000 });
    expect(completion.trace.at(-1)).not.toHaveProperty('pauseMs');
  });

  it('keeps the page that the last attempt brought', async () => {
    const { completion } = await finish(arrived({ statusCode: 500 }), {
      task: { trace, attempts: 1 },
      limitMs: 22_000,
    });
    expect(completion.page).toMatchObject({ statusCode: 500, errorCode: 'TASK_TIMEOUT' });
  });
});

describe('a page that arrived', () => {
  it('is done, with its page, what it leads to and the trace', async () => {
    const text = '<title>Hello</title><a href="/next">next</a>';
    const { completion, attempt, reading } = await finish(arrived({ text }), { task: { trace: [EARLIER] } });
    expect(completion).toMatchObject({
      lease: LEASE,
      taskId: 7,
      jobSeq: 1,
      end: { state: 'done', rule: null },
      bytes: 321,
      page: { title: 'Hello', errorCode: null },
      discovered: [{ url: 'http://site.test/next' }],
    });
    expect(completion.trace).toEqual([EARLIER, attempt]);
    expect(attempt).toEqual({
      engine: 'http',
      proxyTier: null,
      reason: 'plan.cheapest',
      outcome: 'ok',
      statusCode: 200,
      ms: 12,
      bytes: 321,
      at: '2026-01-01T00:00:00.000Z',
    });
    expect(reading?.outcome).toBe('ok');
  });

  it('without the element that was waited for fails, and its links are followed all the same', async () => {
    const failure = new ScrapifieError('ACTION_FAILED', 'wait: no element matches #list');
    const rendered = { rawBody: null, extra: {} as RenderExtra, failure };
    const text = `<title>Hello</title><p>${'Some text of the page. '.repeat(40)}</p><a href="/next">next</a>`;
    const job = { page: { maxAttempts: 1 } };
    const { completion } = await finish(arrived({ text, rendered }), { job });
    expect(completion).toMatchObject({
      end: { state: 'failed', errorCode: 'ACTION_FAILED' },
      page: { title: 'Hello' },
      discovered: [{ url: 'http://site.test/next', state: 'ready' }],
    });
  });

  it('counts browser time and bytes through proxies', async () => {
    const running = await runningOf();
    const costOf = async (engine: 'http' | 'browser', proxyTier: string | null) => {
      const method = {
        engine,
        proxyTier,
        identity: 'bot',
        hasSolver: false,
        reason: 'plan.cheapest',
      } as const;
      const parts = { reader: here, lease: LEASE, method, now: () => T0 };
      const read = await readAttempt(taskOf(), running, arrived(), parts);
      return finishTask(taskOf(), running, read, httpNext(read.attempt), LEASE, () => 0.5, 60_000).completion
        .spent;
    };
    expect(await costOf('http', null)).toBeUndefined();
    expect(await costOf('browser', null)).toEqual({ browserMs: 12, proxyBytes: 0 });
    expect(await costOf('http', 'datacenter')).toEqual({ browserMs: 0, proxyBytes: 321 });
  });

  it('of a route that keeps no pages is left out, with its links', async () => {
    const text = '<title>List</title><a href="/next">next</a>';
    const route = { match: ['/page'], keep: false, follow: true, page: {} };
    const { completion } = await finish(arrived({ text }), { job: { options: { routes: [route] } } });
    expect(completion).toMatchObject({
      end: { state: 'skipped', rule: 'route.not-kept:/page' },
      page: null,
      discovered: [{ url: 'http://site.test/next' }],
    });
  });

  it('records how long the task had waited since it was claimed', async () => {
    const { attempt } = await finish(arrived({ ms: 100 }), { task: { claimedAt: T0 - 2_600 } });
    expect(attempt).toMatchObject({ ms: 100, waitedMs: 2_500 });
    expect((await finish(arrived())).attempt).not.toHaveProperty('waitedMs');
  });

  it.each([
    ['me', '[hidden]'],
    [null, 'secret'],
  ])('of the session %s keeps the values of its cookies as %s', async (session, value) => {
    // Even where the key may read what the credentials give access to: values are stored with the session, sealed.
    const job = { page: { session }, options: { credentials: 'read' as const } };
    const { completion } = await finish(arrived({ headers: { 'set-cookie': 'sid=secret' } }), { job });
    const record = unpackRecord(completion.page?.record ?? new Uint8Array()).toString('utf8');
    expect(JSON.parse(record)).toMatchObject({ cookies: [{ name: 'sid', value }] });
  });

  it('has the redirects of all hosts on its way', async () => {
    const moved: Fetched = {
      kind: 'end',
      end: { state: 'moved', atUrl: 'http://b.test/', hostKey: 'b.test' as HostKey, hops: 2 },
      response: response({
        statusCode: 302,
        finalUrl: 'http://site.test/two',
        redirects: [{ url: 'http://site.test/page', statusCode: 301 }],
      }),
    };
    const { attempt } = await finish(moved);
    const first = [
      { url: 'http://site.test/page', statusCode: 301 },
      { url: 'http://site.test/two', statusCode: 302 },
    ];
    expect(attempt).toMatchObject({ ledOn: true, redirects: first });
    const redirects = [{ url: 'http://b.test/', statusCode: 307 }];
    const { completion } = await finish(arrived({ redirects }), { task: { trace: [EARLIER, attempt] } });
    const record = unpackRecord(completion.page?.record ?? new Uint8Array()).toString('utf8');
    expect(JSON.parse(record)).toMatchObject({ redirects: [...first, ...redirects] });
  });

  it('rendered as an empty shell on which a step failed fails with that step', async () => {
    const error = new ScrapifieError('ACTION_FAILED', 'The wait for #never took too long.');
    const rendered = { rawBody: null, extra: {} as RenderExtra, failure: error };
    const text = '<body><div id="app"></div><script src="/app.js"></script>';
    const { completion, attempt } = await finish(arrived({ text, rendered }));
    expect(completion.end).toMatchObject({ state: 'failed', errorCode: 'ACTION_FAILED' });
    expect(completion.page).toMatchObject({ errorCode: 'ACTION_FAILED', errorMessage: error.message });
    expect(attempt).toMatchObject({ outcome: 'ok', errorCode: 'ACTION_FAILED' });
  });

  it('with a 404 fails, and the page says what the host answered', async () => {
    const { completion, attempt } = await finish(arrived({ statusCode: 404, text: '<a href="/x">x</a>' }));
    expect(completion.end).toEqual({ state: 'failed', rule: 'attempt.error', errorCode: 'HTTP_ERROR' });
    expect(completion.page).toMatchObject({
      statusCode: 404,
      errorCode: 'HTTP_ERROR',
      errorMessage: 'The host answered 404.',
    });
    expect(completion.discovered).toEqual([]);
    expect(attempt.evidence).toBe('status: 404');
  });

  it('with a 500 waits, without a page, and fails with one at the last attempt', async () => {
    const first = await finish(arrived({ statusCode: 500 }));
    expect(first.completion).toMatchObject({
      end: { state: 'waiting', rule: 'retry:HTTP_ERROR' },
      page: null,
    });
    const last = await finish(arrived({ statusCode: 500 }), { task: { attempts: 2 } });
    expect(last.completion).toMatchObject({ end: { state: 'failed' }, page: { statusCode: 500 } });
  });

  it('with a 429 waits as long as the host asks, whatever the page looks like', async () => {
    const { completion, attempt } = await finish(
      arrived({ statusCode: 429, headers: { 'retry-after': '90' } }),
    );
    expect(completion.end).toMatchObject({ state: 'waiting', readyAt: T0 + 90_000 });
    expect(attempt.outcome).toBe('rate-limited');
  });

  it('but asks not to be kept is skipped, and what it leads to is kept', async () => {
    const text = '<meta name=robots content=noindex><a href="/next">next</a>';
    const obeyed = await finish(arrived({ text }), { job: { scope: { obeyNoindex: true } } });
    expect(obeyed.completion).toMatchObject({
      end: { state: 'skipped', rule: 'scope.noindex' },
      page: null,
      discovered: [{ url: 'http://site.test/next' }],
    });
    const ignored = await finish(arrived({ text }), { job: { scope: { obeyNoindex: false } } });
    expect(ignored.completion.end.state).toBe('done');
  });

  it('and fails does not become skipped by asking not to be kept', async () => {
    const fetched = arrived({ statusCode: 404, headers: { 'x-robots-tag': 'noindex' } });
    const { completion } = await finish(fetched, { job: { scope: { obeyNoindex: true } } });
    expect(completion.end.state).toBe('failed');
  });

  it('whose links are not kept has them reported again', async () => {
    // A block page that answers 200 has links; they are not the site's.
    const blocked: PageReader = {
      ...here,
      read: async (request) => ({ ...(await here.read(request)), outcome: 'blocked' }),
    };
    const lost = await finish(arrived({ text: '<a href="/x">x</a>' }), { reader: blocked });
    expect(lost.completion).toMatchObject({ end: { errorCode: 'BLOCKED' }, discovered: [] });
    expect(lost.running.generation).toBe(1);
    const kept = await finish(arrived({ text: '<a href="/x">x</a>' }));
    expect(kept.running.generation).toBe(0);
  });
});

describe('a page that did not arrive', () => {
  it('waits for the next attempt', async () => {
    const { completion, attempt } = await finish(broke('CONNECTION_RESET'));
    expect(completion).toMatchObject({
      end: { state: 'waiting', readyAt: T0 + 1_000, rule: 'retry:CONNECTION_RESET' },
      page: null,
      bytes: 0,
      trace: [attempt],
    });
    expect(attempt).toMatchObject({
      outcome: 'error',
      errorCode: 'CONNECTION_RESET',
      evidence: 'It was CONNECTION_RESET.',
      statusCode: null,
      ms: 10,
    });
  });

  it('fails at the last attempt, with a page that says why', async () => {
    const { completion } = await finish(broke('CONNECTION_RESET'), { task: { attempts: 2 } });
    expect(completion.end).toEqual({
      state: 'failed',
      rule: 'attempt.error',
      errorCode: 'CONNECTION_RESET',
    });
    expect(completion.page).toMatchObject({
      url: 'http://site.test/page',
      statusCode: null,
      contentHash: null,
      errorCode: 'CONNECTION_RESET',
      errorMessage: 'It was CONNECTION_RESET.',
    });
  });
});

describe('what went wrong here', () => {
  it.each(['CANCELLED', 'SHUTTING_DOWN'] as const)('%s gives the task back untried', async (code) => {
    const { completion } = await finish(broke(code), { task: { attempts: 2, trace: [EARLIER] } });
    expect(completion).toMatchObject({ end: { state: 'ready' }, page: null });
    expect(completion.trace).toEqual([EARLIER]);
  });

  it.each(['DISK_FULL', 'STORE_UNAVAILABLE'] as const)(
    '%s lets it wait and counts as no attempt, even at the last one',
    async (code) => {
      const reader = failing(new ScrapifieError(code, 'not now'));
      const { completion } = await finish(arrived(), { reader, task: { attempts: 2, trace: [EARLIER] } });
      expect(completion).toMatchObject({
        end: { state: 'waiting', readyAt: T0 + 10_000, rule: `own-fault:${code}` },
        page: null,
        discovered: [],
      });
      expect(completion.trace).toEqual([EARLIER]);
    },
  );

  it.each([
    ['NO_WORKER', 'browser'],
    ['NO_WORKER', 'stealth'],
    ['BROWSER_UNAVAILABLE', 'browser'],
  ] as const)('%s of the engine %s lets it wait and counts as no attempt', async (code, engine) => {
    const { completion } = await finish(broke(code), { task: { attempts: 2, trace: [EARLIER] }, engine });
    expect(completion).toMatchObject({
      end: { state: 'waiting', readyAt: T0 + 10_000, rule: `own-fault:${code}` },
      page: null,
    });
    expect(completion.trace).toEqual([EARLIER]);
  });

  it('a service of others that refuses is an attempt', async () => {
    const made = { task: { attempts: 2 }, engine: 'flaresolverr' } as const;
    expect((await finish(broke('BROWSER_UNAVAILABLE'), made)).completion.end).toMatchObject({
      state: 'failed',
    });
  });

  it('a page that cannot be read fails at once: it would fail again', async () => {
    const reader = failing(new ScrapifieError('EXTRACTION_FAILED', 'took too long'));
    const { completion } = await finish(arrived(), { reader });
    expect(completion).toMatchObject({
      end: { state: 'failed', errorCode: 'EXTRACTION_FAILED' },
      page: { errorCode: 'EXTRACTION_FAILED', errorMessage: 'took too long' },
    });
  });

  it('a page whose body is all that could be kept fails with that body, its status and the reason', async () => {
    const failure = { code: 'EXTRACTION_FAILED' as const, message: 'took too long, twice' };
    const reader: PageReader = {
      ...here,
      read: async (request) => ({
        ...unreadPage(request, new ScrapifieError(failure.code, failure.message), null),
        ms: 1,
      }),
    };
    const { completion } = await finish(arrived(), { reader });
    expect(completion).toMatchObject({
      end: { state: 'failed', errorCode: 'EXTRACTION_FAILED' },
      trace: [
        { statusCode: 200, outcome: 'error', errorCode: 'EXTRACTION_FAILED', evidence: failure.message },
      ],
      page: {
        statusCode: 200,
        contentHash: expect.any(String),
        errorCode: 'EXTRACTION_FAILED',
        errorMessage: failure.message,
      },
      discovered: [],
    });
  });

  it('a fault of the program is not turned into an end of the task', async () => {
    await expect(finish(arrived(), { reader: failing(new Error('a bug')) })).rejects.toThrow('a bug');
  });
});

describe('an end that a redirect brought about', () => {
  it('is kept as it is, with the attempt that led there and no page', async () => {
    const end = {
      state: 'moved',
      atUrl: 'http://other.test/',
      hostKey: 'other.test' as HostKey,
      hops: 1,
    } as const;
    const fetched: Fetched = { kind: 'end', end, response: response({ statusCode: 302 }) };
    const { completion, attempt } = await finish(fetched);
    expect(completion).toMatchObject({ end, page: null, discovered: [], trace: [attempt] });
    expect(attempt).toMatchObject({ statusCode: 302, outcome: 'ok', ledOn: true });
  });

  it('is no try that failed when the script of a page led there, which answered 200 itself', async () => {
    const hostKey = 'other.test' as HostKey;
    const end = { state: 'moved', atUrl: 'http://other.test/', hostKey, hops: 1 } as const;
    const { completion } = await finish({ kind: 'end', end, response: response() });
    expect(completion.trace).toMatchObject([{ statusCode: 200, ledOn: true }]);
  });
});

describe('a sitemap', () => {
  const found = { kind: 'sitemap', depth: 1 } as const;
  const asked = { kind: 'sitemap', depth: 0 } as const;

  it('is done without a page', async () => {
    const { completion } = await finish(
      arrived({ text: 'http://site.test/a\n', contentType: 'text/plain' }),
      {
        task: found,
      },
    );
    expect(completion).toMatchObject({ end: { state: 'done', rule: null }, page: null });
    expect(completion.discovered).toHaveLength(1);
  });

  it('that is none is done too, and its rule says what it was', async () => {
    const { completion } = await finish(arrived({ text: '<!doctype html><title>x</title>' }), {
      task: found,
    });
    expect(completion.end).toEqual({ state: 'done', rule: 'sitemap.html-page' });
  });

  it('that was only guessed is no failure when it is not there', async () => {
    const { completion } = await finish(arrived({ statusCode: 404 }), { task: found });
    expect(completion).toMatchObject({ end: { state: 'skipped', rule: 'sitemap.HTTP_ERROR' }, page: null });
  });

  it('that the caller named is one', async () => {
    const { completion } = await finish(arrived({ statusCode: 404 }), { task: asked });
    expect(completion).toMatchObject({ end: { state: 'failed', errorCode: 'HTTP_ERROR' }, page: null });
  });

  it('is tried again like a page', async () => {
    const { completion } = await finish(broke('CONNECT_FAILED'), { task: found });
    expect(completion.end.state).toBe('waiting');
    const last = await finish(broke('CONNECT_FAILED'), { task: { ...found, attempts: 2 } });
    expect(last.completion).toMatchObject({
      end: { state: 'skipped', rule: 'sitemap.CONNECT_FAILED' },
      page: null,
    });
  });
});

describe('any failure', () => {
  it('ends the task, lets it wait, or gives it back uncounted; it never waits past the most attempts', async () => {
    const codes = fc.constantFrom(...(Object.keys(ERRORS) as ErrorCode[]));
    await fc.assert(
      fc.asyncProperty(
        codes,
        fc.integer({ min: 1, max: 5 }),
        fc.nat(6),
        async (code, maxAttempts, attempts) => {
          const { completion } = await finish(broke(code), {
            job: { page: { maxAttempts } },
            task: { attempts },
          });
          const { end, trace } = completion;
          // The first losses of a browser cost a URL nothing.
          const isCounted = trace.length > 0 && code !== 'BROWSER_LOST';
          if (isCounted && attempts + 1 >= maxAttempts) expect(end.state).toBe('failed');
          else expect(['failed', 'waiting', 'ready']).toContain(end.state);
          expect(completion.page !== null).toBe(end.state === 'failed');
        },
      ),
    );
  });
});

describe('what an attempt says about the host before its page is read', () => {
  it.each([
    [200, {}, 'ok'],
    [404, {}, 'error'],
    [429, {}, 'rate-limited'],
    [503, {}, 'rate-limited'],
    [503, { 'retry-after': '5' }, 'rate-limited'],
    [500, { 'retry-after': '5' }, 'error'],
  ] as const)('%i with %o is %s', (statusCode, headers, outcome) => {
    expect(resultOf(arrived({ statusCode, headers }), T0)).toMatchObject({ outcome, statusCode });
  });
});
