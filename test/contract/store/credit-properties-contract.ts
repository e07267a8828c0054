import fc from 'fast-check';
import { expect } from 'vitest';
import { dayOf } from '../../../src/core/model/credits.ts';
import type { HostKey, JobId } from '../../../src/core/model/ids.ts';
import type { Task } from '../../../src/core/model/task.ts';
import type { HostLease } from '../../../src/core/ports/host-store.ts';
import type { Completion } from '../../../src/core/ports/ledger-store.ts';
import type { Claim } from '../contract.ts';
import { credits, entries, goTo, grant, limit } from './credits-contract.ts';
import {
  ATTEMPT,
  completion,
  createJob,
  DONE,
  FAILED,
  job,
  LEASE_MS,
  ledger,
  T0,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';
import { sumOf, usage } from './usage-contract.ts';

const RESERVE = 100;
const HOSTS = ['a', 'b'] as const;

type Step =
  | { readonly do: 'create'; readonly count: number }
  | { readonly do: 'claim'; readonly host: number; readonly limit: number }
  | { readonly do: 'commit'; readonly host: number; readonly ends: readonly (readonly [string, number])[] }
  | { readonly do: 'release' | 'die'; readonly host: number }
  | { readonly do: 'cancel' | 'resume' | 'retry' | 'delete'; readonly job: number }
  | { readonly do: 'grant'; readonly amount: number }
  | { readonly do: 'fold' | 'month' | 'late' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('create' as const), count: fc.integer({ min: 1, max: 5 }) }),
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      host: fc.nat(1),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('commit' as const),
      host: fc.nat(1),
      ends: fc.array(
        fc.tuple(fc.constantFrom('done', 'failed', 'waiting', 'ready', 'refund', 'denied'), fc.nat(RESERVE)),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  },
  fc.record({ do: fc.constantFrom('release' as const, 'die' as const), host: fc.nat(1) }),
  fc.record({
    do: fc.constantFrom('cancel' as const, 'resume' as const, 'retry' as const, 'delete' as const),
    job: fc.nat(5),
  }),
  fc.record({ do: fc.constant('grant' as const), amount: fc.integer({ min: 0, max: 500 }) }),
  fc.record({ do: fc.constantFrom('fold' as const, 'month' as const, 'late' as const) }),
);

interface Held {
  readonly lease: HostLease;
  readonly tasks: Map<number, Task>;
}

/** Runs steps as owners would, some of which die, and keeps the books beside the store. */
class CreditWorld {
  readonly #store: TimedStore;
  readonly #run: number;
  readonly #jobs: JobId[] = [];
  readonly #held = new Map<number, Held>();
  readonly #lost: Completion[] = [];
  /** What is charged after this run began; the store is shared by the runs. */
  readonly #usedBefore: number;
  #settled = 0;
  #now: number;

  private constructor(store: TimedStore, run: number, usedBefore: number, now: number) {
    this.#store = store;
    this.#run = run;
    this.#usedBefore = usedBefore;
    this.#now = now;
  }

  static async begin(store: TimedStore, run: number, now: number): Promise<CreditWorld> {
    await goTo(store, now);
    return new CreditWorld(
      store,
      run,
      sumOf(await usage(store, 'day', dayOf(T0), dayOf(now), 400), 'microcredits'),
      now,
    );
  }

  get now(): number {
    return this.#now;
  }

  async step(step: Step): Promise<void> {
    switch (step.do) {
      case 'create':
        await this.#create(step.count);
        break;
      case 'claim':
        await this.#claim(step.host, step.limit);
        break;
      case 'commit':
        await this.#commit(step.host, step.ends);
        break;
      case 'release':
      case 'die':
        await this.#leave(step.host, step.do === 'die');
        break;
      case 'grant':
        await grant(this.#store, step.amount);
        break;
      case 'fold':
        await this.#store.foldUsage(3);
        break;
      case 'month':
        this.#now += 20 * 86_400_000;
        for (const host of this.#held.keys()) this.#lose(host);
        await goTo(this.#store, this.#now);
        break;
      case 'late':
        await this.#late();
        break;
      default:
        await this.#command(step.do, step.job);
    }
    await this.check();
  }

  /** Everything is released and cancelled, so that the next run finds nothing held. */
  async finish(): Promise<void> {
    for (const host of [0, 1]) await this.#leave(host, false);
    for (const id of this.#jobs) await this.#store.cancelJob(id, this.#now);
    // Owners that died: others take their hosts over.
    this.#now += 2 * LEASE_MS;
    for (const host of [0, 1]) await this.#store.acquireHost(this.#key(host), 'last', this.#now, 1);
    this.#now += 2;
    await this.check();
    expect((await credits(this.#store)).heldMicrocredits).toBe(0);
  }

  /** The books agree, and the account owes nothing. */
  async check(): Promise<void> {
    const found = await credits(this.#store);
    const { allowanceMicrocredits: allowance, balanceMicrocredits: balance, heldMicrocredits: held } = found;
    const granted = (await entries(this.#store)).reduce((sum, { microcredits }) => sum + microcredits, 0);
    expect(allowance + balance + held).toBe(granted - this.#usedBefore - this.#settled);
    expect(Math.min(allowance, balance, held)).toBeGreaterThanOrEqual(0);
    const used = sumOf(await usage(this.#store, 'day', dayOf(T0), dayOf(this.#now), 400), 'microcredits');
    expect(used).toBe(this.#usedBefore + this.#settled);
    // Everything that is claimed is paid for.
    let reserved = 0;
    for (const id of this.#jobs) reserved += RESERVE * (await job(this.#store, id)).counters.claimed;
    expect(held).toBeGreaterThanOrEqual(reserved);
  }

  #key(host: number): HostKey {
    return `${HOSTS[host]}${this.#run}.test` as HostKey;
  }

  async #create(count: number): Promise<void> {
    const urls = HOSTS.flatMap((_, host) => urlsOn(this.#key(host), count));
    try {
      const made = await createJob(this.#store, urls, { reserve: RESERVE, at: this.#now });
      this.#jobs.push(made.id);
    } catch (error) {
      await this.#expectPoor(error);
    }
  }

  /** A job is refused only when the account cannot pay for one of its tasks. */
  async #expectPoor(error: unknown): Promise<void> {
    const { allowanceMicrocredits, balanceMicrocredits } = await credits(this.#store);
    expect(error).toMatchObject({ code: 'CREDITS_EXHAUSTED' });
    expect(allowanceMicrocredits + balanceMicrocredits).toBeLessThan(RESERVE);
  }

  async #claim(host: number, most: number): Promise<void> {
    let held = this.#held.get(host);
    if (held === undefined) {
      const lease = await this.#store.acquireHost(this.#key(host), 'me', this.#now, LEASE_MS);
      if (lease === null) return;
      held = { lease, tasks: new Map() };
      this.#held.set(host, held);
    }
    const tasks = await this.#store.claimTasks(held.lease, most, this.#now, []);
    for (const task of tasks) held.tasks.set(task.id, task);
  }

  async #commit(host: number, ends: readonly (readonly [string, number])[]): Promise<void> {
    const held = this.#held.get(host);
    if (held === undefined) return;
    const sent = [...held.tasks.values()]
      .slice(0, ends.length)
      .map((task, index) => completionOf(held.lease, task, ends[index] ?? ['done', 1], this.#now));
    const { rejected } = await this.#store.commit(sent, this.#now);
    expect(rejected).toEqual([]);
    for (const each of sent) {
      held.tasks.delete(each.taskId);
      this.#settled += each.microcredits ?? 0;
    }
  }

  async #leave(host: number, isDead: boolean): Promise<void> {
    const held = this.#held.get(host);
    if (held === undefined) return;
    this.#lose(host);
    if (isDead) this.#now += LEASE_MS + 1;
    else await this.#store.releaseHost(held.lease, held.lease.state, this.#now, this.#now);
    if (isDead) for (const other of [...this.#held.keys()]) this.#lose(other);
  }

  #lose(host: number): void {
    const held = this.#held.get(host);
    this.#held.delete(host);
    for (const task of held?.tasks.values() ?? []) {
      if (held !== undefined) this.#lost.push(completionOf(held.lease, task, ['done', 50], this.#now));
    }
  }

  /** What a dead owner sends is charged only if no one has taken the host over, and never twice. */
  async #late(): Promise<void> {
    const sent = this.#lost.pop();
    if (sent === undefined) return;
    const { rejected } = await this.#store.commit([sent], this.#now);
    if (rejected.length === 0) this.#settled += sent.microcredits ?? 0;
  }

  async #command(command: 'cancel' | 'resume' | 'retry' | 'delete', number: number): Promise<void> {
    const id = this.#jobs[number % Math.max(1, this.#jobs.length)];
    if (id === undefined) return;
    if (command !== 'delete') {
      await this.#store[`${command}Job`](id, this.#now).catch((error: unknown) => this.#expectPoor(error));
    } else if ((await job(this.#store, id)).finishedAt !== null) {
      await this.#store.deleteJob(id);
      this.#jobs.splice(this.#jobs.indexOf(id), 1);
    }
  }

  /** What the traces of all tasks say that they cost. */
  async traced(): Promise<number> {
    let sum = 0;
    for (const id of this.#jobs) {
      for (const { attempts } of await ledger(this.#store, id)) {
        sum += attempts.reduce((cost, { microcredits = 0 }) => cost + microcredits, 0);
      }
    }
    return sum;
  }

  get settled(): number {
    return this.#settled;
  }
}

function completionOf(
  lease: HostLease,
  task: Task,
  [end, cost]: readonly [string, number],
  now: number,
): Completion {
  const attempt = { ...ATTEMPT, microcredits: cost };
  const priced = { used: attempt, microcredits: cost, trace: [...task.trace, attempt] };
  switch (end) {
    case 'failed':
      return completion(lease, task, FAILED, priced);
    case 'waiting':
      return completion(
        lease,
        task,
        { state: 'waiting', readyAt: now, rule: 'retry:CONNECT_FAILED' },
        priced,
      );
    case 'ready':
      return completion(lease, task, { state: 'ready' }, { used: ATTEMPT });
    case 'denied':
      return completion(lease, task, { state: 'denied', rule: 'robots: disallow: /' });
    case 'refund': {
      const earlier = task.trace.reduce((sum, { microcredits = 0 }) => sum + microcredits, 0);
      const trace = [...task.trace, ATTEMPT].map((each) => ({ ...each, microcredits: 0 }));
      return completion(lease, task, FAILED, { used: ATTEMPT, microcredits: -earlier, trace });
    }
    default:
      return completion(lease, task, DONE, priced);
  }
}

/** Whatever happens, the books agree: a balance is what was granted less what was charged, and never negative. */
export function creditPropertiesContract(holds: Claim<TimedStore>): void {
  holds(
    'a balance is what was granted less what was settled, through deaths, cancels and retries',
    async (store) => {
      await limit(store, 300, 400, 50);
      let run = 0;
      let now = T0;
      await fc.assert(
        fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 30 }), async (steps) => {
          run += 1;
          const world = await CreditWorld.begin(store, run, now);
          try {
            for (const step of steps) await world.step(step);
            const isTraced = !steps.some((step) => step.do === 'retry' || step.do === 'delete');
            if (isTraced) expect(await world.traced()).toBe(world.settled);
          } finally {
            await world.finish();
            now = world.now;
          }
        }),
        { numRuns: 25 },
      );
    },
  );
}
