import type { HostId, JobSeq } from '../../core/model/ids.ts';
import { lineOf, type Turns, turnsAfter } from '../../core/model/turns.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';

/**
 * The line of a task among those of its account, in SQL: single scrapes, whose rank is 0, share the line 0, and each other job
 * has its own. See `src/core/model/turns.ts`.
 */
export const SQL_LINE = 'CASE rank WHEN 0 THEN 0 ELSE job_seq END';

/** The ready tasks of a host in the order of their turns. */
export interface DueTasks {
  /** The next rows, as many as may be claimed at once, without those of the jobs; empty when there are none. */
  next(most: number, exceptJobs: ReadonlySet<JobSeq>): DueRows;
  /** The row was claimed: its account and job have had their turn. */
  served(row: SqliteRow): void;
}

export interface DueRows {
  readonly rows: readonly SqliteRow[];
  /** There are no others. */
  readonly isAll: boolean;
}

const ROW = `id, job_seq, account_id, ${SQL_LINE} AS line, kind, url, at_url, hops, url_key, depth, attempts, trace, interruptions,
  lone_interruptions`;
const READY = `FROM tasks WHERE host_id = ? AND state = 'ready'`;
const BY_TURN = `account_id, ${SQL_LINE}, rank, id`;

export function dueTasks(database: SqliteDatabase, host: HostId, turns: Turns): DueTasks {
  let after = turns;
  /** Several accounts or jobs have ready tasks; null: not looked yet. */
  let isShared: boolean | null = null;

  const accountBeyond = (account: string | null): string | null => {
    const [sql, values] = account === null ? ['', []] : ['AND account_id > ?', [account]];
    const row = database.get(
      `SELECT account_id ${READY} ${sql} ORDER BY account_id LIMIT 1`,
      host,
      ...values,
    );
    return row === undefined ? null : String(row.account_id);
  };

  const lineBeyond = (account: string, line: number): number | null => {
    const row = database.get(
      `SELECT ${SQL_LINE} AS line ${READY} AND account_id = ? AND ${SQL_LINE} > ? ORDER BY ${SQL_LINE} LIMIT 1`,
      host,
      account,
      line,
    );
    return row === undefined ? null : Number(row.line);
  };

  const rowOf = (account: string, line: number, except: ReadonlySet<JobSeq>): SqliteRow | undefined =>
    database.get(
      `SELECT ${ROW} ${READY} AND account_id = ? AND ${SQL_LINE} = ? AND job_seq NOT IN (SELECT value FROM json_each(?))
       ORDER BY rank, id LIMIT 1`,
      host,
      account,
      line,
      line === 0 ? JSON.stringify([...except]) : '[]',
    );

  /** The jobs with ready tasks, beginning after the one that was served last. */
  function* jobsInTurn(account: string, last: number): Generator<number> {
    for (let line = lineBeyond(account, last); line !== null; line = lineBeyond(account, line)) yield line;
    for (let line = lineBeyond(account, 0); line !== null && line <= last; line = lineBeyond(account, line))
      yield line;
  }

  function rowOfAccount(account: string, except: ReadonlySet<JobSeq>): SqliteRow | undefined {
    const [last, wasScrape] = lineOf(after, account);
    const scrape = () => rowOf(account, 0, except);
    const first = wasScrape ? undefined : scrape();
    if (first !== undefined) return first;
    for (const line of jobsInTurn(account, last)) {
      if (!except.has(line as JobSeq)) return rowOf(account, line, except);
    }
    return wasScrape ? scrape() : undefined;
  }

  function oneInTurn(except: ReadonlySet<JobSeq>): SqliteRow | undefined {
    const last = after.account;
    for (let account = accountBeyond(last); account !== null; account = accountBeyond(account)) {
      const row = rowOfAccount(account, except);
      if (row !== undefined) return row;
    }
    if (last === null) return undefined;
    for (
      let account = accountBeyond(null);
      account !== null && account <= last;
      account = accountBeyond(account)
    ) {
      const row = rowOfAccount(account, except);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  return {
    next(most, except) {
      if (isShared === null && except.size === 0) {
        const rows = database.all(`SELECT ${ROW} ${READY} ORDER BY ${BY_TURN} LIMIT ?`, host, most);
        const [first] = rows;
        const last =
          rows.length < most
            ? rows.at(-1)
            : database.get(
                `SELECT account_id, ${SQL_LINE} AS line ${READY}
                 ORDER BY account_id DESC, ${SQL_LINE} DESC, rank DESC, id DESC LIMIT 1`,
                host,
              );
        isShared = first?.account_id !== last?.account_id || first?.line !== last?.line;
        if (!isShared) return { rows, isAll: rows.length < most };
      }
      const row = oneInTurn(except);
      return row === undefined ? { rows: [], isAll: true } : { rows: [row], isAll: false };
    },
    served({ account_id, job_seq, line }) {
      if (isShared === false) return;
      after = turnsAfter(after, {
        accountId: String(account_id),
        jobSeq: Number(job_seq),
        isScrape: Number(line) === 0,
      });
    },
  };
}

const MOST_ACCOUNTS_LOOKED_AT = 16;

/** The best rank among the first ready tasks of the accounts; null: none is ready. */
export function bestReadyRank(database: SqliteDatabase, host: HostId): number | null {
  let best: number | null = null;
  let account: string | null = null;
  for (let looked = 0; looked < MOST_ACCOUNTS_LOOKED_AT; looked += 1) {
    const [sql, values] = account === null ? ['', []] : ['AND account_id > ?', [account]];
    const row = database.get(
      `SELECT account_id, rank ${READY} ${sql} ORDER BY ${BY_TURN} LIMIT 1`,
      host,
      ...(values as string[]),
    );
    if (row === undefined) break;
    account = String(row.account_id);
    best = Math.min(best ?? Number.POSITIVE_INFINITY, Number(row.rank));
  }
  return best;
}
