import { guarded } from '../../../core/errors/guarded.ts';

/**
 * Lets work that a process may have died of run alone: nothing else of the process's crawling is under way meanwhile,
 * so a death during it points at it.
 *
 * All work enters and leaves here. While a turn is prepared or under way the quarantine is closed: no other work begins,
 * and the turn begins when the work under way has ended. After a turn other work goes on for several times as long as
 * the turn kept it waiting, so suspected work costs a process a fixed share of its time at most.
 *
 * No turn begins in the first seconds of a process. A process that is killed again and again, for reasons that have
 * nothing to do with its tasks, then rarely dies during a turn.
 */
export interface Quarantine {
  /** False while a turn is prepared or under way: no other work may begin. */
  readonly isOpen: boolean;
  /** Calls the listener once, when the quarantine is open again; at once when it is open. */
  whenOpen(listener: () => void): void;
  /** Work begins that may have other work beside it. Call only while `isOpen`, and `leave` when it has ended. */
  enter(): void;
  leave(): void;
  /**
   * Waits for a turn. `deaths` is how often a process died during earlier turns of the same work: work with fewer comes
   * first, and waits less. Resolves with null when `signal` aborts before the turn has begun.
   */
  turn(deaths: number, signal: AbortSignal): Promise<Turn | null>;
}

export interface Turn {
  /** The work of the turn has ended; calling it again changes nothing. */
  end(): void;
}

interface Ticket {
  readonly deaths: number;
  readonly begin: () => void;
}

/** How long a process has been alive before it gives the first turn; longer for work that has died in a turn already. */
export const CALM_MS = 5_000;
/** Other work goes on for this many times as long as the last turn kept it waiting. */
const REST_SHARE = 4;

export function createQuarantine(now: () => number): Quarantine {
  const startedAt = now();
  const waiting = new Set<Ticket>();
  const listeners = new Set<() => void>();
  let underWay = 0;
  let current: { readonly ticket: Ticket; readonly closedAt: number; hasBegun: boolean } | null = null;
  let restUntil = 0;
  let timer: NodeJS.Timeout | null = null;

  /** Closes the quarantine for the next ticket when its time has come, else waits for that time. */
  function closeForNext(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (current !== null) return;
    const [next] = [...waiting].sort((a, b) => a.deaths - b.deaths);
    if (next === undefined) return;
    const waitMs = Math.max(restUntil, startedAt + CALM_MS * (1 + next.deaths)) - now();
    if (waitMs > 0) {
      timer = setTimeout(closeForNext, Math.ceil(waitMs));
      return;
    }
    waiting.delete(next);
    current = { ticket: next, closedAt: now(), hasBegun: false };
    beginWhenAlone();
  }

  function beginWhenAlone(): void {
    if (current === null || current.hasBegun || underWay > 0) return;
    current.hasBegun = true;
    current.ticket.begin();
  }

  function end(ticket: Ticket): void {
    waiting.delete(ticket);
    if (current?.ticket === ticket) {
      restUntil = now() + REST_SHARE * (now() - current.closedAt);
      current = null;
      const told = [...listeners];
      listeners.clear();
      for (const listener of told) listener();
    }
    closeForNext();
  }

  return {
    get isOpen() {
      return current === null;
    },
    whenOpen(listener) {
      if (current === null) listener();
      else listeners.add(listener);
    },
    enter() {
      underWay += 1;
    },
    leave() {
      underWay -= 1;
      beginWhenAlone();
    },
    turn(deaths, signal) {
      if (signal.aborted) return Promise.resolve(null);
      return new Promise((resolve) => {
        const onAbort = guarded(() => {
          end(ticket);
          resolve(null);
        });
        const ticket: Ticket = {
          deaths,
          begin() {
            signal.removeEventListener('abort', onAbort);
            resolve({ end: () => end(ticket) });
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.add(ticket);
        closeForNext();
      });
    },
  };
}

/** Does work that may have other work beside it, as soon as the quarantine is open. */
export async function beside<T>(quarantine: Quarantine, work: () => Promise<T>): Promise<T> {
  while (!quarantine.isOpen) await new Promise<void>((resolve) => quarantine.whenOpen(resolve));
  quarantine.enter();
  try {
    return await work();
  } finally {
    quarantine.leave();
  }
}
