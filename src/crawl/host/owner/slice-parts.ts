import type { JobId } from '../../../core/model/ids.ts';
import type { StopReason } from '../../../core/model/task-reasons.ts';
import type { Logger } from '../../../core/observe/logger.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import type { Store } from '../../../core/ports/store.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Policies } from '../../policy/policies.ts';
import type { PageReader } from '../../read/page-reading.ts';
import type { RobotsCache } from '../../robots/robots-cache.ts';
import type { AttemptParts } from '../attempt/make-attempt.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { Quarantine } from '../process/quarantine.ts';
import type { RunningJobs } from '../process/running-job.ts';
import type { Slots } from '../process/slots.ts';

/** What all slices of a process work with. */
export interface SliceParts {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly resources: FetchResources;
  readonly reader: PageReader;
  readonly robots: RobotsCache;
  readonly jobs: RunningJobs;
  readonly slots: Slots;
  readonly quarantine: Quarantine;
  readonly policies: () => Policies;
  /** Whether other hosts wait for a place: then a slice ends when its time is over. */
  readonly isContended: () => boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** The time limit of tasks whose request sets none. */
  readonly taskTimeoutMs: number;
  /** Has the same meaning as `AttemptParts.observer`. */
  readonly observer?: AttemptParts['observer'];
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export interface SliceOptions extends SliceParts {
  /** Whether the lease has certainly not run out. False is not the end: a renewal may still be answered. */
  readonly isOurs: () => boolean;
  /** The store has said that the lease is lost. */
  readonly onLeaseLost: () => void;
  /** Ends the tasks of a job that have not begun, and publishes the change. */
  readonly stopJob: (id: JobId, reason: StopReason) => Promise<void>;
}
