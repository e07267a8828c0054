import { z } from 'zod';
import type { Messages, Topic } from '../../core/ports/bus.ts';

const names = z.array(z.string().max(2_000)).max(10_000);

/** The published message: its sender, and the messages of one turn of the event loop for each topic. */
const batchSchema = z.object({
  from: z.string().min(1).max(200),
  'host.ready': z.object({ hosts: names }).optional(),
  'job.changed': z.object({ jobs: names, finished: names, cancelled: names.optional() }).optional(),
  'policy.changed': z.object({}).optional(),
  'export.created': z.object({}).optional(),
  'account.changed': z.object({ accounts: names, keys: names }).optional(),
  'proxy.figures': z
    .object({ process: z.string().max(1_000), figures: z.string().max(4_000_000) })
    .optional(),
  'process.alive': z
    .object({
      process: z.string().max(1_000),
      role: z.string().max(100),
      version: z.string().max(100),
      startedAt: z.number(),
    })
    .optional(),
});

export type Batch = z.infer<typeof batchSchema>;

/** Returns null for a message that this program has not sent. */
export function readBatch(text: string): Batch | null {
  try {
    return batchSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

/** Gathers messages until they are sent. Each name is said once, however often it came. */
export interface Outbox {
  add<T extends Topic>(topic: T, message: Messages[T]): void;
  /** What was gathered, as texts ready to be sent; empties the box. */
  take(from: string): string[];
}

/** Most names of one kind in one message; a larger message would block the event loop of its reader. */
const MAX_NAMES = 5_000;

export function createOutbox(): Outbox {
  const hosts = new Set<string>();
  const jobs = new Set<string>();
  const finished = new Set<string>();
  const cancelled = new Set<string>();
  const accounts = new Set<string>();
  const keys = new Set<string>();
  let hasPolicy = false;
  let hasExport = false;
  let figures: Messages['proxy.figures'] | null = null;
  let alive: Messages['process.alive'] | null = null;
  const adders: { [T in Topic]: (message: Messages[T]) => void } = {
    'host.ready': (message) => {
      for (const host of message.hosts) hosts.add(host);
    },
    'job.changed': (message) => {
      for (const job of message.jobs) jobs.add(job);
      for (const job of message.finished) finished.add(job);
      for (const job of message.cancelled ?? []) cancelled.add(job);
    },
    'policy.changed': () => {
      hasPolicy = true;
    },
    'export.created': () => {
      hasExport = true;
    },
    'account.changed': (message) => {
      for (const account of message.accounts) accounts.add(account);
      for (const key of message.keys) keys.add(key);
    },
    'proxy.figures': (message) => {
      figures = message;
    },
    'process.alive': (message) => {
      alive = message;
    },
  };
  const takeChanges = (): Batch['job.changed'] => ({
    jobs: takeNames(jobs),
    finished: takeNames(finished),
    ...(cancelled.size > 0 ? { cancelled: takeNames(cancelled) } : {}),
  });
  return {
    add: (topic, message) => adders[topic](message),
    take(from) {
      const texts: string[] = [];
      const named = [hosts, jobs, finished, cancelled, accounts, keys];
      while (
        hasPolicy ||
        hasExport ||
        figures !== null ||
        alive !== null ||
        named.some(({ size }) => size > 0)
      ) {
        const batch: Batch = {
          from,
          ...(hosts.size > 0 ? { 'host.ready': { hosts: takeNames(hosts) } } : {}),
          ...(jobs.size + finished.size + cancelled.size > 0 ? { 'job.changed': takeChanges() } : {}),
          ...(accounts.size + keys.size > 0
            ? { 'account.changed': { accounts: takeNames(accounts), keys: takeNames(keys) } }
            : {}),
          ...(hasPolicy ? { 'policy.changed': {} } : {}),
          ...(hasExport ? { 'export.created': {} } : {}),
          ...(figures === null ? {} : { 'proxy.figures': figures }),
          ...(alive === null ? {} : { 'process.alive': alive }),
        };
        hasPolicy = false;
        hasExport = false;
        figures = null;
        alive = null;
        texts.push(JSON.stringify(batch));
      }
      return texts;
    },
  };
}

function takeNames(names: Set<string>): string[] {
  const taken = names.values().take(MAX_NAMES).toArray();
  for (const name of taken) names.delete(name);
  return taken;
}
