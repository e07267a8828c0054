import { isIPv6 } from 'node:net';
import { plainAddress } from '../../core/config/field-types.ts';

/** Counts wrong API keys per address, in windows of one minute that begin with the first. */
export interface FailedLogins {
  /** Until when further keys of this address are not looked up, in milliseconds from now; null: they are. */
  limitedForMs(address: string): number | null;
  /** Counts one. Says which entry the audit log should have for it, if any. */
  count(address: string): FailureEntry | null;
}

/** One entry when an address begins to fail and one when it is limited, however many failures there are. */
export interface FailureEntry {
  readonly action: 'login.failed' | 'login.limited';
  /** The address, or the /64 network of an IPv6 address: one client has all of it. */
  readonly address: string;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;
/** Over all addresses: strangers must not be able to fill the audit log. */
const MAX_ENTRIES_PER_WINDOW = 100;

interface Window {
  readonly endsAt: number;
  count: number;
}

export function createFailedLogins(options: { perMinute: number; now: () => number }): FailedLogins {
  const { perMinute, now } = options;
  /** The windows of addresses, in the order of their last failure. */
  const windows = new Map<string, Window>();
  let entries: Window = { endsAt: 0, count: 0 };

  function current(window: Window | undefined, at: number): Window | null {
    // A window that ends later than a new one would was begun before the clock was set back.
    return window === undefined || window.endsAt <= at || window.endsAt > at + WINDOW_MS ? null : window;
  }

  return {
    limitedForMs(address) {
      const at = now();
      const window = current(windows.get(networkOf(address)), at);
      return window === null || window.count < perMinute ? null : window.endsAt - at;
    },
    count(address) {
      const at = now();
      const network = networkOf(address);
      const window = current(windows.get(network), at) ?? { endsAt: at + WINDOW_MS, count: 0 };
      window.count += 1;
      windows.delete(network);
      windows.set(network, window);
      const [oldest] = windows.keys();
      if (windows.size > MAX_ADDRESSES && oldest !== undefined) windows.delete(oldest);

      const action =
        window.count === perMinute ? 'login.limited' : window.count === 1 ? 'login.failed' : null;
      if (action === null) return null;
      entries = current(entries, at) ?? { endsAt: at + WINDOW_MS, count: 0 };
      entries.count += 1;
      return entries.count > MAX_ENTRIES_PER_WINDOW ? null : { action, address: network };
    },
  };
}

/** An IPv4 address as it is, of an IPv6 address its /64 network. */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = (plain.split('%', 1)[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`;
}
