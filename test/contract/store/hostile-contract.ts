import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { ErrorCode } from '../../../src/core/errors/registry.ts';
import type { Attempt } from '../../../src/core/model/attempt.ts';
import type { ContentHash, HostKey } from '../../../src/core/model/ids.ts';
import type { NewPage } from '../../../src/core/model/page.ts';
import type { NewTask, Task } from '../../../src/core/model/task.ts';
import { createLogger } from '../../../src/core/observe/logger.ts';
import { createMetrics } from '../../../src/core/observe/metrics.ts';
import type { HostLease } from '../../../src/core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../../src/core/ports/ledger-store.ts';
import { createKnownUrls } from '../../../src/crawl/frontier/known-urls.ts';
import { createLedger } from '../../../src/crawl/ledger/ledger.ts';
import { compileRules } from '../../../src/crawl/read/find-tasks.ts';
import { readPageTask } from '../../../src/crawl/read/read-page.ts';
import { requestFor } from '../../../src/crawl/read/read-request.fixture.ts';
import type { Claim } from '../contract.ts';
import {
  ATTEMPT,
  at,
  completion,
  createJob,
  done,
  ledger as entries,
  entryOf,
  expectExact,
  foundOn,
  newPage,
  pages,
  T0,
  take,
  urlKeyOf,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

/** Text that some column, index or JSON reader refuses: halves of characters, U+0000, and far too much of anything. */
const nasty = fc.oneof(
  fc.constantFrom(
    '',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    'x\ud83d',
    '\\u0000',
    '\\\\ud800',
    '"\\',
    '\u2028\u2029\ufeff\ufffe\uffff',
    '{"a":[',
    '['.repeat(10_000),
    '\u{1f4a9}'.repeat(300),
    '9'.repeat(400),
    '1e400',
    'NaN',
    'NULL',
    "'; DROP TABLE tasks; --",
    '$1 %s ? :name',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 3_000, max: 20_000 }).map((length) => randomText(length)),
);
const orNull = <T>(values: fc.Arbitrary<T>) => fc.option<T, null>(values, { nil: null });
const nastyOrNull = orNull(nasty);
/** A reason of sites' own text: the stores look into none of it. */
const nastyRule = nasty.map((text) => text as `scope.exclude:${string}`);
const nastyRuleOrNull = orNull(nastyRule);

/** Does not compress, so that it is as long in an index as it looks. */
const randomText = (length: number) => randomBytes(length).toString('base64url').slice(0, length);

/** Whole or not: what a clock or a counter says is no reason to lose a page. */
const count = fc.oneof(fc.nat(), fc.constantFrom(0, 2 ** 43, 1_234.567));

const nastyEnd: fc.Arbitrary<TaskEnd> = fc.oneof(
  fc.record({
    state: fc.constantFrom('done' as const, 'skipped' as const, 'denied' as const),
    rule: nastyRuleOrNull,
  }),
  fc.record({
    state: fc.constant('failed' as const),
    rule: nastyRuleOrNull,
    errorCode: fc.constantFrom<ErrorCode>('HTTP_ERROR', 'INTERNAL', 'UNSTORABLE'),
  }),
  fc.record({
    state: fc.constant('waiting' as const),
    readyAt: count.map((ms) => T0 + ms),
    rule: nastyRuleOrNull,
  }),
  fc.record({
    state: fc.constant('moved' as const),
    atUrl: nasty,
    hostKey: fc.constant('elsewhere.test' as HostKey),
    hops: fc.nat(10),
  }),
);

const nastyAttempt: fc.Arbitrary<Attempt> = fc
  .record({
    proxyTier: nastyOrNull,
    reason: nasty.map((text) => text as `plan.needs:${string}`),
    evidence: nasty,
    vendor: nasty,
    ms: fc.nat(),
    bytes: count,
  })
  .map((parts) => ({ ...ATTEMPT, ...parts }));

const nastyPage: fc.Arbitrary<Partial<NewPage>> = fc.record({
  finalUrl: nasty,
  statusCode: orNull(fc.integer({ min: 100, max: 999 })),
  contentType: nastyOrNull,
  charset: nastyOrNull,
  contentHash: orNull(nasty.map((text) => text as ContentHash)),
  textHash: nastyOrNull,
  bytes: count,
  title: nastyOrNull,
  etag: nastyOrNull,
  lastModified: nastyOrNull,
  duplicateOf: nastyOrNull,
  errorMessage: nastyOrNull,
  record: orNull(fc.uint8Array({ maxLength: 200 })),
});

const nastyFound: fc.Arbitrary<Partial<NewTask>> = fc.record({
  url: nasty,
  rule: nastyRule,
  state: fc.constantFrom('skipped' as const, 'denied' as const),
});

const nastyCompletion = fc.record({
  end: nastyEnd,
  trace: fc.array(nastyAttempt, { maxLength: 2 }),
  page: orNull(nastyPage),
  bytes: count,
  found: fc.array(nastyFound, { maxLength: 3 }),
});

/** What a server may send as a page: mark-up with the same texts where they are stored or looked up. */
const nastyHtml = fc
  .record({ title: nasty, href: nasty, canonical: nasty, json: nasty, meta: nasty, rest: nasty })
  .map(
    ({ title, href, canonical, json, meta, rest }) => `<html><head><title>${title}</title>
      <link rel="canonical" href="${canonical}"><meta name="${meta}" content="${meta}">
      <script type="application/ld+json">{"@type":"Product","name":${JSON.stringify(json)},"n":1e999}</script></head>
      <body><h1>${title}</h1><a href="${href}">a</a><a href="http://${href}/x">b</a>
      <a href="http://${randomText(3_600).toLowerCase()}.test/">long name</a>
      <a href="http://${'a.'.repeat(1_500)}test/">many parts</a><a href="/ok">c</a>${rest}</body></html>`,
  );
const header = fc.oneof(
  fc.constantFrom('"\0"', 'W/"\ud800"', 'Thu, 01 Jan 1970 00:00:00 GMT'),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.integer({ min: 1, max: 16_000 }).map((length) => randomText(length)),
);

function ledgerOver({ plain: store }: TimedStore) {
  return createLedger({
    store,
    // No page is too old to be kept.
    now: () => 0,
    known: createKnownUrls(),
    onCommit: () => undefined,
    logger: createLogger({ level: 'fatal' }),
    metrics: createMetrics({ withProcess: false }),
    batchDelayMs: 1,
  });
}

/** Whatever a page brings: it is kept, or its own task ends by it. */
export function hostileContract(holds: Claim<TimedStore>): void {
  let hosts = 0;
  const freshHost = () => {
    hosts += 1;
    return `hostile${hosts}.test`;
  };

  holds('no text that a page can bring makes a commit fail', async (store) => {
    await fc.assert(
      fc.asyncProperty(fc.array(nastyCompletion, { minLength: 1, maxLength: 6 }), async (given) => {
        const host = freshHost();
        const { id } = await createJob(store, urlsOn(host, given.length));
        const { lease, tasks } = await take(store, host);
        const batch = given.map(({ found, page, ...rest }, index): Completion => {
          const task = at(tasks, index);
          const discovered = found.map((changes, number) =>
            foundOn(task, `https://${host}/${index}/${number}`, changes),
          );
          return completion(lease, task, rest.end, {
            ...rest,
            page: page === null ? null : newPage(task, page),
            discovered,
          });
        });
        expect((await store.commit(batch, T0)).rejected).toEqual([]);
        await expectExact(store, id);
        for (const entry of await entries(store, id)) expect(entry.state).not.toBe('claimed');
        expect(await pages(store, id)).toHaveLength(given.filter(({ page }) => page !== null).length);
      }),
      { numRuns: 60 },
    );
  });

  holds('no page that a server can send makes a commit fail once it is read', async (store) => {
    await fc.assert(
      fc.asyncProperty(nastyHtml, header, header, header, async (html, etag, lastModified, type) => {
        const host = freshHost();
        const { id } = await createJob(store, [`http://${host}/`]);
        const { lease, tasks } = await take(store, host);
        const task = at(tasks, 0);
        const request = requestFor({
          task: { id: task.id, url: task.url, urlKey: task.urlKey, depth: task.depth },
          seeds: [task.url],
          scope: { allowExternal: true },
          page: { formats: ['metadata', 'links', 'html'] },
          response: {
            finalUrl: task.url,
            contentType: `text/html; charset=${type}`,
            headers: {
              etag,
              'last-modified': lastModified,
              link: `<${etag}>; rel=next`,
              'x-robots-tag': type,
            },
          },
          body: html,
        });
        const { page, discovered } = readPageTask(request, compileRules(request.job));
        for (const { hostKey } of discovered) expect(hostKey.length).toBeLessThan(300);
        const receipt = await store.commit(
          [completion(lease, task, { state: 'done', rule: null }, { page, discovered })],
          T0,
        );
        expect(receipt.rejected).toEqual([]);
        await expectExact(store, id);
      }),
      { numRuns: 40 },
    );
  });

  /** What no store can keep: a page without the time at which it was fetched. */
  const unstorable = (lease: HostLease, task: Task): Completion => ({
    ...done(lease, task, [foundOn(task, `${task.url}/more`)]),
    page: newPage(task, { fetchedAt: Number.NaN, title: 'the bad one' }),
  });

  holds(
    'refuses what it cannot keep with UNSTORABLE, and then nothing of the list has happened',
    async (store) => {
      const { id } = await createJob(store, urlsOn('a.test', 3));
      const { lease, tasks } = await take(store, 'a.test');
      const list = [done(lease, at(tasks, 0)), unstorable(lease, at(tasks, 1)), done(lease, at(tasks, 2))];
      await expect(store.commit(list, T0)).rejects.toMatchObject({ code: 'UNSTORABLE' });
      expect((await expectExact(store, id)).counters).toMatchObject({ known: 3, claimed: 3, done: 0 });
      expect(await pages(store, id)).toEqual([]);
    },
  );

  holds(
    'behind a ledger, ends the task that it cannot keep and commits the others of its batch',
    async (store) => {
      const { id } = await createJob(store, urlsOn('a.test', 9));
      const { lease, tasks } = await take(store, 'a.test');
      const bad = at(tasks, 5);
      const ledger = ledgerOver(store);
      const written = await Promise.allSettled(
        tasks.map((task) => ledger.write(task === bad ? unstorable(lease, task) : done(lease, task), false)),
      );
      expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
      expect(written[5]).toMatchObject({ reason: { code: 'UNSTORABLE' } });
      expect(await expectExact(store, id)).toMatchObject({
        status: 'partially_completed',
        counters: { done: 8, failed: 1, known: 9 },
      });
      expect(await entryOf(store, id, bad.url)).toMatchObject({
        errorCode: 'UNSTORABLE',
        rule: 'store.refused',
      });
      expect(await store.getPage(id, bad.id)).toMatchObject({
        errorCode: 'UNSTORABLE',
        title: null,
        record: null,
      });
    },
  );

  holds('behind a ledger, survives a host that no index can hold', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4));
    const { lease, tasks } = await take(store, 'a.test');
    const [first, ...others] = tasks;
    if (first === undefined) throw new Error('Nothing was claimed.');
    const url = 'https://a.test/far';
    const hostKey = `${randomText(3_600)}.test` as HostKey;
    const far = { ...foundOn(first, url), urlKey: urlKeyOf(url), hostKey };
    const ledger = ledgerOver(store);
    await Promise.allSettled([
      ledger.write(done(lease, first, [far]), false),
      ...others.map((task) => ledger.write(done(lease, task), false)),
    ]);
    const { counters } = await expectExact(store, id);
    // A store whose index takes it has kept the page; one whose index does not has ended that task.
    expect(counters.claimed).toBe(0);
    expect(counters.done + counters.failed).toBe(4);
    expect(counters.done).toBeGreaterThanOrEqual(3);
  });
}
