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
import { NOW, type PostgresDatabase, type Query } from './database.ts';
import { jsonParameter } from './parameters.ts';
import { movePostgresReader } from './readers.ts';

const PAGES = `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
  LEFT JOIN job_expiry e ON e.job_seq = j.seq`;

const IS_PRIVATE = `j.options->>'credentials' = 'read' AND j.options->'page'->>'session' IS NOT NULL`;

export function createPostgresLakeStore(database: PostgresDatabase): LakeStore {
  return {
    async lakePages(jobId, pageSeqs) {
      const rows = await database.query(
        `${PAGES} WHERE p.seq = ANY ($1::bigint[]) AND j.id = $2 ORDER BY p.seq`,
        [pageSeqs, jobId],
      );
      return rows.map(lakePageOf);
    },

    async lakePagesAfter(jobId, after, limit) {
      const rows = await database.query(`${PAGES} WHERE j.id = $1 AND p.seq > $2 ORDER BY p.seq LIMIT $3`, [
        jobId,
        after,
        limit,
      ]);
      return rows.map(lakePageOf);
    },

    addLakeFiles: ({ range, files, resumed }) =>
      database.transaction(async (query) => {
        if (await isTooOld(query, files)) return false;
        if (!(await movePostgresReader(query, 'lake', range))) return false;
        const accounts = await living(
          query,
          [...files, ...resumed].map(({ accountId }) => accountId),
        );
        const added = files.filter(({ accountId }) => accounts.has(accountId));
        await insert(query, added);
        const jobs = resumed.filter(({ accountId }) => accounts.has(accountId));
        if (jobs.length > 0) {
          await query(
            `INSERT INTO lake_resumed_jobs (job_id, account_id)
             SELECT job_id, account_id FROM json_to_recordset($1) AS r (job_id text, account_id text)
             ON CONFLICT DO NOTHING`,
            [jsonParameter(jobs.map(({ jobId, accountId }) => ({ job_id: jobId, account_id: accountId })))],
          );
        }
        await countChange(query, [...new Set(added.map(({ accountId }) => accountId))].sort());
        return true;
      }),

    replaceLakeFiles: ({ accountId, removed, added }) =>
      database.transaction(async (query) => {
        if (await isTooOld(query, added)) return false;
        if (!(await living(query, [accountId])).has(accountId)) return false;
        const found = await query(
          `SELECT id FROM lake_files WHERE id = ANY ($1) AND account_id = $2 AND removed_at IS NULL
           ORDER BY id FOR UPDATE`,
          [removed, accountId],
        );
        if (found.length !== removed.length) return false;
        await query(`UPDATE lake_files SET removed_at = ${NOW} WHERE id = ANY ($1)`, [removed]);
        await query('DELETE FROM lake_file_jobs WHERE file_id = ANY ($1)', [removed]);
        await insert(query, added);
        await query(
          `DELETE FROM lake_resumed_jobs r WHERE account_id = $1
             AND NOT EXISTS (SELECT 1 FROM lake_file_jobs f WHERE f.account_id = $1 AND f.job_id = r.job_id)
             AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = r.job_id)`,
          [accountId],
        );
        await countChange(query, [accountId]);
        return true;
      }),

    viewLake: ({ accountId, tables = LAKE_TABLES, domains, since, until, mostFiles }) =>
      database.transaction(async (query) => {
        // All three answers are of one moment: a file and the one that replaced it never come together.
        await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        const files = await query(
          `SELECT f.*, (SELECT coalesce(json_agg(json_build_array(job_id, first_page)), '[]')
             FROM lake_file_jobs WHERE file_id = f.id) AS jobs
           FROM lake_files f WHERE f.account_id = $1 AND f.removed_at IS NULL AND f.kind = ANY ($2)
             AND f.date >= $3 AND f.date <= $4 AND ($5::text[] IS NULL OR f.domain = ANY ($5))
           ORDER BY f.kind, f.domain, f.date, f.seq LIMIT $6`,
          [accountId, tables, since ?? '', until ?? '9999-12-31', domains ?? null, mostFiles + 1],
        );
        const rules = await query(rulesQuery('$1', IS_PRIVATE), [accountId]);
        const [version] = await query('SELECT version FROM lake_versions WHERE account_id = $1', [accountId]);
        return {
          version: Number(version?.version ?? 0),
          files: files.slice(0, mostFiles).map(lakeFileOf),
          hasMore: files.length > mostFiles,
          rules: rules.map(lakeRuleOf),
        };
      }),

    async listLakes({ after, limit }) {
      const rows = await database.query(
        `SELECT ${SUMMARY_COLUMNS} FROM (
           SELECT * FROM lake_versions WHERE account_id > $1 ORDER BY account_id LIMIT $2
         ) v LEFT JOIN lake_files f ON f.account_id = v.account_id AND f.removed_at IS NULL
         GROUP BY v.account_id, v.version, v.manifest_version ORDER BY v.account_id`,
        [after ?? '', limit],
      );
      return rows.map(lakeSummaryOf);
    },

    async noteManifest(accountId, version) {
      await database.query('UPDATE lake_versions SET manifest_version = $1 WHERE account_id = $2', [
        version,
        accountId,
      ]);
    },

    async knownLakeFiles(ids) {
      const rows = await database.query('SELECT id FROM lake_files WHERE id = ANY ($1)', [ids]);
      return rows.map(({ id }) => String(id));
    },

    async listRemovedLakeFiles(removedBefore, limit) {
      const rows = await database.query(
        'SELECT id, path FROM lake_files WHERE removed_at < $1 ORDER BY removed_at LIMIT $2',
        [Math.floor(removedBefore), limit],
      );
      return rows.map(removedLakeFileOf);
    },

    async forgetLakeFiles(ids) {
      await database.query('DELETE FROM lake_files WHERE removed_at IS NOT NULL AND id = ANY ($1)', [ids]);
    },
  };
}

async function isTooOld(query: Query, files: readonly NewLakeFile[]): Promise<boolean> {
  if (files.length === 0) return false;
  const [row] = await query(`SELECT ${NOW} AS now`);
  return files.some(({ madeAt }) => madeAt < Number(row?.now) - LAKE_FILE_MS);
}

/** The accounts that are not being deleted, held so until the end of the transaction. */
async function living(query: Query, ids: readonly AccountId[]): Promise<ReadonlySet<AccountId>> {
  if (ids.length === 0) return new Set();
  const rows = await query(
    'SELECT id FROM accounts WHERE id = ANY ($1) AND deleting_at IS NULL ORDER BY id FOR KEY SHARE',
    [[...new Set(ids)]],
  );
  return new Set(rows.map(({ id }) => id as AccountId));
}

async function insert(query: Query, files: readonly NewLakeFile[]): Promise<void> {
  if (files.length === 0) return;
  await query(
    `INSERT INTO lake_files
       (id, account_id, kind, domain, date, path, rows, bytes, schema_version, made_at, added_at)
     SELECT id, account_id, kind, domain, date, path, rows, bytes, schema_version, made_at, ${NOW}
     FROM json_to_recordset($1) AS f (id text, account_id text, kind text, domain text, date text, path text,
       rows bigint, bytes bigint, schema_version integer, made_at bigint)`,
    [
      jsonParameter(
        files.map(({ accountId, table, schemaVersion, madeAt, jobs: _jobs, ...file }) => ({
          ...file,
          account_id: accountId,
          kind: table,
          schema_version: schemaVersion,
          made_at: Math.floor(madeAt),
        })),
      ),
    ],
  );
  await query(
    `INSERT INTO lake_file_jobs (file_id, job_id, account_id, first_page)
     SELECT file_id, job_id, account_id, first_page
     FROM json_to_recordset($1) AS f (file_id text, job_id text, account_id text, first_page bigint)`,
    [
      jsonParameter(
        files.flatMap(({ id, accountId, jobs }) =>
          jobs.map(({ jobId, firstPage }) => ({
            file_id: id,
            job_id: jobId,
            account_id: accountId,
            first_page: firstPage,
          })),
        ),
      ),
    ],
  );
}

async function countChange(query: Query, accounts: readonly AccountId[]): Promise<void> {
  if (accounts.length === 0) return;
  await query(
    `INSERT INTO lake_versions (account_id, version) SELECT unnest($1::text[]), 1
     ON CONFLICT (account_id) DO UPDATE SET version = lake_versions.version + 1`,
    [accounts],
  );
}
