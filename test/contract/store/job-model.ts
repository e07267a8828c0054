import type { JobId, JobSeq, TaskId } from '../../../src/core/model/ids.ts';
import type { JobStatus } from '../../../src/core/model/job.ts';
import type { TaskState } from '../../../src/core/model/task.ts';
import { recount } from './fixtures.ts';

/** A task as the model knows it. Whether what is pending shows as ready or waiting is the store's affair. */
export interface ModelTask {
  readonly url: string;
  /** The URL's own host; `host` is where a redirect may have led since. */
  readonly home: string;
  host: string;
  state: Exclude<TaskState, 'ready' | 'waiting'> | 'pending';
  readyAt: number;
  rule: string | null;
  id: TaskId | null;
}

/** What should have become of one job: the port's prose in plain code, without a database. */
export class ModelJob {
  readonly id: JobId;
  readonly seq: JobSeq;
  readonly maxPages: number | null;
  readonly tasks = new Map<string, ModelTask>();
  status: JobStatus = 'queued';
  stopReason: string | null = null;
  isFinished = false;
  bytes = 0;

  constructor(id: JobId, seq: JobSeq, maxPages: number | null) {
    this.id = id;
    this.seq = seq;
    this.maxPages = maxPages;
  }

  count(state: ModelTask['state']): number {
    let count = 0;
    for (const task of this.tasks.values()) if (task.state === state) count += 1;
    return count;
  }

  get open(): number {
    return this.count('pending') + this.count('claimed');
  }

  /** Pages that may still be claimed. */
  get room(): number {
    if (this.maxPages === null) return Number.POSITIVE_INFINITY;
    return this.maxPages - this.count('claimed') - this.count('done') - this.count('failed');
  }

  dueOn(host: string, now: number): ModelTask[] {
    return [...this.tasks.values()].filter(
      (task) => task.host === host && task.state === 'pending' && task.readyAt <= now,
    );
  }

  /** A URL the job did not know; a known one changes nothing. */
  add(url: string, host: string, state: 'ready' | 'skipped' | 'denied', rule: string | null): void {
    if (this.tasks.has(url)) return;
    const task: ModelTask = { url, home: host, host, state: 'pending', readyAt: 0, rule, id: null };
    this.tasks.set(url, task);
    if (state === 'ready') this.goOn(task);
    else task.state = state;
  }

  /** Where a task goes that has not ended. */
  goOn(task: ModelTask, readyAt = 0, host = task.host): void {
    if (this.status === 'cancelled') task.state = 'cancelled';
    else if (this.stopReason !== null) {
      task.state = 'skipped';
      task.rule = this.stopReason;
    } else {
      task.state = 'pending';
      task.readyAt = readyAt;
      task.host = host;
    }
  }

  cancel(): void {
    if (this.isFinished || this.status === 'cancelled') return;
    this.status = 'cancelled';
    for (const task of this.tasks.values()) if (task.state === 'pending') task.state = 'cancelled';
    this.settle();
  }

  resume(): void {
    const fetched = this.count('done') + this.count('failed');
    if (this.isFinished && this.maxPages !== null && fetched >= this.maxPages) return;
    const dropped = [...this.tasks.values()].filter(
      (task) => task.state === 'cancelled' || (task.state === 'skipped' && task.rule?.startsWith('budget.')),
    );
    if (dropped.length === 0 && this.status !== 'cancelled') return;
    this.#reopen(dropped);
  }

  retry(): void {
    const failed = [...this.tasks.values()].filter((task) => task.state === 'failed');
    for (const task of failed) task.host = task.home;
    if (failed.length > 0) this.#reopen(failed);
  }

  /** Stops at a spent budget, ends when nothing is open. */
  settle(): void {
    const fetched = this.count('done') + this.count('failed');
    const isSpent = this.maxPages !== null && fetched >= this.maxPages;
    if (isSpent && this.status !== 'cancelled' && this.stopReason === null && this.open > 0) {
      this.stopReason = 'budget.pages';
      for (const task of this.tasks.values()) if (task.state === 'pending') this.goOn(task);
    }
    if (this.open > 0 || this.isFinished) return;
    this.isFinished = true;
    if (this.status === 'cancelled') return;
    if (this.count('done') === 0 && this.count('failed') + this.count('denied') > 0) this.status = 'failed';
    else this.status = this.count('failed') > 0 ? 'partially_completed' : 'completed';
  }

  /** What can be compared with a store. */
  view() {
    const tasks = [...this.tasks.values()];
    const entries = tasks.map(({ state }) => ({
      state: state === 'pending' ? ('ready' as const) : state,
      kind: 'page' as const,
    }));
    return {
      status: this.status,
      stopReason: this.stopReason,
      isFinished: this.isFinished,
      counters: { ...recount(entries), bytes: this.bytes, browserMs: 0, proxyBytes: 0 },
      states: Object.fromEntries(tasks.map(({ url, state }) => [url, state])),
    };
  }

  #reopen(tasks: readonly ModelTask[]): void {
    this.status = 'running';
    this.stopReason = null;
    this.isFinished = false;
    for (const task of tasks) this.goOn(task);
    this.settle();
  }
}
