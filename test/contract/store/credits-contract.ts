import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { CREDITS_EXHAUSTED } from '../../../src/core/model/credits.ts';
import type { AccountId } from '../../../src/core/model/ids.ts';
import type { Task } from '../../../src/core/model/task.ts';
import type { CreditEntry, Credits } from '../../../src/core/ports/credit-store.ts';
import type { LeaseRef } from '../../../src/core/ports/host-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import {
  ATTEMPT,
  all,
  at,
  claim,
  completion,
  createJob,
  DONE,
  expectExact,
  FAILED,
  HOST_STATE,
  job,
  LEASE_MS,
  ledger,
  NO_LIMITS,
  own,
  T0,
  take,
  urlsOn,
} from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

export const ACCOUNT = 'default' as AccountId;
const FEBRUARY = Date.UTC(2026, 1, 1);
const MARCH = Date.UTC(2026, 2, 1);

/** Sets the time of the store. */
export const goTo = (store: TimedStore, moment: number) => store.expireJobs(moment);

export const grant = (store: TimedStore, microcredits: number, key: string | null = null) =>
  store.grantCredits(ACCOUNT, { id: randomUUID(), microcredits, reason: 'bought', key });

/** Limits the account to what it is granted. */
export async function limit(store: TimedStore, microcredits: number, monthly = 0, low = 0): Promise<void> {
  await goTo(store, T0);
  await store.setCreditPlan(ACCOUNT, { monthlyMicrocredits: monthly, lowMicrocredits: low });
  if (microcredits > 0) await grant(store, microcredits);
}

export const paid = (lease: LeaseRef, task: Task, microcredits: number) =>
  completion(lease, task, DONE, { used: { ...ATTEMPT, microcredits }, microcredits });

export async function credits(store: TimedStore): Promise<Credits> {
  const found = await store.getCredits(ACCOUNT);
  if (found === null) throw new Error('The account has no limits.');
  return found;
}

export const entries = (store: TimedStore): Promise<CreditEntry[]> =>
  all((cursor) => store.listCreditEntries({ accountId: ACCOUNT, cursor, limit: 3 }));

const total = ({ allowanceMicrocredits, balanceMicrocredits, heldMicrocredits }: Credits) =>
  allowanceMicrocredits + balanceMicrocredits + heldMicrocredits;

/** What an account may spend, and what is held for its jobs. */
export function creditsContract(holds: Claim<TimedStore>): void {
  holds('an account without a plan is not limited, and nothing is held for it', async (store) => {
    expect(await store.getCredits(ACCOUNT)).toBeNull();
    const { id } = await createJob(store, urlsOn('a.test', 2), { reserve: 100, keyId: 'key' });
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit(
      tasks.map((task) => paid(lease, task, 7)),
      T0,
    );
    expect(await job(store, id)).toMatchObject({ microcredits: 14, keyId: 'key', reserveMicrocredits: 100 });
    expect(await store.getCredits(ACCOUNT)).toBeNull();
    expect(await entries(store)).toEqual([]);
  });

  holds('an account that there is not has no credits, no plan and no grant', async (store) => {
    const nobody = 'nobody' as AccountId;
    expect(await store.getCredits(nobody)).toBeNull();
    expect(await store.setCreditPlan(nobody, { monthlyMicrocredits: 1, lowMicrocredits: 0 })).toBe(false);
    const given = { id: randomUUID(), microcredits: 1, reason: 'x', key: null };
    expect(await store.grantCredits(nobody, given)).toBeNull();
    expect((await store.listCreditEntries({ accountId: nobody, limit: 10 })).items).toEqual([]);
  });

  holds('claims no more tasks than the account can pay for, and charges what they cost', async (store) => {
    await limit(store, 350);
    const { id } = await createJob(store, urlsOn('a.test', 10), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(3);
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 300, balanceMicrocredits: 50 });
    expect(await claim(store, lease)).toEqual([]);
    await store.commit([paid(lease, at(tasks, 0), 10)], T0);
    // 340 are left, of which 200 are reserved for two tasks.
    expect(await claim(store, lease)).toHaveLength(1);
    expect(total(await credits(store))).toBe(340);
    expect(await expectExact(store, id)).toMatchObject({ microcredits: 10, status: 'running' });
  });

  holds('shares what the account has among its jobs', async (store) => {
    await limit(store, 500);
    await createJob(store, urlsOn('a.test', 4), { reserve: 100 });
    await createJob(store, urlsOn('a.test', 4), { reserve: 100 });
    const { tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(5);
    expect((await credits(store)).balanceMicrocredits).toBe(0);
  });

  holds('gives back what was held when the job ends, is cancelled or its owner dies', async (store) => {
    await limit(store, 1_000);
    const done = await createJob(store, urlsOn('a.test', 2), { reserve: 100 });
    const a = await take(store, 'a.test');
    await store.commit(
      a.tasks.map((task) => paid(a.lease, task, 30)),
      T0,
    );
    expect((await job(store, done.id)).finishedAt).not.toBeNull();
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: 940 });

    const cancelled = await createJob(store, urlsOn('b.test', 2), { reserve: 100 });
    const b = await take(store, 'b.test', 1);
    await store.cancelJob(cancelled.id, T0);
    expect((await credits(store)).heldMicrocredits).toBeGreaterThanOrEqual(100);
    await store.releaseHost(b.lease, HOST_STATE, T0, T0);
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: 940 });

    const taken = await createJob(store, urlsOn('c.test', 2), { reserve: 100 });
    const c = await take(store, 'c.test');
    const late = T0 + LEASE_MS + 1;
    const again = await own(store, 'c.test', late, 'two');
    const lost = await store.commit(
      c.tasks.map((task) => paid(c.lease, task, 30)),
      late,
    );
    expect(lost.rejected).toHaveLength(2);
    expect(total(await credits(store))).toBe(940);
    const tasks = await claim(store, again, 10, late);
    await store.commit(
      tasks.map((task) => paid(again, task, 1)),
      late,
    );
    expect(await job(store, taken.id)).toMatchObject({ microcredits: 2, status: 'completed' });
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: 938 });
  });

  holds('a task that costs more than was reserved is paid for all the same', async (store) => {
    await limit(store, 100);
    await createJob(store, urlsOn('a.test', 1), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test');
    await store.commit([paid(lease, at(tasks, 0), 130)], T0);
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: -30 });
  });

  holds('a refund goes back to the account', async (store) => {
    await limit(store, 100);
    const { id } = await createJob(store, urlsOn('a.test', 1), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test');
    const waiting = { state: 'waiting', readyAt: T0, rule: 'retry:CONNECT_FAILED' } as const;
    const first = { ...ATTEMPT, microcredits: 40 };
    const retried = { used: first, microcredits: 40, trace: [first] };
    await store.commit([completion(lease, at(tasks, 0), waiting, retried)], T0);
    expect((await job(store, id)).microcredits).toBe(40);
    // 60 are left, which is less than may be needed: the job cannot go on.
    expect(await claim(store, lease)).toEqual([]);
    await grant(store, 40);
    await store.resumeJob(id, T0);
    const [task] = await claim(store, lease);
    await store.commit([paid(lease, at(task === undefined ? [] : [task], 0), -40)], T0);
    expect(await job(store, id)).toMatchObject({ microcredits: 0, status: 'completed' });
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: 140 });
  });

  holds('stops a job that cannot pay for one more task, and goes on after a grant', async (store) => {
    await limit(store, 100);
    const { id } = await createJob(store, urlsOn('a.test', 5), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test');
    expect(tasks).toHaveLength(1);
    // While a task is under way it may turn out cheaper: the job is not stopped yet.
    expect(await claim(store, lease)).toEqual([]);
    expect(await job(store, id)).toMatchObject({ stopReason: null });
    await store.commit([paid(lease, at(tasks, 0), 10)], T0);
    expect(await claim(store, lease)).toEqual([]);
    const stopped = await expectExact(store, id);
    expect(stopped).toMatchObject({ stopReason: CREDITS_EXHAUSTED, status: 'completed' });
    expect(stopped.counters).toMatchObject({ pages: 1, skipped: 4, open: 0 });
    expect((await ledger(store, id, 'skipped')).map(({ rule }) => rule)).toEqual(
      Array(4).fill(CREDITS_EXHAUSTED),
    );
    expect(await credits(store)).toMatchObject({ heldMicrocredits: 0, balanceMicrocredits: 90 });
    await expect(store.resumeJob(id, T0)).rejects.toMatchObject({
      code: 'CREDITS_EXHAUSTED',
      details: { availableCredits: 0.00009, requiredCredits: 0.0001 },
    });
    expect(await job(store, id)).toEqual(stopped);
    await grant(store, 400);
    expect(await store.resumeJob(id, T0)).toMatchObject({ stopReason: null, counters: { open: 4 } });
    expect(await claim(store, lease)).toHaveLength(4);
  });

  holds('refuses to try failed URLs again when their account cannot pay for one', async (store) => {
    await limit(store, 100);
    const { id } = await createJob(store, urlsOn('a.test', 1), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test');
    const used = { ...ATTEMPT, microcredits: 10 };
    await store.commit([completion(lease, at(tasks, 0), FAILED, { used, microcredits: 10 })], T0);
    const failed = await expectExact(store, id);
    await expect(store.retryJob(id, T0)).rejects.toMatchObject({ code: 'CREDITS_EXHAUSTED' });
    expect(await job(store, id)).toEqual(failed);
    await grant(store, 10);
    expect(await store.retryJob(id, T0)).toMatchObject({ counters: { open: 1, failed: 0 } });
  });

  holds('lets other jobs on the host go on when one cannot be paid for', async (store) => {
    await limit(store, 150);
    const poor = await createJob(store, urlsOn('a.test', 20), { reserve: 100 });
    const free = await createJob(store, urlsOn('a.test', 20));
    const { tasks } = await take(store, 'a.test', 10);
    const of = (id: string) => tasks.filter((task) => task.jobId === id).length;
    expect([of(poor.id), of(free.id)]).toEqual([1, 9]);
  });

  holds('refuses a job that cannot pay for one task, and stores nothing of it', async (store) => {
    await limit(store, 99);
    const refused = createJob(store, urlsOn('a.test', 1), { reserve: 100 });
    await expect(refused).rejects.toMatchObject({
      code: 'CREDITS_EXHAUSTED',
      details: { availableCredits: 0.000099, requiredCredits: 0.0001 },
    });
    expect((await store.listJobs({ accountId: ACCOUNT, limit: 10 })).items).toEqual([]);
    await createJob(store, urlsOn('a.test', 1), { reserve: 99 });
  });

  holds(
    'renews the allowance by the calendar month, spends it first and lets the rest lapse',
    async (store) => {
      await limit(store, 1_000, 500);
      expect(await credits(store)).toMatchObject({ allowanceMicrocredits: 500, renewsAt: FEBRUARY });
      await createJob(store, urlsOn('a.test', 9), { reserve: 100 });
      const { lease, tasks } = await take(store, 'a.test', 7);
      await store.commit(
        tasks.slice(0, 2).map((task) => paid(lease, task, 100)),
        T0,
      );
      expect(total(await credits(store))).toBe(1_300);
      // January's allowance has 300 left, and all of them are held for tasks that end in February.
      await goTo(store, FEBRUARY);
      await store.renewHosts([lease], FEBRUARY, LEASE_MS);
      await store.commit(
        tasks.slice(2, 3).map((task) => paid(lease, task, 100)),
        FEBRUARY,
      );
      expect(total(await credits(store))).toBe(1_400);
      expect(await credits(store)).toMatchObject({ allowanceMicrocredits: 500, renewsAt: MARCH });
      const kinds = (await entries(store)).map(({ kind, microcredits }) => [kind, microcredits]);
      expect(kinds).toContainEqual(['allowance', 500]);
      const sum = (await entries(store)).reduce((all, { microcredits }) => all + microcredits, 0);
      expect(sum - 300).toBe(1_400);
    },
  );

  holds('a changed plan counts for the month under way', async (store) => {
    await limit(store, 0, 500);
    await store.setCreditPlan(ACCOUNT, { monthlyMicrocredits: 800, lowMicrocredits: 5 });
    expect(await credits(store)).toMatchObject({ allowanceMicrocredits: 800, lowMicrocredits: 5 });
    await store.setCreditPlan(ACCOUNT, { monthlyMicrocredits: 100, lowMicrocredits: 0 });
    expect(await credits(store)).toMatchObject({ allowanceMicrocredits: 100 });
    expect((await entries(store)).map(({ microcredits }) => microcredits)).toEqual([-700, 300, 500]);
    await grant(store, 50);
    await store.setCreditPlan(ACCOUNT, null);
    expect(await store.getCredits(ACCOUNT)).toBeNull();
    await store.setCreditPlan(ACCOUNT, { monthlyMicrocredits: 10, lowMicrocredits: 0 });
    expect(await credits(store)).toMatchObject({ allowanceMicrocredits: 10, balanceMicrocredits: 50 });
  });

  holds('a grant with a key is made once, and entries are listed newest first', async (store) => {
    await limit(store, 100);
    const first = await grant(store, 70, 'again');
    expect(await grant(store, 99, 'again')).toEqual(first);
    await grant(store, -20, 'other');
    expect((await entries(store)).map(({ microcredits }) => microcredits)).toEqual([-20, 70, 100]);
    expect(total(await credits(store))).toBe(150);
  });

  holds('takes no more away than the balance has', async (store) => {
    await limit(store, 100, 500);
    await expect(grant(store, -101, 'too much')).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { balanceCredits: 0.0001 },
    });
    expect((await credits(store)).balanceMicrocredits).toBe(100);
    expect((await entries(store)).map(({ microcredits }) => microcredits)).toEqual([100, 500]);
    await grant(store, -100, 'too much');
    expect(await credits(store)).toMatchObject({ balanceMicrocredits: 0, allowanceMicrocredits: 500 });
  });

  holds(
    'tells once when an account falls below its threshold, until it is lifted above it',
    async (store) => {
      await limit(store, 1_000, 0, 700);
      // A transaction of another case on the same server may delay readers of events for a moment.
      const PATIENT = { timeout: 20_000 };
      const told = async () =>
        (await store.listEvents({ accountId: ACCOUNT, after: null, limit: 1_000 })).items.filter(
          ({ type }) => type === 'account.low_credits',
        );
      await createJob(store, urlsOn('a.test', 9), { reserve: 100 });
      const { lease, tasks } = await take(store, 'a.test', 2);
      expect(await told()).toEqual([]);
      await claim(store, lease, 2);
      await expect.poll(told, PATIENT).toHaveLength(1);
      await claim(store, lease, 2);
      await store.commit([paid(lease, at(tasks, 0), 100)], T0);
      await grant(store, 1_000);
      expect((await told()).map(({ data, jobId }) => ({ ...data, jobId }))).toEqual([
        { availableCredits: expect.closeTo(0.0006, 4), thresholdCredits: 0.0007, jobId: null },
      ]);
      await grant(store, -900);
      await expect.poll(told, PATIENT).toHaveLength(2);
    },
  );

  holds('holds, charges and entries survive a kill', async (store, opened) => {
    await limit(store, 1_000);
    await createJob(store, urlsOn('a.test', 5), { reserve: 100 });
    const { lease, tasks } = await take(store, 'a.test', 3);
    await store.commit([paid(lease, at(tasks, 0), 40)], T0);
    const before = [await credits(store), await entries(store)];
    await afterKill(opened, async (again) => {
      await goTo(again, T0);
      expect([await credits(again), await entries(again)]).toEqual(before);
    });
  });

  holds('a budget of credits stops the job when it is spent', async (store) => {
    const { id } = await createJob(store, urlsOn('a.test', 4), { budgets: { maxMicrocredits: 50 } });
    const { lease, tasks } = await take(store, 'a.test', 2);
    expect(await store.commit([paid(lease, at(tasks, 0), 30)], T0)).toMatchObject({ stoppedJobs: [] });
    const receipt = await store.commit([paid(lease, at(tasks, 1), 30)], T0);
    expect(receipt).toMatchObject({ stoppedJobs: [id], finishedJobs: [id] });
    expect(await expectExact(store, id)).toMatchObject({ stopReason: 'budget.credits', microcredits: 60 });
    expect(await store.resumeJob(id, T0)).toMatchObject({ stopReason: 'budget.credits' });
    const lifted = { ...NO_LIMITS, maxMicrocredits: 100 };
    expect(await store.resumeJob(id, T0, lifted)).toMatchObject({ stopReason: null, counters: { open: 2 } });
  });
}
