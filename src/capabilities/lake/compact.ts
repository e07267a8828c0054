import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { LakeRule } from '../../core/ports/lake-store.ts';
import type { LakeParts } from './lake-parts.ts';
import type { DroppedRows } from './merge-files.ts';
import { type CompactionStep, planCompaction } from './plan-compaction.ts';
import { discardFiles, writeLakeFiles } from './write-files.ts';

export interface CompactionReport {
  /** Files that were replaced, and by how many. */
  readonly replacedFiles: number;
  readonly newFiles: number;
  /** Rows that are gone because their jobs, or their pages, are. */
  readonly droppedRows: number;
}

/** Far more files than compaction leaves: beyond it, what comes first is compacted first. */
const MOST_FILES = 100_000;
const PAGES_AT_ONCE = 500;

export const NOTHING_COMPACTED: CompactionReport = { replacedFiles: 0, newFiles: 0, droppedRows: 0 };

/**
 * Merges small files of an account and removes rows that are hidden. Each step replaces files by one transaction; files
 * that another process has replaced meanwhile are left alone. `mostSteps` bounds the work of one call.
 */
export async function compactLake(
  accountId: AccountId,
  parts: LakeParts,
  how: { readonly mostSteps: number; readonly isForced?: boolean; readonly signal?: AbortSignal },
): Promise<CompactionReport> {
  const view = await parts.store.viewLake({ accountId, mostFiles: MOST_FILES });
  const steps = planCompaction(view, parts.now(), how.isForced);
  let report = NOTHING_COMPACTED;
  for (const step of steps.slice(0, how.mostSteps)) {
    if (how.signal?.aborted === true) break;
    const done = await runStep(accountId, step, view.rules, parts);
    report = {
      replacedFiles: report.replacedFiles + done.replacedFiles,
      newFiles: report.newFiles + done.newFiles,
      droppedRows: report.droppedRows + done.droppedRows,
    };
  }
  return report;
}

async function runStep(
  accountId: AccountId,
  { files }: CompactionStep,
  rules: readonly LakeRule[],
  parts: LakeParts,
): Promise<CompactionReport> {
  const { store, encoder, logger } = parts;
  const [first] = files;
  if (first === undefined) return NOTHING_COMPACTED;
  const contents: Uint8Array[] = [];
  for (const { path } of files) {
    const bytes = await parts.files.read(path);
    if (bytes === null) {
      logger.error({ path }, 'lake: a file is missing; run "scrapifie lake rebuild"');
      return NOTHING_COMPACTED;
    }
    contents.push(bytes);
  }
  const own = new Set(files.flatMap(({ jobs }) => jobs.map(({ jobId }) => jobId)));
  const dropped = await droppedRows(
    contents,
    rules.filter(({ jobId }) => own.has(jobId)),
    parts,
  );
  const merged = await encoder.merge(first.table, contents, dropped);
  const { table, domain, date } = first;
  const written = await writeLakeFiles(
    merged === null ? [] : [{ accountId, table, domain, date, ...merged }],
    parts,
  );
  const removed = files.map(({ id }) => id);
  if (!(await store.replaceLakeFiles({ accountId, removed, added: written }))) {
    await discardFiles(written, parts);
    return NOTHING_COMPACTED;
  }
  const rows = files.reduce((sum, file) => sum + file.rows, 0);
  return {
    replacedFiles: files.length,
    newFiles: written.length,
    droppedRows: rows - (merged?.rows ?? 0),
  };
}

/**
 * Finds the rows that the new file leaves out. In a job that was resumed, a page that the store does not have any
 * more was stored again under another number.
 */
async function droppedRows(
  contents: readonly Uint8Array[],
  rules: readonly LakeRule[],
  { store, encoder }: LakeParts,
): Promise<DroppedRows> {
  const before = new Map<JobId, number | null>(rules.map(({ jobId, keepFrom }) => [jobId, keepFrom]));
  const resumed = rules.filter(({ isResumed, keepFrom }) => isResumed && keepFrom !== null);
  const pages = new Set<number>();
  if (resumed.length > 0) {
    const found = await encoder.pages(
      contents,
      resumed.map(({ jobId }) => jobId),
    );
    for (const [jobId, seqs] of found) {
      for (let at = 0; at < seqs.length; at += PAGES_AT_ONCE) {
        const some = seqs.slice(at, at + PAGES_AT_ONCE);
        const stored = new Set((await store.listEventPages(jobId, some)).map(({ seq }) => seq));
        for (const seq of some) if (!stored.has(seq)) pages.add(seq);
      }
    }
  }
  return { before, pages };
}
