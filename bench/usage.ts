import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { AccountId } from '../src/core/model/ids.ts';
import { USAGE_GROUPS } from '../src/core/ports/credit-store.ts';
import { openStore } from '../src/wiring/storage.ts';
import type { BenchOptions, Part } from './part.ts';
import { type StoreUnderTest, withBothStores } from './postgres.ts';
import { figure } from './report.ts';

const FULL_ROWS = 10_000_000;
const QUICK_ROWS = 100_000;
const DAYS = 365;
const FIRST_DAY = 20_000;
const QUESTIONS = 5;
const ACCOUNT = 'default' as AccountId;
const SPANS = [1, 30, DAYS] as const;
const SUMS = '1, 1, 20000, 0, 0, 0, 1000000';
/** For a month, the usual question, and for a year. */
const MOST_MONTH_MS = 100;
const MOST_YEAR_MS = 1_000;

interface Reading {
  readonly by: string;
  readonly days: number;
  readonly mostMs: number;
}

/** Rows of hosts and jobs, spread over a year; the other groups have as many as days have values. */
const groupsOf = (rows: number) => {
  const perDay = Math.max(1, Math.floor(rows / DAYS / 2));
  return [
    { by: 'host', perDay, prefix: 'host-' },
    { by: 'job', perDay, prefix: 'job-' },
    { by: 'engine', perDay: 4, prefix: 'engine-' },
    { by: 'key', perDay: 50, prefix: 'key-' },
    { by: 'day', perDay: 1, prefix: 'day-' },
  ];
};

async function fill({ place }: StoreUnderTest, rows: number): Promise<void> {
  const last = FIRST_DAY + DAYS - 1;
  if (place.databaseUrl === undefined) {
    const database = new DatabaseSync(join(place.dataDir, 'scrapifie.db'));
    database.exec('PRAGMA synchronous = OFF; BEGIN');
    for (const { by, perDay, prefix } of groupsOf(rows)) {
      database.exec(
        `WITH RECURSIVE d (day) AS (SELECT ${FIRST_DAY} UNION ALL SELECT day + 1 FROM d WHERE day < ${last}),
           n (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${perDay - 1})
         INSERT INTO usage_sums SELECT '${ACCOUNT}', '${by}', day, printf('${prefix}%08d', n * 7 + day), ${SUMS} FROM d, n`,
      );
    }
    database.exec('COMMIT');
    database.close();
    return;
  }
  const client = new Client({ connectionString: place.databaseUrl });
  await client.connect();
  try {
    await client.query('SET synchronous_commit = off');
    for (const { by, perDay, prefix } of groupsOf(rows)) {
      await client.query(
        `INSERT INTO usage_sums SELECT '${ACCOUNT}', '${by}', day, '${prefix}' || lpad((n * 7 + day)::text, 8, '0'), ${SUMS}
         FROM generate_series(${FIRST_DAY}, ${last}) day, generate_series(0, ${perDay - 1}) n`,
      );
    }
    await client.query('ANALYZE usage_sums');
  } finally {
    await client.end();
  }
}

async function measure(under: StoreUnderTest, rows: number): Promise<Reading[]> {
  await (await openStore(under.place, () => undefined, Date.now)).close();
  await fill(under, rows);
  const store = await openStore(under.place, () => undefined, Date.now);
  try {
    const readings: Reading[] = [];
    for (const by of USAGE_GROUPS) {
      for (const days of SPANS) {
        const query = { accountId: ACCOUNT, by, from: FIRST_DAY + DAYS - days, to: FIRST_DAY + DAYS - 1 };
        let mostMs = 0;
        let cursor: string | undefined;
        for (let question = 0; question < QUESTIONS; question += 1) {
          const startedAt = performance.now();
          const page = await store.listUsage({ ...query, limit: 100, cursor });
          mostMs = Math.max(mostMs, performance.now() - startedAt);
          cursor = page.nextCursor ?? undefined;
        }
        readings.push({ by, days, mostMs });
      }
    }
    return readings;
  } finally {
    await store.close();
  }
}

/** How long a page of `GET /v1/usage` takes in a store with many sums. */
export const usage: Part = {
  name: 'usage',
  async run({ isQuick, scratch, say }: BenchOptions) {
    const rows = isQuick ? QUICK_ROWS : FULL_ROWS;
    const all = await withBothStores(scratch, async (under) => {
      const readings = await measure(under, rows);
      for (const { by, days, mostMs } of readings) {
        say(`${under.name}, by ${by}, ${days} days: ${figure(mostMs)} ms`);
      }
      return { name: under.name, readings };
    });
    const mostOf = (readings: readonly Reading[], within: number) =>
      Math.max(...readings.filter(({ days }) => days <= within).map(({ mostMs }) => mostMs));
    return {
      title: 'Usage',
      about: `Pages of 100 sums of \`GET /v1/usage\` in a store with ${figure(rows)} of them over a year: the slowest of the first ${QUESTIONS} pages.`,
      tables: all.map(({ name, readings }) => ({
        columns: [name, ...SPANS.map((days) => (days === 1 ? '1 day, ms' : `${days} days, ms`))],
        rows: USAGE_GROUPS.map((by) => [
          `by ${by}`,
          ...readings.filter((reading) => reading.by === by).map(({ mostMs }) => figure(mostMs)),
        ]),
      })),
      bars: all.flatMap(({ name, readings }) => [
        {
          claim: `usage of up to 30 days, ${name}`,
          measured: mostOf(readings, 30),
          atMost: MOST_MONTH_MS,
          unit: 'ms',
        },
        {
          claim: `usage of a year, ${name}`,
          measured: mostOf(readings, DAYS),
          atMost: MOST_YEAR_MS,
          unit: 'ms',
        },
      ]),
      notes: ['A page reads at most days × (limit + 1) sums, however many there are.'],
      data: all,
    };
  },
};
