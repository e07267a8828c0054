import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { LakeFile, LakeRule, LakeView } from '../../core/ports/lake-store.ts';
import { discardFiles, type LakeParts, writeLakeFiles } from './lake-files.ts';
import type { DroppedRows } from './lake-rows.ts';

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

const NOTHING_COMPACTED: CompactionReport = { replacedFiles: 0, newFiles: 0, droppedRows: 0 };

/** Smaller files are merged with others of their partition. */
const SMALL_BYTES = 8_388_608;
/** About what one merge reads at most, and so the size of its file. */
const MERGED_BYTES = 33_554_432;
/** So many small files are merged at once; fewer wait for others. */
const ENOUGH_FILES = 8;
/** Fewer are merged once nothing has been added to the partition for this long. */
const QUIET_MS = 600_000;

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

/** Files of one partition that are to become one. */
interface CompactionStep {
  readonly files: readonly LakeFile[];
  /** Why, for the log. */
  readonly reason: 'small files' | 'hidden rows';
}

/** What of the lake is worth rewriting now. `isForced`: partitions with two small files are, however young. */
export function planCompaction(view: LakeView, now: number, isForced = false): readonly CompactionStep[] {
  const rules = new Map(view.rules.map((rule) => [rule.jobId, rule]));
  const partitions = Map.groupBy(view.files, ({ table, domain, date }) => `${table} ${domain} ${date}`);
  const steps: CompactionStep[] = [];
  for (const files of partitions.values()) {
    const hidden = files.filter((file) => hasHiddenRows(file, rules));
    const small = files.filter((file) => file.bytes < SMALL_BYTES && !hidden.includes(file));
    // Files with hidden rows are rewritten anyway, so small ones among them join the others.
    const merged = bundles([...hidden, ...small]);
    for (const bundle of merged) {
      const isDirty = bundle.some((file) => hidden.includes(file));
      if (isDirty) steps.push({ files: bundle, reason: 'hidden rows' });
      else if (isWorthMerging(bundle, now, isForced)) steps.push({ files: bundle, reason: 'small files' });
    }
  }
  return steps;
}

function isWorthMerging(files: readonly LakeFile[], now: number, isForced: boolean): boolean {
  if (files.length < 2) return false;
  if (isForced || files.length >= ENOUGH_FILES) return true;
  return files.every(({ addedAt }) => addedAt <= now - QUIET_MS);
}

function bundles(files: readonly LakeFile[]): LakeFile[][] {
  const found: LakeFile[][] = [];
  let bytes = 0;
  for (const file of files) {
    const last = found.at(-1);
    if (last === undefined || bytes + file.bytes > MERGED_BYTES) {
      found.push([file]);
      bytes = file.bytes;
    } else {
      last.push(file);
      bytes += file.bytes;
    }
  }
  return found;
}

function hasHiddenRows(file: LakeFile, rules: ReadonlyMap<JobId, LakeRule>): boolean {
  return file.jobs.some(({ jobId, firstPage }) => {
    const rule = rules.get(jobId);
    if (rule === undefined) return false;
    if (rule.keepFrom === null || firstPage < rule.keepFrom) return true;
    // Which pages were stored again is known when the job has ended again.
    return rule.isResumed && rule.finishedAt !== null && file.addedAt <= rule.finishedAt;
  });
}
