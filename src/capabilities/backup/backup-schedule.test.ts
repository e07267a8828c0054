import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupNameAt, backupsToRemove, createBackupSchedule, datedBackupOf } from './backup-schedule.ts';

const HOUR_MS = 3_600_000;
const T0 = Date.UTC(2026, 0, 1);
const silent = { info: () => undefined, error: () => undefined };

/** A place for backups in memory, and a clock. */
function openPlace() {
  const names = new Set<string>();
  const state = { at: T0, isBroken: false };
  const open = () =>
    createBackupSchedule({
      files: {
        list: async () => [...names].map((name) => ({ name, bytes: 1 })),
        remove: async (name) => void names.delete(name),
        removeRemains: async () => undefined,
      },
      make: async (name) => {
        if (state.isBroken) throw new Error('the disk is full');
        names.add(name);
      },
      now: () => state.at,
      everyMs: 24 * HOUR_MS,
      keep: { daily: 3, weekly: 2 },
      logger: silent,
    });
  const tick = open();
  return { names, state, open, tick: () => tick(new AbortController().signal) };
}

describe('a schedule of backups', () => {
  it('makes one a day, whatever process asks and however often', async () => {
    const place = openPlace();
    for (let hour = 0; hour < 72; hour += 1) {
      place.state.at = T0 + hour * HOUR_MS;
      await place.tick();
      // A process that was started just now.
      await place.open()(new AbortController().signal);
    }
    expect([...place.names]).toEqual([0, 24, 48].map((hour) => backupNameAt(T0 + hour * HOUR_MS)));
  });

  it('removes old ones only when a new one was written, and no file that it did not name', async () => {
    const place = openPlace();
    place.names.add('before-the-upgrade.backup');
    for (let day = 0; day < 30; day += 1) {
      place.state.at = T0 + day * 24 * HOUR_MS;
      await place.tick();
    }
    const kept = [...place.names];
    expect(kept).toContain('before-the-upgrade.backup');
    expect(kept).toHaveLength(5);
    place.state.isBroken = true;
    place.state.at = T0 + 400 * 24 * HOUR_MS;
    await place.tick();
    expect([...place.names]).toEqual(kept);
    // Tried again after a while, and not at once.
    place.state.isBroken = false;
    await place.tick();
    expect([...place.names]).toEqual(kept);
    place.state.at += HOUR_MS;
    await place.tick();
    expect([...place.names]).toContain(backupNameAt(place.state.at));
  });
});

const DAY_MS = 24 * HOUR_MS;
const NOW = Date.UTC(2026, 6, 1, 12);
const at = (ms: number) => ({ name: backupNameAt(ms), at: ms });

describe('the name of a backup', () => {
  it('has its time, to the second', () => {
    expect(backupNameAt(NOW + 999)).toBe('scrapifie-20260701T120000Z.backup');
    expect(datedBackupOf('scrapifie-20260701T120000Z.backup')).toEqual(at(NOW));
  });

  it('of another file, or with a time that does not exist, is none of a server', () => {
    for (const name of [
      'today.backup',
      'scrapifie-20260231T120000Z.backup',
      'scrapifie-20260701T120000Z.backup.partial',
    ])
      expect(datedBackupOf(name)).toBeNull();
  });
});

describe('of hourly backups over a year', () => {
  const year = Array.from({ length: 365 * 24 }, (_, hours) => at(NOW - hours * HOUR_MS));

  it('those of a day, of seven days and of four weeks are kept', () => {
    const removed = new Set(backupsToRemove(year, { daily: 7, weekly: 4 }, NOW));
    const kept = year
      .filter((backup) => !removed.has(backup))
      .map((backup) => new Date(backup.at).toISOString());
    expect(kept.slice(24)).toEqual([
      '2026-06-29T23:00:00.000Z',
      '2026-06-28T23:00:00.000Z',
      '2026-06-27T23:00:00.000Z',
      '2026-06-26T23:00:00.000Z',
      '2026-06-25T23:00:00.000Z',
      '2026-06-21T23:00:00.000Z',
      '2026-06-14T23:00:00.000Z',
    ]);
  });

  it('nothing is kept that is not asked for, but for the last day', () => {
    expect(backupsToRemove(year, { daily: 0, weekly: 0 }, NOW)).toHaveLength(365 * 24 - 24);
  });
});

it('the newest backup is never removed, and none is removed by removing others', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 400 * 24 }), { minLength: 1 }),
      fc.nat(10),
      fc.nat(10),
      (hours, daily, weekly) => {
        const backups = [...new Set(hours)].map((each) => at(NOW - 2 * DAY_MS - each * HOUR_MS));
        const removed = backupsToRemove(backups, { daily, weekly }, NOW);
        const left = backups.filter((backup) => !removed.includes(backup));
        const newest = Math.max(...backups.map((backup) => backup.at));
        expect(left.map((backup) => backup.at)).toContain(newest);
        expect(backupsToRemove(left, { daily, weekly }, NOW)).toEqual([]);
      },
    ),
  );
});
