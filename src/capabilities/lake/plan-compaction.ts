import type { JobId } from '../../core/model/ids.ts';
import type { LakeFile, LakeRule, LakeView } from '../../core/ports/lake-store.ts';

/** Files of one partition that are to become one. */
export interface CompactionStep {
  readonly files: readonly LakeFile[];
  /** Why, for the log. */
  readonly reason: 'small files' | 'hidden rows';
}

/** Smaller files are merged with others of their partition. */
const SMALL_BYTES = 8_388_608;
/** About what one merge reads at most, and so the size of its file. */
const MERGED_BYTES = 33_554_432;
/** So many small files are merged at once; fewer wait for others. */
const ENOUGH_FILES = 8;
/** Fewer are merged once nothing has been added to the partition for this long. */
const QUIET_MS = 600_000;

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
