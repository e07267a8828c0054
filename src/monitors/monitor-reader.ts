import type { PageComparer } from '../compare/page-comparer.ts';
import { isJobEnd } from '../model/event-filter.ts';
import type { Store } from '../ports/store.ts';
import type { EventReaderDeps } from '../readers/event-reader.ts';
import { type CheckDeps, evaluateCheck } from './evaluate-check.ts';

export interface MonitorReaderDeps {
  readonly store: CheckDeps['store'] & Pick<Store, 'getJob' | 'advanceReader'>;
  readonly comparer: Pick<PageComparer, 'watched'>;
  readonly lane: CheckDeps['lane'];
}

/**
 * Evaluates the jobs of monitors that have ended; it has to follow the reader that makes their snapshots. A check is recorded once, so that events
 * that are read again after a crash change nothing.
 */
export function createMonitorReader({ store, comparer, lane }: MonitorReaderDeps): EventReaderDeps['apply'] {
  const watchPage: CheckDeps['watchPage'] = ({ version }, rules) => comparer.watched(version, rules);
  return async (events, range) => {
    for (const { type, jobId } of events) {
      const job = jobId !== null && isJobEnd(type) ? await store.getJob(jobId) : null;
      if (job !== null) await evaluateCheck(job, { store, watchPage, lane });
    }
    return store.advanceReader('monitors', range);
  };
}
