import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSqliteStore } from '../src/drivers/store-sqlite/sqlite-store.ts';
import type { AccountId } from '../src/model/ids.ts';
import { USAGE_GROUPS } from '../src/ports/credit-store.ts';

/**
 * How long a page of `GET /v1/usage` takes in a store with many sums: `node bench/usage-read.ts ROWS`. The rows are those of
 * hosts and jobs, spread over a year; the other groups have as many as days have values.
 */
const ROWS = Number(process.argv[2] ?? 1_000_000);
const DAYS = 365;
const FIRST_DAY = 20_000;
const QUESTIONS = 5;
const ACCOUNT = 'default' as AccountId;

const folder = mkdtempSync(join(tmpdir(), 'usage-read-'));
const path = join(folder, 'scrapifie.db');
try {
  const store = await createSqliteStore({ path });
  await store.migrate();
  await store.close();
  fill();
  const again = await createSqliteStore({ path });
  console.log(`${ROWS} rows, ${Math.round(statSync(path).size / 1e6)} MB`);
  for (const by of USAGE_GROUPS) {
    for (const days of [1, 30, DAYS]) {
      const from = FIRST_DAY + DAYS - days;
      const query = { accountId: ACCOUNT, by, from, to: FIRST_DAY + DAYS - 1, limit: 100 };
      const took: number[] = [];
      let cursor: string | undefined;
      for (let question = 0; question < QUESTIONS; question += 1) {
        const startedAt = performance.now();
        const page = await again.listUsage({ ...query, cursor });
        took.push(performance.now() - startedAt);
        cursor = page.nextCursor ?? undefined;
      }
      const [first = 0] = took;
      console.log(
        `by ${by}, ${days} days: first ${first.toFixed(1)} ms, most ${Math.max(...took).toFixed(1)} ms`,
      );
    }
  }
  await again.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function fill(): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA synchronous = OFF');
  database.exec('BEGIN');
  const sums = '1, 1, 20000, 0, 0, 0, 1000000';
  const insert = (by: string, perDay: number, value: string) =>
    database.exec(
      `WITH RECURSIVE d (day) AS (SELECT ${FIRST_DAY} UNION ALL SELECT day + 1 FROM d WHERE day < ${FIRST_DAY + DAYS - 1}),
         n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${perDay - 1})
       INSERT INTO usage_sums SELECT '${ACCOUNT}', '${by}', day, ${value}, ${sums} FROM d, n`,
    );
  const perDay = Math.max(1, Math.floor(ROWS / DAYS / 2));
  insert('host', perDay, `printf('host-%08d.example', n * 7 + day)`);
  insert('job', perDay, `printf('%08d-%08d', day, n)`);
  insert('engine', 4, `printf('engine-%d', n)`);
  insert('key', 50, `printf('key-%d', n)`);
  insert('day', 1, `strftime('%Y-%m-%d', day * 86400, 'unixepoch')`);
  database.exec('COMMIT');
  database.close();
}
