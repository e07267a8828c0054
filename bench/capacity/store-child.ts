// A store in an empty PostgreSQL database, loaded on command by a process of its own, which keeps its own time apart from
// that of the server. usage: node store-child.ts postgres://…
import { randomUUID } from 'node:crypto';
import { draftCrawl } from '../../src/capabilities/jobs/accept/job-draft.ts';
import { crawlRequestSchema } from '../../src/capabilities/jobs/request/job-request.ts';
import type { JobId } from '../../src/core/model/ids.ts';
import type { HostLease } from '../../src/core/ports/host-store.ts';
import type { Completion } from '../../src/core/ports/ledger-store.ts';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { randomFrom } from '../../test/site/random.ts';
import { completionOf } from '../growth/completion.ts';
import { createWorld } from '../growth/world.ts';

/**
 * `fill` makes a frontier. `claim` leases hosts and claims tasks for later commits, `commit` commits `count` batches of `size`
 * by each of `clients` at once, `sync` commits a single row `count` times.
 */
export type StoreCommand =
  | { readonly name: 'fill' | 'close' }
  | { readonly name: 'claim'; readonly tasks: number }
  | { readonly name: 'sync'; readonly count: number }
  | { readonly name: 'commit'; readonly size: number; readonly count: number; readonly clients: number };

export interface StoreAnswer {
  readonly seconds: number;
  /** The time that each commit took. */
  readonly ms: readonly number[];
  readonly pages: number;
}

const HOSTS = 1_000;
const URLS = 120_000;
const CLAIMED_AT_ONCE = 64;
const LEASED_AT_ONCE = 64;
const LEASE_MS = 3_600_000;
const CONNECTIONS = 16;

const [, , url = ''] = process.argv;
const world = createWorld(HOSTS, URLS, randomFrom(7));
const store = await createPostgresStore({ url, poolSize: CONNECTIONS });
await store.migrate();
const leases: HostLease[] = [];
let ready: Completion[] = [];
let nextLease = 0;

async function leaseMore(): Promise<void> {
  const offers = await store.offerHosts(LEASED_AT_ONCE);
  const taken = await Promise.all(offers.map(({ key }) => store.acquireHost(key, 'bench', LEASE_MS)));
  leases.push(...taken.filter((lease) => lease !== null));
}

/** The home page of every site is read; what it leads to fills the frontier. The hosts stay leased. */
async function fill(): Promise<void> {
  const request = crawlRequestSchema.parse({
    urls: [world.seeds[0]?.url],
    maxPages: null,
    allowExternal: true,
  });
  const { options, kind, seeds } = draftCrawl(request, () => false);
  const accountId = await store.defaultAccount();
  await store.createJob(
    { id: randomUUID() as string as JobId, accountId, kind, options, seeds },
    world.seeds,
  );
  for (let done = 0; done < HOSTS; done = leases.length) {
    await leaseMore();
    if (leases.length === done) throw new Error('No host is offered while the frontier is filled.');
    const fresh = leases.slice(done);
    const claims = await Promise.all(fresh.map((lease) => store.claimTasks(lease, 1, [])));
    await store.commit(
      fresh.flatMap((lease, at) =>
        (claims[at] ?? []).map((task) =>
          completionOf(lease, task, Date.now(), world.firstLinks(lease.key, task.id)),
        ),
      ),
    );
  }
}

async function claim(tasks: number): Promise<void> {
  const perHost: Completion[][] = [];
  for (let claimed = 0; claimed < tasks; ) {
    const lease = leases[nextLease % leases.length];
    if (lease === undefined) throw new Error('There are no hosts.');
    nextLease += 1;
    const got = await store.claimTasks(lease, CLAIMED_AT_ONCE, []);
    perHost.push(
      got.map((task) => completionOf(lease, task, Date.now(), world.laterLinks(lease.key, task.id))),
    );
    claimed += got.length;
    if (nextLease > 50 * leases.length) throw new Error('The frontier has run out.');
  }
  // Batches have pages of many hosts, as in a crawl.
  const longest = Math.max(...perHost.map(({ length }) => length));
  for (let at = 0; at < longest; at += 1) ready.push(...perHost.flatMap((list) => list[at] ?? []));
}

async function commit(size: number, count: number, clients: number): Promise<number[]> {
  const times: number[] = [];
  const batches = Array.from({ length: count * clients }, (_, at) => ready.slice(at * size, (at + 1) * size));
  ready = ready.slice(size * count * clients);
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
        const startedAt = performance.now();
        const { rejected } = await store.commit(batch);
        times.push(performance.now() - startedAt);
        if (rejected.length > 0 || batch.length < size) throw new Error('A commit was not what was wanted.');
      }
    }),
  );
  return times;
}

async function sync(count: number): Promise<number[]> {
  const times: number[] = [];
  for (let done = 0; done < count; done += 1) {
    const startedAt = performance.now();
    await store.check();
    times.push(performance.now() - startedAt);
  }
  return times;
}

process.on('message', async (command: StoreCommand) => {
  if (command.name === 'close') {
    await store.close();
    process.disconnect();
    return;
  }
  const startedAt = performance.now();
  let ms: number[] = [];
  let pages = 0;
  if (command.name === 'fill') await fill();
  else if (command.name === 'claim') {
    await claim(command.tasks);
    pages = command.tasks;
  } else if (command.name === 'sync') ms = await sync(command.count);
  else if (command.name === 'commit') {
    ms = await commit(command.size, command.count, command.clients);
    pages = command.size * command.count * command.clients;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  process.send?.({ seconds, ms, pages } satisfies StoreAnswer);
});
