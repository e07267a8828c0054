import { describe, expect, it } from 'vitest';
import { createFailedLogins, networkOf } from './failed-logins.ts';

describe('wrong keys of an address', () => {
  it('are limited from a number on, until a minute after the first', () => {
    const clock = { now: 1_000 };
    const failed = createFailedLogins({ perMinute: 3, now: () => clock.now });
    expect(failed.count('192.0.2.1')).toEqual({ action: 'login.failed', address: '192.0.2.1' });
    clock.now += 10_000;
    expect(failed.count('192.0.2.1')).toBeNull();
    expect(failed.limitedForMs('192.0.2.1')).toBeNull();
    expect(failed.count('192.0.2.1')).toEqual({ action: 'login.limited', address: '192.0.2.1' });
    expect(failed.limitedForMs('192.0.2.1')).toBe(50_000);
    expect(failed.limitedForMs('::ffff:192.0.2.1')).toBe(50_000);
    expect(failed.limitedForMs('192.0.2.2')).toBeNull();
    clock.now += 50_000;
    expect(failed.limitedForMs('192.0.2.1')).toBeNull();
  });

  it('are not limited longer by a clock that is set back', () => {
    const clock = { now: 10_000_000 };
    const failed = createFailedLogins({ perMinute: 1, now: () => clock.now });
    failed.count('192.0.2.1');
    clock.now = 0;
    expect(failed.limitedForMs('192.0.2.1')).toBeNull();
  });

  it('leave a bounded number of entries for the audit log, from however many addresses', () => {
    const failed = createFailedLogins({ perMinute: 5, now: () => 0 });
    const entries = Array.from({ length: 5_000 }, (_, n) => failed.count(`10.0.${n >> 8}.${n & 255}`));
    expect(entries.filter((entry) => entry !== null)).toHaveLength(100);
  });

  it.each([
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:ffff::', '2001:db8:0:0::/64'],
    ['2001:0db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('%s counts as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
