import type { AccountId, JobId } from '../../core/model/ids.ts';
import {
  LAKE_FILE_MS,
  LAKE_TABLES,
  type LakeFile,
  type LakePage,
  type LakeRule,
  type LakeStore,
  type LakeSummary,
  type LakeTable,
  type NewLakeFile,
  type RemovedLakeFile,
} from '../../core/ports/lake-store.ts';
import { EXPIRED_COLUMNS } from '../store-rows/expiry.ts';
import { pageFromRow, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read, snapshot, transaction } from './methods.ts';
import { moveReader } from './readers.ts';
import { CLOCK, either, FOR_KEY_SHARE, FOR_UPDATE, given, oneOf, raw, rowsOf, type Sql, sql } from './sql.ts';
import { all, get, list, one, run, type Steps } from './steps.ts';

const lakePageOf = (row: Row): LakePage => ({ seq: Number(row.seq), page: pageFromRow(row) });

const lakeFileOf = (row: Row): LakeFile => ({
  id: String(row.id),
  accountId: row.account_id as AccountId,
  table: row.kind as LakeTable,
  domain: String(row.domain),
  date: String(row.date),
  path: String(row.path),
  rows: Number(row.rows),
  bytes: Number(row.bytes),
  schemaVersion: Number(row.schema_version),
  madeAt: Number(row.made_at),
  addedAt: Number(row.added_at),
  jobs: (JSON.parse(String(row.jobs)) as [JobId, number][]).map(([jobId, firstPage]) => ({
    jobId,
    firstPage,
  })),
});

/** `d` has the jobs of files, `j` their rows, `e` what they have lost to retention, `r` those that were resumed. */
const RULE_COLUMNS = `d.job_id, j.finished_at, r.job_id AS resumed,
  CASE WHEN j.seq IS NULL OR coalesce(e.ledger, 0) > 0 THEN NULL ELSE coalesce(e.records, 0) END AS keep_from`;

const RULE_CONDITION =
  'j.seq IS NULL OR coalesce(e.ledger, 0) > 0 OR coalesce(e.records, 0) > 0 OR r.job_id IS NOT NULL';

const lakeRuleOf = (row: Row): LakeRule => ({
  jobId: row.job_id as JobId,
  keepFrom: row.keep_from === null ? null : Number(row.keep_from),
  isResumed: row.resumed !== null,
  isPrivate: Number(row.is_private) === 1,
  finishedAt: row.finished_at === null || row.finished_at === undefined ? null : Number(row.finished_at),
});

const SUMMARY_COLUMNS = `v.account_id, v.version, v.manifest_version, count(f.id) AS files,
  coalesce(sum(f.rows), 0) AS rows, coalesce(sum(f.bytes), 0) AS bytes, max(f.added_at) AS changed_at,
  ${LAKE_TABLES.map((table) => `coalesce(sum(CASE WHEN f.kind = '${table}' THEN f.rows END), 0) AS ${table}`).join(', ')}`;

const lakeSummaryOf = (row: Row): LakeSummary => ({
  accountId: row.account_id as AccountId,
  version: Number(row.version),
  manifestVersion: row.manifest_version === null ? null : Number(row.manifest_version),
  files: Number(row.files),
  rows: Number(row.rows),
  bytes: Number(row.bytes),
  tables: Object.fromEntries(LAKE_TABLES.map((table) => [table, Number(row[table])])) as Record<
    LakeTable,
    number
  >,
  changedAt: row.changed_at === null ? null : Number(row.changed_at),
});

const removedLakeFileOf = (row: Row): RemovedLakeFile => ({
  id: String(row.id),
  path: String(row.path),
});

const PAGES = raw(`SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p JOIN jobs j ON j.seq = p.job_seq
  LEFT JOIN job_expiry e ON e.job_seq = j.seq`);

/** The pages of a job (j) are private. */
const IS_PRIVATE = either(
  sql`(json_extract(j.options, '$.credentials') = 'read' AND json_extract(j.options, '$.page.session') IS NOT NULL)`,
  sql`(j.options ->> 'credentials' = 'read' AND j.options -> 'page' ->> 'session' IS NOT NULL)`,
);

const JOBS_AS_JSON = either(
  sql`(SELECT json_group_array(json_array(job_id, first_page)) FROM lake_file_jobs WHERE file_id = f.id)`,
  sql`(SELECT coalesce(json_agg(json_build_array(job_id, first_page)), '[]') FROM lake_file_jobs WHERE file_id = f.id)`,
);

const selectRules = (account: AccountId): Sql =>
  sql`SELECT ${raw(RULE_COLUMNS)}, CASE WHEN ${IS_PRIVATE} THEN 1 ELSE 0 END AS is_private
    FROM (SELECT DISTINCT job_id FROM lake_file_jobs WHERE account_id = ${account}) d
    LEFT JOIN jobs j ON j.id = d.job_id AND j.account_id = ${account}
    LEFT JOIN job_expiry e ON e.job_seq = j.seq LEFT JOIN lake_resumed_jobs r ON r.job_id = d.job_id
    WHERE ${raw(RULE_CONDITION)} OR ${IS_PRIVATE}`;

const FILE_COLUMNS = {
  id: 'text',
  account_id: 'text',
  kind: 'text',
  domain: 'text',
  date: 'text',
  path: 'text',
  rows: 'bigint',
  bytes: 'bigint',
  schema_version: 'bigint',
  made_at: 'bigint',
} as const;
const FILE_JOB_COLUMNS = {
  file_id: 'text',
  job_id: 'text',
  account_id: 'text',
  first_page: 'bigint',
} as const;

export const lakeStore: Methods<LakeStore> = {
  lakePages: read((jobId, pageSeqs) =>
    list(
      sql`${PAGES} WHERE p.seq ${oneOf(pageSeqs, 'bigint')} AND j.id = ${jobId} ORDER BY p.seq`,
      lakePageOf,
    ),
  ),

  lakePagesAfter: read((jobId, after, limit) =>
    list(sql`${PAGES} WHERE j.id = ${jobId} AND p.seq > ${after} ORDER BY p.seq LIMIT ${limit}`, lakePageOf),
  ),

  addLakeFiles: transaction(function* ({ range, files, resumed }) {
    if ((yield* isTooOld(files)) || !(yield* moveReader('lake', range))) return false;
    const accounts = yield* livingAccounts([...files, ...resumed].map(({ accountId }) => accountId));
    const added = files.filter(({ accountId }) => accounts.has(accountId));
    yield* insertFiles(added);
    const jobs = resumed.filter(({ accountId }) => accounts.has(accountId));
    if (jobs.length > 0) {
      const rows = jobs.map(({ jobId, accountId }) => ({ job_id: jobId, account_id: accountId }));
      yield* run(
        sql`INSERT INTO lake_resumed_jobs (job_id, account_id)
          SELECT job_id, account_id FROM ${rowsOf('r', { job_id: 'text', account_id: 'text' }, rows)}
          WHERE true ON CONFLICT DO NOTHING`,
      );
    }
    yield* countChange(added.map(({ accountId }) => accountId));
    return true;
  }),

  replaceLakeFiles: transaction(function* ({ accountId, removed, added }) {
    if (yield* isTooOld(added)) return false;
    if (!(yield* livingAccounts([accountId])).has(accountId)) return false;
    const ids = oneOf(removed, 'text');
    const found = yield* all(
      sql`SELECT id FROM lake_files WHERE id ${ids} AND account_id = ${accountId} AND removed_at IS NULL
        ORDER BY id ${FOR_UPDATE}`,
    );
    if (found.length !== removed.length) return false;
    yield* run(sql`UPDATE lake_files SET removed_at = ${CLOCK} WHERE id ${ids}`);
    yield* run(sql`DELETE FROM lake_file_jobs WHERE file_id ${ids}`);
    yield* insertFiles(added);
    yield* run(
      sql`DELETE FROM lake_resumed_jobs AS r WHERE account_id = ${accountId}
        AND NOT EXISTS (SELECT 1 FROM lake_file_jobs f WHERE f.account_id = ${accountId} AND f.job_id = r.job_id)
        AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = r.job_id)`,
    );
    yield* countChange([accountId]);
    return true;
  }),

  // The three answers are of one moment: a file and the one that replaced it never come together.
  viewLake: snapshot(function* ({ accountId, tables = LAKE_TABLES, domains, since, until, mostFiles }) {
    const files = yield* all(
      sql`SELECT f.*, ${JOBS_AS_JSON} AS jobs
        FROM lake_files f WHERE f.account_id = ${accountId} AND f.removed_at IS NULL
          AND f.kind ${oneOf(tables, 'text')} AND f.date >= ${since ?? ''} AND f.date <= ${until ?? '9999-12-31'}
          ${given(domains, (some) => sql`AND f.domain ${oneOf(some, 'text')}`)}
        ORDER BY f.kind, f.domain, f.date, f.seq LIMIT ${mostFiles + 1}`,
    );
    const rules = yield* list(selectRules(accountId), lakeRuleOf);
    const lake = yield* get(sql`SELECT version FROM lake_versions WHERE account_id = ${accountId}`);
    return {
      version: Number(lake?.version ?? 0),
      files: files.slice(0, mostFiles).map(lakeFileOf),
      hasMore: files.length > mostFiles,
      rules,
    };
  }),

  listLakes: read(({ after, limit }) =>
    list(
      sql`SELECT ${raw(SUMMARY_COLUMNS)} FROM (
          SELECT * FROM lake_versions WHERE account_id > ${after ?? ''} ORDER BY account_id LIMIT ${limit}
        ) v LEFT JOIN lake_files f ON f.account_id = v.account_id AND f.removed_at IS NULL
        GROUP BY v.account_id, v.version, v.manifest_version ORDER BY v.account_id`,
      lakeSummaryOf,
    ),
  ),

  noteManifest: change(function* (accountId, version) {
    yield* run(sql`UPDATE lake_versions SET manifest_version = ${version} WHERE account_id = ${accountId}`);
  }),

  knownLakeFiles: read((ids) =>
    list(sql`SELECT id FROM lake_files WHERE id ${oneOf(ids, 'text')}`, ({ id }) => String(id)),
  ),

  listRemovedLakeFiles: read((removedBefore, limit) =>
    list(
      sql`SELECT id, path FROM lake_files WHERE removed_at < ${Math.floor(removedBefore)}
        ORDER BY removed_at LIMIT ${limit}`,
      removedLakeFileOf,
    ),
  ),

  forgetLakeFiles: change(function* (ids) {
    yield* run(sql`DELETE FROM lake_files WHERE removed_at IS NOT NULL AND id ${oneOf(ids, 'text')}`);
  }),
};

function* isTooOld(files: readonly NewLakeFile[]): Steps<boolean> {
  if (files.length === 0) return false;
  const now = yield* one(sql`SELECT ${CLOCK} AS now`, (row) => Number(row.now));
  return files.some(({ madeAt }) => madeAt < now - LAKE_FILE_MS);
}

/** The accounts that are not being deleted, held so until the end of the transaction. */
function* livingAccounts(ids: readonly AccountId[]): Steps<ReadonlySet<AccountId>> {
  if (ids.length === 0) return new Set();
  const living = yield* list(
    sql`SELECT id FROM accounts WHERE id ${oneOf([...new Set(ids)], 'text')} AND deleting_at IS NULL
      ORDER BY id ${FOR_KEY_SHARE}`,
    ({ id }) => id as AccountId,
  );
  return new Set(living);
}

function* insertFiles(files: readonly NewLakeFile[]): Steps<void> {
  if (files.length === 0) return;
  const rows = files.map(({ accountId, table, schemaVersion, madeAt, ...file }) => ({
    id: file.id,
    account_id: accountId,
    kind: table,
    domain: file.domain,
    date: file.date,
    path: file.path,
    rows: file.rows,
    bytes: file.bytes,
    schema_version: schemaVersion,
    made_at: Math.floor(madeAt),
  }));
  yield* run(
    sql`INSERT INTO lake_files (id, account_id, kind, domain, date, path, rows, bytes, schema_version, made_at, added_at)
      SELECT id, account_id, kind, domain, date, path, rows, bytes, schema_version, made_at, ${CLOCK}
      FROM ${rowsOf('f', FILE_COLUMNS, rows)}`,
  );
  const jobs = files.flatMap(({ id, accountId, jobs: ofFile }) =>
    ofFile.map(({ jobId, firstPage }) => ({
      file_id: id,
      job_id: jobId,
      account_id: accountId,
      first_page: firstPage,
    })),
  );
  yield* run(
    sql`INSERT INTO lake_file_jobs (file_id, job_id, account_id, first_page)
      SELECT file_id, job_id, account_id, first_page FROM ${rowsOf('j', FILE_JOB_COLUMNS, jobs)}`,
  );
}

/** Counts a change of each lake, in one order, so that no two writers wait for each other. */
function* countChange(accounts: readonly AccountId[]): Steps<void> {
  const changed = [...new Set(accounts)].sort().map((account_id) => ({ account_id }));
  if (changed.length === 0) return;
  yield* run(
    sql`INSERT INTO lake_versions (account_id, version)
      SELECT account_id, 1 FROM ${rowsOf('c', { account_id: 'text' }, changed)}
      WHERE true ON CONFLICT (account_id) DO UPDATE SET version = lake_versions.version + 1`,
  );
}
