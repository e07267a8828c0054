// A frontier in a process of its own, measured on command; in a folder, or in an empty PostgreSQL database.
// usage: node frontier.ts FOLDER|postgres://… URLS HOSTS
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { draftCrawl } from '../../src/capabilities/jobs/accept/job-draft.ts';
import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import type { JobId } from '../../src/core/model/ids.ts';
import type { HostLease } from '../../src/core/ports/host-store.ts';
import type { Completion } from '../../src/core/ports/ledger-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { randomFrom } from '../../test/site/random.ts';
import { completionOf } from './completion.ts';
import { createWorld } from './world.ts';

export type FrontierCommand = { readonly name: 'fill' | 'sample' | 'close' };
export interface FrontierAnswer {
  readonly urls: number;
  readonly claimsPerSecond: number;
  readonly completionsPerSecond: number;
  readonly rssBytes: number;
  readonly seconds: number;
}

const HOSTS_AT_ONCE = 64;
const TASKS_PER_SLICE = 10;
const SLICES_PER_SAMPLE = 128;
/** How long a slice lasts on the clock that the store is told; a host comes back when all others had their turn. */
const SLICE_MS = 10;
const LEASE_MS = 60_000;
/** As in the ledger. */
const MOST_PER_COMMIT = 256;
/** As in the settings. */
const CONNECTIONS = 8;

const [, , place = '', urls = '', hosts = ''] = process.argv;
const world = createWorld(Number(hosts), Number(urls), randomFrom(7));
const store = await openStore();
await store.migrate();
let now = 1_800_000_000_000;

async function openStore(): Promise<Store> {
  if (place.startsWith('postgres:'))
    return createPostgresStore({ url: place, poolSize: CONNECTIONS, now: () => now });
  mkdirSync(place, { recursive: true });
  return createSqliteStore({ path: join(place, 'frontier.db'), now: () => now });
}

async function leases(): Promise<HostLease[]> {
  const offers = await store.offerHosts(HOSTS_AT_ONCE);
  const taken = await Promise.all(offers.map(({ key }) => store.acquireHost(key, 'bench', LEASE_MS)));
  return taken.filter((lease) => lease !== null);
}

async function release(taken: readonly HostLease[]): Promise<void> {
  const backAt = now + SLICE_MS * Number(hosts);
  await Promise.all(taken.map((lease) => store.releaseHost(lease, lease.state, backAt)));
  now += SLICE_MS * taken.length;
}

async function commit(completions: readonly Completion[]): Promise<void> {
  for (let start = 0; start < completions.length; start += MOST_PER_COMMIT) {
    const { rejected } = await store.commit(completions.slice(start, start + MOST_PER_COMMIT));
    if (rejected.length > 0) throw new Error(`${rejected.length} completions were rejected.`);
  }
}

/** The home page of every site is read, and what it leads to fills the frontier. */
async function fill(): Promise<void> {
  const { options, kind, seeds } = draftCrawl(
    crawlRequestSchema.parse({ urls: [world.seeds[0]?.url], maxPages: null, allowExternal: true }),
    () => false,
  );
  const accountId = await store.defaultAccount();
  const id = randomUUID() as string as JobId;
  await store.createJob({ id, accountId, kind, options, seeds }, world.seeds);
  for (let filled = 0; filled < Number(hosts); ) {
    const taken = await leases();
    if (taken.length === 0) throw new Error('No host is offered while the frontier is filled.');
    const claims = await Promise.all(taken.map((lease) => store.claimTasks(lease, 1, [])));
    await commit(
      taken.flatMap((lease, at) =>
        (claims[at] ?? []).map((task) =>
          completionOf(lease, task, now, world.firstLinks(lease.key, task.id)),
        ),
      ),
    );
    await release(taken);
    filled += taken.length;
  }
}

/** Claims and completes for a while, as so many slices at the same time would. */
async function sample(): Promise<Omit<FrontierAnswer, 'urls' | 'rssBytes' | 'seconds'>> {
  let tasks = 0;
  let claimMs = 0;
  let completeMs = 0;
  for (let slices = 0; slices < SLICES_PER_SAMPLE; ) {
    const claimAt = performance.now();
    const taken = await leases();
    const claims = await Promise.all(taken.map((lease) => store.claimTasks(lease, TASKS_PER_SLICE, [])));
    claimMs += performance.now() - claimAt;
    if (taken.length === 0) {
      // Everybody had a turn: the clock goes on to the next round.
      now += SLICE_MS * Number(hosts);
      continue;
    }
    const completions = taken.flatMap((lease, at) =>
      (claims[at] ?? []).map((task) => completionOf(lease, task, now, world.laterLinks(lease.key, task.id))),
    );
    const completeAt = performance.now();
    await commit(completions);
    await release(taken);
    completeMs += performance.now() - completeAt;
    tasks += completions.length;
    slices += taken.length;
  }
  return { claimsPerSecond: (tasks * 1_000) / claimMs, completionsPerSecond: (tasks * 1_000) / completeMs };
}

process.on('message', async ({ name }: FrontierCommand) => {
  if (name === 'close') {
    await store.close();
    process.disconnect();
    return;
  }
  const startedAt = performance.now();
  if (name === 'fill') await fill();
  const rates = name === 'sample' ? await sample() : { claimsPerSecond: 0, completionsPerSecond: 0 };
  const seconds = (performance.now() - startedAt) / 1_000;
  const rssBytes = process.memoryUsage().rss;
  process.send?.({ urls: world.known, rssBytes, seconds, ...rates } satisfies FrontierAnswer);
});
