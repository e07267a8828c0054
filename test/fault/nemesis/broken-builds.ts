import type { Replacement } from './source-copy.ts';

/** In both builds, so that a lease runs out within a short test. */
export const SHORT_LEASE_SECONDS = 8;
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
    from: 'clock.cautiousMs() < until - leaseMs * SAFETY_SHARE',
    to: 'until > 0',
  },
  {
    file: 'src/hosts/host-worker.ts',
    from: '!lost.has(slice.lease.hostId)',
    to: 'lost.size >= 0',
  },
];

/** The program as it is, and with a lease check removed; then one of the named checks has to object. */
export const BUILDS = {
  sound: { replacements: [SHORT_LEASE, SHORT_STALL], objecting: [] },
  'unchecked-commit': {
    replacements: [SHORT_LEASE, SHORT_STALL, UNCHECKED_COMMIT],
    objecting: ['counter', 'result'],
  },
  'no-self-fencing': {
    replacements: [SHORT_LEASE, SHORT_STALL, ...NO_SELF_FENCING],
    objecting: ['owner', 'rate', 'connections'],
  },
} as const satisfies Record<string, { replacements: readonly Replacement[]; objecting: readonly string[] }>;

export type Build = keyof typeof BUILDS;
