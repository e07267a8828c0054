import { dayOf } from '../../core/model/credits.ts';
import type { UsageGroup, UsageQuery } from '../../core/ports/credit-store.ts';
import type { Completion } from '../../core/ports/ledger-store.ts';
import { COUNTERS } from '../store-rows/credit-rows.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';

/** The value of a row of the log in each group. */
const VALUES: Readonly<Record<UsageGroup, string>> = {
  day: `strftime('%Y-%m-%d', day * 86400, 'unixepoch')`,
  key: 'key_id',
  job: 'job_id',
  engine: 'engine',
  host: 'host',
};

const COLUMNS = COUNTERS.join(', ');
const SUMS = COUNTERS.map((name) => `sum(${name}) AS ${name}`).join(', ');
const ADDED = COUNTERS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ');

/** What one transaction used, summed up, so that a batch of a hundred pages of one host writes one row. */
export interface UsageTally {
  add(completion: Completion): void;
  /** Adds the rows to the log, the cost to the jobs, and returns the jobs with their cost. */
  write(database: SqliteDatabase, now: number): ReadonlyMap<Completion['jobSeq'], number>;
}

interface Used {
  readonly completion: Completion;
  readonly engine: string;
  readonly counters: Record<(typeof COUNTERS)[number], number>;
}

export function createUsageTally(): UsageTally {
  const rows = new Map<string, Used>();
  return {
    add(completion) {
      const { used, lease, jobSeq, end, page, bytes, spent, microcredits = 0 } = completion;
      if (used === undefined) return;
      const name = `${jobSeq} ${lease.hostId} ${used.engine}`;
      let row = rows.get(name);
      if (row === undefined) {
        const counters = { pages: 0, attempts: 0, bytes: 0, browser_ms: 0, proxy_bytes: 0, tokens: 0 };
        row = { completion, engine: used.engine, counters: { ...counters, microcredits: 0 } };
        rows.set(name, row);
      }
      row.counters.pages += end.state === 'done' && page !== null ? 1 : 0;
      row.counters.attempts += 1;
      row.counters.bytes += bytes;
      row.counters.browser_ms += Math.floor(spent?.browserMs ?? 0);
      row.counters.proxy_bytes += spent?.proxyBytes ?? 0;
      row.counters.tokens += used.extras?.tokens ?? 0;
      row.counters.microcredits += microcredits;
    },
    write(database, now) {
      const costs = new Map<Completion['jobSeq'], number>();
      for (const { completion, engine, counters } of rows.values()) {
        const { jobSeq, lease } = completion;
        database.run(
          `INSERT INTO usage_log (account_id, key_id, job_id, engine, host, day, ${COLUMNS})
           SELECT j.account_id, coalesce(j.key_id, ''), j.id, ?, h.key, ?, ?, ?, ?, ?, ?, ?, ?
           FROM jobs j, hosts h WHERE j.seq = ? AND h.id = ?`,
          engine,
          dayOf(now),
          ...COUNTERS.map((column) => counters[column]),
          jobSeq,
          lease.hostId,
        );
        costs.set(jobSeq, (costs.get(jobSeq) ?? 0) + counters.microcredits);
      }
      return costs;
    },
  };
}

export function foldUsage(database: SqliteDatabase, limit: number): number {
  const last = database.get(
    'SELECT max(seq) AS seq, count(*) AS n FROM (SELECT seq FROM usage_log ORDER BY seq LIMIT ?)',
    limit,
  );
  const seq = last?.seq ?? null;
  if (seq === null) return 0;
  for (const [group, value] of Object.entries(VALUES)) {
    database.run(
      `INSERT INTO usage_sums (account_id, grouped_by, day, value, ${COLUMNS})
       SELECT account_id, '${group}', day, ${value} AS value, ${SUMS} FROM usage_log WHERE seq <= ?
       GROUP BY account_id, day, value
       ON CONFLICT (account_id, grouped_by, day, value) DO UPDATE SET ${ADDED}`,
      seq,
    );
  }
  database.run('DELETE FROM usage_log WHERE seq <= ?', seq);
  return Number(last?.n);
}

/**
 * The first sums behind a value, one more than asked for. Of each day the first values are read: a value that is among
 * the first of all days together is among the first of every day that has it.
 */
export function sumUsage(
  database: SqliteDatabase,
  { accountId, by, from, to, limit }: UsageQuery,
  after: string | null,
): SqliteRow[] {
  const sums = new Map<string, SqliteRow>();
  const take = (row: SqliteRow) => {
    const known = sums.get(String(row.value));
    if (known === undefined) sums.set(String(row.value), { ...row });
    else for (const column of COUNTERS) known[column] = Number(known[column]) + Number(row[column]);
  };
  for (let day = from; day <= to; day += 1) {
    const rows = database.all(
      `SELECT value, ${COLUMNS} FROM usage_sums WHERE account_id = ? AND grouped_by = '${by}' AND day = ?
         AND value ${after === null ? '>=' : '>'} ? ORDER BY value LIMIT ?`,
      ...[accountId, day, after ?? '', limit + 1],
    );
    rows.forEach(take);
  }
  database
    .all(
      `SELECT ${VALUES[by]} AS value, ${SUMS} FROM usage_log
       WHERE account_id = ?1 AND day BETWEEN ?2 AND ?3 AND (?4 IS NULL OR ${VALUES[by]} > ?4) GROUP BY 1`,
      ...[accountId, from, to, after],
    )
    .forEach(take);
  return [...sums.values()]
    .toSorted((a, b) => (String(a.value) < String(b.value) ? -1 : 1))
    .slice(0, limit + 1);
}
