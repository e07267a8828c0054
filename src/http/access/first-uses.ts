import type { KeyId } from '../../core/model/ids.ts';
import { networkOf } from './failed-logins.ts';

/** Tells which uses of API keys belong in the audit log: the first of a key, an address and an operation each day. */
export interface FirstUses {
  /** What to record, with the address or its /64 network; null when this use is recorded already, or there are too many. */
  take(key: KeyId, address: string, operation: string): FirstUse | null;
  /** The entry could not be written: one of the next uses is recorded in its place, a minute later at the soonest. */
  giveBack(use: FirstUse): void;
}

export interface FirstUse {
  readonly key: KeyId;
  readonly address: string;
  readonly operation: string;
  /** Uses since the last entry that were left out because there were too many different ones; mostly 0. */
  readonly omitted: number;
}

const DAY_MS = 86_400_000;
const RETRY_MS = 60_000;
const WINDOW_MS = 60_000;
const MAX_REMEMBERED = 10_000;
/** A key that is used from ever new addresses must not fill the log. */
const MAX_ENTRIES_PER_WINDOW = 100;

export function createFirstUses(now: () => number): FirstUses {
  /** Until when a use is not recorded again, in order of their entries. */
  const recordedUntil = new Map<string, number>();
  let day = 0;
  let window = { endsAt: 0, count: 0 };
  let omitted = 0;

  function remember(name: string, until: number): void {
    recordedUntil.delete(name);
    recordedUntil.set(name, until);
    const [oldest] = recordedUntil.keys();
    if (recordedUntil.size > MAX_REMEMBERED && oldest !== undefined) recordedUntil.delete(oldest);
  }

  return {
    take(key, givenAddress, operation) {
      const at = now();
      if (Math.floor(at / DAY_MS) !== day) {
        day = Math.floor(at / DAY_MS);
        recordedUntil.clear();
      }
      const address = networkOf(givenAddress);
      const name = `${key} ${address} ${operation}`;
      if (at < (recordedUntil.get(name) ?? 0)) return null;
      // A window that ends later than a new one would was begun before the clock was set back, and counts as over.
      if (window.endsAt <= at || window.endsAt > at + WINDOW_MS)
        window = { endsAt: at + WINDOW_MS, count: 0 };
      window.count += 1;
      if (window.count > MAX_ENTRIES_PER_WINDOW) {
        omitted += 1;
        return null;
      }
      remember(name, (day + 1) * DAY_MS);
      const use = { key, address, operation, omitted };
      omitted = 0;
      return use;
    },
    giveBack(use) {
      omitted += use.omitted;
      remember(`${use.key} ${use.address} ${use.operation}`, now() + RETRY_MS);
    },
  };
}
