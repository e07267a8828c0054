import { parseArgs } from 'node:util';
import { createPostgresStore } from '../../src/drivers/store-postgres/postgres-store.ts';
import { createSchema } from '../../src/drivers/store-postgres/schema.fixture.ts';
import { createSqliteStore } from '../../src/drivers/store-sqlite/sqlite-store.ts';
import { simulateYear } from './schedule-year.ts';

/**
 * The long form of the simulated year: `node test/fault/schedule-year-run.ts [--year 2026] [--seed 1] [--kill-chance 0.05]`,
 * with PostgreSQL where `--postgres URL` names a server.
 */
const { values } = parseArgs({
  options: {
    year: { type: 'string', default: '2026' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'kill-chance': { type: 'string', default: '0.05' },
    postgres: { type: 'string' },
  },
});
const year = Number(values.year);
const schema = values.postgres === undefined ? null : await createSchema(values.postgres);
const startedAt = performance.now();
try {
  const report = await simulateYear({
    from: Date.UTC(year, 0, 1),
    to: Date.UTC(year + 1, 0, 1),
    seed: Number(values.seed),
    killChance: Number(values['kill-chance']),
    lines: [
      { cron: '30 2 * * *', isNamed: (hour, minute) => hour === 2 && minute === 30 },
      { cron: '*/30 1-2 * * *', isNamed: (hour, minute) => (hour === 1 || hour === 2) && minute % 30 === 0 },
    ],
    async open(now) {
      const store = await (schema === null
        ? createSqliteStore({ path: ':memory:', now })
        : createPostgresStore({ url: schema.url, poolSize: 4, now }));
      await store.migrate();
      return store;
    },
  });
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${JSON.stringify({ seed: Number(values.seed), ...report, seconds })}\n`);
  if (report.problems.length > 0) process.exitCode = 1;
} finally {
  await schema?.drop();
}
