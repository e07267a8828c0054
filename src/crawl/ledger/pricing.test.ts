import { describe, expect, it } from 'vitest';
import { ATTEMPT, DONE, FAILED } from '../../../test/contract/store/fixtures.ts';
import { readPrices } from '../../core/config/plans-and-prices.ts';
import type { Attempt } from '../../core/model/attempt.ts';
import { dearestPrice, MOST_CREDITS, priceOf, priceTable } from '../../core/model/credits.ts';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import type { LeaseRef } from '../../core/ports/host-store.ts';
import type { Completion, TaskEnd } from '../../core/ports/ledger-store.ts';
import { pricedCompletion } from './ledger.ts';

const read = readPrices('{"tokens": 0.5}');
if (read === null) throw new Error('The prices cannot be read.');
const PRICES = priceTable(read);
const CREDIT = 1_000_000;

const OK: Attempt = { ...ATTEMPT, outcome: 'ok', statusCode: 200 };
const { errorCode: _code, ...FETCHED } = OK;

const completed = (end: TaskEnd, trace: readonly Attempt[], used: Attempt): Completion => ({
  lease: { hostId: 1 as LeaseRef['hostId'], epoch: 1, incarnation: 'a' as LeaseRef['incarnation'] },
  taskId: 1 as Completion['taskId'],
  jobSeq: 1 as Completion['jobSeq'],
  end,
  trace,
  used,
  bytes: 0,
  page: null,
  discovered: [],
});

describe('the price of an attempt', () => {
  it('is that of its engine, its proxy and its extras', () => {
    expect(priceOf(FETCHED, PRICES)).toBe(CREDIT);
    const rendered: Attempt = {
      ...FETCHED,
      engine: 'browser',
      proxyTier: 'residential',
      extras: { tokens: 1_501, solverCalls: 1, screenshots: 1, pdfs: 1 },
    };
    expect(priceOf(rendered, PRICES)).toBe(37 * CREDIT + 750_500);
    expect(priceOf({ ...rendered, proxyId: 'own/a', extras: {} }, PRICES)).toBe(5 * CREDIT);
  });

  it('is nothing for a stored page and for a failure on this side, and something for one of the site', () => {
    expect(priceOf({ ...FETCHED, reason: 'cache.hit' }, PRICES)).toBe(0);
    for (const errorCode of ['BROWSER_CRASHED', 'INTERNAL', 'PROXY_FAILED', 'STORE_UNAVAILABLE'] as const) {
      expect(priceOf({ ...OK, errorCode }, PRICES)).toBe(0);
    }
    for (const errorCode of ['CONNECTION_RESET', 'BLOCKED', 'HTTP_ERROR'] as const) {
      expect(priceOf({ ...OK, errorCode }, PRICES)).toBe(CREDIT);
    }
  });

  it('is nothing where it was refused before a request was sent, whatever it was refused for', () => {
    const earlier: Attempt = { ...FETCHED, microcredits: CREDIT };
    const used: Attempt = { ...ATTEMPT, outcome: 'error', errorCode: 'UNSUPPORTED_OPTION' };
    const end = { state: 'failed', rule: null, errorCode: 'UNSUPPORTED_OPTION' } as const;
    const refused = { ...completed(end, [earlier, used], used), isUnsent: true } as const;
    expect(pricedCompletion(refused, PRICES)).toBe(refused);
    expect(pricedCompletion(completed(end, [used], used), PRICES)).toMatchObject({ microcredits: CREDIT });
  });

  it('is at most what is reserved for it', () => {
    const may = { engines: new Set(['http', 'browser'] as const), proxyTiers: PROXY_TIERS, hasSolver: false };
    const page = { engine: 'auto', formats: ['screenshot'], proxy: null, extract: null } as const;
    expect(dearestPrice(page, PRICES, may)).toBe(26 * CREDIT);
    expect(dearestPrice({ ...page, engine: 'http', formats: [] }, PRICES, { ...may, proxyTiers: [] })).toBe(
      CREDIT,
    );
    expect(dearestPrice({ ...page, maxProxyTier: 'datacenter' }, PRICES, may)).toBe(7 * CREDIT);
  });
});

describe('the cost of a task', () => {
  it('is that of the attempts of its trace', () => {
    const earlier = { ...ATTEMPT, microcredits: 7 };
    const priced = pricedCompletion(completed(DONE, [earlier, FETCHED], FETCHED), PRICES);
    expect(priced.microcredits).toBe(CREDIT);
    expect(priced.trace.map(({ microcredits }) => microcredits)).toEqual([7, CREDIT]);
  });

  it('is refunded when the task fails on this side', () => {
    const earlier = { ...ATTEMPT, microcredits: 7 };
    const end: TaskEnd = { state: 'failed', rule: null, errorCode: 'WORKER_DIED' };
    const priced = pricedCompletion(completed(end, [earlier, earlier, OK], OK), PRICES);
    expect(priced.microcredits).toBe(-14);
    expect(priced.trace.map(({ microcredits }) => microcredits)).toEqual([undefined, undefined, undefined]);
    expect(pricedCompletion(completed(FAILED, [OK], OK), PRICES).microcredits).toBe(CREDIT);
  });

  it('does not grow by an attempt that the trace does not keep', () => {
    expect(pricedCompletion(completed(DONE, [ATTEMPT], FETCHED), PRICES).microcredits).toBeUndefined();
    const given = completed({ state: 'ready' }, [FETCHED], FETCHED);
    expect(pricedCompletion(given, PRICES).microcredits).toBeUndefined();
  });
});

describe('the price table', () => {
  it('keeps its defaults where nothing else is said', () => {
    expect(readPrices('')).toMatchObject({ http: 1, browser: 5 });
    expect(readPrices('{"http": 0.25}')).toMatchObject({ http: 0.25, browser: 5 });
  });

  it('is refused when it is not JSON, has other names, or amounts that cannot be', () => {
    for (const text of [
      '{',
      '[]',
      '{"htp": 1}',
      '{"http": -1}',
      '{"http": "1"}',
      `{"http": ${MOST_CREDITS * 2}}`,
    ]) {
      expect(readPrices(text)).toBeNull();
    }
  });
});
