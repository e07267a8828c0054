import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  at,
  createJob,
  done,
  expectExact,
  foundOn,
  ledger,
  newPage,
  newTask,
  pages,
  T0,
  take,
} from '../../../test/contract/store/fixtures.ts';
import { openTimed, type TimedStore } from '../../../test/contract/store/timed-store.ts';
import { JOB_KINDS } from '../../core/model/job-kinds.ts';
import { rankOf } from '../../core/model/turns.ts';
import { createSqliteStore } from '../store-sqlite/sqlite-store.ts';
import { openStores } from './open-stores.fixture.ts';

async function openSqlite(): Promise<TimedStore> {
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-store-'));
  const store = await openTimed((now) => createSqliteStore({ path: join(dir, 'scrapifie.db'), now }));
  onTestFinished(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });
  await store.migrate();
  return store;
}

const VERDICTS = [
  { state: 'ready', rule: null },
  { state: 'skipped', rule: 'scope.depth' },
  { state: 'skipped', rule: 'scope.nofollow' },
  { state: 'skipped', rule: 'scope.exclude:/x' },
  { state: 'denied', rule: 'policy.allow-list' },
] as const;

const link = fc.record({ path: fc.nat(5), verdict: fc.constantFrom(...VERDICTS), depth: fc.nat(9) });
/** Batches of completions of links. */
const crawl = fc.array(fc.array(fc.array(link, { maxLength: 4 }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 3,
});

describe('the frontier', () => {
  it('takes in links as the SQLite store does, whatever rules had kept their URLs out before', async () => {
    const both = [await openSqlite(), ...(await openStores(1)).stores];
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        crawl,
        fc.array(link, { maxLength: 4 }),
        fc.boolean(),
        async (batches, seeds, isCancelled) => {
          runs += 1;
          const told = await Promise.all(
            both.map(async (store) => {
              const host = `run${runs}.test`;
              const target = (path: number) => `https://found${path % 2}.${host}/${path}`;
              const first = seeds.map(({ path, verdict, depth }) =>
                newTask(target(path), { ...verdict, depth }),
              );
              const works = batches.flat().map((_, n) => `https://${host}/${n}`);
              const { id } = await createJob(store, [...works, ...first]);
              const { lease, tasks } = await take(store, host);
              if (isCancelled) await store.cancelJob(id, T0);
              let next = 0;
              const offers: string[][] = [];
              for (const batch of batches) {
                const sent = batch.map((links) => {
                  const task = at(tasks, next);
                  next += 1;
                  return done(
                    lease,
                    task,
                    links.map(({ path, verdict, depth }) =>
                      foundOn(task, target(path), { ...verdict, depth }),
                    ),
                  );
                });
                const { readyHosts } = await store.commit(sent, T0 + next);
                offers.push(readyHosts.map(({ key, rank }) => `${key} ${rank}`).sort());
              }
              const { id: _id, seq: _seq, ...stored } = await expectExact(store, id);
              return { stored, offers, ledger: await ledger(store, id) };
            }),
          );
          expect(told[1]).toEqual(told[0]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ranks tasks as the model says', async () => {
    const { schema } = await openStores(1);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...JOB_KINDS),
        fc.array(fc.nat(20_000_000), { minLength: 1, maxLength: 200 }),
        async (kind, sizes) => {
          const { rows } = await schema.query(
            'SELECT rank_of($1, size, $2)::text AS rank FROM unnest($3::bigint[]) WITH ORDINALITY AS s (size, n) ORDER BY n',
            [kind, T0, sizes],
          );
          expect(rows.map(({ rank }) => Number(rank))).toEqual(
            sizes.map((size) => rankOf({ kind, size }, T0)),
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it('stores a page with characters that PostgreSQL does not take, and the others of its batch', async () => {
    const [store] = (await openStores(1)).stores;
    if (store === undefined) throw new Error('No store was opened.');
    const { id } = await createJob(store, ['https://a.test/1', 'https://a.test/2']);
    const { lease, tasks } = await take(store, 'a.test');
    const [one, two] = [at(tasks, 0), at(tasks, 1)];
    const title = 'nul \0 half \ud83c whole 🎈 and \\u0000 as written';
    await store.commit(
      [{ ...done(lease, one), page: newPage(one, { title, errorMessage: '\0' }) }, done(lease, two)],
      T0,
    );
    expect((await pages(store, id)).map((page) => page.title)).toEqual([
      'nul \ufffd half \ufffd whole 🎈 and \\u0000 as written',
      newPage(two).title,
    ]);
    const robots = {
      origin: 'https://a.test',
      status: 'ok',
      body: 'a\0b',
      fetchedAt: 1,
      expiresAt: 2,
      reason: '',
      interruptions: 0,
      failures: 0,
    } as const;
    await store.putRobots(robots);
    expect((await store.getRobots(robots.origin))?.body).toBe('a\ufffdb');
    await store.audit([
      { at: 1, actor: 'a', action: 'key.use', target: 'c', details: { 'k\0': ['\udc00'] } },
    ]);
    expect((await store.listAudit({ limit: 1 })).items).toMatchObject([
      { details: { 'k\ufffd': ['\ufffd'] } },
    ]);
  });
});
