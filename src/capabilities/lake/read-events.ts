import type { EventCursor } from '../../core/model/event-types.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { PagesEventData, StoredEvent } from '../../core/ports/event-store.ts';
import type { NewLakeFile } from '../../core/ports/lake-store.ts';
import type { ReaderRange } from '../../core/ports/reader-store.ts';
import type { LakeParts } from './lake-parts.ts';
import { discardFiles, writeLakeFiles } from './write-files.ts';

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
