import { Cron } from 'croner';
import { describe, expect, it } from 'vitest';
import type { ActiveHours, Timing } from '../../core/ports/schedule-store.ts';
import { readCronLine } from './cron-line.ts';
import { INVALID_LINES, REFERENCE, UTC_LINES, ZONE_LINES } from './cron-lines.fixture.ts';
import { ticksByDefinition } from './tick-definition.fixture.ts';
import {
  countTicks,
  decideTicks,
  GRACE_MS,
  hasTicksWithin,
  lastTick,
  MOST_COUNTED,
  nextTick,
  type TickSource,
  upcomingTicks,
} from './ticks.ts';

const at = (iso: string) => Date.parse(iso);
const iso = (instant: number | null) => (instant === null ? null : new Date(instant).toISOString());
const cron = (line: string, timeZone = 'UTC', activeHours: ActiveHours | null = null): Timing => ({
  cron: line,
  everyMs: null,
  anchorAt: 0,
  timeZone,
  activeHours,
});
const every = (everyMs: number, anchorAt = 0): Timing => ({
  ...cron('* * * * *'),
  cron: null,
  everyMs,
  anchorAt,
});

describe('a cron line', () => {
  it.each(UTC_LINES)('"%s" fires next at %s', (line, next) => {
    expect(iso(nextTick(cron(line), at(REFERENCE)))).toBe(iso(at(next)));
  });

  it.each(ZONE_LINES)('"%s" in %s after %s fires at %s and %s', (line, zone, after, first, second) => {
    expect(upcomingTicks(cron(line, zone), at(after), 2).map(iso)).toEqual([iso(at(first)), iso(at(second))]);
  });

  it.each(INVALID_LINES)('"%s" is refused with a problem', (line) => {
    expect(readCronLine(line)).toEqual({ problem: expect.stringMatching(/\S/) });
  });

  it('is refused with the field that is wrong', () => {
    expect(readCronLine('* 24 * * *')).toEqual({ problem: expect.stringMatching(/^hour: "24"/) });
    expect(readCronLine('* * * * MONDAY')).toEqual({
      problem: expect.stringMatching(/^day of week: "MONDAY"/),
    });
    expect(readCronLine('* * *')).toEqual({
      problem: expect.stringMatching(/^has 3 fields; 5 are expected/),
    });
    expect(readCronLine('0 0 31 2 *')).toEqual({ problem: expect.stringMatching(/^never fires/) });
  });
});

describe('the ticks of a whole year', () => {
  const year = [at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z')] as const;

  it.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Nuuk', 'UTC'])(
    'in %s are those of the definition',
    (zone) => {
      const lines: [string, (hour: number, minute: number) => boolean][] = [
        ['30 2 * * *', (hour, minute) => hour === 2 && minute === 30],
        ['*/15 * * * *', (_hour, minute) => minute % 15 === 0],
        ['15,45 1-3 * * *', (hour, minute) => hour >= 1 && hour <= 3 && (minute === 15 || minute === 45)],
      ];
      for (const [line, isNamed] of lines) {
        const ticks: number[] = [];
        for (let tick = nextTick(cron(line, zone), year[0] - 1); tick !== null && tick < year[1]; ) {
          ticks.push(tick);
          tick = nextTick(cron(line, zone), tick);
        }
        expect(ticks.map(iso), line).toEqual(ticksByDefinition(zone, year, isNamed).map(iso));
      }
    },
  );

  it('differ from those of croner where it repeats or leaves out a local time', () => {
    const berlin = new Cron('*/30 * * * *', { timezone: 'Europe/Berlin' });
    expect(berlin.nextRun(new Date('2026-10-25T00:30:00Z'))?.toISOString()).toBe('2026-10-25T01:00:00.000Z');
    const nuuk = new Cron('30 23 * * *', { timezone: 'America/Nuuk' });
    expect(nuuk.nextRun(new Date('2026-03-28T12:00:00Z'))?.toISOString()).toBe('2026-03-30T00:30:00.000Z');
  });
});

describe('an interval', () => {
  it('is counted from its anchor, whenever it is asked', () => {
    expect(upcomingTicks(every(90_000, 1_000), 1_000, 3)).toEqual([91_000, 181_000, 271_000]);
    expect(nextTick(every(90_000, 1_000), 181_000)).toBe(271_000);
    expect(nextTick(every(90_000, 1_000), 180_999)).toBe(181_000);
  });

  it('begins one interval after its anchor, also when the clock was set back', () => {
    expect(nextTick(every(60_000, 500_000), 0)).toBe(560_000);
  });
});

describe('active hours', () => {
  const days = { from: '08:00', to: '18:00', days: [] };

  it('leave out the ticks outside of them', () => {
    const ticks = upcomingTicks(cron('0 */5 * * *', 'UTC', days), at('2026-06-10T12:00:00Z'), 3);
    expect(ticks.map(iso)).toEqual([
      '2026-06-10T15:00:00.000Z',
      '2026-06-11T10:00:00.000Z',
      '2026-06-11T15:00:00.000Z',
    ]);
  });

  it('are those of the zone and of its days', () => {
    const monday = { from: '22:00', to: '02:00', days: [1] };
    const ticks = upcomingTicks(cron('0 * * * *', 'Europe/Berlin', monday), at('2026-06-10T12:00:00Z'), 5);
    expect(ticks.map(iso)).toEqual([
      '2026-06-15T20:00:00.000Z',
      '2026-06-15T21:00:00.000Z',
      '2026-06-15T22:00:00.000Z',
      '2026-06-15T23:00:00.000Z',
      '2026-06-22T20:00:00.000Z',
    ]);
  });

  it('that no tick falls into leave none', () => {
    expect(nextTick(cron('0 3 * * *', 'UTC', days), at(REFERENCE))).toBeNull();
  });
});

describe('ticks', () => {
  it.each([
    ['* * * * * *', 1],
    ['*/30 * * * * *', 30],
    // The last second of a minute and the first of the next.
    ['0,59 * * * * *', 1],
    ['30 * * * *', 3_600],
    ['* * * * *', 60],
    ['0 0-58/2,59 12 * * *', 60],
    ['0,10 0 29 2 *', 600],
    // The end of one day and the begin of the next.
    ['59 23 * * *', 86_400],
    ['5 0,23 * * *', 3_600],
  ])('of "%s" are at least %i s apart and no further', (line, seconds) => {
    expect(hasTicksWithin(cron(line), seconds * 1_000)).toBe(false);
    expect(hasTicksWithin(cron(line), seconds * 1_000 + 1)).toBe(true);
  });

  it('of an interval are apart by it', () => {
    expect(hasTicksWithin(every(60_000), 60_000)).toBe(false);
    expect(hasTicksWithin(every(60_000), 60_001)).toBe(true);
  });
});

describe('the last tick up to an instant', () => {
  it('is the one after which no other is due', () => {
    const seconds = cron('* * * * * *');
    expect(iso(lastTick(seconds, at('2026-01-01T00:00:00Z'), at('2026-12-31T10:20:30.500Z')))).toBe(
      '2026-12-31T10:20:30.000Z',
    );
    const yearly = cron('0 0 29 2 *');
    expect(iso(lastTick(yearly, at('2028-02-29T00:00:00Z'), at('2039-01-01T00:00:00Z')))).toBe(
      '2036-02-29T00:00:00.000Z',
    );
    expect(lastTick(seconds, at('2026-01-02T00:00:00Z'), at('2026-01-01T00:00:00Z'))).toBeNull();
    expect(lastTick(every(60_000), 60_000, 60_000)).toBe(60_000);
    expect(lastTick(every(60_000), 60_000, 179_999)).toBe(120_000);
  });

  it('counts the ticks on the way, up to a limit', () => {
    expect(countTicks(every(60_000), 60_000, 300_000, 1_000)).toBe(5);
    expect(countTicks(every(60_000), 60_000, 300_000, 3)).toBe(3);
    expect(countTicks(every(60_000), 60_000, 60_000, 3)).toBe(1);
  });
});

const MINUTE = 60_000;

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
