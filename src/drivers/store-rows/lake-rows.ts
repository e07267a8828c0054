import type { AccountId, JobId } from '../../core/model/ids.ts';
import {
  LAKE_TABLES,
  type LakeFile,
  type LakePage,
  type LakeRule,
  type LakeSummary,
  type LakeTable,
  type RemovedLakeFile,
} from '../../core/ports/lake-store.ts';
import { pageFromRow, type Row } from './rows.ts';

export const lakePageOf = (row: Row): LakePage => ({ seq: Number(row.seq), page: pageFromRow(row) });

export const lakeFileOf = (row: Row): LakeFile => ({
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
export const RULE_COLUMNS = `d.job_id, j.finished_at, r.job_id AS resumed,
  CASE WHEN j.seq IS NULL OR coalesce(e.ledger, 0) > 0 THEN NULL ELSE coalesce(e.records, 0) END AS keep_from`;
export const RULE_CONDITION =
  'j.seq IS NULL OR coalesce(e.ledger, 0) > 0 OR coalesce(e.records, 0) > 0 OR r.job_id IS NOT NULL';

export const lakeRuleOf = (row: Row): LakeRule => ({
  jobId: row.job_id as JobId,
  keepFrom: row.keep_from === null ? null : Number(row.keep_from),
  isResumed: row.resumed !== null,
  isPrivate: Number(row.is_private) === 1,
  finishedAt: row.finished_at === null || row.finished_at === undefined ? null : Number(row.finished_at),
});

export const SUMMARY_COLUMNS = `v.account_id, v.version, v.manifest_version, count(f.id) AS files,
  coalesce(sum(f.rows), 0) AS rows, coalesce(sum(f.bytes), 0) AS bytes, max(f.added_at) AS changed_at,
  ${LAKE_TABLES.map((table) => `coalesce(sum(CASE WHEN f.kind = '${table}' THEN f.rows END), 0) AS ${table}`).join(', ')}`;

export const lakeSummaryOf = (row: Row): LakeSummary => ({
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

export const removedLakeFileOf = (row: Row): RemovedLakeFile => ({
  id: String(row.id),
  path: String(row.path),
});
