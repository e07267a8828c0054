import { JOB_END_EVENTS } from '../../core/model/event-types.ts';
import type { StoredEvent } from '../../core/ports/event-store.ts';
import type { ReaderRange } from '../../core/ports/reader-store.ts';
import type { LakeParts } from './lake-parts.ts';
import { readIntoLake } from './read-events.ts';

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
