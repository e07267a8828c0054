import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../../core/model/ids.ts';
import type { LakeFiles } from '../../../core/ports/lake-files.ts';
import { LAKE_TABLES, type LakeStore } from '../../../core/ports/lake-store.ts';
import { defined } from '../../../lib/defined.ts';
import { partitionName } from '../../lake/partition.ts';
import { createTurns } from '../turns.ts';
import type { LakeCopies } from './lake-copies.ts';
import { lakeViewsOf } from './lake-views.ts';
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

export interface SqlRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** The rows take more memory than an answer may hold: they are read as they come. */
  readonly isStreamed?: boolean;
}

/** For whom a query runs. */
export interface SqlReader {
  readonly accountId: AccountId;
  /** May see what stored credentials gave access to. */
  readonly hasPrivate: boolean;
}

export interface SqlQueriesDeps {
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
