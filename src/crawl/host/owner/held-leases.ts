import type { HostId, HostKey } from '../../../core/model/ids.ts';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import type { HostLease, HostState, HostStore } from '../../../core/ports/host-store.ts';
import type { SteadyClock } from '../../../lib/steady-clock.ts';
import type { Slice } from './slice.ts';

/** A lease of this process, by its own clock. */
export interface HeldLease {
  /** Until when it is ours: `leaseMs` after the moment before the store was asked, by the cautious clock. */
  until: number;
  /** The lease has run out without a renewal, and the host was given up. */
  isOver: boolean;
  /** Ends the queue's entry for the host. */
  readonly endQueueEntry: () => void;
  /** `requests` of the state that was stored last. */
  savedRequests: number;
}

export interface HeldLeasesOptions {
  readonly store: Pick<HostStore, 'renewHosts' | 'saveHosts'>;
  /** Leases are counted by it. */
  readonly clock: Pick<SteadyClock, 'cautiousMs'>;
  readonly leaseMs: number;
  readonly logger: Logger;
  /** A lease has run out without an answer of the store. */
  readonly onOverdue: () => void;
}

/** Share of a lease, at its end, in which nothing is sent: the last request must arrive before the next owner sends one. */
const SAFETY_SHARE = 1 / 15;

/** For the store to confirm leases after the wall clock has jumped. Nothing is sent meanwhile. */
const CONFIRM_MS = 2_000;

/** The slices of this process and their leases, which are renewed, and given up in time when they cannot be. */
export class HeldLeases {
  readonly slices: ReadonlyMap<HostKey, Slice>;
  readonly #slices = new Map<HostKey, Slice>();
  readonly #leases = new WeakMap<Slice, HeldLease>();
  readonly #options: HeldLeasesOptions;
  /** The renewal under way, or the last one. */
  #renewal: Promise<void> = Promise.resolve();
  /** Until when leases that the clock has ended by a jump are not given up, by the cautious clock. */
  #confirmUntil = 0;

  constructor(options: HeldLeasesOptions) {
    this.#options = options;
    this.slices = this.#slices;
  }

  add(slice: Slice, lease: HeldLease): void {
    this.#leases.set(slice, lease);
    this.#slices.set(slice.lease.key, slice);
  }

  delete(host: HostKey): void {
    this.#slices.delete(host);
  }

  /** Whether a request that is sent now arrives while the host is certainly ours. */
  isOurs({ until }: HeldLease): boolean {
    const { clock, leaseMs } = this.#options;
    return clock.cautiousMs() < until - leaseMs * SAFETY_SHARE;
  }

  /** Ends the entries of all hosts in the queue, whether or not their slices have ended. */
  endQueueEntries(): void {
    for (const slice of this.#slices.values()) this.#leases.get(slice)?.endQueueEntry();
  }

  /** Renews all leases, when the renewal before this one has ended. */
  renew(): Promise<void> {
    this.#renewal = this.#renewal.catch(() => undefined).then(() => this.#renewAll());
    return this.#renewal;
  }

  /**
   * The wall clock has jumped: the machine was suspended, or the clock was set. Only the store knows whether the leases
   * still hold. Until it says so nothing is sent; requests under way are aborted when it does not say so soon.
   */
  confirm(): void {
    const { clock, logger } = this.#options;
    this.#confirmUntil = clock.cautiousMs() + CONFIRM_MS;
    this.renew()
      .catch((error: unknown) => logger[levelOfError(error)]({ err: error }, 'renewing leases failed'))
      .finally(() => {
        this.#confirmUntil = 0;
      });
  }

  /**
   * Another process may own a host whose lease has run out: its requests under way are aborted. The slice may have to wait
   * for the store with its last writes; the queue must not keep the host for this process meanwhile.
   */
  async giveUpOverdue(): Promise<void> {
    const { clock, logger, onOverdue } = this.#options;
    for (const slice of this.#slices.values()) {
      const lease = this.#leases.get(slice);
      if (lease === undefined || lease.isOver || this.isOurs(lease)) continue;
      if (clock.cautiousMs() < this.#confirmUntil) continue;
      logger.warn({ host: slice.lease.key }, 'lease not renewed in time');
      slice.stop();
      slice.abort();
      lease.isOver = true;
      onOverdue();
      lease.endQueueEntry();
    }
  }

  /** Hosts that are owned for long have their states stored meanwhile, for those who look at them and for the next owner. */
  async saveStates(): Promise<void> {
    const changed: { lease: HostLease; state: HostState }[] = [];
    for (const slice of this.#slices.values()) {
      const { lease, state } = slice;
      const held = this.#leases.get(slice);
      if (held === undefined || held.savedRequests === state.requests) continue;
      held.savedRequests = state.requests;
      changed.push({ lease, state });
    }
    if (changed.length > 0) await this.#options.store.saveHosts(changed);
  }

  async #renewAll(): Promise<void> {
    // One incarnation at a time: the same number may be another host in the next.
    const held = Map.groupBy(this.#slices.values(), ({ lease }) => lease.incarnation);
    await Promise.all(held.values().map((slices) => this.#renewThese(slices)));
  }

  async #renewThese(slices: readonly Slice[]): Promise<void> {
    const { store, clock, leaseMs, logger } = this.#options;
    const askedAt = clock.cautiousMs();
    const leases = slices.map(({ lease }) => lease);
    const lost = new Set<HostId>(await store.renewHosts(leases, leaseMs));
    for (const slice of slices) {
      // A slice that has given its host back meanwhile has lost nothing.
      if (this.#slices.get(slice.lease.key) !== slice) continue;
      if (!lost.has(slice.lease.hostId)) {
        const held = this.#leases.get(slice);
        if (held !== undefined) held.until = askedAt + leaseMs;
        continue;
      }
      logger.warn({ host: slice.lease.key }, 'lease lost');
      slice.lose();
    }
  }
}
