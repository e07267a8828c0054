import { describe, expect, it } from 'vitest';
import type { KeyId } from '../../core/model/ids.ts';
import { createFirstUses } from './first-uses.ts';

const DAY_MS = 86_400_000;
const KEY = 'k1' as KeyId;

function open() {
  const clock = { now: 20_000 * DAY_MS };
  return { clock, uses: createFirstUses(() => clock.now) };
}

describe('uses of keys', () => {
  it('are recorded once a day for each key, address and operation', () => {
    const { clock, uses } = open();
    const use = { key: KEY, address: '192.0.2.1', operation: 'POST /v1/scrape', omitted: 0 };
    expect(uses.take(KEY, '192.0.2.1', 'POST /v1/scrape')).toEqual(use);
    expect(uses.take(KEY, '192.0.2.1', 'POST /v1/scrape')).toBeNull();
    expect(uses.take(KEY, '192.0.2.2', 'POST /v1/scrape')).not.toBeNull();
    expect(uses.take(KEY, '192.0.2.1', 'POST /v1/crawl')).not.toBeNull();
    expect(uses.take('k2' as KeyId, '192.0.2.1', 'POST /v1/scrape')).not.toBeNull();
    clock.now += DAY_MS - 1;
    expect(uses.take(KEY, '192.0.2.1', 'POST /v1/scrape')).toBeNull();
    clock.now += 1;
    expect(uses.take(KEY, '192.0.2.1', 'POST /v1/scrape')).toEqual(use);
  });

  it('from one /64 network of IPv6 count as one address', () => {
    const { uses } = open();
    expect(uses.take(KEY, '2001:db8::1', 'GET /v1/jobs')).toMatchObject({ address: '2001:db8:0:0::/64' });
    expect(uses.take(KEY, '2001:db8::2', 'GET /v1/jobs')).toBeNull();
  });

  it('that could not be recorded are recorded later', () => {
    const { clock, uses } = open();
    const use = uses.take(KEY, '192.0.2.1', 'GET /v1/jobs');
    if (use !== null) uses.giveBack(use);
    expect(uses.take(KEY, '192.0.2.1', 'GET /v1/jobs')).toBeNull();
    clock.now += 60_000;
    expect(uses.take(KEY, '192.0.2.1', 'GET /v1/jobs')).toEqual(use);
  });

  it('leave at most 100 entries a minute, and the next entry says how many were left out', () => {
    const { clock, uses } = open();
    const taken = Array.from({ length: 300 }, (_, n) =>
      uses.take(KEY, `192.0.${Math.floor(n / 250)}.${n % 250}`, 'GET /v1/jobs'),
    );
    expect(taken.filter((use) => use !== null)).toHaveLength(100);
    clock.now += 60_000;
    expect(uses.take(KEY, '198.51.100.1', 'GET /v1/jobs')).toMatchObject({ omitted: 200 });
  });
});
