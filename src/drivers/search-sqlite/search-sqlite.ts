import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { makePrivateFile } from '../../core/config/private-files.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import { searchDocumentOf } from '../../core/model/search-words.ts';
import {
  type IndexablePage,
  MOST_RANKED,
  type SearchIndex,
  type SearchQuery,
  type SearchTerm,
} from '../../core/ports/search-store.ts';
import { fileAt, type OpenFile, openDerivedFile } from '../derived-file/derived-file.ts';
import { searchKeyOf } from '../store-sql/search.ts';

const VERSION = 2;

/**
 * entries has a row per account and URL, and one more for its private content; words has its words under the same number, and no text (contentless). The words
 * are made by the program and have spaces between them, so the tokenizer only has to part them there.
 */
const SCHEMA = `
  CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id TEXT NOT NULL,
    url_key TEXT NOT NULL,
    is_private INTEGER NOT NULL,
    host TEXT NOT NULL,
    job_id TEXT NOT NULL,
    page_seq INTEGER NOT NULL,
    fetched_at INTEGER NOT NULL,
    words_hash TEXT NOT NULL,
    build INTEGER NOT NULL,
    UNIQUE (account_id, url_key)
  );
  CREATE INDEX entries_job ON entries (job_id, page_seq);
  CREATE TABLE builds (id INTEGER PRIMARY KEY CHECK (id = 1), build INTEGER NOT NULL);
  INSERT INTO builds VALUES (1, 1);
  CREATE VIRTUAL TABLE words USING fts5 (title, body, content = '', contentless_delete = 1, tokenize = 'ascii');
  PRAGMA user_version = ${VERSION};
`;

/**
 * From version 1, which had one row for both. Which of them are private only the store knows, and shows them to none who may
 * not see them. What is put from now on replaces them as those of an earlier build; a rebuild brings back what they hid.
 */
const PRIVATE_APART = `
  ALTER TABLE entries ADD COLUMN is_private INTEGER NOT NULL DEFAULT 0;
  UPDATE builds SET build = build + 1;
  PRAGMA user_version = 2;
`;

/** A word in the title counts as many in the text. */
const TITLE_WEIGHT = 10;
const BUSY_MS = 30_000;

/** Set in a file that was made in place of a damaged one, and while a rebuild goes on, so that one that was cut off is begun again. */
const IS_BEHIND = 'PRAGMA application_id = 1';
const IS_WHOLE = 'PRAGMA application_id = 0';

export interface SqliteSearchOptions {
  /**
   * Told with DATABASE_CORRUPT when the file was damaged and there is a new, empty one. Missing: a damaged file stays, and
   * calls throw DATABASE_CORRUPT.
   */
  readonly onRebuilt?: (error: ScrapifieError) => void;
  /** Told when a file was opened that has to be built anew from the store, by `beginRebuild` and what follows it. */
  readonly onBehind?: () => void;
}

interface OpenIndex extends OpenFile {
  readonly database: DatabaseSync;
}

/** A database file of its own, beside that of the store. Synchronous inside: it belongs into a thread of its own. */
export function openSqliteSearch(path: string, options: SqliteSearchOptions = {}): SearchIndex {
  const { onRebuilt, onBehind = () => undefined } = options;
  const file = openDerivedFile<OpenIndex>({
    path,
    what: 'The search index',
    from: 'empty, to be filled from the stored pages',
    open: () => openFile(path, onBehind),
    make(made) {
      if (onRebuilt === undefined) throw damagedError(path);
      const { database } = openFile(made, () => undefined);
      database.exec(IS_BEHIND);
      database.close();
    },
    isLost: () => false,
    alsoDamage: [19, 20],
    onRebuilt: (error) => onRebuilt?.(error),
  });
  let isOpen = false;
  /** Null while there is no file and nothing is to be written. */
  const read = <T>(work: (database: DatabaseSync) => T): T | null => {
    if (!isOpen && path !== ':memory:' && !existsSync(path)) return null;
    isOpen = true;
    return file.run(({ database }) => work(database));
  };
  const write = <T>(work: (database: DatabaseSync) => T): T => {
    isOpen = true;
    return file.run(({ database }) => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const result = work(database);
        database.exec('COMMIT');
        return result;
      } catch (error) {
        try {
          if (database.isTransaction) database.exec('ROLLBACK');
        } catch {
          // In a damaged file a rollback can fail as well; what is told is why there is one.
        }
        throw error;
      }
    });
  };
  const translated = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (error) {
      throw translate(error, path);
    }
  };

  return {
    put: (pages) =>
      translated(() => {
        if (pages.length > 0) write((database) => putAll(database, pages));
      }),

    find: ({ accountId, hasPrivate, words, host, jobId, offset, limit }) =>
      translated(() => {
        const filters = [
          ...(host === undefined ? [] : ['AND e.host = ?']),
          ...(jobId === undefined ? [] : ['AND e.job_id = ?']),
        ].join(' ');
        const values: SQLInputValue[] = [
          TITLE_WEIGHT,
          matchOf(words),
          accountId,
          hasPrivate ? 1 : 0,
          ...[host, jobId].filter((each) => each !== undefined),
        ];
        const rows = read((database) =>
          database
            .prepare(
              `SELECT e.job_id, e.page_seq, found.score FROM (
                 SELECT w.rowid AS id, bm25(words, ?, 1.0) AS score FROM words w CROSS JOIN entries e ON e.id = w.rowid
                 WHERE words MATCH ? AND e.account_id = ? AND e.is_private <= ? ${filters} ORDER BY w.rowid DESC LIMIT ${MOST_RANKED}
               ) found JOIN entries e ON e.id = found.id ORDER BY found.score, found.id DESC LIMIT ? OFFSET ?`,
            )
            .all(...values, limit, offset),
        );
        return (rows ?? []).map((row) => ({
          jobId: row.job_id as JobId,
          pageSeq: Number(row.page_seq),
          score: -Number(row.score),
        }));
      }),

    listJobs: ({ after, limit }) =>
      translated(() => {
        const rows = read((database) =>
          database
            .prepare('SELECT DISTINCT job_id FROM entries WHERE job_id > ? ORDER BY job_id LIMIT ?')
            .all(after ?? '', limit),
        );
        return (rows ?? []).map((row) => row.job_id as JobId);
      }),

    remove: ({ jobId, before, limit }) =>
      translated(() => {
        if (!isOpen && path !== ':memory:' && !existsSync(path)) return 0;
        return write((database) =>
          removeEntries(
            database,
            database
              .prepare('SELECT id FROM entries WHERE job_id = ? AND page_seq < ? LIMIT ?')
              .all(jobId, before ?? Number.MAX_SAFE_INTEGER, limit),
          ),
        );
      }),

    beginRebuild: () =>
      translated(() =>
        write((database) => void database.exec(`UPDATE builds SET build = build + 1; ${IS_BEHIND}`)),
      ),

    endRebuild: () =>
      translated(() => {
        const old = 'SELECT e.id FROM entries e JOIN builds b ON e.build < b.build LIMIT 1000';
        while (write((database) => removeEntries(database, database.prepare(old).all())) > 0);
        write((database) => void database.exec(`INSERT INTO words (words) VALUES ('optimize'); ${IS_WHOLE}`));
      }),

    close: async () => file.close(),
  };
}

function openFile(path: string, onBehind: () => void): OpenIndex {
  if (path !== ':memory:') makePrivateFile(path);
  const database = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -16384;
      PRAGMA temp_store = MEMORY;
      PRAGMA journal_size_limit = 67108864;
    `);
    migrate(database);
    if (Number(database.prepare('PRAGMA application_id').get()?.application_id) !== 0) onBehind();
  } catch (error) {
    database.close();
    throw error;
  }
  return { database, file: fileAt(path), close: () => database.close() };
}

function migrate(database: DatabaseSync): void {
  const version = () => Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (version() === VERSION) return;
  database.exec('BEGIN IMMEDIATE');
  // Another process may have been first.
  if (version() === 0) database.exec(SCHEMA);
  if (version() === 1) database.exec(PRIVATE_APART);
  database.exec('COMMIT');
  if (version() !== VERSION) {
    throw new ScrapifieError(
      'SCHEMA_TOO_NEW',
      `The search index has version ${version()}, this program knows ${VERSION}. Upgrade Scrapifie, or delete the file and run \`scrapifie search rebuild\`.`,
    );
  }
}

function putAll(database: DatabaseSync, pages: readonly IndexablePage[]): void {
  const build = Number(database.prepare('SELECT build FROM builds').get()?.build);
  const known = database.prepare(
    'SELECT id, fetched_at, words_hash, build FROM entries WHERE account_id = ? AND url_key = ?',
  );
  const insert = database.prepare(
    `INSERT INTO entries (account_id, url_key, is_private, host, job_id, page_seq, fetched_at, words_hash, build)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const refresh = database.prepare(
    'UPDATE entries SET job_id = ?, page_seq = ?, fetched_at = ?, build = ? WHERE id = ?',
  );
  const insertWords = database.prepare('INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)');
  for (const page of pages) {
    const { accountId, jobId, pageSeq, fetchedAt } = page;
    const { urlKey, host } = searchKeyOf(page);
    const before = known.get(accountId, urlKey);
    // An entry of an earlier build may be of a page that is gone.
    const isBehind = before !== undefined && Number(before.fetched_at) > fetchedAt;
    if (isBehind && Number(before.build) === build) continue;
    const document = searchDocumentOf(page.title, page.record, page.bodyText);
    if (document === null) continue;
    const [title, body] = [document.title.join(' '), document.body.join(' ')];
    const wordsHash = hash('sha256', `${title}\n${body}`, 'base64url').slice(0, 22);
    if (before !== undefined && before.words_hash === wordsHash) {
      refresh.run(jobId, pageSeq, fetchedAt, build, Number(before.id));
      continue;
    }
    if (before !== undefined) removeEntries(database, [before]);
    const { lastInsertRowid } = insert.run(
      accountId,
      urlKey,
      page.isPrivate ? 1 : 0,
      host,
      jobId,
      pageSeq,
      fetchedAt,
      wordsHash,
      build,
    );
    insertWords.run(lastInsertRowid, title, body);
  }
}

function removeEntries(database: DatabaseSync, rows: readonly Record<string, SQLInputValue>[]): number {
  const [words, entries] = ['words', 'entries'].map((table) =>
    database.prepare(`DELETE FROM ${table} WHERE ${table === 'words' ? 'rowid' : 'id'} = ?`),
  );
  for (const { id } of rows) {
    words?.run(id ?? null);
    entries?.run(id ?? null);
  }
  return rows.length;
}

/** The query in the syntax of FTS5. Words are letters and digits only, and always stand in quotes. */
function matchOf({ all, none }: SearchQuery): string {
  const wanted = all.map((alternatives) => `(${alternatives.map(termOf).join(' OR ')})`).join(' AND ');
  return none.length === 0 ? wanted : `(${wanted}) NOT (${none.map(termOf).join(' OR ')})`;
}

const termOf = ({ words, isPrefix, isInTitle }: SearchTerm): string =>
  `${isInTitle ? 'title : ' : ''}"${words.join(' ')}"${isPrefix ? ' *' : ''}`;

function translate(error: unknown, path: string): unknown {
  const { errcode } = error as { errcode?: number };
  const code = errcode === undefined ? 0 : errcode & 0xff;
  if (code === 13) return new ScrapifieError('DISK_FULL', `No space left to write the search index ${path}.`);
  if (code === 5 || code === 10) {
    return new ScrapifieError('STORE_UNAVAILABLE', `The search index ${path} is busy or cannot be read.`, {
      cause: error,
    });
  }
  if (code === 11 || code === 26) return damagedError(path);
  return error;
}

const damagedError = (path: string) =>
  new ScrapifieError(
    'DATABASE_CORRUPT',
    `The search index ${path} is damaged. A server makes it again by itself when it meets the damage. Without one, delete the file and run \`scrapifie search rebuild\`.`,
  );
