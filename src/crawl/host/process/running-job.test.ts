import { describe, expect, it } from 'vitest';
import type { JobId } from '../../../core/model/ids.ts';
import type { Job } from '../../../core/model/job.ts';
import { jobOf, runningOf } from './claimed-task.fixture.ts';
import { createRunningJobs, notifyWaiting } from './running-job.ts';

/** Answers with any job asked for, and counts how often. */
function countingStore(changes: Parameters<typeof jobOf>[0] = {}) {
  const asked: JobId[] = [];
  return {
    asked,
    async getJob(id: JobId): Promise<Job | null> {
      asked.push(id);
      return id.startsWith('no-') ? null : { ...jobOf(changes), id };
    },
  };
}
const id = (name: string) => name as JobId;

describe('running jobs', () => {
  it('are read once from the store', async () => {
    const store = countingStore();
    const jobs = createRunningJobs(store);
    expect(jobs.peek(id('a'))).toBeUndefined();
    const running = await jobs.get(id('a'));
    expect(await jobs.get(id('a'))).toBe(running);
    expect(jobs.peek(id('a'))).toBe(running);
    expect(store.asked).toEqual(['a']);
  });

  it('asked for twice at the same time are one', async () => {
    const jobs = createRunningJobs(countingStore());
    const [one, other] = await Promise.all([jobs.get(id('a')), jobs.get(id('a'))]);
    expect(one).toBe(other);
  });

  it('that are not in the store are null', async () => {
    expect(await createRunningJobs(countingStore()).get(id('no-such'))).toBeNull();
  });

  it('are forgotten when they end, but not while a fetch of theirs is under way', async () => {
    const jobs = createRunningJobs(countingStore());
    const [idle, busy] = [await jobs.get(id('idle')), await jobs.get(id('busy'))];
    if (idle === null || busy === null) throw new Error('There should be two jobs.');
    busy.inFlight = 1;
    jobs.forget([id('idle'), id('busy'), id('never heard of')]);
    expect([jobs.peek(id('idle')), jobs.peek(id('busy'))]).toEqual([undefined, busy]);
  });

  it('make room for new ones: the oldest goes that has no fetch under way', async () => {
    const jobs = createRunningJobs(countingStore());
    const first = await jobs.get(id('0'));
    if (first !== null) first.inFlight = 1;
    for (let n = 1; n <= 2_000; n += 1) await jobs.get(id(`${n}`));
    expect([0, 1, 2, 2_000].map((n) => jobs.peek(id(`${n}`)) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it('do not share cookies', async () => {
    const jobs = createRunningJobs(countingStore());
    const [one, other] = [await jobs.get(id('a')), await jobs.get(id('b'))];
    one?.jar.store(new URL('http://site.test/'), 'a=1', 0);
    expect(one?.jar.cookiesFor(new URL('http://site.test/'), 1)).toHaveLength(1);
    expect(other?.jar.cookiesFor(new URL('http://site.test/'), 1)).toEqual([]);
  });
});

describe('a running job', () => {
  it('knows the origins its caller named', async () => {
    const { isNamedOrigin } = await runningOf({
      seeds: ['https://a.test/x', 'not a URL', 'http://b.test:81'],
    });
    const origins = ['https://a.test', 'http://a.test', 'http://b.test:81', 'http://b.test', 'null', ''];
    expect(origins.filter((origin) => origin !== '' && isNamedOrigin(origin))).toEqual([
      'https://a.test',
      'http://b.test:81',
    ]);
  });

  it('tells everybody who waits for a free place of it, once', async () => {
    const running = await runningOf();
    const told: string[] = [];
    running.whenFree.add(() => {
      told.push('one');
      // Who still cannot start waits again, and is told at the next occasion, not at once.
      running.whenFree.add(() => void told.push('again'));
    });
    running.whenFree.add(() => void told.push('two'));
    notifyWaiting(running);
    expect(told).toEqual(['one', 'two']);
    notifyWaiting(running);
    expect(told).toEqual(['one', 'two', 'again']);
  });
});
