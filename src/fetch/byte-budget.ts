import { availableParallelism, totalmem } from 'node:os';
import { guarded } from '../core/errors/guarded.ts';
import type { Engine } from './engine.ts';

/**
 * How many bytes of responses this process may hold at once, over all fetches and renders. An attempt opens an account,
 * counts what it holds while its body grows, and closes the account when the page is read and stored.
 *
 * Nothing is reserved in advance, so small pages never wait. When the budget is used up, bodies that are being read
 * pause, except for one: the largest of them goes on, to its own limit, so that there is always one attempt that ends
 * and gives its bytes back. A pause ends with the time limit of its attempt at the latest.
 */
export interface ByteBudget {
  readonly limitBytes: number;
  readonly heldBytes: number;
  /** False while so much is held that no new attempt should begin. */
  readonly hasRoom: boolean;
  /** Calls the listener each time `hasRoom` becomes true. */
  onRoom(listener: () => void): void;
  /** Resolves when there is room; rejects with the signal's reason. */
  admission(signal: AbortSignal): Promise<void>;
  open(): HeldBytes;
}

/** The account of one attempt. */
export interface HeldBytes {
  readonly bytes: number;
  /**
   * Attempts of one group share a connection, on which an unread body blocks the others. The whole group of the
   * account that may exceed the limit continues.
   */
  group: object | null;
  /**
   * Counts bytes that the attempt holds from now on. False: the body must not be read on before `resume` is called,
   * which happens once. Without `resume` the answer is always true.
   */
  take(bytes: number, resume?: () => void): boolean;
  /** Bytes that the attempt no longer holds. */
  give(bytes: number): void;
  /** Gives everything back; nothing is counted afterwards. May be called twice. */
  close(): void;
}

/** Share of the budget from which on no new attempt begins: those under way need the rest. */
const ADMISSION_SHARE = 0.75;
const LEAST_BYTES = 33_554_432;
const MOST_BYTES = 1_073_741_824;
/** A page that is read costs several times its size: as text, as a tree and as results. */
const MEMORY_SHARE = 1 / 16;

/** 0: what the memory of this machine allows. */
export function budgetBytesFor(setting: number, memoryBytes = thisMachine().memoryBytes): number {
  if (setting > 0) return setting;
  return Math.round(Math.min(MOST_BYTES, Math.max(LEAST_BYTES, memoryBytes * MEMORY_SHARE)));
}

export function createByteBudget(limitBytes: number): ByteBudget {
  const admissionBytes = limitBytes * ADMISSION_SHARE;
  const listeners: (() => void)[] = [];
  /** Attempts that wait to begin; bounded by their callers. */
  const waiting = new Set<() => void>();
  /** Accounts whose body pauses; bounded by the attempts under way. */
  const paused = new Map<Account, () => void>();
  /** The one account that may go beyond the limit. */
  let overdraft: Account | null = null;
  let heldBytes = 0;
  let hasRoom = true;
  let isWaking = false;

  function change(bytes: number): void {
    heldBytes += bytes;
    if (hasRoom === heldBytes < admissionBytes) return;
    hasRoom = !hasRoom;
    if (!hasRoom) return;
    for (const listener of listeners) listener();
    for (const admit of waiting) admit();
  }

  function hasOverdraft(account: Account): boolean {
    return overdraft === account || (account.group !== null && overdraft?.group === account.group);
  }

  /** Soon, and never from within a call: a body that is resumed is parsed at once, and parsers do not nest. */
  function wakeSoon(): void {
    if (isWaking || paused.size === 0 || (overdraft !== null && heldBytes >= limitBytes)) return;
    isWaking = true;
    setImmediate(() => {
      isWaking = false;
      wake();
    });
  }

  /** Lets bodies go on: all of them below the limit, else one. */
  function wake(): void {
    if (heldBytes < limitBytes) {
      const resumed = [...paused.values()];
      paused.clear();
      for (const resume of resumed) resume();
      return;
    }
    if (overdraft !== null) return;
    let largest: Account | null = null;
    for (const account of paused.keys()) {
      if (largest === null || account.bytes > largest.bytes) largest = account;
    }
    if (largest === null) return;
    overdraft = largest;
    for (const [account, resume] of paused) {
      if (!hasOverdraft(account)) continue;
      paused.delete(account);
      resume();
    }
  }

  class Account implements HeldBytes {
    bytes = 0;
    group: object | null = null;
    #isClosed = false;

    take(bytes: number, resume?: () => void): boolean {
      if (this.#isClosed) return true;
      this.bytes += bytes;
      change(bytes);
      if (resume === undefined || heldBytes <= limitBytes || hasOverdraft(this)) return true;
      paused.set(this, resume);
      wakeSoon();
      return false;
    }

    give(bytes: number): void {
      if (this.#isClosed || bytes === 0) return;
      this.bytes -= bytes;
      change(-bytes);
      wakeSoon();
    }

    close(): void {
      if (this.#isClosed) return;
      this.#isClosed = true;
      paused.delete(this);
      if (overdraft === this) overdraft = null;
      change(-this.bytes);
      this.bytes = 0;
      wakeSoon();
    }
  }

  return {
    limitBytes,
    get heldBytes() {
      return heldBytes;
    },
    get hasRoom() {
      return hasRoom;
    },
    onRoom: (listener) => void listeners.push(listener),
    async admission(signal) {
      while (!hasRoom) {
        signal.throwIfAborted();
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        const onAbort = guarded(() => reject(signal.reason));
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.add(resolve);
        try {
          await promise;
        } finally {
          waiting.delete(resolve);
          signal.removeEventListener('abort', onAbort);
        }
      }
    },
    open: () => new Account(),
  };
}

/**
 * Counts what the engine holds while it fetches, for callers that take what they need from a response at once. The
 * engine stays the caller's to close.
 */
export function withBudget(engine: Engine, budget: ByteBudget): Engine {
  return {
    name: engine.name,
    async fetch(request) {
      const held = budget.open();
      try {
        return await engine.fetch({ ...request, held });
      } finally {
        held.close();
      }
    },
    close: async () => undefined,
  };
}

export interface Machine {
  readonly memoryBytes: number;
  readonly cores: number;
}

/** Memory is the limit of the container where one is set, by cgroups of either version. */
export function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return { memoryBytes: limit > 0 && limit < total ? limit : total, cores: availableParallelism() };
}
