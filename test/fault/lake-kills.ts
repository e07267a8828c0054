import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { decodeParquet } from '../../src/capabilities/lake/parquet-file.ts';
import type { JobId } from '../../src/core/model/ids.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { type Member, startMember } from '../fleet/member.ts';
import { randomFrom } from '../site/random.ts';
import { startSite } from '../site/site.ts';

export interface LakeKillOptions {
  readonly kills: number;
  readonly jobsPerLife: number;
  readonly pagesPerJob: number;
  /** Decides when the process is killed. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface LakeKillReport {
  readonly kills: number;
  readonly jobs: number;
  readonly rows: number;
  /** Files in the folder that are no part of the lake: kills came between the file and the transaction. */
  readonly orphans: number;
  readonly problems: readonly string[];
}

const KEY = 'a-key-for-the-kills-of-the-lake';
const WAIT_MS = 180_000;

/** Crawls into the lake while the process is killed, and compares the rows of the lake with the pages in the store. */
export async function killLake(options: LakeKillOptions): Promise<LakeKillReport> {
  const { kills, jobsPerLife, pagesPerJob, seed, say = () => undefined } = options;
  const random = randomFrom(seed);
  const site = await startSite({ pages: 1_000 });
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-lake-kills-'));
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, 'default: { rate: unlimited, concurrency: 8 }\n');
  const settings = {
    ...{ apiKey: KEY, allowPrivate: true, policyFile, extractThreads: 1, contact: 'https://a.example/' },
  };
  const folder = join(dir, 'all');
  const start = () => startMember(folder, 'all', settings);
  let member = await start();
  const jobs: string[] = [];

  async function call(
    method: string,
    path: string,
    body?: object,
    key?: string,
  ): Promise<{ id: string; status: string }> {
    const response = await fetch(`${member.origin}${path}`, {
      method,
      headers: {
        'x-api-key': KEY,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = (await response.json()) as { success: boolean; data: { id: string; status: string } };
    if (!answer.success) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  }

  try {
    for (let life = 0; life <= kills; life += 1) {
      for (let count = 0; count < jobsPerLife; count += 1) {
        const number = life * jobsPerLife + count;
        const host = site.hostUrl(number % 8);
        const urls = Array.from({ length: pagesPerJob }, (_, page) => `${host}/big/${page}`);
        jobs.push((await call('POST', '/v1/batch', { urls, lake: true }, `job-${number}`)).id);
      }
      if (life === kills) break;
      await delay(200 + random() * 2_500);
      await end(member, 'SIGKILL');
      member = await start();
      say(`kill ${life + 1} of ${kills}`);
    }
    const until = performance.now() + WAIT_MS;
    for (const id of jobs) {
      while (!/completed|failed/.test((await call('GET', `/v1/jobs/${id}`)).status)) {
        if (performance.now() > until) throw new Error(`Job ${id} does not end.`);
        await delay(100);
      }
    }
    // An orderly stop reads the events that are left within its time, and leaves the others to the next start.
    await end(member, 'SIGTERM');
    member = await start();
    await delay(5_000);
    await end(member, 'SIGTERM');
    return { kills, jobs: jobs.length, ...(await compare(join(folder, 'data'), jobs)) };
  } finally {
    await end(member, 'SIGKILL');
    await site.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function end(member: Member, signal: NodeJS.Signals): Promise<void> {
  member.signal(signal);
  await member.ended;
}

/** Row for row: each page of the store is in the lake once, and nothing else is. */
async function compare(dataDir: string, jobs: readonly string[]) {
  const store = await createSqliteStore({ path: join(dataDir, 'scrapifie.db') });
  try {
    const accountId = await store.defaultAccount();
    const { files } = await store.viewLake({ accountId, mostFiles: 100_000 });
    const found = new Map<string, number>();
    let rows = 0;
    for (const { path, table, rows: told } of files) {
      const bytes = await readFile(join(dataDir, 'lake', path));
      let counted = 0;
      for await (const group of decodeParquet(bytes)) {
        counted += group.length;
        if (table !== 'pages') continue;
        for (const row of group) {
          const key = `${row.job_id} ${row.page_seq} ${row.url}`;
          found.set(key, (found.get(key) ?? 0) + 1);
        }
      }
      rows += counted;
      if (counted !== told) throw new Error(`${path} has ${counted} rows, and ${told} were told.`);
    }
    const problems: string[] = [];
    for (const [key, times] of found) if (times > 1) problems.push(`${times} times: ${key}`);
    for (const id of jobs) {
      for (const { seq, page } of await store.lakePagesAfter(id as JobId, 0, 100_000)) {
        const key = `${id} ${seq} ${page.url}`;
        if (!found.delete(key)) problems.push(`missing: ${key}`);
      }
    }
    for (const key of found.keys()) problems.push(`not in the store: ${key}`);
    const names = await readdir(join(dataDir, 'lake'), { recursive: true });
    const orphans = names.filter((name) => name.endsWith('.parquet')).length - files.length;
    return { rows, orphans, problems };
  } finally {
    await store.close();
  }
}
