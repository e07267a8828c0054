import type { Script } from './scripts.ts';
import type { Replacement } from './source-copy.ts';

/** A copy of the program with a safeguard taken out, and how that is found out. */
export interface BuildSpec {
  readonly replacements: readonly Replacement[];
  /** What is done to it. */
  readonly script: Script;
  /** Arguments of the run, besides the script. */
  readonly args: readonly string[];
  /** Checks of which at least one has to object; none for the program as it is. */
  readonly objecting: readonly string[];
}

/** So that a lease runs out within a short test. */
const SHORT_LEASE_SECONDS = 8;
const SHORT_LEASE: Replacement = {
  file: 'src/crawl/host/owner/host-worker.ts',
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
  file: 'src/drivers/store-postgres/schema/functions/commit-batch.sql',
  from: "AND t.host_id = c.host AND t.epoch = c.epoch\n      AND t.state = 'claimed'",
  to: 'AND t.host_id = c.host',
};

/** A worker believes that its hosts are its own, whatever the time is and the store says. */
const NO_SELF_FENCING: readonly Replacement[] = [
  {
    file: 'src/crawl/host/owner/held-leases.ts',
    from: 'clock.cautiousMs() < until - leaseMs * SAFETY_SHARE',
    to: 'until > 0',
  },
  {
    file: 'src/crawl/host/owner/held-leases.ts',
    from: '!lost.has(slice.lease.hostId)',
    to: 'lost.size >= 0',
  },
];

/** Leases are decided by the clocks of the machines: each process tells the store its own time, and counts by it. */
const OLD_LEASE_CLOCK: readonly Replacement[] = [
  {
    file: 'src/wiring/storage.ts',
    from: 'poolSize: databasePool,\n          onError,',
    to: "poolSize: databasePool,\n          onError, now: () => Date.now() + Number(Reflect.get(globalThis, 'storeAheadMs') ?? 0),",
  },
  {
    file: 'src/drivers/store-postgres/postgres-store.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    from: '`SELECT ${NOW} AS now`',
    to: "'SELECT (1000 * extract(epoch FROM clock_timestamp()))::bigint AS now'",
  },
  { file: 'src/wiring/store-clock.ts', from: '{ clock, everyMs = 30_000', to: '{ everyMs = 30_000' },
  {
    file: 'src/wiring/store-clock.ts',
    from: '  let aheadMs: number | null = null;',
    to: '  const clock = { now: () => Date.now(), onJump: () => () => undefined };\n  let aheadMs: number | null = null;',
  },
  {
    file: 'src/wiring/store-clock.ts',
    from: 'aheadMs = Math.round(storeNow - askedAt - tookMs / 2);',
    to: "aheadMs = Math.round(storeNow - askedAt - tookMs / 2);\n    Reflect.set(globalThis, 'storeAheadMs', aheadMs);",
  },
  { file: 'src/crawl/host/owner/host-worker.ts', from: 'owner, clock, logger,', to: 'owner, logger,' },
  {
    file: 'src/crawl/host/owner/host-worker.ts',
    from: '  const hostQueue = createHostQueue({',
    to: '  const clock = { cautiousMs: options.now, onJump: () => () => undefined };\n  const hostQueue = createHostQueue({',
  },
];

/** A store that went back in time is taken for the one it was: what workers know of its URLs outlives it. */
const OLD_CACHE: readonly Replacement[] = [
  {
    file: 'src/drivers/store-postgres/schema/functions/incarnation.sql',
    from: '(SELECT id FROM incarnation WHERE server_run = run AND xmin = registered_by)',
    to: '(SELECT id FROM incarnation)',
  },
];

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
