import { describe, expect, it } from 'vitest';
import type { RobotsEntry } from '../../core/ports/host-store.ts';
import { askedEntry, givenUpEntry, robotsEntryFrom } from './robots-entry.ts';
import { ROBOTS_LIMIT_BYTES } from './robots-rules.ts';

const ORIGIN = 'https://example.com';
const NOW = Date.UTC(2026, 5, 1);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const answer = (statusCode: number, headers: Record<string, string> = {}, body = 'User-agent: *') => ({
  statusCode,
  body,
  headers,
});

describe('the status of a robots.txt', () => {
  it.each([
    [200, 'ok'],
    [206, 'ok'],
    [301, 'absent'],
    [308, 'absent'],
    [400, 'absent'],
    [401, 'absent'],
    [403, 'absent'],
    [404, 'absent'],
    [410, 'absent'],
    [451, 'absent'],
    [429, 'unreachable'],
    [500, 'unreachable'],
    [503, 'unreachable'],
    [599, 'unreachable'],
    [101, 'unreachable'],
    [999, 'unreachable'],
  ] as const)('%i is %s', (statusCode, status) => {
    const entry = robotsEntryFrom(answer(statusCode), ORIGIN, NOW);
    expect(entry).toMatchObject({ origin: ORIGIN, status, reason: `HTTP ${statusCode}`, fetchedAt: NOW });
    expect(entry.body).toBe(status === 'ok' ? 'User-agent: *' : '');
  });

  it('is unreachable when the network fails', () => {
    expect(robotsEntryFrom({ failure: 'DNS_FAILED' }, ORIGIN, NOW)).toMatchObject({
      status: 'unreachable',
      reason: 'DNS_FAILED',
    });
  });

  it('keeps no more of the body than is read', () => {
    const body = 'Allow: /\n'.repeat(ROBOTS_LIMIT_BYTES);
    expect(robotsEntryFrom(answer(200, {}, body), ORIGIN, NOW).body.length).toBeLessThanOrEqual(
      ROBOTS_LIMIT_BYTES,
    );
  });
});

describe('the lifetime of a robots.txt', () => {
  it.each([
    ['no header', {}, DAY],
    ['max-age=3600', { 'cache-control': 'public, max-age=3600' }, HOUR],
    ['max-age="600"', { 'cache-control': 'max-age="600"' }, 10 * MINUTE],
    ['max-age=0', { 'cache-control': 'max-age=0' }, 5 * MINUTE],
    ['max-age of a year', { 'cache-control': 'max-age=31536000' }, DAY],
    ['s-maxage only', { 'cache-control': 's-maxage=600' }, DAY],
    ['a header that makes no sense', { 'cache-control': 'max-age=soon' }, DAY],
  ])('with %s', (_name, headers, lifetimeMs) => {
    expect(robotsEntryFrom(answer(200, headers), ORIGIN, NOW).expiresAt).toBe(NOW + lifetimeMs);
    expect(robotsEntryFrom(answer(404, headers), ORIGIN, NOW).expiresAt).toBe(NOW + lifetimeMs);
  });
});

/** Asks again whenever the entry expires, and gets nothing. */
function outage(
  until: number,
  first: RobotsEntry | null = null,
  startAt = NOW,
  failure = 'HEADERS_TIMEOUT',
): RobotsEntry[] {
  const entries: RobotsEntry[] = [];
  let entry = first;
  for (let at = startAt; at <= until; at = entry.expiresAt) {
    entry = robotsEntryFrom({ failure }, ORIGIN, at, entry);
    entries.push(entry);
  }
  return entries;
}

describe('an outage', () => {
  it('is looked at again after a minute, then ever more rarely, at last every hour', () => {
    const expiries = outage(NOW + DAY).map((entry) => entry.expiresAt);
    const pauses = expiries.map((at, index) => at - (expiries[index - 1] ?? NOW));
    expect(pauses.slice(0, 8).map((ms) => ms / MINUTE)).toEqual([1, 1, 2, 4, 8, 16, 32, 60]);
    expect(pauses.slice(8).every((ms) => ms === HOUR)).toBe(true);
  });

  it('of a host that has no address or refuses connections is looked at again after seconds, at last every two minutes', () => {
    for (const failure of ['DNS_FAILED', 'CONNECT_FAILED']) {
      const expiries = outage(NOW + HOUR, null, NOW, failure).map((entry) => entry.expiresAt - NOW);
      expect(expiries.slice(0, 5)).toEqual([2_000, 4_000, 8_000, 16_000, 32_000]);
      const pauses = expiries.map((at, index) => at - (expiries[index - 1] ?? 0));
      expect(pauses.slice(5, 7)).toEqual([32_000, 64_000]);
      expect(pauses.slice(7).every((ms) => ms === 2 * MINUTE)).toBe(true);
    }
  });

  it('grows by the tries that failed, however long nothing asked for the file', () => {
    for (const [failure, leastMs] of [
      ['CONNECT_FAILED', 2_000],
      ['HEADERS_TIMEOUT', MINUTE],
    ] as const) {
      const first = robotsEntryFrom({ failure }, ORIGIN, NOW);
      const second = robotsEntryFrom({ failure }, ORIGIN, NOW + 20 * HOUR, first);
      expect(second).toMatchObject({ fetchedAt: NOW, expiresAt: NOW + 20 * HOUR + leastMs });
      const third = robotsEntryFrom({ failure }, ORIGIN, NOW + 40 * HOUR, second);
      expect(third).toMatchObject({ fetchedAt: NOW, expiresAt: NOW + 40 * HOUR + 2 * leastMs });
    }
  });

  it('of a server that answered with errors is looked at within two minutes once it refuses connections', () => {
    const last = outage(NOW + DAY).at(-1) ?? null;
    const at = last?.expiresAt ?? 0;
    const entry = robotsEntryFrom({ failure: 'CONNECT_FAILED' }, ORIGIN, at, last);
    expect(entry.expiresAt).toBe(at + 2 * MINUTE);
  });

  it('lasts as long as Retry-After says, when that is longer', () => {
    const entry = robotsEntryFrom(answer(503, { 'retry-after': '7200' }), ORIGIN, NOW);
    expect(entry.expiresAt).toBe(NOW + 2 * HOUR);
  });

  it('of 30 days makes the file absent, for as long as it goes on', () => {
    const entries = outage(NOW + 32 * DAY);
    const changed = entries.findIndex((entry) => entry.status === 'absent');
    expect(entries[changed - 1]?.expiresAt).toBeGreaterThanOrEqual(NOW + 30 * DAY);
    expect(entries.slice(changed).length).toBeGreaterThan(1);
    expect(entries.slice(changed).every((entry) => entry.status === 'absent')).toBe(true);
  });

  it('is not made of two failures that lie far apart', () => {
    const once = robotsEntryFrom({ failure: 'DNS_FAILED' }, ORIGIN, NOW);
    const later = NOW + 40 * DAY;
    expect(robotsEntryFrom({ failure: 'DNS_FAILED' }, ORIGIN, later, once)).toMatchObject({
      status: 'unreachable',
      fetchedAt: later,
      expiresAt: later + 2_000,
    });
  });

  it('ends with the first answer', () => {
    const last = outage(NOW + DAY).at(-1) ?? null;
    expect(robotsEntryFrom(answer(200), ORIGIN, NOW + DAY, last)).toMatchObject({
      status: 'ok',
      fetchedAt: NOW + DAY,
    });
  });
});

describe('rules that were read before an outage', () => {
  const good = robotsEntryFrom(answer(200, {}, 'User-agent: *\nDisallow: /x'), ORIGIN, NOW);

  it('stay in force for a day beyond their own, and are asked for every five minutes', () => {
    const entries = outage(NOW + 3 * DAY, good, good.expiresAt);
    const stale = entries.filter((entry) => entry.status === 'ok');
    expect(stale[0]).toMatchObject({ body: good.body, fetchedAt: NOW, expiresAt: NOW + DAY + 5 * MINUTE });
    expect(stale[0]?.reason).toBe('stale: HEADERS_TIMEOUT');
    expect(stale.at(-1)?.expiresAt).toBe(NOW + 2 * DAY);
    expect(entries[stale.length]?.status).toBe('unreachable');
  });

  it('are not kept when the file is gone', () => {
    expect(robotsEntryFrom(answer(404), ORIGIN, NOW + DAY, good).status).toBe('absent');
  });

  it('are not used when nobody asked for two days', () => {
    expect(robotsEntryFrom(answer(500), ORIGIN, NOW + 2 * DAY, good).status).toBe('unreachable');
  });
});

describe('a robots.txt whose answer may kill the process', () => {
  const asked = (times: number, previous: RobotsEntry | null = null): RobotsEntry => {
    const entry = askedEntry(ORIGIN, NOW, previous);
    return times === 1 ? entry : asked(times - 1, entry);
  };

  it('is recorded as asked for, once more each time, and is not fresh by that', () => {
    expect(asked(1)).toMatchObject({
      origin: ORIGIN,
      status: 'unreachable',
      interruptions: 1,
      expiresAt: NOW,
    });
    expect(asked(3)).toMatchObject({ interruptions: 3, expiresAt: NOW });
  });

  it('keeps the rules that were known', () => {
    const known = { ...robotsEntryFrom(answer(200), ORIGIN, NOW - DAY), expiresAt: NOW - MINUTE };
    expect(asked(2, known)).toEqual({ ...known, interruptions: 2 });
  });

  it('has no interruptions once there is an answer, or none can be had', () => {
    expect(robotsEntryFrom(answer(200), ORIGIN, NOW, asked(2)).interruptions).toBe(0);
    expect(robotsEntryFrom({ failure: 'DNS_FAILED' }, ORIGIN, NOW, asked(2)).interruptions).toBe(0);
    const known = robotsEntryFrom(answer(200), ORIGIN, NOW - DAY);
    expect(robotsEntryFrom(answer(503), ORIGIN, NOW, asked(2, known))).toMatchObject({
      status: 'ok',
      interruptions: 0,
    });
  });

  it('is unreachable for a day after three recorded deaths, then one more death is enough', () => {
    expect([givenUpEntry(asked(1), NOW), givenUpEntry(asked(2), NOW)]).toEqual([null, null]);
    const givenUp = givenUpEntry(asked(3), NOW);
    expect(givenUp).toMatchObject({ status: 'unreachable', reason: 'WORKER_DIED', expiresAt: NOW + DAY });
    if (givenUp === null) throw new Error('It is asked for again.');
    expect(givenUpEntry(givenUp, NOW + 2 * DAY)).toBeNull();
    expect(givenUpEntry(askedEntry(ORIGIN, NOW + 2 * DAY, givenUp), NOW + 2 * DAY)).not.toBeNull();
  });
});
