import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../../core/model/ids.ts';
import {
  LAKE_TABLES,
  type LakeFiles,
  type LakeRule,
  type LakeStore,
  type LakeTable,
  type LakeView,
} from '../../../core/ports/lake-store.ts';
import { defined } from '../../../lib/defined.ts';
import { LAKE_COLUMNS, type LakeType, partitionName } from '../../lake/lake-layout.ts';
import { createTurns } from '../turns.ts';
import type { LakeCopies } from './lake-copies.ts';
import { runSqlProcess } from './sql-process.ts';
import { SQL_LIMITS, type SqlEnd, type SqlRequest, type SqlResult, type SqlValue } from './sql-request.ts';

/** SQL over the lake of one account. */
export interface SqlQueries {
  /**
   * Runs the query over the files that the account's lake has now. Resolves when its columns are known; the rows follow.
   * Throws QUERY_REFUSED, QUERY_FAILED, QUERY_TOO_LARGE, QUERY_TIMEOUT, QUERY_UNAVAILABLE, and TOO_MANY_QUERIES when its turn does not come in time.
   * A caller that stops reading the rows, or aborts the signal, ends the query.
   */
  run(reader: SqlReader, request: SqlRequest, how?: SqlRunOptions): Promise<SqlResult>;
}

interface SqlRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** The rows take more memory than an answer may hold: they are read as they come. */
  readonly isStreamed?: boolean;
}

/** For whom a query runs. */
interface SqlReader {
  readonly accountId: AccountId;
  /** May see what stored credentials gave access to. */
  readonly hasPrivate: boolean;
}

interface SqlQueriesDeps {
  readonly store: Pick<LakeStore, 'viewLake'>;
  readonly files: LakeFiles;
  /** Copies of the lake's files on this machine; null when the files themselves are on it. */
  readonly copies: LakeCopies | null;
  readonly clock: () => number;
  readonly memoryMb: number;
  /** Queries of all accounts that run at once; one account has half of them at most, and one at least. */
  readonly mostAtOnce: number;
  /** How long a query waits for its turn. */
  readonly mostWaitMs?: number;
}

const MOST_FILES = 10_000;

const TYPES: Readonly<Record<LakeType, string>> = {
  text: 'VARCHAR',
  int32: 'INTEGER',
  int64: 'BIGINT',
  double: 'DOUBLE',
  boolean: 'BOOLEAN',
  time: 'TIMESTAMP',
};

/**
 * The host that the name of a partition stands for: of the bytes that are written otherwise there, hosts have these. It
 * is made of the partition alone, so that a condition on it still leaves out whole files.
 */
const HOST_OF_DOMAIN = [
  ['_3a', ':'],
  ['_5b', '['],
  ['_5d', ']'],
  // Last: what it stands for begins the others.
  ['_5f', '_'],
].reduce((sql, [written, sign]) => `replace(${sql}, '${written}', '${sign}')`, 'domain');

export function createSqlQueries(deps: SqlQueriesDeps): SqlQueries {
  const turns = createTurns({
    mostRunning: deps.mostAtOnce,
    // So that one account alone never has all of them, where there is more than one.
    mostOfAccount: Math.max(1, Math.floor(deps.mostAtOnce / 2)),
    ...defined({ mostWaitMs: deps.mostWaitMs }),
  });

  async function* lines({ accountId, hasPrivate }: SqlReader, request: SqlRequest, how: SqlRunOptions) {
    const leave = await turns.enter(accountId, how.signal);
    let release: () => Promise<void> = async () => undefined;
    try {
      const view = await deps.store.viewLake({
        accountId,
        tables: tablesIn(request.sql),
        domains: request.domains?.map(partitionName),
        since: request.since,
        until: request.until,
        mostFiles: MOST_FILES,
      });
      if (view.hasMore) {
        throw new ScrapifieError(
          'QUERY_TOO_LARGE',
          `The query would read more than ${MOST_FILES} files. Narrow it by domains, since and until.`,
        );
      }
      const copied = await deps.copies?.get(view.files);
      if (copied !== undefined) release = copied.release;
      const pathOf = copied?.pathOf ?? ((path: string) => localPath(path, deps.files));
      const views = lakeViewsOf(view, pathOf, hasPrivate);
      const task = {
        sql: request.sql,
        limit: request.limit,
        mostBytes: how.isStreamed === true ? SQL_LIMITS.streamBytes : SQL_LIMITS.answerBytes,
        memoryMb: deps.memoryMb,
        paths: view.files.map(({ path }) => pathOf(path)),
        views: views.statements,
        viewNames: views.names,
      };
      yield* withoutPaths(
        // A client that reads slowly keeps no other query waiting once the process has ended.
        runSqlProcess(task, { timeoutMs: request.timeoutMs, memoryMb: deps.memoryMb }, leave, how.signal),
        pathOf('x').slice(0, -1),
      );
    } finally {
      leave();
      await release();
    }
  }

  return {
    async run(reader, request, how = {}) {
      const startedAt = deps.clock();
      const source = lines(reader, request, how);
      const first = await source.next();
      if (first.done === true || !('columns' in first.value)) throw new Error('The query gave no columns.');
      let end: SqlEnd = { rows: 0, isTruncated: false, elapsedMs: 0 };
      async function* rows(): AsyncGenerator<readonly SqlValue[]> {
        for await (const line of source) {
          if ('rows' in line) yield* line.rows;
          if ('end' in line) end = { ...line.end, elapsedMs: Math.round(deps.clock() - startedAt) };
        }
      }
      return {
        columns: first.value.columns,
        rows: rows(),
        end: () => end,
        close: async () => void (await source.return(undefined)),
      };
    },
  };
}

/**
 * The tables whose names stand in the text: the files of the others need not be read. `links` and `records` need the pages,
 * which tell what is the latest of a task.
 */
function tablesIn(sql: string) {
  const text = sql.toLowerCase();
  const found = LAKE_TABLES.filter((table) => text.includes(table));
  return found.length === 0 || found.includes('pages') ? found : ['pages' as const, ...found];
}

function localPath(path: string, files: LakeFiles): string {
  const local = files.localPath(path);
  if (local === null) throw new Error('The files of the lake are not on this machine.');
  return local;
}

/** Messages of the database name files; where these lie on the server is no one's business. */
async function* withoutPaths<T>(lines: AsyncIterable<T>, root: string): AsyncGenerator<T> {
  try {
    yield* lines;
  } catch (error) {
    if (!(error instanceof ScrapifieError) || !error.message.includes(root)) throw error;
    const message = error.message.replaceAll(root, '');
    throw new ScrapifieError(error.code, message, { details: [{ field: 'sql', message }] });
  }
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const list = (texts: readonly string[]) => texts.map(literal).join(', ');

interface LakeViewSql {
  /** The statements, in the order in which they are run. */
  readonly statements: readonly string[];
  readonly names: readonly string[];
}

/**
 * Statements that make the views `pages`, `links` and `records` over these files, without the rows that are hidden.
 * `pathOf` says where a file lies on this machine. `hasPrivate`: pages that were fetched with stored credentials are shown.
 */
function lakeViewsOf(
  { files, rules }: LakeView,
  pathOf: (path: string) => string,
  hasPrivate: boolean,
): LakeViewSql {
  const condition = conditionOf(
    rules.map((rule) => (rule.isPrivate && !hasPrivate ? { ...rule, keepFrom: null } : rule)),
    pathsOf('pages'),
  );
  function pathsOf(table: LakeTable): string[] {
    return files.filter((file) => file.table === table).map(({ path }) => pathOf(path));
  }
  const statements = LAKE_TABLES.map(
    (table) => `CREATE VIEW ${table} AS ${rowsOf(table, pathsOf(table))}${condition}`,
  );
  return { statements, names: [...LAKE_TABLES] };
}

/** Columns that no file has yet are null, and a table without files has no rows. */
function rowsOf(table: LakeTable, paths: readonly string[]): string {
  const names = LAKE_COLUMNS[table].map(({ name }) => `"${name}"`).join(', ');
  const typed = LAKE_COLUMNS[table].map(({ name, type }) => `NULL::${TYPES[type]} AS "${name}"`).join(', ');
  const none = `SELECT ${typed}, NULL::VARCHAR AS domain, NULL::DATE AS date WHERE false`;
  if (paths.length === 0) return `SELECT * FROM (${none})`;
  const files = `SELECT * FROM read_parquet([${list(paths)}], union_by_name = true, hive_partitioning = true,
    hive_types = {'domain': VARCHAR, 'date': DATE})`;
  return `SELECT ${names}, ${HOST_OF_DOMAIN} AS domain, date FROM (${none} UNION ALL BY NAME ${files})`;
}

/** Which rows count, where jobs were deleted, have expired or were resumed. */
function conditionOf(rules: readonly LakeRule[], pageFiles: readonly string[]): string {
  const gone = rules.filter(({ keepFrom }) => keepFrom === null).map(({ jobId }) => jobId);
  const conditions = gone.length === 0 ? [] : [`job_id NOT IN (${list(gone)})`];
  for (const { jobId, keepFrom } of rules) {
    if (keepFrom !== null && keepFrom > 0)
      conditions.push(`(job_id <> ${literal(jobId)} OR page_seq >= ${keepFrom})`);
  }
  const resumed = rules.filter((rule) => rule.isResumed && rule.keepFrom !== null).map(({ jobId }) => jobId);
  if (resumed.length > 0 && pageFiles.length > 0) {
    const jobs = list(resumed);
    conditions.push(`(job_id NOT IN (${jobs}) OR page_seq IN (
      SELECT max(page_seq) FROM read_parquet([${list(pageFiles)}], union_by_name = true)
      WHERE job_id IN (${jobs}) GROUP BY job_id, task_id))`);
  }
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
}
