import { describe, expect, it } from 'vitest';
import type { HostKey, JobId } from '../../../core/model/ids.ts';
import { createBusLocal } from '../../../drivers/bus-local/bus-local.ts';
import { defined } from '../../../lib/defined.ts';
import { createJobWaits, createWaitEstimate } from './job-waits.ts';
import type { Waiting } from './waiting.ts';

const job = 'job-1' as JobId;
const other = 'job-2' as JobId;
const FOREVER_MS = 1_000_000;

interface Given {
  readonly ended?: Set<JobId>;
  readonly hopeless?: (withinMs: number) => Waiting | null;
  readonly maxWaits?: number;
  readonly pollMs?: number;
  readonly now?: () => number;
}

function open(given: Given = {}) {
  const bus = createBusLocal({
    onListenerError: (error) => {
      throw error;
    },
  });
  const waits = createJobWaits({
    bus,
    look: async (id) =>
      given.ended?.has(id) ? 'ended' : { hopeless: (withinMs) => given.hopeless?.(withinMs) ?? null },
    pollMs: given.pollMs ?? FOREVER_MS,
    ...defined({ maxWaits: given.maxWaits, now: given.now }),
  });
  return { bus, waits };
}

describe('waits for a job', () => {
  it('end when the bus says so, for everybody who waits for that job and nobody else', async () => {
    const { bus, waits } = open();
    const two = [waits.begin(job, FOREVER_MS), waits.begin(job, FOREVER_MS)];
    const third = waits.begin(other, FOREVER_MS);
    bus.publish('job.changed', { jobs: [job, other], finished: [job] });
    expect(await Promise.all(two.map((wait) => wait.outcome))).toEqual(['ended', 'ended']);
    expect(waits.count()).toBe(1);
    waits.close();
    expect(await third.outcome).toBe('closed');
  });

  it('end when the bus is silent but the store knows', async () => {
    const ended = new Set<JobId>();
    const { waits } = open({ ended, pollMs: 1 });
    const wait = waits.begin(job, FOREVER_MS);
    ended.add(job);
    expect(await wait.outcome).toBe('ended');
    expect(waits.count()).toBe(0);
  });

  it('are looked up few at a time, and many once the store knows of ends that the bus did not tell', async () => {
    const jobs = Array.from({ length: 1_000 }, (_, each) => `job-${each}` as JobId);
    const ended = new Set<JobId>();
    const polls: number[] = [];
    let asked = 0;
    const count = () => {
      polls.push(asked);
      asked = 0;
    };
    const { bus } = open();
    const waits = createJobWaits({
      bus,
      pollMs: 1,
      async look(id) {
        // All look-ups of a poll are made in one turn of the event loop here, because no server has to answer.
        if (asked === 0) setImmediate(count);
        asked += 1;
        return ended.has(id) ? 'ended' : { hopeless: () => null };
      },
    });
    const crowd = jobs.map((each) => waits.begin(each, FOREVER_MS));
    await expect.poll(() => polls.length).toBeGreaterThan(1);
    for (const each of jobs) ended.add(each);
    expect(new Set(await Promise.all(crowd.map((wait) => wait.outcome)))).toEqual(new Set(['ended']));
    await expect.poll(() => polls.slice(-3)).toEqual([50, 500, 450]);
    expect(new Set(polls.slice(0, -2))).toEqual(new Set([50]));
    expect(waits.count()).toBe(0);
    waits.close();
  });

  it('end at once when a change on the bus shows that the job cannot end within the time of the caller', async () => {
    const until = 3_600_000;
    const told: Waiting = {
      host: 'example.com' as HostKey,
      code: 'HOST_RATE_LIMITED',
      message: 'example.com asked to wait.',
      until,
      tasks: 1,
    };
    const { bus, waits } = open({ hopeless: (withinMs) => (until > withinMs ? told : null), now: () => 0 });
    const [hasty, patient] = [waits.begin(job, 30_000), waits.begin(job, 2 * until)];
    bus.publish('job.changed', { jobs: [job], finished: [] });
    expect(await hasty.outcome).toBe(told);
    expect(waits.count()).toBe(1);
    const held = waits.begin(other, 30_000);
    held.look();
    expect(await held.outcome).toBe(told);
    waits.close();
    expect(await patient.outcome).toBe('closed');
  });

  it('end at their time limit and when the caller leaves', async () => {
    const { waits } = open();
    expect(await waits.begin(job, 1).outcome).toBe('timeout');
    const caller = new AbortController();
    const wait = waits.begin(job, FOREVER_MS, caller.signal);
    caller.abort();
    expect(await wait.outcome).toBe('aborted');
    expect(await waits.begin(job, FOREVER_MS, caller.signal).outcome).toBe('aborted');
    expect(waits.count()).toBe(0);
  });

  it('can be stopped one by one', async () => {
    const { waits } = open();
    const [mine, yours] = [waits.begin(job, FOREVER_MS), waits.begin(job, FOREVER_MS)];
    mine.stop();
    expect(waits.count()).toBe(1);
    yours.stop();
    expect(waits.count()).toBe(0);
  });

  it('are bounded in number, and refused after closing', async () => {
    const { waits } = open({ maxWaits: 2 });
    waits.begin(job, FOREVER_MS);
    waits.begin(other, FOREVER_MS);
    expect(() => waits.begin(job, FOREVER_MS)).toThrow(/waiting/);
    waits.close();
    expect(await waits.begin(job, FOREVER_MS).outcome).toBe('closed');
  });

  it('are refused when a crowd is ahead and the time limit would pass first, and not before', async () => {
    let now = 0;
    const { bus, waits } = open({ now: () => now });
    const idOf = (each: number) => `job-${each}` as JobId;
    const crowd = Array.from({ length: 300 }, (_, each) => waits.begin(idOf(each), FOREVER_MS));
    // Ten end in a second: the last of the rest would wait for a quarter of a minute and more.
    for (let each = 0; each < 60; each += 1) {
      now += 100;
      bus.publish('job.changed', { jobs: [], finished: [idOf(each)] });
      await crowd[each]?.outcome;
    }
    expect(() => waits.begin(job, 30_000)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
    const patient = waits.begin(other, 120_000);
    waits.close();
    expect(await patient.outcome).toBe('closed');
    await Promise.all(crowd.map(({ outcome }) => outcome));
  });
});

it('expects what the last seconds showed', () => {
  let now = 0;
  const pace = createWaitEstimate(() => now);
  expect(pace.expectedMs(1_000)).toBe(0);
  for (; now < 5_000; now += 10) pace.ended();
  expect(pace.expectedMs(1_000)).toBeCloseTo(10_000, -2);
  expect(pace.expectedMs(0)).toBe(0);
});

it('expects nothing when nothing ended lately, or nobody looked', () => {
  let now = 0;
  const pace = createWaitEstimate(() => now);
  for (; now < 5_000; now += 10) pace.ended();
  now += 60_000;
  expect(pace.expectedMs(1_000)).toBe(0);
  now += 5_000;
  expect(pace.expectedMs(1_000)).toBe(0);
});
