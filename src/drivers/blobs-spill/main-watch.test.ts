import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { MainWatch } from './main-watch.ts';

const AWAY = new ScrapifieError('BLOBS_UNAVAILABLE', 'away');

function watchAt(random = () => 1 - Number.EPSILON) {
  const clock = { now: 0 };
  const told: string[] = [];
  const watch = new MainWatch({
    retryMs: 1_000,
    longestRetryMs: 30_000,
    now: () => clock.now,
    random,
    onAway: () => told.push('away'),
    onReturn: () => told.push('back'),
  });
  return { clock, told, watch };
}

describe('the watch over the main store', () => {
  test('leaves it alone after a failure, then lets it be tried, and is told once of each change', () => {
    const { clock, told, watch } = watchAt();
    expect(watch.state).toBe('works');
    watch.failed(watch.turn, AWAY);
    expect(watch.state).toBe('away');
    clock.now = 1_000;
    expect(watch.state).toBe('due');
    watch.failed(watch.turn, AWAY);
    expect(watch.state).toBe('away');
    watch.succeeded(watch.turn);
    expect(watch.state).toBe('works');
    expect(watch.error).toBeNull();
    expect(told).toEqual(['away', 'back']);
  });

  test('waits twice as long with each failure, up to the longest', () => {
    const { clock, watch } = watchAt();
    const pauses = Array.from({ length: 7 }, () => {
      watch.failed(watch.turn, AWAY);
      const { retryAfterMs } = watch;
      clock.now += retryAfterMs;
      return Math.round(retryAfterMs / 1_000);
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30]);
  });

  test('counts many failures of calls that ran together as one', () => {
    const { watch } = watchAt();
    const turns = Array.from({ length: 20 }, () => watch.turn);
    for (const turn of turns) watch.failed(turn, AWAY);
    expect(watch.retryAfterMs).toBeLessThanOrEqual(1_000);
  });

  test('is not moved by a success that began before the failure', () => {
    const { watch } = watchAt();
    const { turn } = watch;
    watch.failed(watch.turn, AWAY);
    watch.succeeded(turn);
    expect(watch.state).toBe('away');
  });

  test('never waits less than half the pause nor more than the longest', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (times, chance) => {
          const { watch } = watchAt(() => chance);
          for (let n = 0; n < times; n += 1) watch.failed(watch.turn, AWAY);
          const ceilingMs = Math.min(30_000, 1_000 * 2 ** (times - 1));
          expect(watch.retryAfterMs).toBeGreaterThanOrEqual(ceilingMs / 2);
          expect(watch.retryAfterMs).toBeLessThanOrEqual(ceilingMs);
        },
      ),
    );
  });
});
