import { describe, expect, it } from 'vitest';
import { decideTicks, GRACE_MS, MOST_COUNTED, type TickSource } from './due-ticks.ts';
import { upcomingTicks } from './ticks.ts';

const MINUTE = 60_000;
const at = (iso: string) => Date.parse(iso);

function hourly(over: Partial<TickSource> = {}): TickSource {
  return {
    id: 'hourly',
    timing: { cron: '0 * * * *', everyMs: null, anchorAt: 0, timeZone: 'UTC', activeHours: null },
    jitterMs: 0,
    catchUp: 'one',
    nextTickAt: at('2026-06-10T12:00:00Z'),
    ...over,
  };
}
const everySecond = (over: Partial<TickSource> = {}) =>
  hourly({ timing: { ...hourly().timing, cron: '* * * * * *' }, ...over });

describe('ticks that are due', () => {
  it('are none before their time', () => {
    expect(decideTicks(hourly(), at('2026-06-10T11:59:59.999Z'))).toBeNull();
  });

  it('run in time within the grace, and the next one follows', () => {
    for (const late of [0, 1, GRACE_MS]) {
      expect(decideTicks(hourly({ catchUp: 'none' }), at('2026-06-10T12:00:00Z') + late)).toEqual({
        runs: [{ tickAt: at('2026-06-10T12:00:00Z'), isLate: false }],
        missed: null,
        next: { tickAt: at('2026-06-10T13:00:00Z'), dueAt: at('2026-06-10T13:00:00Z') },
        reason: 'in-time',
      });
    }
  });

  it('run each for itself when several are in time', () => {
    const decision = decideTicks(everySecond(), at('2026-06-10T12:00:02.500Z'));
    expect(decision?.runs.map(({ tickAt }) => tickAt)).toEqual([
      at('2026-06-10T12:00:00Z'),
      at('2026-06-10T12:00:01Z'),
      at('2026-06-10T12:00:02Z'),
    ]);
  });

  it('run late once after a time without schedulers, for a single tick', () => {
    expect(decideTicks(hourly(), at('2026-06-10T12:30:00Z'))).toMatchObject({
      runs: [{ tickAt: at('2026-06-10T12:00:00Z'), isLate: true }],
      missed: null,
      reason: 'caught-up',
    });
  });

  it('get one run for all of them with catchUp one: the latest, and the others are missed', () => {
    expect(decideTicks(hourly(), at('2026-06-10T17:30:00Z'))).toEqual({
      runs: [{ tickAt: at('2026-06-10T17:00:00Z'), isLate: true }],
      missed: { firstAt: at('2026-06-10T12:00:00Z'), lastAt: at('2026-06-10T16:00:00Z'), count: 5 },
      next: { tickAt: at('2026-06-10T18:00:00Z'), dueAt: at('2026-06-10T18:00:00Z') },
      reason: 'caught-up',
    });
  });

  it('get none with catchUp none', () => {
    expect(decideTicks(hourly({ catchUp: 'none' }), at('2026-06-10T17:30:00Z'))).toMatchObject({
      runs: [],
      missed: { firstAt: at('2026-06-10T12:00:00Z'), lastAt: at('2026-06-10T17:00:00Z'), count: 6 },
      reason: 'missed',
    });
  });

  it.each(['one', 'none'] as const)(
    'need no further run when one of them is in time, with catchUp %s',
    (catchUp) => {
      expect(decideTicks(hourly({ catchUp }), at('2026-06-10T17:00:30Z'))).toMatchObject({
        runs: [{ tickAt: at('2026-06-10T17:00:00Z'), isLate: false }],
        missed: { firstAt: at('2026-06-10T12:00:00Z'), lastAt: at('2026-06-10T16:00:00Z'), count: 5 },
        reason: 'missed',
      });
    },
  );

  it('are counted to a limit after a year without schedulers', () => {
    const decision = decideTicks(everySecond(), at('2027-06-10T12:00:00Z') + 10 * MINUTE);
    expect(decision?.missed).toMatchObject({ count: MOST_COUNTED });
    // The ticks of the last minute are in time.
    expect(decision?.runs).toHaveLength(GRACE_MS / 1_000 + 1);
  });

  it('are none after the clock was set back', () => {
    const first = decideTicks(hourly(), at('2026-06-10T12:00:01Z'));
    const nextTickAt = first?.next?.tickAt ?? 0;
    expect(decideTicks(hourly({ nextTickAt }), at('2026-06-10T11:00:00Z'))).toBeNull();
    expect(decideTicks(hourly({ nextTickAt }), at('2026-06-10T12:00:01Z'))).toBeNull();
  });
});

describe('jitter', () => {
  const jittered = (over: Partial<TickSource> = {}) => hourly({ jitterMs: 10 * MINUTE, ...over });

  it('delays the tick by its part of the time, and never the tick itself', () => {
    const now = at('2026-06-10T12:05:00Z');
    expect(decideTicks(jittered(), now - 1, () => 0.5)).toBeNull();
    expect(decideTicks(jittered(), now, () => 0.5)).toMatchObject({
      runs: [{ tickAt: at('2026-06-10T12:00:00Z'), isLate: false }],
      next: { tickAt: at('2026-06-10T13:00:00Z'), dueAt: at('2026-06-10T13:05:00Z') },
    });
  });

  it('is the same for every scheduler, and differs from tick to tick and between schedules', () => {
    const dueAts = (id: string) =>
      upcomingTicks(jittered().timing, 0, 50).map((nextTickAt) => {
        let [low, high] = [nextTickAt, nextTickAt + 10 * MINUTE];
        while (high - low > 0) {
          const middle = Math.floor((low + high) / 2);
          if (decideTicks(jittered({ id, nextTickAt }), middle) === null) low = middle + 1;
          else high = middle;
        }
        return low - nextTickAt;
      });
    expect(dueAts('a')).toEqual(dueAts('a'));
    expect(new Set(dueAts('a')).size).toBeGreaterThan(40);
    expect(dueAts('a')).not.toEqual(dueAts('b'));
  });

  it('is never longer than the time to the next tick', () => {
    const decision = decideTicks(
      everySecond({ jitterMs: 3_600_000 }),
      at('2026-06-10T12:00:03Z'),
      () => 0.999,
    );
    expect(decision?.runs).toHaveLength(4);
    const most = decideTicks(jittered({ jitterMs: 86_400_000 }), at('2026-06-10T12:59:59Z'), () => 0.999_999);
    expect(most?.runs).toEqual([{ tickAt: at('2026-06-10T12:00:00Z'), isLate: false }]);
  });

  it('counts as late from the time that it gives', () => {
    const due = at('2026-06-10T12:09:00Z');
    expect(decideTicks(jittered(), due + GRACE_MS, () => 0.9)).toMatchObject({ reason: 'in-time' });
    expect(decideTicks(jittered(), due + GRACE_MS + 1, () => 0.9)).toMatchObject({ reason: 'caught-up' });
  });
});
