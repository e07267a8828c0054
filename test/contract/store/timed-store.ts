import type { HostId, HostKey, JobId, JobSeq, TaskId } from '../../../src/core/model/ids.ts';
import type { Budgets, Job, NewJob, Pace } from '../../../src/core/model/job.ts';
import type { NewTask, Task } from '../../../src/core/model/task.ts';
import type { Turns } from '../../../src/core/model/turns.ts';
import type { HostLease, HostOffer, HostState, LeaseRef } from '../../../src/core/ports/host-store.ts';
import type { Completion, Receipt } from '../../../src/core/ports/ledger-store.ts';
import type { Store } from '../../../src/core/ports/store.ts';

/**
 * A store on a clock that the test sets: calls of methods that go by the time name the moment at which they are made,
 * and calls at different moments can be under way together.
 */
export interface TimedStore extends TimelessStore {
  /** The same store as the program sees it; its time is that of the last call here. */
  readonly plain: Store;
  /** The plain store after its clock was set to this time. */
  at(moment: number): Store;
  createJob(
    job: NewJob & { readonly createdAt: number },
    tasks: readonly NewTask[],
    how?: { readonly isUnsynced: boolean },
  ): Promise<Job>;
  cancelJob(id: JobId, now: number): Promise<Job | null>;
  resumeJob(id: JobId, now: number, budgets?: Budgets, pace?: Pace): Promise<Job | null>;
  retryJob(id: JobId, now: number): Promise<Job | null>;
  expireJobs(now: number): Promise<readonly JobId[]>;
  offerHosts(now: number, limit: number): Promise<readonly HostOffer[]>;
  acquireHost(
    key: HostKey,
    owner: string,
    now: number,
    leaseMs: number,
    former?: LeaseRef,
  ): Promise<HostLease | null>;
  renewHosts(leases: readonly LeaseRef[], now: number, leaseMs: number): Promise<readonly HostId[]>;
  releaseHost(lease: LeaseRef, state: HostState, notBefore: number, now: number): Promise<void>;
  releaseAllHosts(now: number): Promise<number>;
  claimTasks(
    lease: LeaseRef,
    limit: number,
    now: number,
    exceptJobs: readonly JobSeq[],
    turns?: Turns,
  ): Promise<readonly Task[]>;
  commit(completions: readonly Completion[], now: number): Promise<Receipt>;
  reserveUrl(lease: LeaseRef, task: TaskId, target: NewTask, now: number): Promise<boolean>;
}

/** What is the same at any time. */
export type TimelessStore = Omit<Store, TimedMethod>;

type TimedMethod =
  | 'createJob'
  | 'cancelJob'
  | 'resumeJob'
  | 'retryJob'
  | 'expireJobs'
  | 'offerHosts'
  | 'acquireHost'
  | 'renewHosts'
  | 'releaseHost'
  | 'releaseAllHosts'
  | 'claimTasks'
  | 'commit'
  | 'reserveUrl';

/** Opens a store on a clock of its own, which begins at the machine's time. */
export async function openTimed(open: (now: () => number) => Promise<Store>): Promise<TimedStore> {
  let time = Date.now();
  const plain = await open(() => time);
  /** Drivers look at their clock when they are called, before anything else can happen. */
  const at = <T>(moment: number, call: () => T): T => {
    time = moment;
    return call();
  };
  return {
    ...plain,
    plain,
    at: (moment) => at(moment, () => plain),
    createJob: ({ createdAt, ...job }, tasks, how) => at(createdAt, () => plain.createJob(job, tasks, how)),
    cancelJob: (id, now) => at(now, () => plain.cancelJob(id)),
    resumeJob: (id, now, budgets, pace) => at(now, () => plain.resumeJob(id, budgets, pace)),
    retryJob: (id, now) => at(now, () => plain.retryJob(id)),
    expireJobs: (now) => at(now, () => plain.expireJobs()),
    offerHosts: (now, limit) => at(now, () => plain.offerHosts(limit)),
    acquireHost: (key, owner, now, leaseMs, former) =>
      at(now, () => plain.acquireHost(key, owner, leaseMs, former)),
    renewHosts: (leases, now, leaseMs) => at(now, () => plain.renewHosts(leases, leaseMs)),
    releaseHost: (lease, state, notBefore, now) => at(now, () => plain.releaseHost(lease, state, notBefore)),
    releaseAllHosts: (now) => at(now, () => plain.releaseAllHosts()),
    claimTasks: (lease, limit, now, exceptJobs, turns) =>
      at(now, () => plain.claimTasks(lease, limit, exceptJobs, turns)),
    commit: (completions, now) => at(now, () => plain.commit(completions)),
    reserveUrl: (lease, task, target, now) => at(now, () => plain.reserveUrl(lease, task, target)),
  };
}
