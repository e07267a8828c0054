import type { Logger } from '../../../core/observe/logger.ts';
import type { HostAccess } from '../access/host-access.ts';
import type { Quarantine } from '../process/quarantine.ts';
import type { ClaimedTask } from '../process/running-job.ts';
import type { Slots } from '../process/slots.ts';
import type { Mailbox } from './mailbox.ts';

/** Starts tasks of a slice that must run alone in the process, one after the other. */
export interface LoneTasks {
  /** No task of the slice waits for its turn or has it. */
  readonly isFree: boolean;
  /** Takes the task out of the mailbox and has it wait for its turn; else returns the time until the gate may admit it. */
  start(claimed: ClaimedTask): number | null;
}

export interface LoneTaskParts {
  readonly quarantine: Quarantine;
  readonly access: HostAccess;
  readonly slots: Slots;
  readonly mailbox: Mailbox;
  /** Nothing is to begin any more: a task that waits for its turn is given back with the host. */
  readonly stopped: AbortSignal;
  readonly now: () => number;
  readonly logger: Logger;
  /** Fetches the task and stores its end. The task has a slot and the gate's admission. */
  readonly fetch: (claimed: ClaimedTask) => Promise<void>;
  /** The slice has something under way until this ends. */
  readonly follow: (work: Promise<void>) => void;
}

/** A turn waits for the gate no longer than this, since the whole process waits with it. */
const LONGEST_GATE_MS = 2_000;

export function createLoneTasks(parts: LoneTaskParts): LoneTasks {
  const { quarantine, access, slots, mailbox, stopped, now, logger } = parts;
  let isFree = true;

  /** False when the task could not start in its turn. */
  async function takeTurn({ task, running }: ClaimedTask): Promise<boolean> {
    const turn = await quarantine.turn(task.loneInterruptions, stopped);
    if (turn === null) return false;
    try {
      if (!slots.take()) return false;
      const isAdmitted = await access
        .admitSoon(running, new URL(task.atUrl), LONGEST_GATE_MS)
        .catch(() => false);
      if (!isAdmitted) {
        slots.give();
        return false;
      }
      const { id: taskId, jobId, url, interruptions, loneInterruptions } = task;
      logger.warn({ taskId, jobId, url, interruptions, loneInterruptions }, 'an interrupted task runs alone');
      await parts.fetch({ task, running });
      return true;
    } finally {
      turn.end();
    }
  }

  return {
    get isFree() {
      return isFree;
    },
    start(claimed) {
      const decision = access.check(claimed.running, new URL(claimed.task.atUrl));
      // Requests under way, which `Infinity` waits for, have ended when the turn begins.
      const isSoon = decision.kind === 'wait' && decision.until <= now() + LONGEST_GATE_MS;
      const isCrowded = decision.kind === 'wait' && decision.until === Number.POSITIVE_INFINITY;
      if (decision.kind !== 'go' && !isSoon && !isCrowded) return decision.until - now();
      mailbox.served(claimed);
      mailbox.remove(claimed);
      isFree = false;
      const turn = takeTurn(claimed).then((hasRun) => {
        isFree = true;
        if (!hasRun) mailbox.putBack(claimed);
      });
      parts.follow(turn);
      return null;
    },
  };
}
