import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Place } from '../fleet/place.ts';
import { processTimes, treeSeconds } from '../fleet/process-times.ts';
import { LAUNCH_ENVIRONMENT, LAUNCH_FLAGS } from '../launch.ts';
import type { BenchOptions } from '../part.ts';
import { figure } from '../report.ts';
import { quantile } from '../sample.ts';
import type { StoreCosts } from './simulation.ts';
import type { StoreAnswer, StoreCommand } from './store-child.ts';

/** Commits of one size by one client. */
export interface CommitSize {
  readonly size: number;
  readonly cpuMs: number;
  readonly walBytesPerPage: number;
  /** As the client sees it, its own work included. */
  readonly ms: { readonly p50: number; readonly p99: number };
}

/** Commits of 256 pages by several clients at once. */
export interface CommitLoad {
  readonly clients: number;
  readonly pagesPerSecond: number;
  readonly commitsPerSecond: number;
  readonly cpuMsPerPage: number;
  readonly ms: { readonly p50: number; readonly p99: number };
}

export interface MeasuredStore {
  readonly sizes: readonly CommitSize[];
  readonly loads: readonly CommitLoad[];
  /** PostgreSQL's time for claiming one task, in claims of 64. */
  readonly claimCpuMs: number;
  readonly costs: StoreCosts;
}

const FULL = { sizes: [1, 8, 32, 128, 256], commits: 40, clients: [1, 2, 4, 8], loadCommits: 24, syncs: 200 };
const QUICK = { sizes: [1, 32, 256], commits: 6, clients: [1, 4], loadCommits: 4, syncs: 30 };
const LARGEST = 256;

/** What commits cost PostgreSQL, by their size and with several clients. */
export async function measureStore(place: Place, { isQuick, say }: BenchOptions): Promise<MeasuredStore> {
  const plan = isQuick ? QUICK : FULL;
  const { name, url } = await place.freshDatabase();
  const child = fork(fileURLToPath(new URL('./store-child.ts', import.meta.url)), [url], {
    execArgv: [...LAUNCH_FLAGS],
    env: { ...process.env, ...LAUNCH_ENVIRONMENT },
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The process that loads the store ended with ${code}.`);
  });
  ended.catch(() => undefined);
  const wal = async () =>
    Number((await place.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS n`)).n);
  const cpu = () => treeSeconds(processTimes(), place.postgres.pid);

  /** The command's answer, and what it cost the server. Connections that are kept count while they live. */
  async function ask(command: StoreCommand): Promise<StoreAnswer & { cpuMs: number; walBytes: number }> {
    const before = { cpu: cpu(), wal: await wal() };
    const answered = once(child, 'message') as Promise<[StoreAnswer]>;
    child.send(command);
    const [answer] = await Promise.race([answered, ended]);
    return { ...answer, cpuMs: (cpu() - before.cpu) * 1_000, walBytes: (await wal()) - before.wal };
  }

  try {
    await ask({ name: 'fill' });
    // The first commits of a connection plan their statements.
    await ask({ name: 'claim', tasks: 10 * LARGEST });
    await ask({ name: 'commit', size: LARGEST, count: 5, clients: 2 });
    const synced = await ask({ name: 'sync', count: plan.syncs });
    const sizes: CommitSize[] = [];
    const ratios: number[] = [];
    let claimed = { tasks: 0, cpuMs: 0 };
    for (const size of plan.sizes) {
      // Processor time is counted in hundredths of a second.
      const commits = size < 32 ? 5 * plan.commits : plan.commits;
      const tasks = size * commits;
      const claims = await ask({ name: 'claim', tasks });
      claimed = { tasks: claimed.tasks + tasks, cpuMs: claimed.cpuMs + claims.cpuMs };
      const { ms, cpuMs, walBytes, pages } = await ask({
        name: 'commit',
        size,
        count: commits,
        clients: 1,
      });
      const mean = ms.reduce((sum, value) => sum + value, 0) / ms.length;
      if (size >= 32) ratios.push(...ms.map((value) => Number((value / mean).toPrecision(4))));
      sizes.push({
        size,
        cpuMs: cpuMs / commits,
        walBytesPerPage: walBytes / pages,
        ms: { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) },
      });
      say(
        `commits of ${size} pages: ${figure(cpuMs / pages)} ms of CPU a page, ${figure(walBytes / pages)} bytes of WAL`,
      );
    }
    const loads: CommitLoad[] = [];
    for (const clients of plan.clients) {
      await ask({ name: 'claim', tasks: LARGEST * plan.loadCommits * clients });
      const { ms, cpuMs, pages, seconds } = await ask({
        ...{ name: 'commit', size: LARGEST, count: plan.loadCommits, clients },
      });
      loads.push({
        clients,
        pagesPerSecond: pages / seconds,
        commitsPerSecond: ms.length / seconds,
        cpuMsPerPage: cpuMs / pages,
        ms: { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) },
      });
      say(`${clients} clients: ${figure(pages / seconds)} pages/s`);
    }
    const claimCpuMs = claimed.cpuMs / claimed.tasks;
    const { fixedMs, perPageMs } = lineThrough(sizes);
    return {
      sizes,
      loads,
      claimCpuMs,
      costs: { fixedMs, perPageMs, ratios, otherPerPageMs: claimCpuMs, syncMs: quantile(synced.ms, 0.5) },
    };
  } finally {
    if (child.connected) child.send({ name: 'close' } satisfies StoreCommand);
    await ended.catch(() => undefined);
    await place.postgres.dropDatabase(name);
  }
}

/** The straight line that is closest to the costs by size, relatively: small commits count as much as large ones. */
function lineThrough(sizes: readonly CommitSize[]): { fixedMs: number; perPageMs: number } {
  let [one, x, xx, y, xy] = [0, 0, 0, 0, 0];
  for (const { size, cpuMs } of sizes) {
    const weight = 1 / Math.max(cpuMs, 0.01) ** 2;
    one += weight;
    x += weight * size;
    xx += weight * size * size;
    y += weight * cpuMs;
    xy += weight * size * cpuMs;
  }
  const perPageMs = (one * xy - x * y) / (one * xx - x * x);
  return { fixedMs: Math.max(0, (y - perPageMs * x) / one), perPageMs };
}
