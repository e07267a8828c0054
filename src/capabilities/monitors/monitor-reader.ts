import { isJobEnd } from '../../core/model/event-types.ts';
import type { WorkMetrics } from '../../core/observe/metrics/work-metrics.ts';
import type { Store } from '../../core/ports/store.ts';
import type { PageComparer } from '../compare/page-comparer.ts';
import type { EventReaderDeps } from '../readers/event-reader.ts';
import { type CheckDeps, evaluateCheck } from './evaluate-check.ts';

export interface MonitorReaderDeps {
  readonly store: CheckDeps['store'] & Pick<Store, 'getJob' | 'advanceReader'>;
  readonly comparer: Pick<PageComparer, 'watched'>;
  readonly lane: CheckDeps['lane'];
  readonly metrics: Pick<WorkMetrics, 'monitorChecked'>;
}

/**
 * Evaluates the jobs of monitors that have ended; it has to follow the reader that makes their snapshots. A check is recorded once, so that events
 * that are read again after a crash change nothing.
 */
export function createMonitorReader(deps: MonitorReaderDeps): EventReaderDeps['apply'] {
  const { store, comparer, lane, metrics } = deps;
  const watchPage: CheckDeps['watchPage'] = ({ version }, rules) => comparer.watched(version, rules);
  return async (events, range) => {
    for (const { type, jobId } of events) {
      const job = jobId !== null && isJobEnd(type) ? await store.getJob(jobId) : null;
      const evaluated = job === null ? null : await evaluateCheck(job, { store, watchPage, lane });
      if (evaluated !== null) metrics.monitorChecked(evaluated.changes.length);
    }
    return store.advanceReader('monitors', range);
  };
}
