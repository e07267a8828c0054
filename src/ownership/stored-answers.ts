import type { FetchResources } from '../attempts/fetch-resources.ts';
import type { Attempts } from '../attempts/make-attempt.ts';
import type { ClaimedTask, Mailbox } from './mailbox.ts';
import type { TaskEnds } from './task-ends.ts';

/**
 * Answers tasks from stored pages where their job allows that. It comes before robots.txt and the gate: the host is not
 * asked for anything.
 */
export interface StoredAnswers {
  /** Whether the task may be answered so, and has not been looked up yet. */
  wants(claimed: ClaimedTask): boolean;
  /** Ends the task, which is no longer in the mailbox, or puts it back to be fetched. */
  answer(claimed: ClaimedTask): Promise<void>;
}

export interface StoredAnswersParts {
  readonly resources: Pick<FetchResources, 'stored'>;
  readonly attempts: Pick<Attempts, 'useStored'>;
  readonly mailbox: Pick<Mailbox, 'putBack'>;
  readonly ends: Pick<TaskEnds, 'attempted'>;
}

export function createStoredAnswers({
  resources,
  attempts,
  mailbox,
  ends,
}: StoredAnswersParts): StoredAnswers {
  /** Tasks for which no stored page was found. */
  const missed = new WeakSet<ClaimedTask>();
  return {
    wants(claimed) {
      const { task, running } = claimed;
      const { maxAgeMs = 0 } = running.job.options.page;
      if (maxAgeMs === 0 || resources.stored === undefined || missed.has(claimed)) return false;
      return task.kind === 'page' && task.trace.length === 0 && task.hops === 0;
    },
    async answer(claimed) {
      const { task, running } = claimed;
      const stored = (await resources.stored?.fresh(task, running)) ?? null;
      if (stored === null) {
        missed.add(claimed);
        mailbox.putBack(claimed);
        return;
      }
      void ends.attempted(claimed, await attempts.useStored(task, running, stored));
    },
  };
}
