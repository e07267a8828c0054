import { describe, expect, it } from 'vitest';
import { OPTIONS } from '../../../../test/contract/store/fixtures.ts';
import type { HostKey, JobId, TaskId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import type { LedgerEntry } from '../../../core/model/task.ts';
import type { HostState } from '../../../core/ports/host-store.ts';
import { newHostState } from '../../../crawl/politeness/host-state.ts';
import { type WhyFacts, whySentences } from './why.ts';

const url = 'https://shop.test/hat';
const job = {
  id: 'job' as JobId,
  kind: 'crawl',
  seeds: ['https://shop.test/'],
  stopReason: null,
  options: { ...OPTIONS, budgets: { maxPages: 30, maxBytes: null, maxDurationMs: null } },
} as unknown as Job;
const entry: LedgerEntry = {
  url,
  kind: 'page',
  state: 'ready',
  decision: 'pending',
  rule: null,
  errorCode: null,
  depth: 1,
  foundBy: 'link',
  foundOn: 'https://shop.test/',
  attempts: [],
  discoveredAt: '2026-01-01T00:00:00.000Z',
  finishedAt: null,
};
const told = (changes: Partial<LedgerEntry>, facts: Partial<WhyFacts> = {}) =>
  whySentences({
    job,
    taskId: 1 as TaskId,
    entry: { ...entry, ...changes },
    readyAt: null,
    sourceUrl: url,
    page: null,
    record: null,
    host: null,
    now: Date.UTC(2026, 0, 1),
    ...facts,
  });

const FOUND =
  'A link on https://shop.test/ led to it, 1 link away from a start URL; the job has known it since 2026-01-01T00:00:00.000Z.';

it('tells of each attempt when it was claimed, how it was made and why, and how it ended', () => {
  const at = '2026-01-01T00:00:10.000Z';
  const sentences = told({
    state: 'failed',
    rule: 'plan.nothing-left:blocked; consent-required:stealth',
    errorCode: 'BLOCKED',
    finishedAt: at,
    attempts: [
      {
        engine: 'browser',
        proxyTier: 'residential',
        identity: 'browser',
        reason: 'plan.needs:screenshots',
        outcome: 'blocked',
        evidence: 'the title says "Access denied"',
        vendor: 'akamai',
        statusCode: 403,
        waitedMs: 2_500,
        ms: 500,
        bytes: 1,
        at,
      },
    ],
  });
  expect(sentences).toEqual([
    FOUND,
    'Attempt 1 (claimed at 2026-01-01T00:00:07.000Z, then 2.5 s for robots.txt, the gate of the host and a free place): ' +
      'engine `browser`, through a proxy of tier `residential`, identity `browser`. ' +
      'The options of the request need `screenshots`. [plan.needs:screenshots] ' +
      `It ended at ${at}: status 403, 1 B in 500 ms, blocked (akamai): the title says "Access denied".`,
    `It was given up at ${at}. BLOCKED: The host shows a block page instead of the content. ` +
      "No other way is left (blocked). The operator's consent to `stealth` for shop.test would open another way. " +
      '[plan.nothing-left:blocked; consent-required:stealth]',
  ]);
});

it.each<[Partial<LedgerEntry>, string]>([
  [
    { state: 'skipped', rule: 'scope.exclude:/hat' },
    'It was skipped. The exclude pattern `/hat` matches it. [scope.exclude:/hat]',
  ],
  [
    { state: 'denied', rule: 'robots: disallow: /hat (line 7)' },
    'It was not allowed to be fetched. robots.txt does not allow it: `disallow: /hat (line 7)`. [robots: disallow: /hat (line 7)]',
  ],
  [{ state: 'ready' }, 'It waits for its turn at its host.'],
  [{ state: 'cancelled' }, 'The job was cancelled before it was fetched; resuming the job brings it back.'],
])('tells of %j: %s', (changes, sentence) => {
  expect(told(changes)).toEqual([FOUND, sentence]);
});

it('tells until when a URL waits, and for what', () => {
  const readyAt = Date.UTC(2026, 0, 1, 1);
  expect(told({ state: 'waiting', rule: 'retry:CONNECTION_RESET' }, { readyAt })).toContain(
    'It waits until 2026-01-01T01:00:00.000Z. It is tried again, because the attempt before ended with CONNECTION_RESET. [retry:CONNECTION_RESET]',
  );
});

describe('a URL whose host is held', () => {
  const readyAt = Date.UTC(2026, 0, 1, 1);
  const now = readyAt + 60_000;
  const hostWith = (changes: Partial<HostState>) => ({
    key: 'shop.test' as HostKey,
    state: { ...newHostState(readyAt), ...changes },
  });
  const open = { phase: 'open', window: [false, true], openedAt: now - 30_000, isProbing: false } as const;
  const waits = (changes: Partial<HostState>, facts: Partial<WhyFacts> = {}) =>
    told({ state: 'waiting', rule: null }, { readyAt, now, host: hostWith(changes), ...facts }).slice(1);
  const DUE = 'It has been due since 2026-01-01T01:00:00.000Z, and waits for its turn at its host.';

  it('is told of the open breaker: since when, why, and when the host is tried again', () => {
    expect(waits({ breaker: { ...open, failuresInARow: 7 } })).toEqual([
      DUE,
      'The circuit breaker of shop.test is open since 2026-01-01T01:00:30.000Z, because the last 7 requests failed ' +
        '(a 5xx, or no answer). The host is tried again, with one request, at 2026-01-01T01:02:30.000Z. [breaker.open]',
    ]);
    const window = [true, true, false, true, true, false, true];
    expect(waits({ breaker: { ...open, window, failuresInARow: 1 } })[1]).toContain(
      'because 5 of the last 7 URLs failed',
    );
    expect(waits({ breaker: { ...open, phase: 'half-open' } })[1]).toContain(
      'One request tries the host now',
    );
  });

  it('is told of another hold, once', () => {
    const hold = { rule: 'rate.retry-after', until: now + 1_000 } as const;
    expect(waits({ hold })).toEqual([
      DUE,
      'shop.test asked to wait until 2026-01-01T01:01:01.000Z. [rate.retry-after]',
    ]);
    expect(waits({ hold: { ...hold, until: now } })).toEqual([DUE]);
    expect(waits({ breaker: open, hold: { rule: 'breaker.open', until: now + 90_000 } })).toHaveLength(2);
  });

  it("is told of no breaker where it is fetched through the caller's proxy", () => {
    const page = { ...job.options.page, proxy: { url: 'http://proxy.test:1' } };
    const proxied = { ...job, options: { ...job.options, page } } as unknown as Job;
    expect(waits({ breaker: open }, { job: proxied })).toEqual([DUE]);
  });
});

it('tells at which limit the job had stopped', () => {
  const stopped = { ...job, stopReason: 'budget.pages' } as const;
  expect(told({ state: 'skipped', rule: 'budget.pages' }, { job: stopped }).slice(1)).toEqual([
    'It was skipped. The job had reached its limit of 30 pages (`maxPages`). [budget.pages]',
    'The job stopped at its limit of 30 pages. [budget.pages]',
  ]);
});
