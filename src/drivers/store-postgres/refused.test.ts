import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { at, createJob, done, expectExact, take, urlsOn } from '../../../test/contract/store/fixtures.ts';
import { createLogger } from '../../core/observe/logger.ts';
import { createMetrics } from '../../core/observe/metrics.ts';
import { createKnownUrls } from '../../crawl/frontier/known-urls.ts';
import { createLedger } from '../../crawl/ledger/ledger.ts';
import { openStore, openStores } from './open-stores.fixture.ts';

/** A store whose user the operator can take everything from, and the schema with all rights beside it. */
async function openAsRole() {
  const { schema } = await openStores(1);
  const role = `role_${randomBytes(6).toString('hex')}`;
  const { rows } = await schema.query('SELECT current_schema() AS name');
  const name = String(rows[0].name);
  const grant = `GRANT USAGE ON SCHEMA ${name} TO ${role}; GRANT ALL ON ALL TABLES IN SCHEMA ${name} TO ${role}; GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${role}`;
  await schema.query(`CREATE ROLE ${role} LOGIN PASSWORD 'first'; ${grant}`);
  onTestFinished(async () => void (await schema.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)));
  const url = Object.assign(new URL(schema.url), { username: role, password: 'first' }).href;
  const store = await openStore(url);
  const endConnections = () =>
    schema.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [role]);
  return { store, schema, role, name, grant, endConnections };
}

it.each([
  {
    what: 'the password was changed',
    take: ({ role }: Taken) => `ALTER ROLE ${role} PASSWORD 'second'`,
    giveBack: ({ role }: Taken) => `ALTER ROLE ${role} PASSWORD 'first'`,
  },
  {
    what: 'the user may not log in any more',
    take: ({ role }: Taken) => `ALTER ROLE ${role} NOLOGIN`,
    giveBack: ({ role }: Taken) => `ALTER ROLE ${role} LOGIN`,
  },
  {
    what: 'the rights on the tables were taken away',
    take: ({ role, name }: Taken) => `REVOKE ALL ON ALL TABLES IN SCHEMA ${name} FROM ${role}`,
    giveBack: ({ grant }: Taken) => grant,
  },
  {
    what: 'the rights on the schema were taken away',
    take: ({ role, name }: Taken) => `REVOKE USAGE ON SCHEMA ${name} FROM ${role}`,
    giveBack: ({ grant }: Taken) => grant,
  },
])('pages are held while $what, and committed when that is over', async ({ take: takeAway, giveBack }) => {
  const opened = await openAsRole();
  const { store, schema } = opened;
  const { id } = await createJob(store, urlsOn('a.test', 3));
  const { lease, tasks } = await take(store, 'a.test');
  const lines: string[] = [];
  const ledger = createLedger({
    store: store.plain,
    now: () => 0,
    known: createKnownUrls(),
    onCommit: () => undefined,
    logger: createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } }),
    metrics: createMetrics({ withProcess: false }),
    batchDelayMs: 1,
  });
  onTestFinished(() => ledger.close());
  expect(await ledger.write(done(lease, at(tasks, 0)), true)).toBe(true);
  await schema.query(takeAway(opened));
  await opened.endConnections();
  const held = Promise.all([at(tasks, 1), at(tasks, 2)].map((task) => ledger.write(done(lease, task), true)));
  await vi.waitFor(() => expect(lines.join()).toContain('STORE_REFUSED'), { timeout: 20_000, interval: 20 });
  expect(lines.join()).toContain(opened.role);
  expect(ledger.backlog).toBe(2);
  // `/readyz` asks the store by this call.
  await expect(store.check()).rejects.toMatchObject({ code: 'STORE_REFUSED' });
  await schema.query(giveBack(opened));
  expect(await held).toEqual([true, true]);
  expect((await expectExact(store, id)).counters).toMatchObject({ done: 3, open: 0 });
});

type Taken = Awaited<ReturnType<typeof openAsRole>>;
