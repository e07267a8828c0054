import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { JobSeq } from '../../../core/model/ids.ts';
import type { HostStore } from '../../../core/ports/host-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { CLOSED_BREAKER, recordFailure } from '../../politeness/breaker.ts';
import {
  addJob,
  type JobChanges,
  listeningLogger,
  openStore,
  own,
  T0,
} from '../process/claimed-task.fixture.ts';
import { createQuarantine } from '../process/quarantine.ts';
import { createRunningJobs } from '../process/running-job.ts';
import { createMailbox, type Mailbox } from './mailbox.ts';

let store: Store;
let clock = T0;
beforeAll(async () => {
  store = await openStore(() => clock);
});
afterAll(() => store.close());

let hosts = 0;
/** A host of its own with these jobs, and the mailbox of its owner. */
async function openBox(
  jobs: readonly { count: number; changes?: JobChanges }[],
  claimTasks?: HostStore['claimTasks'],
) {
  hosts += 1;
  const host = `host${hosts}.test`;
  const made = [];
  for (const [index, { count, changes }] of jobs.entries()) {
    const urls = Array.from({ length: count }, (_, n) => `http://${host}/${index}/${n}`);
    // The earlier job has the better rank.
    clock = T0 + index * 1_000_000;
    made.push(await addJob(store, urls, { kind: 'batch', ...changes }));
  }
  clock = T0 + 10_000_000;
  const lease = await own(store, host);
  const asked: { limit: number; except: readonly JobSeq[] }[] = [];
  const told: string[] = [];
  const running = createRunningJobs(store);
  const { logger, lines } = listeningLogger();
  const box = createMailbox({
    store: {
      claimTasks(...call) {
        asked.push({ limit: call[1], except: call[2] });
        return (claimTasks ?? store.claimTasks)(...call);
      },
    },
    jobs: running,
    lease,
    quarantine: createQuarantine(Date.now),
    logger,
    now: () => clock,
    onChange: () => void told.push('change'),
    onFailure: () => void told.push('failure'),
  });
  return { host, box, jobs: made, lease, asked, told, running, lines };
}

async function refilled(box: Mailbox, wanted: number): Promise<void> {
  box.refill(wanted);
  await vi.waitFor(() => expect(box.isRefilling).toBe(false), { interval: 1 });
}

/** Takes the next claimed task out, as one that starts. */
function start(box: Mailbox): string | null {
  const claimed = box.next(true, CLOSED_BREAKER);
  if (claimed === null) return null;
  claimed.running.inFlight += 1;
  box.served(claimed);
  box.remove(claimed);
  return new URL(claimed.task.url).pathname;
}
const ONE_AT_A_TIME: JobChanges = { options: { concurrency: 1 } };

describe('a mailbox', () => {
  it('takes what the next moment needs and no more', async () => {
    const { box, asked } = await openBox([{ count: 20 }]);
    await refilled(box, 4);
    expect([box.size, box.isDry]).toEqual([5, false]);
    await refilled(box, 4);
    expect(asked).toHaveLength(1);
    for (let n = 0; n < 3; n += 1) start(box);
    await refilled(box, 4);
    expect([box.size, asked.map(({ limit }) => limit)]).toEqual([5, [5, 3]]);
  });

  it('hands each task out once, and the jobs take turns', async () => {
    const { box } = await openBox([{ count: 4 }, { count: 2 }]);
    await refilled(box, 10);
    expect(Array.from({ length: 7 }, () => start(box)?.slice(0, 2) ?? null)).toEqual([
      ...['/0', '/1', '/0', '/1', '/0', '/0'],
      null,
    ]);
  });

  it('goes on where the last owner has stopped, and leaves its turns to the next one', async () => {
    const { box, host, lease, jobs } = await openBox([{ count: 4 }, { count: 4 }]);
    expect(box.turns).toBeUndefined();
    await refilled(box, 1);
    expect(start(box)?.slice(0, 2)).toBe('/0');
    const { turns } = box;
    expect(turns).toEqual({
      account: jobs[0]?.accountId,
      lines: { [String(jobs[0]?.accountId)]: [jobs[0]?.seq, false] },
    });
    await store.releaseHost(lease, turns === undefined ? lease.state : { ...lease.state, turns }, 0);
    const next = await own(store, host);
    expect(next.state.turns).toEqual(turns);
    const [claimed] = await store.claimTasks(next, 1, [], next.state.turns);
    expect(claimed?.jobId).toBe(jobs[1]?.id);
  });

  it('hands out URLs that have not failed first while the breaker is open, and the others after them', async () => {
    const { box, host } = await openBox([{ count: 5 }, { count: 1 }]);
    await refilled(box, 10);
    let breaker = CLOSED_BREAKER;
    for (let n = 0; n < 5; n += 1) breaker = recordFailure(breaker, `http://${host}/0/${n}`, T0);
    const first = box.next(true, breaker);
    expect(first?.task.url).toBe(`http://${host}/1/0`);
    if (first !== null) box.remove(first);
    expect(box.next(true, breaker)?.task.url).toContain('/0/');
  });

  it('keeps a claimed until it is removed', async () => {
    const { box } = await openBox([{ count: 1 }]);
    await refilled(box, 4);
    expect(box.next(true, CLOSED_BREAKER)).toBe(box.next(true, CLOSED_BREAKER));
    expect(box.size).toBe(1);
  });

  it('asks once at a time', async () => {
    const { box, asked } = await openBox([{ count: 3 }]);
    box.refill(1);
    box.refill(1);
    await refilled(box, 1);
    expect(asked).toHaveLength(1);
  });
});

describe('dryness', () => {
  it('is when the store had less than was asked for, and then it is not asked again', async () => {
    const { box, asked } = await openBox([{ count: 2 }]);
    await refilled(box, 4);
    expect(box.isDry).toBe(true);
    start(box);
    start(box);
    await refilled(box, 4);
    expect(asked).toHaveLength(1);
  });

  it('ends with news', async () => {
    const { box, host, told } = await openBox([{ count: 1 }]);
    await refilled(box, 4);
    await addJob(store, [`http://${host}/new`], { kind: 'batch' });
    const before = told.length;
    box.onNewTasks();
    expect([box.isDry, told.length]).toEqual([false, before + 1]);
    await refilled(box, 4);
    expect([box.size, box.isDry]).toEqual([2, true]);
  });

  it('is not believed when news came while the store was asked', async () => {
    let answer: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { box } = await openBox([{ count: 1 }], async (...call) => {
      const tasks = await store.claimTasks(...call);
      await held;
      return tasks;
    });
    box.refill(4);
    box.onNewTasks();
    answer();
    await vi.waitFor(() => expect(box.isRefilling).toBe(false), { interval: 1 });
    expect([box.size, box.isDry]).toEqual([1, false]);
    await refilled(box, 4);
    expect(box.isDry).toBe(true);
  });
});

describe('a job with as many fetches under way as it may have', () => {
  it('is passed over for others in the box', async () => {
    const { box } = await openBox([{ count: 3, changes: ONE_AT_A_TIME }, { count: 2 }]);
    await refilled(box, 10);
    expect([start(box), start(box), start(box)].map((path) => path?.slice(0, 3))).toEqual([
      '/0/',
      '/1/',
      '/1/',
    ]);
    expect(box.next(true, CLOSED_BREAKER)).toBeNull();
  });

  it('does not keep others in the store, however many of its claimedTasks are in the box', async () => {
    const { box, jobs, asked } = await openBox([{ count: 9, changes: ONE_AT_A_TIME }, { count: 9 }]);
    await refilled(box, 4);
    expect(start(box)?.slice(0, 3)).toBe('/0/');
    while (box.next(true, CLOSED_BREAKER) !== null) expect(start(box)?.slice(0, 3)).toBe('/1/');
    await refilled(box, 4);
    expect(asked.at(-1)?.except).toEqual([jobs[0]?.seq]);
    expect(start(box)?.slice(0, 3)).toBe('/1/');
  });

  it('is not looked for again and again while nothing beside it is due', async () => {
    const { box, asked } = await openBox([{ count: 9, changes: ONE_AT_A_TIME }]);
    await refilled(box, 4);
    start(box);
    await refilled(box, 4);
    await refilled(box, 4);
    expect(asked).toHaveLength(2);
    expect(box.isDry).toBe(false);
  });

  it('gives way to another one that was held back before and may start now', async () => {
    const both = await openBox([
      { count: 9, changes: ONE_AT_A_TIME },
      { count: 2, changes: ONE_AT_A_TIME },
    ]);
    const { box, running, jobs, asked } = both;
    const first = () => {
      const job = jobs[0] && running.peek(jobs[0].id);
      if (job === undefined) throw new Error('The first job does not run.');
      return job;
    };
    await refilled(box, 1);
    expect(start(box)).toMatch(/^\/0\//);
    await refilled(box, 1);
    expect(start(box)).toMatch(/^\/1\//);
    await refilled(box, 1);
    // Both are held back and nothing else is due. Now the first one may start what it has in the box …
    first().inFlight = 0;
    while (box.next(true, CLOSED_BREAKER) !== null) {
      start(box);
      first().inFlight = 0;
    }
    // … and what it still has in the store, although the second is as busy as before.
    const before = asked.length;
    await refilled(box, 1);
    expect(asked.slice(before).map(({ except }) => except)).toEqual([[jobs[1]?.seq]]);
    expect(start(box)).toMatch(/^\/0\//);
  });

  it('has the box told when one of its fetches ends', async () => {
    const { box, told, running, jobs } = await openBox([{ count: 2, changes: ONE_AT_A_TIME }]);
    await refilled(box, 4);
    start(box);
    expect(box.next(true, CLOSED_BREAKER)).toBeNull();
    const before = told.length;
    for (const tell of jobs[0] === undefined ? [] : (running.peek(jobs[0].id)?.whenFree ?? [])) tell();
    expect(told.length).toBe(before + 1);
  });
});

describe('what cannot be claimed', () => {
  it('by a store that fails is reported, and the box goes on', async () => {
    let isAway = true;
    const { box, told, lines } = await openBox([{ count: 1 }], (...call) =>
      isAway ? Promise.reject(new ScrapifieError('STORE_UNAVAILABLE', 'away')) : store.claimTasks(...call),
    );
    await refilled(box, 4);
    expect(told).toContain('failure');
    expect(lines.join()).toContain('claiming tasks failed');
    expect([box.size, box.isDry]).toEqual([0, false]);
    isAway = false;
    await refilled(box, 4);
    expect(box.size).toBe(1);
  });

  it('because its job is gone is left out', async () => {
    const { box, jobs } = await openBox([{ count: 1 }], async (...call) => {
      const tasks = await store.claimTasks(...call);
      return tasks.map((task) => ({ ...task, jobId: `gone-${jobs.length}` as typeof task.jobId }));
    });
    await refilled(box, 4);
    expect([box.size, box.isDry]).toEqual([0, true]);
  });
});

describe('a job that is held back', () => {
  it('does not come next, and other jobs do, until it is released', async () => {
    const { box, jobs } = await openBox([{ count: 1 }, { count: 1 }]);
    box.refill(2);
    await vi.waitFor(() => expect(box.size).toBe(2), { interval: 5 });
    const first = box.next(true, CLOSED_BREAKER);
    expect(first?.running.job.id).toBe(jobs[0]?.id);
    if (first === null) throw new Error('The mailbox is empty.');
    box.holdBack(first.running, T0 + 5_000);
    const second = box.next(true, CLOSED_BREAKER);
    expect(second?.running.job.id).toBe(jobs[1]?.id);
    if (second === null) throw new Error('The mailbox has one task.');
    box.remove(second);
    expect([box.next(true, CLOSED_BREAKER), box.heldBackUntil]).toEqual([null, T0 + 5_000]);
    box.releaseHeldBack();
    expect(box.next(true, CLOSED_BREAKER)).toBe(first);
  });
});
