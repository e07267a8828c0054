import { JOB_END_EVENTS } from '../../core/model/event-types.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { EventCursor, PagesEventData, ReaderRange, StoredEvent } from '../../core/ports/event-store.ts';
import type { NewLakeFile } from '../../core/ports/lake-store.ts';
import { discardFiles, type LakeParts, writeLakeFiles } from './lake-files.ts';

/** What the reader `lake` does with the events of jobs that have the option. */
export interface LakeReader {
  apply(events: readonly StoredEvent[], range: ReaderRange): Promise<boolean>;
  /** Waits no more for further events. */
  hurry(): void;
}

/**
 * While a job goes on, events are gathered for this long: each batch makes files of its own, and few large ones are
 * better than many small ones.
 */
const GATHER_MS = 2_000;

const ENDS: ReadonlySet<string> = new Set(JOB_END_EVENTS);

export function createLakeReader(parts: LakeParts, gatherMs = GATHER_MS): LakeReader {
  const hurried = Promise.withResolvers<void>();
  return {
    async apply(events, range) {
      const isOurs = await readIntoLake(events, range, parts);
      // The files of a job that has ended are not to wait.
      if (!events.some(({ type }) => ENDS.has(type))) await waitUnless(gatherMs, hurried.promise);
      return isOurs;
    },
    hurry: () => hurried.resolve(),
  };
}

async function waitUnless(ms: number, ended: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([late, ended]);
  clearTimeout(timer);
}

/** Pages that are read from the store at once: a record may be large. */
const PAGES_AT_ONCE = 25;
/** Rows are written to files when they take about this much memory. */
const MOST_HELD_BYTES = 16_777_216;
/** Files that become part of the lake by one transaction, as far as the ends of events allow. */
const MOST_FILES = 500;

/**
 * Writes the pages that the events tell of into new files, and makes these part of the lake in the transactions that
 * move the cursor. Whatever fails in between leaves files that no one refers to, and the events are read again. Returns
 * false when another process was first.
 */
export async function readIntoLake(
  events: readonly StoredEvent[],
  range: ReaderRange,
  parts: LakeParts,
): Promise<boolean> {
  const { store, encoder } = parts;
  let after: EventCursor = range.after;
  let files: NewLakeFile[] = [];
  let resumed: { jobId: JobId; accountId: AccountId }[] = [];
  const batch = encoder.openBatch();

  async function commit(next: EventCursor): Promise<boolean> {
    files.push(...(await writeLakeFiles(await batch.flush(), parts)));
    const isOurs = await store.addLakeFiles({ range: { after, next }, files, resumed });
    if (!isOurs) await discardFiles(files, parts);
    after = next;
    [files, resumed] = [[], []];
    return isOurs;
  }

  try {
    for (const event of events) {
      const { accountId, jobId } = event;
      if (jobId === null) continue;
      if (event.type === 'job.resumed') resumed.push({ jobId, accountId });
      if (event.type !== 'pages.committed') continue;
      const { pages: seqs } = event.data as unknown as PagesEventData;
      for (let at = 0; at < seqs.length; at += PAGES_AT_ONCE) {
        const pages = await store.lakePages(jobId, seqs.slice(at, at + PAGES_AT_ONCE));
        if (pages.length === 0) continue;
        const heldBytes = await batch.add(accountId, jobId, pages);
        if (heldBytes >= MOST_HELD_BYTES) {
          files.push(...(await writeLakeFiles(await batch.flush(), parts)));
        }
      }
      if (files.length >= MOST_FILES && !(await commit(event.cursor))) return false;
    }
    // The last event may have been committed already, and be where the range ends.
    return after === range.next ? true : commit(range.next);
  } finally {
    await batch.close();
  }
}
