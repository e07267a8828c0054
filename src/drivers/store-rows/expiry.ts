import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId, JobSeq } from '../../core/model/ids.ts';
import type { ExpiredKind } from '../../core/model/job.ts';
import { blobsOfRecord, bytesOfArtifacts } from '../../core/model/page-record.ts';
import type { PagePart, RetentionAges } from '../../core/model/retention.ts';
import type { ExpiredPages, RetainedJob } from '../../core/ports/retention-store.ts';
import type { Row } from './rows.ts';

/**
 * The account that has the jobs that are marked as deleted, until their rows are. So no query of an account and none by
 * the id of a job finds them.
 */
export const DELETED_ACCOUNT = '(deleted)';
/** What the id of such a job begins with. */
export const DELETED_ID = 'deleted:';
/** Jobs with this many URLs or fewer are deleted in one transaction. */
export const DELETED_AT_ONCE = 1_000;

/** `ledger` of `job_expiry`: its rows are being deleted, or are gone. */
export const LEDGER = { deleting: 1, gone: 2 };

/** Which parts of a page (p) have expired, by the row of its job in `job_expiry` (e). */
export const EXPIRED_COLUMNS = `CASE WHEN e.bodies > p.seq THEN 1 ELSE 0 END AS expired_bodies,
  CASE WHEN e.artifacts > p.seq THEN 1 ELSE 0 END AS expired_artifacts,
  CASE WHEN e.records > p.seq THEN 1 ELSE 0 END AS expired_records`;

export function expiredPartsOf(row: Row): { readonly expired?: readonly PagePart[] } {
  const expired = (['bodies', 'artifacts', 'records'] as const).filter(
    (part) => Number(row[`expired_${part}`] ?? 0) === 1,
  );
  return expired.length === 0 ? {} : { expired };
}

/** The kinds of data of which a job (j) has lost some, each with a comma behind it; NULL for most jobs. */
export const EXPIRED_KINDS = `(
  SELECT CASE WHEN e.bodies > 0 THEN 'bodies,' ELSE '' END || CASE WHEN e.artifacts > 0 THEN 'artifacts,' ELSE '' END
    || CASE WHEN e.records > 0 THEN 'records,' ELSE '' END || CASE WHEN e.ledger > 0 THEN 'ledger,' ELSE '' END
  FROM job_expiry e WHERE e.job_seq = j.seq
)`;

export function expiredKindsOf(value: unknown): { readonly expired?: readonly ExpiredKind[] } {
  if (typeof value !== 'string' || value === '') return {};
  return { expired: value.slice(0, -1).split(',') as ExpiredKind[] };
}

/** The parts that refer to blobs and have not expired. */
export function keptPartsOf(row: Row): readonly ('bodies' | 'artifacts')[] {
  return (['bodies', 'artifacts'] as const).filter((part) => Number(row[`expired_${part}`] ?? 0) === 0);
}

/** The body of a page (p) has not expired. */
export const HAS_BODY =
  'NOT EXISTS (SELECT 1 FROM job_expiry e WHERE e.job_seq = p.job_seq AND e.bodies > p.seq)';

/** A record refers to blobs, or may: that of a rendered page, or a compressed one, which must be read to find out. */
export const MAY_BE_RENDERED = {
  sqlite: `(substr(record, 1, 12) = CAST('{"rendered":' AS BLOB) OR substr(record, 1, 1) <> x'7b')`,
  postgres: `(substring(record FROM 1 FOR 12) = '{"rendered":'::bytea OR substring(record FROM 1 FOR 1) <> '{'::bytea)`,
};

export const expiredLedger = () =>
  new ScrapifieError(
    'EXPIRED',
    'The URLs of the job were deleted, because their time was over: start a new job for them.',
  );

/** Columns of a job (j) with its row in `job_expiry` (e), but for its own ages, which each store reads its own way. */
export const RETAINED_COLUMNS = `j.seq, j.id, j.created_at, j.finished_at, j.known, j.bytes,
  coalesce((SELECT max(p.seq) FROM pages p WHERE p.job_seq = j.seq), -1) + 1 AS pages_end,
  coalesce(e.bodies, 0) AS bodies_end, coalesce(e.artifacts, 0) AS artifacts_end,
  coalesce(e.records, 0) AS records_end, coalesce(e.ledger, 0) AS ledger`;

export function retainedJobOf(row: Row): RetainedJob {
  const { ages } = row;
  return {
    seq: Number(row.seq) as JobSeq,
    id: String(row.id) as JobId,
    createdAt: Number(row.created_at),
    finishedAt: row.finished_at === null ? null : Number(row.finished_at),
    urls: Number(row.known),
    bytes: Number(row.bytes),
    ages: ages === null || ages === undefined ? {} : (JSON.parse(String(ages)) as RetentionAges),
    pagesEnd: Number(row.pages_end),
    expired: {
      bodies: Number(row.bodies_end),
      artifacts: Number(row.artifacts_end),
      records: Number(row.records_end),
    },
    isLedgerExpired: Number(row.ledger) > 0,
  };
}

/**
 * What expires of pages that were read in their order: those before the first that is too young. `record` is there where
 * the part is `artifacts` and the record may refer to some; `record_bytes` is the length of the record.
 */
export function expiredPagesOf(
  rows: readonly Row[],
  { part, fetchedBefore, limit }: { part: PagePart; fetchedBefore: number; limit: number },
): ExpiredPages & { readonly end: number | null } {
  const young = rows.findIndex((row) => Number(row.fetched_at) >= fetchedBefore);
  const due = young === -1 ? rows : rows.slice(0, young);
  const last = due.at(-1);
  const end = last === undefined ? null : Number(last.seq) + 1;
  const sizes = due.map((row) => bytesOfPart(row, part)).filter((bytes) => bytes !== null);
  return {
    pages: sizes.length,
    bytes: sizes.reduce((sum, bytes) => sum + bytes, 0),
    next: young === -1 && rows.length === limit ? end : null,
    end,
  };
}

/** Null when the page has none. */
function bytesOfPart(row: Row, part: PagePart): number | null {
  if (part === 'bodies') return row.content_hash === null ? null : Number(row.bytes);
  if (part === 'records') return row.record_bytes === null ? null : Number(row.record_bytes);
  if (row.record === null || row.record === undefined) return null;
  const record = row.record as Uint8Array;
  return blobsOfRecord(record, ['artifacts']).length === 0 ? null : bytesOfArtifacts(record);
}
