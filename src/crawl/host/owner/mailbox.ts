import type { JobId, JobSeq } from '../../../core/model/ids.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { HostPolicy } from '../../../core/model/policy.ts';
import { hasDiedTooOften, mustRunAlone, type Task } from '../../../core/model/task.ts';
import {
  compareTurns,
  inTurn,
  NO_TURNS,
  type Queued,
  type Turns,
  turnsAfter,
} from '../../../core/model/turns.ts';
import { type Logger, levelOfError } from '../../../core/observe/logger.ts';
import type { BreakerState, HostLease, HostStore } from '../../../core/ports/host-store.ts';
import { probeRank } from '../../politeness/breaker.ts';
import type { Quarantine } from '../process/quarantine.ts';
import type { ClaimedTask, RunningJob, RunningJobs } from '../process/running-job.ts';

/**
 * The tasks of the host that this owner has in hand, refilled from the store in the background. It takes what the
 * next fraction of a second needs and no more, so that what comes later with a better rank does not wait behind.
 */
export interface Mailbox {
  /**
   * The next task whose job may start one more and is not held back; it stays in the mailbox until `remove`. Tasks that
   * must run alone come last, those with the fewest deaths first, and only with `canRunAlone`. While the quarantine is
   * closed there are no others. Accounts and their jobs take turns (`compareTurns`), and within a job those with the best
   * rank come first; while the breaker of the host is not closed, those that are the best probes.
   */
  next(canRunAlone: boolean, breaker: BreakerState): ClaimedTask | null;
  remove(claimed: ClaimedTask): void;
  /** The task is fetched: its account and its job have had their turn. */
  served(claimed: ClaimedTask): void;
  /** What the host has served last, for the next owner; undefined while tasks of one job alone were served. */
  readonly turns: Turns | undefined;
  /** The task could not start after all. */
  putBack(claimed: ClaimedTask): void;
  /** The job has to wait for something that other jobs of the host need not wait for: theirs come first. */
  holdBack(running: RunningJob, until: number): void;
  releaseHeldBack(): void;
  /** When the first of the jobs that are held back may go on; Infinity: the time is unknown, or none is held back. */
  readonly heldBackUntil: number;
  /** Asks the store for more when there is room and reason. */
  refill(wanted: number): void;
  /** There may be new tasks in the store. */
  onNewTasks(): void;
  /** Removes the tasks of these jobs and returns them. */
  takeOut(jobs: ReadonlySet<string>): readonly ClaimedTask[];
  /** The jobs of the tasks in hand. */
  jobs(): readonly JobId[];
  readonly size: number;
  readonly isRefilling: boolean;
  /** The store had nothing more for this host when it was last asked, and no new tasks were announced since. */
  readonly isDry: boolean;
}

export interface MailboxParts {
  readonly store: Pick<HostStore, 'claimTasks'>;
  readonly jobs: RunningJobs;
  readonly lease: HostLease;
  readonly quarantine: Pick<Quarantine, 'isOpen' | 'whenOpen'>;
  readonly logger: Logger;
  readonly now: () => number;
  /** The mailbox has changed, or new tasks were announced. */
  readonly onChange: () => void;
  /** The store does not answer; the host should be given back. */
  readonly onFailure: (error: unknown) => void;
}

/** Tasks that are held back by the limits of many jobs together need a limit of their own. */
const MOST_IN_HAND = 1_024;

/** How many tasks of one job are in hand. */
interface JobInHand {
  readonly jobSeq: JobSeq;
  tasks: number;
  /** How many of `tasks` do not run beside others: see `Mailbox.next`. */
  alone: number;
}

export function createMailbox(parts: MailboxParts): Mailbox {
  const { store, jobs, lease, quarantine, logger, now, onChange, onFailure } = parts;
  let claimedTasks: ClaimedTask[] = [];
  /** The jobs of the claimed tasks: a crawl has hundreds of tasks in hand, and is looked at twice for each page. */
  const jobsInHand = new Map<RunningJob, JobInHand>();
  /** Jobs in hand by the lines that take turns: the single scrapes of an account, and each of its other jobs. */
  const linesInHand = new Map<string, number>();
  /** Jobs that are held back, with the time until then. Bounded by the claimed tasks. */
  const heldBack = new Map<RunningJob, number>();
  let isRefilling = false;
  /** The store had nothing more beside these jobs, which could not start more then; null: unknown. */
  let dryBeside: readonly JobSeq[] | null = null;
  let turns = lease.state.turns ?? NO_TURNS;
  /** Tasks of several accounts or jobs were in hand, here or under an earlier owner. */
  let isShared = lease.state.turns !== undefined;
  /** How often new tasks were announced: a claim that was under way meanwhile may have missed them. */
  let announcements = 0;

  async function claim(limit: number, capped: readonly JobSeq[]): Promise<void> {
    const announcementsBefore = announcements;
    const tasks = await store.claimTasks(lease, limit, capped, turnsInHand());
    const claimedAt = now();
    // Together, because each look at the store may wait for a commit; single scrapes are all of different jobs.
    const owners = await Promise.all(tasks.map((task) => jobs.peek(task.jobId) ?? jobs.get(task.jobId)));
    const arrived = tasks.flatMap((task, at): ClaimedTask[] => {
      // A job that was deleted meanwhile took its tasks along.
      const running = owners[at] ?? null;
      return running === null ? [] : [{ task: { ...task, claimedAt }, running }];
    });
    claimedTasks = claimedTasks.length === 0 ? arrived : [...claimedTasks, ...arrived];
    for (const claimed of arrived) count(claimed, 1);
    const hasNoMore = tasks.length < limit && announcements === announcementsBefore;
    dryBeside = hasNoMore ? capped : null;
  }

  function count({ task, running }: ClaimedTask, by: 1 | -1): void {
    const ofJob = jobsInHand.get(running) ?? { jobSeq: task.jobSeq, tasks: 0, alone: 0 };
    ofJob.tasks += by;
    if (!isOrdinary(task)) ofJob.alone += by;
    const isNew = !jobsInHand.has(running);
    if (ofJob.tasks === 0) jobsInHand.delete(running);
    else jobsInHand.set(running, ofJob);
    if (isNew || ofJob.tasks === 0) countLine(queuedOf({ task, running }), ofJob.tasks === 0 ? -1 : 1);
  }

  function countLine({ accountId, jobSeq, isScrape }: Queued, by: 1 | -1): void {
    const name = `${isScrape ? 0 : jobSeq} ${accountId}`;
    const jobs = (linesInHand.get(name) ?? 0) + by;
    if (jobs === 0) linesInHand.delete(name);
    else linesInHand.set(name, jobs);
    isShared ||= linesInHand.size > 1;
  }

  /** The turns as they are when the tasks in hand are served: the store goes on from there. */
  function turnsInHand(): Turns {
    if (linesInHand.size <= 1) {
      const [first] = claimedTasks;
      return first === undefined ? turns : turnsAfter(turns, queuedOf(first));
    }
    return inTurn(claimedTasks.map(queuedOf), turns).reduce(turnsAfter, turns);
  }

  /** False: every task in hand is of a job that may not start one, so no task need be looked at. */
  function hasJobToStart(): boolean {
    for (const [running, { alone }] of jobsInHand) {
      if (!heldBack.has(running) && (alone > 0 || !isCapped(running))) return true;
    }
    return false;
  }

  /** The next task by the promise of `Mailbox.next`, from a look at the claimed tasks one by one. */
  function find(canRunAlone: boolean, breaker: BreakerState): ClaimedTask | null {
    const { isOpen } = quarantine;
    let lone: ClaimedTask | null = null;
    const hasOneLine = linesInHand.size === 1;
    let first: ClaimedTask | null = null;
    let firstRank = Number.POSITIVE_INFINITY;
    for (const claimed of claimedTasks) {
      const { task, running } = claimed;
      if (heldBack.has(running)) continue;
      if (hasDiedTooOften(task)) return claimed;
      if (isOpen && canRunBeside(task, running)) {
        if (breaker.phase === 'closed') {
          if (hasOneLine) return claimed;
          if (first === null || compareTurns(queuedOf(claimed), queuedOf(first), turns) < 0) first = claimed;
          continue;
        }
        const rank = probeRank(breaker, task.atUrl, task.trace.length);
        if (first === null || rank < firstRank) [first, firstRank] = [claimed, rank];
      } else if (canRunAlone && mustRunAlone(task) && (lone === null || byDeaths(claimed, lone) < 0))
        lone = claimed;
    }
    if (first === null && !isOpen) quarantine.whenOpen(onChange);
    return first ?? lone;
  }

  return {
    next(canRunAlone, breaker) {
      const found = hasJobToStart() ? find(canRunAlone, breaker) : null;
      if (found !== null) return found;
      // A fetch of theirs that ends makes room here, and it may end on another host.
      for (const running of jobsInHand.keys()) running.whenFree.add(onChange);
      return null;
    },
    remove(claimed) {
      const at = claimedTasks.indexOf(claimed);
      if (at < 0) return;
      claimedTasks.splice(at, 1);
      count(claimed, -1);
    },
    served(claimed) {
      turns = turnsAfter(turns, queuedOf(claimed));
    },
    get turns() {
      return isShared ? turns : undefined;
    },
    putBack(claimed) {
      claimedTasks.push(claimed);
      count(claimed, 1);
      onChange();
    },
    holdBack: (running, until) => void heldBack.set(running, until),
    releaseHeldBack: () => heldBack.clear(),
    get heldBackUntil() {
      return Math.min(Number.POSITIVE_INFINITY, ...heldBack.values());
    },
    refill(wanted) {
      if (isRefilling || dryBeside?.length === 0 || claimedTasks.length > MOST_IN_HAND) return;
      // Tasks that cannot start must not keep out those that can.
      const capped = new Set<JobSeq>();
      let startable = 0;
      for (const [running, { jobSeq, tasks, alone }] of jobsInHand) {
        if (isCapped(running) || heldBack.has(running)) capped.add(jobSeq);
        else startable += tasks - alone;
      }
      if (startable > wanted / 2 || dryBeside?.every((job) => capped.has(job))) return;
      isRefilling = true;
      claim(wanted - startable + 1, [...capped])
        .catch((error: unknown) => {
          logger[levelOfError(error)]({ host: lease.key, err: error }, 'claiming tasks failed');
          onFailure(error);
        })
        .finally(() => {
          isRefilling = false;
          onChange();
        });
    },
    onNewTasks() {
      announcements += 1;
      dryBeside = null;
      onChange();
    },
    takeOut(jobs) {
      const [taken, kept] = [[], []] as [ClaimedTask[], ClaimedTask[]];
      for (const claimed of claimedTasks) (jobs.has(claimed.task.jobId) ? taken : kept).push(claimed);
      claimedTasks = kept;
      for (const claimed of taken) count(claimed, -1);
      return taken;
    },
    jobs: () => [...new Set([...jobsInHand.keys()].map(({ job }) => job.id))],
    get size() {
      return claimedTasks.length;
    },
    get isRefilling() {
      return isRefilling;
    },
    get isDry() {
      return dryBeside?.length === 0;
    },
  };
}

const queuedOf = ({ task, running: { job } }: ClaimedTask): Queued => ({
  accountId: job.accountId,
  jobSeq: task.jobSeq,
  isScrape: traitsOfKind(job.kind).isUrgent,
});

/** The job has as many fetches under way as it may. */
function isCapped({ job, inFlight }: RunningJob): boolean {
  return job.options.concurrency !== null && inFlight >= job.options.concurrency;
}

const isOrdinary = (task: Task) => !mustRunAlone(task) && !hasDiedTooOften(task);

const canRunBeside = (task: Task, running: RunningJob) => !isCapped(running) && !mustRunAlone(task);

const byDeaths = ({ task: a }: ClaimedTask, { task: b }: ClaimedTask) =>
  a.loneInterruptions - b.loneInterruptions || a.interruptions - b.interruptions;

const MOST_CLAIMED = 256;
/** Tasks among which the probe of a host that has failed is chosen. */
const PROBE_CHOICE = 64;

/** How many tasks an owner should have in hand that ends `perSecond` tasks. */
export function mostInHand(
  perSecond: number,
  { concurrency, ratePerSecond }: Pick<HostPolicy, 'concurrency' | 'ratePerSecond'>,
  operatorPlaces: number,
  { phase }: BreakerState,
): number {
  if (phase !== 'closed') return PROBE_CHOICE;
  // A cancel leaves the claimed tasks to their owner: of a slow host these are no more than a second's work.
  const most = ratePerSecond === null || operatorPlaces > 0 ? MOST_CLAIMED : Math.ceil(ratePerSecond);
  return Math.min(most, MOST_CLAIMED, Math.max(concurrency, operatorPlaces, Math.ceil(perSecond / 5)));
}
