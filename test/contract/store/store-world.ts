import { expect } from 'vitest';
import type { JobSeq } from '../../../src/core/model/ids.ts';
import type { Task } from '../../../src/core/model/task.ts';
import type { HostLease } from '../../../src/core/ports/host-store.ts';
import type { Completion } from '../../../src/core/ports/ledger-store.ts';
import {
  claim,
  completion,
  createJob,
  expectExact,
  foundOn,
  LEASE_MS,
  ledger,
  newTask,
  T0,
} from './fixtures.ts';
import { ModelJob, type ModelTask } from './job-model.ts';
import type { TimedStore } from './timed-store.ts';

export const HOSTS = 3;

/** A URL by number, so that shrunk examples stay readable. */
export interface UrlNumber {
  readonly host: number;
  readonly path: number;
}

export type End = 'done' | 'failed' | 'skipped' | 'denied' | 'waiting' | 'ready' | 'moved';

export type Step =
  | { readonly do: 'create'; readonly urls: readonly UrlNumber[]; readonly maxPages: number | null }
  | { readonly do: 'acquire' | 'release'; readonly host: number }
  | { readonly do: 'claim'; readonly host: number; readonly limit: number }
  | {
      readonly do: 'commit';
      readonly host: number;
      readonly ends: readonly End[];
      readonly found: readonly UrlNumber[];
      readonly toHost: number;
    }
  | { readonly do: 'late'; readonly pick: number }
  | { readonly do: 'cancel' | 'resume' | 'retry'; readonly job: number }
  | { readonly do: 'pass'; readonly ms: number };

interface Held {
  readonly lease: HostLease;
  until: number;
  readonly claimed: Map<number, Task>;
}

/** Runs steps on a store and on the model beside it, and compares them after each. */
export class StoreWorld {
  readonly #store: TimedStore;
  readonly #suffix: string;
  readonly #jobs: ModelJob[] = [];
  readonly #held = new Map<string, Held>();
  /** Claims whose lease was lost: whatever comes of them must change nothing. */
  readonly #lost: Completion[] = [];
  #now = T0;

  /** `run` keeps the hosts of one run apart from those of another on the same store. */
  constructor(store: TimedStore, run: number) {
    this.#store = store;
    this.#suffix = `run${run}.test`;
  }

  async step(step: Step): Promise<void> {
    switch (step.do) {
      case 'create':
        await this.#create(step.urls, step.maxPages);
        break;
      case 'acquire':
        await this.#acquire(this.#host(step.host));
        break;
      case 'claim':
        await this.#claim(this.#host(step.host), step.limit);
        break;
      case 'commit':
        await this.#commit(this.#host(step.host), step);
        break;
      case 'late':
        await this.#late(step.pick);
        break;
      case 'release':
        await this.#release(this.#host(step.host));
        break;
      case 'pass':
        this.#now += step.ms;
        break;
      default:
        await this.#command(step.do, step.job);
    }
    await this.compare();
  }

  /** Lets everything run to its end, which it must reach. */
  async finish(): Promise<void> {
    this.#now += 10 * LEASE_MS;
    for (let round = 0; this.#jobs.some((job) => job.open > 0); round += 1) {
      expect(round).toBeLessThan(200);
      for (let host = 0; host < HOSTS; host += 1) {
        await this.step({ do: 'acquire', host });
        await this.step({ do: 'claim', host, limit: 100 });
        await this.step({ do: 'commit', host, ends: Array(100).fill('done'), found: [], toHost: 0 });
        await this.step({ do: 'release', host });
      }
    }
    for (const job of this.#jobs) expect(job.isFinished).toBe(true);
  }

  async compare(): Promise<void> {
    for (const model of this.#jobs) {
      const stored = await expectExact(this.#store, model.id);
      const entries = await ledger(this.#store, model.id);
      expect({
        status: stored.status,
        stopReason: stored.stopReason,
        isFinished: stored.finishedAt !== null,
        counters: stored.counters,
        states: Object.fromEntries(
          entries.map(({ url, state }) => [
            url,
            state === 'ready' || state === 'waiting' ? 'pending' : state,
          ]),
        ),
      }).toEqual(model.view());
    }
  }

  #host(number: number): string {
    return `h${number % HOSTS}.${this.#suffix}`;
  }

  #url({ host, path }: UrlNumber): string {
    return `https://${this.#host(host)}/${path}`;
  }

  /** Some paths are never fetched: 7 is out of scope, 8 is denied. */
  #newTask(number: UrlNumber) {
    const state = number.path === 7 ? 'skipped' : number.path === 8 ? 'denied' : 'ready';
    return newTask(this.#url(number), { state, rule: state === 'ready' ? null : 'scope.domain' });
  }

  async #create(urls: readonly UrlNumber[], maxPages: number | null): Promise<void> {
    const tasks = urls.map((each) => this.#newTask(each));
    const stored = await createJob(this.#store, tasks, { budgets: { maxPages }, at: this.#now });
    const model = new ModelJob(stored.id, stored.seq, maxPages);
    for (const task of tasks) model.add(task.url, task.hostKey, task.state, task.rule);
    model.settle();
    this.#jobs.push(model);
  }

  async #acquire(host: string): Promise<void> {
    const held = this.#held.get(host);
    const isOwned = held !== undefined && held.until > this.#now;
    if (!isOwned) this.#lose(host);
    const isDue = this.#jobs.some((job) => job.dueOn(host, this.#now).length > 0);
    const lease = await this.#store.acquireHost(
      newTask(`https://${host}/`).hostKey,
      'me',
      this.#now,
      LEASE_MS,
    );
    expect(lease !== null).toBe(isDue && !isOwned);
    if (lease === null) return;
    if (held !== undefined) expect(lease.epoch).toBeGreaterThan(held.lease.epoch);
    this.#held.set(host, { lease, until: this.#now + LEASE_MS, claimed: new Map() });
  }

  /** The owner is gone; what it had claimed goes back. */
  #lose(host: string): void {
    const held = this.#held.get(host);
    if (held === undefined) return;
    this.#held.delete(host);
    const touched = new Set<ModelJob>();
    for (const task of held.claimed.values()) {
      const { job, entry } = this.#modelOf(task);
      job.goOn(entry);
      touched.add(job);
      this.#lost.push(completion(held.lease, task, { state: 'done', rule: null }));
    }
    for (const job of touched) job.settle();
  }

  async #claim(host: string, limit: number): Promise<void> {
    const held = this.#held.get(host);
    if (held === undefined) return;
    const tasks = await claim(this.#store, held.lease, limit, this.#now);
    const claimable = this.#jobs.reduce(
      (sum, job) => sum + Math.max(0, Math.min(job.dueOn(host, this.#now).length, job.room)),
      0,
    );
    expect(tasks).toHaveLength(Math.min(limit, claimable));
    for (const task of tasks) {
      const { job, entry } = this.#modelOf(task);
      expect(job.dueOn(host, this.#now)).toContain(entry);
      expect(job.room).toBeGreaterThan(0);
      entry.state = 'claimed';
      entry.id = task.id;
      if (job.status === 'queued') job.status = 'running';
      held.claimed.set(task.id, task);
    }
  }

  async #commit(host: string, step: Extract<Step, { do: 'commit' }>): Promise<void> {
    const held = this.#held.get(host);
    if (held === undefined) return;
    const touched = new Set<ModelJob>();
    const completions = [...held.claimed.values()].slice(0, step.ends.length).map((task, index) => {
      const found = step.found.map((each) => {
        const { state, rule, url } = this.#newTask(each);
        return foundOn(task, url, { state, rule });
      });
      const sent = completionOf(held.lease, task, step.ends[index] ?? 'done', {
        now: this.#now,
        toHost: this.#host(step.toHost),
      });
      return { ...sent, discovered: found };
    });
    const receipt = await this.#store.commit(completions, this.#now);
    expect(receipt.rejected).toEqual([]);
    const open = new Set(this.#jobs.filter((job) => !job.isFinished));
    for (const sent of completions) {
      const task = held.claimed.get(sent.taskId);
      if (task === undefined) throw new Error('Committed what was not claimed.');
      held.claimed.delete(sent.taskId);
      const { job, entry } = this.#modelOf(task);
      touched.add(job);
      apply(job, entry, sent);
      for (const found of sent.discovered) job.add(found.url, found.hostKey, found.state, found.rule);
    }
    for (const job of touched) job.settle();
    const finished = [...open].filter((job) => job.isFinished).map((job) => job.id);
    expect([...receipt.finishedJobs].sort()).toEqual(finished.sort());
    expect([...receipt.changedJobs].sort()).toEqual([...touched].map((job) => job.id).sort());
  }

  async #late(pick: number): Promise<void> {
    const sent = this.#lost[pick % Math.max(1, this.#lost.length)];
    if (sent === undefined) return;
    expect((await this.#store.commit([sent], this.#now)).rejected).toEqual([sent.taskId]);
  }

  async #release(host: string): Promise<void> {
    const held = this.#held.get(host);
    if (held === undefined) return;
    await this.#store.releaseHost(held.lease, held.lease.state, this.#now, this.#now);
    this.#lose(host);
  }

  async #command(command: 'cancel' | 'resume' | 'retry', number: number): Promise<void> {
    const job = this.#jobs[number % Math.max(1, this.#jobs.length)];
    if (job === undefined) return;
    // What a retry of a cancelled job should do to the rest of it is nowhere promised.
    if (command === 'retry' && job.status === 'cancelled') return;
    await this.#store[`${command}Job`](job.id, this.#now);
    job[command]();
  }

  #modelOf(task: Task): { job: ModelJob; entry: ModelTask } {
    const job = this.#jobs.find((each) => each.seq === (task.jobSeq as JobSeq));
    const entry = job?.tasks.get(task.url);
    if (job === undefined || entry === undefined) throw new Error(`The model does not know ${task.url}.`);
    return { job, entry };
  }
}

function completionOf(
  lease: HostLease,
  task: Task,
  end: End,
  { now, toHost }: { now: number; toHost: string },
): Completion {
  const changes = { bytes: 10 };
  switch (end) {
    case 'failed':
      return completion(lease, task, { state: 'failed', rule: null, errorCode: 'CONNECT_FAILED' }, changes);
    case 'waiting':
      return completion(
        lease,
        task,
        { state: 'waiting', readyAt: now + 500, rule: 'retry:CONNECT_FAILED' },
        changes,
      );
    case 'ready':
      return completion(lease, task, { state: 'ready' }, changes);
    case 'moved': {
      const atUrl = `https://${toHost}/moved`;
      const { hostKey } = newTask(atUrl);
      return completion(lease, task, { state: 'moved', atUrl, hostKey, hops: task.hops + 1 }, changes);
    }
    default:
      return completion(lease, task, { state: end, rule: end === 'done' ? null : 'scope.domain' }, changes);
  }
}

function apply(job: ModelJob, entry: ModelTask, { end, bytes }: Completion): void {
  job.bytes += bytes;
  switch (end.state) {
    case 'waiting':
      job.goOn(entry, end.readyAt);
      break;
    case 'ready':
      job.goOn(entry);
      break;
    case 'moved':
      job.goOn(entry, 0, end.hostKey);
      break;
    default:
      entry.state = end.state;
      entry.rule = end.rule;
  }
}
