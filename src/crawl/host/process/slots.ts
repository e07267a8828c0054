import type { ByteBudget } from '../../../fetch/byte-budget.ts';

/** A listener that wants a place. It calls `take` with itself, or `decline`, each time it was called. */
export type SlotListener = () => void;

/**
 * A fixed number of places for fetches, shared by all hosts of the process. Accounts take turns at places that become free, and
 * of the listeners of an account the one that waited longest is called first; a place that it was called for is kept for it.
 * No place is given while so many bytes are held that the attempts under way need the rest of the budget.
 */
export interface Slots {
  /** Takes a place if there is one: kept for this listener, or free and wanted by no other; without a listener: free. */
  take(listener?: SlotListener): boolean;
  give(): void;
  /** Calls the listener once, when a place is free for the account. */
  whenFree(listener: SlotListener, account: string): void;
  /** The listener wants no place any more; one that was kept for it is offered to the next listener. */
  decline(listener: SlotListener): void;
  readonly taken: number;
}

export function createSlots(places: number, budget?: Pick<ByteBudget, 'hasRoom' | 'onRoom'>): Slots {
  let taken = 0;
  /** By account, the one whose turn is next first. */
  const waiting = new Map<string, Set<SlotListener>>();
  const accounts = new Map<SlotListener, string>();
  /** Listeners that were called and have not taken their places yet. */
  const called = new Set<SlotListener>();

  const isFull = (): boolean => taken + called.size >= places || budget?.hasRoom === false;
  budget?.onRoom(() => {
    // Several places may be free by now, and giving one back tells of one only.
    for (let free = places - taken - called.size; free > 0; free -= 1) callNext();
  });

  function callNext(): void {
    if (isFull()) return;
    for (const [account, listeners] of waiting) {
      const [first] = listeners;
      if (first === undefined) continue;
      forget(first);
      // Its account goes to the end.
      if (listeners.size > 0) {
        waiting.delete(account);
        waiting.set(account, listeners);
      }
      called.add(first);
      first();
      return;
    }
  }

  function forget(listener: SlotListener): void {
    const account = accounts.get(listener);
    if (account === undefined) return;
    accounts.delete(listener);
    const listeners = waiting.get(account);
    listeners?.delete(listener);
    if (listeners?.size === 0) waiting.delete(account);
  }

  return {
    take(listener) {
      const isKept = listener !== undefined && called.delete(listener);
      if (budget?.hasRoom === false || taken >= places) return false;
      if (!isKept && (isFull() || (listener !== undefined && waiting.size > 0))) return false;
      taken += 1;
      return true;
    },
    give() {
      taken -= 1;
      callNext();
    },
    whenFree(listener, account) {
      if (accounts.get(listener) !== account) forget(listener);
      accounts.set(listener, account);
      const listeners = waiting.get(account);
      if (listeners === undefined) waiting.set(account, new Set([listener]));
      else listeners.add(listener);
    },
    decline(listener) {
      forget(listener);
      called.delete(listener);
      callNext();
    },
    get taken() {
      return taken;
    },
  };
}
