import { guarded } from '../../core/errors/guarded.ts';
import type { SolverProxy } from './solver-client.ts';

/** Who a session is for: requests of one key share its browser. */
export interface SessionOwner {
  readonly key: string;
  readonly proxy: SolverProxy | null;
}

/** One browser inside FlareSolverr, with its cookies. */
export interface SolverSession extends SessionOwner {
  readonly id: string;
  readonly createdAt: number;
  /** What its browser said last about the cookies of the page it showed: `host name` → value. */
  readonly cookies: Map<string, string>;
}

export interface SolverSessionsOptions {
  /** Each is a browser. */
  readonly maxSessions: number;
  /** A session older than this is replaced. */
  readonly maxAgeMs: number;
  readonly now: () => number;
  readonly newId: () => string;
  /** Ends the browser of a session. Never throws. */
  readonly destroy: (session: SolverSession) => Promise<void>;
}

interface SessionSlot {
  session: SolverSession;
  isLent: boolean;
}

interface Waiting {
  readonly owner: SessionOwner;
  readonly resolve: (session: SolverSession) => void;
}

/**
 * Lends sessions, each to one request at a time: its browser has one page, and a second request would take that away
 * from under the first. The one that was used longest ago makes room for another key.
 */
export class SolverSessions {
  readonly #options: SolverSessionsOptions;
  /** By key, the longest unused first. */
  readonly #desks = new Map<string, SessionSlot>();
  /** Bounded by the callers of the engine. */
  readonly #waiting: Waiting[] = [];
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: SolverSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#desks.size;
  }

  async lend(owner: SessionOwner, signal: AbortSignal): Promise<SolverSession> {
    signal.throwIfAborted();
    const free = this.#take(owner);
    if (free !== null) return free;
    const { promise, resolve, reject } = Promise.withResolvers<SolverSession>();
    const waiting: Waiting = { owner, resolve };
    const onAbort = guarded(() => {
      const at = this.#waiting.indexOf(waiting);
      if (at !== -1) this.#waiting.splice(at, 1);
      reject(signal.reason);
    });
    this.#waiting.push(waiting);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** A spoiled session may still be at work, or hold what the next request must not see: its browser ends. */
  giveBack(session: SolverSession, isSpoiled: boolean): void {
    const slot = this.#desks.get(session.key);
    if (slot?.session !== session) return;
    this.#desks.delete(session.key);
    if (isSpoiled) this.#end(session);
    else this.#desks.set(session.key, { session, isLent: false });
    this.#serve();
  }

  async close(): Promise<void> {
    for (const { session } of this.#desks.values()) this.#end(session);
    this.#desks.clear();
    await Promise.all(this.#leaving);
  }

  #serve(): void {
    for (const waiting of [...this.#waiting]) {
      const session = this.#take(waiting.owner);
      if (session === null) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(session);
    }
  }

  #take(owner: SessionOwner): SolverSession | null {
    const { maxSessions, maxAgeMs, now } = this.#options;
    const known = this.#desks.get(owner.key);
    if (known !== undefined) {
      if (known.isLent) return null;
      if (now() - known.session.createdAt > maxAgeMs) {
        this.#end(known.session);
        known.session = this.#fresh(owner);
      }
      known.isLent = true;
      return known.session;
    }
    if (this.#desks.size >= maxSessions) {
      const oldest = [...this.#desks.values()].find(({ isLent }) => !isLent);
      if (oldest === undefined) return null;
      this.#desks.delete(oldest.session.key);
      this.#end(oldest.session);
    }
    const session = this.#fresh(owner);
    this.#desks.set(owner.key, { session, isLent: true });
    return session;
  }

  #fresh(owner: SessionOwner): SolverSession {
    const { now, newId } = this.#options;
    return { ...owner, id: newId(), createdAt: now(), cookies: new Map() };
  }

  #end(session: SolverSession): void {
    const leaving = this.#options.destroy(session).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}
