import { describe, expect, it } from 'vitest';
import { createBackupSchedule } from './backup-schedule.ts';
import { backupNameAt } from './retention.ts';

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
