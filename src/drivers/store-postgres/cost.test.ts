import pg from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  claim,
  createJob,
  done,
  foundOn,
  LEASE_MS,
  OPTIONS,
  own,
  T0,
  urlsOn,
} from '../../../test/contract/store/fixtures.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import { newJobRow } from '../store-rows/job-rows.ts';
import { openStores } from './open-stores.fixture.ts';

/** How many statements went to the server meanwhile. */
async function statements(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

describe('what the crawl does all the time', () => {
  it('is one statement each, however many tasks, jobs and hosts it is about', async () => {
    const [store] = (await openStores(1, 1)).stores;
    if (store === undefined) throw new Error('No store was opened.');
    for (let n = 0; n < 20; n += 1) {
      await createJob(store, [...urlsOn('a.test', 20), `https://h${n}.test/`], {
        budgets: { maxPages: 100 },
      });
    }
    const a = await own(store, 'a.test');
    const tasks = await claim(store, a, 300);
    expect(tasks).toHaveLength(300);
    const batch = tasks.slice(0, 256).map((task, n) =>
      done(
        a,
        task,
        urlsOn(`new${n}.test`, 10).map((url) => foundOn(task, url)),
      ),
    );
    expect({
      offer: await statements(() => store.offerHosts(T0, 100)),
      acquire: await statements(() => own(store, 'h1.test')),
      claim: await statements(() => claim(store, a, 50)),
      renew: await statements(() => store.renewHosts([a, a, a], T0, LEASE_MS)),
      save: await statements(() => store.saveHosts([{ lease: a, state: a.state }])),
      commit: await statements(() => store.commit(batch, T0)),
      release: await statements(() => store.releaseHost(a, a.state, T0, T0)),
      create: await statements(() => createJob(store, urlsOn('b.test', 100))),
    }).toEqual({ offer: 1, acquire: 1, claim: 1, renew: 1, save: 1, commit: 1, release: 1, create: 1 });
  });

  it('waits for the disk when results are stored, and not when they are only begun', async () => {
    const { schema } = await openStores(1);
    const client = new pg.Client({ connectionString: schema.url });
    await client.connect();
    onTestFinished(() => client.end());
    const syncs = async (call: string) => {
      await client.query('BEGIN');
      await client.query(`SELECT ${call}`);
      const { rows } = await client.query('SHOW synchronous_commit');
      await client.query('ROLLBACK');
      return rows[0].synchronous_commit === 'on';
    };
    const row = newJobRow({
      id: 'j' as JobId,
      accountId: 'default' as AccountId,
      kind: 'crawl',
      options: OPTIONS,
      seeds: [],
    });
    const job = client.escapeLiteral(JSON.stringify({ ...row, created_at: 1 }));
    expect({
      claim: await syncs(`claim_tasks(1, 1, 1, 1, '{}', '{}')`),
      release: await syncs(`release_host(1, 1, '{}', 1, 1)`),
      acquire: await syncs(`acquire_host('a.test', 'me', NULL, 1, 1)`),
      renew: await syncs(`renew_hosts('{1}', '{1}', 1, 1)`),
      create: await syncs(`create_job(${job}, '[]', '{}', '{}', false)`),
      createUnsynced: await syncs(`create_job(${job}, '[]', '{}', '{}', true)`),
    }).toEqual({
      claim: false,
      release: false,
      acquire: true,
      renew: true,
      create: true,
      createUnsynced: false,
    });
  });
});
