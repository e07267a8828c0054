import type { AccountId } from '../../core/model/ids.ts';
import { LAKE_FILE_MS, LAKE_TABLES, type LakeStore, type NewLakeFile } from '../../core/ports/lake-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import {
  lakeFileOf,
  lakePageOf,
  lakeRuleOf,
  lakeSummaryOf,
  removedLakeFileOf,
  rulesQuery,
  SUMMARY_COLUMNS,
} from '../store-rows/lake-rows.ts';
import type { SqliteDatabase } from './database.ts';
import { moveSqliteReader } from './readers.ts';
import type { Synchronous } from './synchronous.ts';

const PAGES = `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
  LEFT JOIN job_expiry e ON e.job_seq = j.seq`;

const IS_PRIVATE = `json_extract(j.options, '$.credentials') = 'read'
  AND json_extract(j.options, '$.page.session') IS NOT NULL`;

export function createSqliteLakeStore(database: SqliteDatabase, clock: () => number): Synchronous<LakeStore> {
  const isTooOld = (files: readonly NewLakeFile[]) =>
    files.some(({ madeAt }) => madeAt < clock() - LAKE_FILE_MS);

  function hasAccount(id: AccountId): boolean {
    return database.get('SELECT 1 FROM accounts WHERE id = ? AND deleting_at IS NULL', id) !== undefined;
  }

  function insert(file: NewLakeFile): void {
    database.run(
      `INSERT INTO lake_files
         (id, account_id, kind, domain, date, path, rows, bytes, schema_version, made_at, added_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[file.id, file.accountId, file.table, file.domain, file.date, file.path, file.rows, file.bytes],
      ...[file.schemaVersion, file.madeAt, clock()],
    );
    for (const { jobId, firstPage } of file.jobs) {
      database.run(
        'INSERT INTO lake_file_jobs (file_id, job_id, account_id, first_page) VALUES (?, ?, ?, ?)',
        ...[file.id, jobId, file.accountId, firstPage],
      );
    }
  }

  function countChange(accountId: AccountId): void {
    database.run(
      `INSERT INTO lake_versions (account_id, version) VALUES (?, 1)
       ON CONFLICT (account_id) DO UPDATE SET version = version + 1`,
      accountId,
    );
  }

  return {
    lakePages(jobId, pageSeqs) {
      return database
        .all(
          `${PAGES} WHERE p.seq IN (SELECT value FROM json_each(?)) AND j.id = ? ORDER BY p.seq`,
          JSON.stringify(pageSeqs),
          jobId,
        )
        .map(lakePageOf);
    },

    lakePagesAfter(jobId, after, limit) {
      return database
        .all(`${PAGES} WHERE j.id = ? AND p.seq > ? ORDER BY p.seq LIMIT ?`, jobId, after, limit)
        .map(lakePageOf);
    },

    addLakeFiles({ range, files, resumed }) {
      if (isTooOld(files) || !moveSqliteReader(database, 'lake', range)) return false;
      const accounts = new Set([...files, ...resumed].map(({ accountId }) => accountId));
      for (const accountId of accounts) {
        if (!hasAccount(accountId)) continue;
        const added = files.filter((file) => file.accountId === accountId);
        for (const file of added) insert(file);
        for (const job of resumed) {
          if (job.accountId !== accountId) continue;
          database.run(
            'INSERT OR IGNORE INTO lake_resumed_jobs (job_id, account_id) VALUES (?, ?)',
            job.jobId,
            accountId,
          );
        }
        if (added.length > 0) countChange(accountId);
      }
      return true;
    },

    replaceLakeFiles({ accountId, removed, added }) {
      if (isTooOld(added) || !hasAccount(accountId)) return false;
      const ids = JSON.stringify(removed);
      const found = database.get(
        `SELECT count(*) AS files FROM lake_files
         WHERE id IN (SELECT value FROM json_each(?)) AND account_id = ? AND removed_at IS NULL`,
        ids,
        accountId,
      );
      if (Number(found?.files) !== removed.length) return false;
      database.run(
        'UPDATE lake_files SET removed_at = ? WHERE id IN (SELECT value FROM json_each(?))',
        clock(),
        ids,
      );
      database.run('DELETE FROM lake_file_jobs WHERE file_id IN (SELECT value FROM json_each(?))', ids);
      for (const file of added) insert(file);
      database.run(
        `DELETE FROM lake_resumed_jobs WHERE account_id = ?
           AND job_id NOT IN (SELECT job_id FROM lake_file_jobs WHERE account_id = ?)
           AND job_id NOT IN (SELECT id FROM jobs)`,
        accountId,
        accountId,
      );
      countChange(accountId);
      return true;
    },

    viewLake({ accountId, tables = LAKE_TABLES, domains, since, until, mostFiles }) {
      const files = database.all(
        `SELECT f.*, (SELECT json_group_array(json_array(job_id, first_page)) FROM lake_file_jobs WHERE file_id = f.id) AS jobs
         FROM lake_files f WHERE f.account_id = ? AND f.removed_at IS NULL
           AND f.kind IN (SELECT value FROM json_each(?)) AND f.date >= ? AND f.date <= ?
           ${domains === undefined ? '' : 'AND f.domain IN (SELECT value FROM json_each(?))'}
         ORDER BY f.kind, f.domain, f.date, f.seq LIMIT ?`,
        ...[accountId, JSON.stringify(tables), since ?? '', until ?? '9999-12-31'],
        ...(domains === undefined ? [] : [JSON.stringify(domains)]),
        mostFiles + 1,
      );
      const rules = database.all(rulesQuery('?1', IS_PRIVATE), accountId);
      const version = database.get('SELECT version FROM lake_versions WHERE account_id = ?', accountId);
      return {
        version: Number(version?.version ?? 0),
        files: files.slice(0, mostFiles).map(lakeFileOf),
        hasMore: files.length > mostFiles,
        rules: rules.map(lakeRuleOf),
      };
    },

    listLakes({ after, limit }) {
      return database
        .all(
          `SELECT ${SUMMARY_COLUMNS} FROM (
             SELECT * FROM lake_versions WHERE account_id > ? ORDER BY account_id LIMIT ?
           ) v LEFT JOIN lake_files f ON f.account_id = v.account_id AND f.removed_at IS NULL
           GROUP BY v.account_id, v.version, v.manifest_version ORDER BY v.account_id`,
          after ?? '',
          limit,
        )
        .map(lakeSummaryOf);
    },

    noteManifest(accountId, version) {
      database.run('UPDATE lake_versions SET manifest_version = ? WHERE account_id = ?', version, accountId);
    },

    knownLakeFiles(ids) {
      return database
        .all('SELECT id FROM lake_files WHERE id IN (SELECT value FROM json_each(?))', JSON.stringify(ids))
        .map(({ id }) => String(id));
    },

    listRemovedLakeFiles(removedBefore, limit) {
      return database
        .all(
          'SELECT id, path FROM lake_files WHERE removed_at < ? ORDER BY removed_at LIMIT ?',
          removedBefore,
          limit,
        )
        .map(removedLakeFileOf);
    },

    forgetLakeFiles(ids) {
      database.run(
        'DELETE FROM lake_files WHERE removed_at IS NOT NULL AND id IN (SELECT value FROM json_each(?))',
        JSON.stringify(ids),
      );
    },
  };
}
