import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { makePrivateFile } from '../../core/config/private-files.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Incarnation } from '../../core/model/ids.ts';
import { type IgnoredTail, requireIntactLog } from './wal-check.ts';

/** Up to this size the whole file is read through, which takes a fraction of a second. */
const READ_THROUGH_BYTES = 67_108_864;

export type SqliteRow = Record<string, SQLInputValue>;

/** One connection with its prepared statements. Synchronous: it lives in a thread of its own. */
export interface SqliteDatabase {
  /**
   * Each opening has an incarnation of its own: a file can only be replaced by an older copy while no process has it
   * open.
   */
  readonly incarnation: Incarnation;
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Inserts one row and returns its rowid. */
  insert(sql: string, ...values: SQLInputValue[]): number;
  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): SqliteRow[];
  /** Row by row, whole numbers as bigint. For statements that are run once: it is not kept. */
  each(sql: string): Iterable<SqliteRow>;
  /** Statements without values that are not worth preparing: pragmas, BEGIN, schema. */
  exec(sql: string): void;
  close(): void;
}

const CACHE_KIB = 16_384;

/**
 * Opens the file, or makes it. Throws DATABASE_CORRUPT when it is damaged, and when it is missing or empty although
 * `traces`, paths of files that are only made once there is a database, are there. `onIgnored` is told of changes at the
 * end of the log that are not whole and are dropped.
 */
export function openSqliteDatabase(
  path: string,
  traces: readonly string[] = [],
  onIgnored: (error: ScrapifieError) => void = () => undefined,
): SqliteDatabase {
  const connection = translate(path, () => {
    requireDatabase(path, traces);
    const ignored = requireIntactLog(path);
    if (ignored !== null) onIgnored(ignoredTail(path, ignored));
    makePrivateFile(path);
    const opened = new DatabaseSync(path, { timeout: 10_000 });
    requireSound(opened, path);
    requireSchema(opened, path, traces);
    opened.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -${CACHE_KIB};
      PRAGMA temp_store = MEMORY;
      PRAGMA wal_autocheckpoint = 8000;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA foreign_keys = ON;
    `);
    return opened;
  });
  // The SQL texts are constants of this driver, so the map is bounded by the source code.
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    incarnation: randomUUID() as string as Incarnation,
    run: (sql, ...values) => translate(path, () => Number(prepared(sql).run(...values).changes)),
    insert: (sql, ...values) => translate(path, () => Number(prepared(sql).run(...values).lastInsertRowid)),
    get: (sql, ...values) => translate(path, () => prepared(sql).get(...values) as SqliteRow | undefined),
    all: (sql, ...values) => translate(path, () => prepared(sql).all(...values) as SqliteRow[]),
    *each(sql) {
      const statement = translate(path, () => connection.prepare(sql));
      statement.setReadBigInts(true);
      const rows = statement.iterate();
      for (;;) {
        const next = translate(path, () => rows.next());
        if (next.done === true) return;
        yield next.value as SqliteRow;
      }
    },
    exec: (sql) => translate(path, () => connection.exec(sql)),
    close: () => connection.close(),
  };
}

/**
 * Copies committed changes from the log into the database file, so that damage to the log can cost little. Never waits
 * for other connections. What cannot be copied stays in the log: calls will meet the reason themselves.
 */
export function checkpointSqlite(database: SqliteDatabase): void {
  try {
    database.exec('PRAGMA wal_checkpoint(PASSIVE)');
  } catch {
    // What could not be copied stays in the log, see above.
  }
}

export const ignoredTail = (path: string, { frames, commits }: IgnoredTail): ScrapifieError =>
  new ScrapifieError(
    'DATABASE_CORRUPT',
    `The log ${path}-wal ended in ${commits} commits (${frames} frames) that were not whole and are dropped, as a power failure leaves them: changes of the last moments. Damage to the end of the file looks the same; after anything but a power failure, look at the disk.`,
  );

/** SQLite's primary result codes that the operator can act on. */
const FAULTS: Readonly<Record<number, { code: ErrorCode; say: (path: string) => string }>> = {
  5: { code: 'STORE_UNAVAILABLE', say: (path) => `Another process keeps the database ${path} busy.` },
  8: { code: 'DATA_DIR_UNUSABLE', say: (path) => `The database ${path} cannot be written.` },
  10: { code: 'STORE_UNAVAILABLE', say: (path) => `The disk failed to read or write the database ${path}.` },
  11: { code: 'DATABASE_CORRUPT', say: (path) => `The database ${path} is damaged.` },
  13: { code: 'DISK_FULL', say: (path) => `No space left to write the database ${path}.` },
  18: { code: 'UNSTORABLE', say: (path) => `The database ${path} cannot keep a value of that size.` },
  19: {
    code: 'UNSTORABLE',
    say: (path) => `The database ${path} cannot keep a row against its constraints.`,
  },
  20: { code: 'UNSTORABLE', say: (path) => `The database ${path} cannot keep a value of that type.` },
  14: { code: 'DATA_DIR_UNUSABLE', say: (path) => `The database ${path} cannot be opened.` },
  26: { code: 'DATABASE_CORRUPT', say: (path) => `${path} is not a database.` },
};

function translate<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (isScrapifieError(error)) throw error;
    const resultCode = (error as { errcode?: number }).errcode;
    const fault = resultCode === undefined ? undefined : FAULTS[resultCode & 0xff];
    if (fault === undefined) throw error;
    throw new ScrapifieError(fault.code, fault.say(path), { cause: error });
  }
}

/**
 * Throws DATABASE_CORRUPT for a damaged file before anything is written to it. Damage within a large file is only
 * met when the crawl comes across it, and reported the same way then.
 */
function requireSound(database: DatabaseSync, path: string): void {
  const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number };
  // Pages that are not in the file may be in the log beside it.
  const hasLog = sizeOf(`${path}-wal`) > 0;
  if (!hasLog && sizeOf(path) < pages * pageBytes) throw damaged(path, 'its end is missing');
  if (pages * pageBytes > READ_THROUGH_BYTES) return;
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
  if (verdict !== 'ok') throw damaged(path, verdict.replaceAll(/\s+/g, ' '));
}

/**
 * Throws DATABASE_CORRUPT for a file that is empty or missing beside the log or the other files of an installation,
 * before SQLite removes the log and makes a new database.
 */
function requireDatabase(path: string, traces: readonly string[]): void {
  if (path === ':memory:' || sizeOf(path) > 0) return;
  const log = `${path}-wal`;
  const remains = sizeOf(log) > 0 ? [log, ...traces] : traces;
  if (remains.length > 0) throw lost(path, remains);
}

/** Throws DATABASE_CORRUPT for a file without tables: the changes that made them were in a log that is gone. */
function requireSchema(database: DatabaseSync, path: string, traces: readonly string[]): void {
  if (traces.length === 0) return;
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_master').get() as {
    tables: number;
  };
  if (tables === 0) throw lost(path, [path, ...traces]);
}

function lost(path: string, remains: readonly string[]): ScrapifieError {
  return new ScrapifieError(
    'DATABASE_CORRUPT',
    `The database ${path} is missing or empty, but other files of its installation are there. Restore it from a backup together with ${path}-wal. To begin anew, move these away first: ${remains.join(', ')}.`,
  );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function damaged(path: string, how: string): ScrapifieError {
  return new ScrapifieError('DATABASE_CORRUPT', `The database ${path} is damaged: ${how}.`);
}
