import { createHash } from 'node:crypto';
import type { ExportId } from '../../core/model/ids.ts';
import type { Bus } from '../../core/ports/bus.ts';
import type { StoredEvent } from '../../core/ports/event-store.ts';
import type { ReaderRange } from '../../core/ports/reader-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { newSecret } from './export-link.ts';

export interface JobEndParts {
  readonly store: Pick<Store, 'getJob' | 'createExport' | 'advanceReader'>;
  readonly bus: Pick<Bus, 'publish'>;
}

/** A job that was cancelled has none: it is resumed, or of no use. */
const ENDS: ReadonlySet<string> = new Set(['job.completed', 'job.partially_completed', 'job.failed']);

/**
 * Makes the exports that a job asks for at its end. Their ids come from the event, so that an event which is read twice
 * makes them once; a job that is resumed ends again, and gets new ones.
 */
export function exportsAtJobEnd({ store, bus }: JobEndParts) {
  return async (events: readonly StoredEvent[], range: ReaderRange): Promise<boolean> => {
    let made = 0;
    for (const { id: eventId, type, jobId } of events) {
      const job = jobId === null || !ENDS.has(type) ? null : await store.getJob(jobId);
      for (const [at, spec] of (job?.options.exports ?? []).entries()) {
        if (job === null) continue;
        const id = exportIdFor(`${eventId}:${at}`);
        const { accountId, id: of } = job;
        await store.createExport({ id, accountId, jobId: of, spec, secret: newSecret() });
        made += 1;
      }
    }
    if (made > 0) bus.publish('export.created', {});
    return store.advanceReader('exports', range);
  };
}

function exportIdFor(text: string): ExportId {
  const hex = createHash('sha256').update(text).digest('hex');
  return `exp_${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}` as ExportId;
}
