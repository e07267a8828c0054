import type { Script } from './scripts.ts';
import type { Replacement } from './source-copy.ts';

/** A copy of the program with a safeguard taken out, and how that is found out. */
export interface BuildSpec {
  readonly replacements: readonly Replacement[];
  /** What is done to it. */
  readonly script: Script;
  /** Of the run, beside the script. */
  readonly args: readonly string[];
  /** Checks of which at least one has to object; none for the program as it is. */
  readonly objecting: readonly string[];
}

/** So that a lease runs out within a short test. */
const SHORT_LEASE_SECONDS = 8;
const SHORT_LEASE: Replacement = {
  file: 'src/hosts/host-worker.ts',
  from: 'leaseMs = 30_000',
  to: `leaseMs = ${SHORT_LEASE_SECONDS * 1_000}`,
};

/** And that the queue notices a worker that hangs before that. */
const SHORT_STALL: Replacement = {
  file: 'src/drivers/queue-bullmq/queue-bullmq.ts',
  from: 'lockMs: 15_000, checkMs: 10_000',
  to: 'lockMs: 3_000, checkMs: 2_000',
};

/** The store no longer looks at the epoch of who ends a task, nor at whether the task is still under way. */
const UNCHECKED_COMMIT: Replacement = {
  file: 'src/drivers/store-postgres/schema/ledger-functions.ts',
  from: "AND t.host_id = c.host AND t.epoch = c.epoch\n        AND t.state = 'claimed'",
  to: 'AND t.host_id = c.host',
};

/** A worker believes that its hosts are its own, whatever the time is and the store says. */
const NO_SELF_FENCING: readonly Replacement[] = [
  {
    file: 'src/hosts/host-worker.ts',
    from: 'isOurs: () => now() < leash.until - leaseMs * SAFETY_SHARE',
    to: 'isOurs: () => true',
  },
  {
    file: 'src/hosts/host-worker.ts',
    from: 'leash.isOver || now() < leash.until',
    to: 'leash.isOver || leash.until > 0',
  },
  {
    file: 'src/hosts/host-worker.ts',
    from: '!lost.has(slice.lease.hostId)',
    to: 'lost.size >= 0',
  },
];

/** Leases are counted by the clock of the machine that holds them. Nothing to replace: the program still does so. */
const OLD_LEASE_CLOCK: readonly Replacement[] = [];

/** What a worker knows of a job's URLs outlives the store. Nothing to replace: the program still does so. */
const OLD_CACHE: readonly Replacement[] = [];

const SMALL = ['--jobs', '0', '--no-browser', '--faults', '1', '--least-kinds', '1', '--minutes', '1'];
/** Long enough that the hosts of a worker that is stopped have new owners, which are still busy when it wakes up. */
const FROZEN = ['--longest', String(SHORT_LEASE_SECONDS + 6)];
const SLOW_WEB = ['--pages', '540', '--hosts', '12', '--rate', '3'];
const FAST_WEB = ['--pages', '1600', '--hosts', '40', '--rate', '4'];
const LEASES = {
  script: 'stale',
  args: [...SMALL, ...SLOW_WEB, ...FROZEN],
} as const;

export const BUILDS = {
  sound: { ...LEASES, replacements: [SHORT_LEASE, SHORT_STALL], objecting: [] },
  'unchecked-commit': {
    ...LEASES,
    replacements: [SHORT_LEASE, SHORT_STALL, UNCHECKED_COMMIT],
    objecting: ['counter', 'result', 'twice'],
  },
  'no-self-fencing': {
    ...LEASES,
    replacements: [SHORT_LEASE, SHORT_STALL, ...NO_SELF_FENCING],
    objecting: ['owner', 'rate', 'connections'],
  },
  'old-lease-clock': {
    replacements: OLD_LEASE_CLOCK,
    script: 'clock',
    args: [...SMALL, ...SLOW_WEB, '--longest', '20'],
    objecting: ['owner', 'rate', 'connections', 'takeover', 'end'],
  },
  'old-cache': {
    replacements: OLD_CACHE,
    script: 'back',
    args: [...SMALL, ...FAST_WEB, '--longest', '8'],
    objecting: ['lost'],
  },
} as const satisfies Record<string, BuildSpec>;

export type Build = keyof typeof BUILDS;
