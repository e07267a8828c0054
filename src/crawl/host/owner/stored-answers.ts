import type { HostKey } from '../../../core/model/ids.ts';
import type { Policies } from '../../policy/policies.ts';
import type { Attempts } from '../attempt/make-attempt.ts';
import type { SliceSpans } from '../process/attempt-spans.ts';
import type { FetchResources } from '../process/fetch-resources.ts';
import type { ClaimedTask } from '../process/running-job.ts';
import type { Mailbox } from './mailbox.ts';
import type { TaskEnds } from './task-ends.ts';

/**
 * Answers tasks from stored pages where their job allows that. It comes before robots.txt and the gate: the host is not
 * asked for anything.
 */
export interface StoredAnswers {
  /**
   * Takes a task that may be answered so, and has not been looked up yet, out of the mailbox, and ends it, or puts it back
   * to be fetched. False for all other tasks.
   */
  begin(claimed: ClaimedTask): boolean;
}

export interface StoredAnswersParts {
  readonly hostKey: HostKey;
  readonly resources: Pick<FetchResources, 'stored'>;
  readonly policies: () => Policies;
  readonly attempts: Pick<Attempts, 'useStored'>;
  readonly mailbox: Pick<Mailbox, 'remove' | 'putBack'>;
  readonly ends: Pick<TaskEnds, 'attempted'>;
  readonly spans: Pick<SliceSpans, 'attempt'>;
  /** The slice has something under way until this ends. */
  readonly follow: (underWay: Promise<void>) => void;
}

export function createStoredAnswers(parts: StoredAnswersParts): StoredAnswers {
  const { resources, mailbox } = parts;
  /** Tasks for which no stored page was found. */
  const missed = new WeakSet<ClaimedTask>();

  function mayBeStored(claimed: ClaimedTask): boolean {
    const { task, running } = claimed;
    const { maxAgeMs = 0 } = running.job.options.page;
    if (maxAgeMs === 0 || resources.stored === undefined || missed.has(claimed)) return false;
    if (task.kind !== 'page' || task.trace.length > 0 || task.hops > 0) return false;
    return parts.policies().denied(parts.hostKey) === null;
  }

  async function answer(claimed: ClaimedTask): Promise<void> {
    const { task, running } = claimed;
    const stored = (await resources.stored?.fresh(task, running)) ?? null;
    if (stored === null) {
      missed.add(claimed);
      mailbox.putBack(claimed);
      return;
    }
    const use = async () => {
      void parts.ends.attempted(claimed, await parts.attempts.useStored(task, running, stored));
    };
    await (running.spans === null ? use() : parts.spans.attempt(running.spans, task, use));
  }

  return {
    begin(claimed) {
      if (!mayBeStored(claimed)) return false;
      mailbox.remove(claimed);
      parts.follow(answer(claimed));
      return true;
    },
  };
}
