import { expect, it } from 'vitest';
import { ReadQueue, type ReadTurn } from './read-queue.ts';

const all = () => true;
const turn = (accountId: string, line = 1): ReadTurn => ({ accountId, line });

/** Reads pages one after the other, each for as long as its account's pages take. */
function read(queue: ReadQueue<ReadTurn>, ms: (page: ReadTurn) => number, pages: number): string {
  let order = '';
  for (let count = 0; count < pages; count += 1) {
    const page = queue.take(all)?.page;
    if (page === undefined) break;
    order += page.accountId;
    queue.done(page, ms(page));
  }
  return order;
}

it('pages of one job are taken in their order', () => {
  const queue = new ReadQueue<number>();
  for (const page of [1, 2, 3]) queue.add(page, turn('a'));
  queue.add(0, turn('a'), true);
  expect([1, 2, 3, 4].map(() => queue.take(all)?.page)).toEqual([0, 1, 2, 3]);
  expect(queue.take(all)).toBeNull();
});

it('an account whose pages take long has its turn when the others have had as much time', () => {
  const queue = new ReadQueue<ReadTurn>();
  for (let count = 0; count < 50; count += 1) queue.add(turn('s'), turn('s'));
  for (let count = 0; count < 200; count += 1) queue.add(turn('q'), turn('q'));
  const order = read(queue, ({ accountId }) => (accountId === 's' ? 1_000 : 10), 202);
  expect(order.replaceAll('q', '').length).toBeLessThanOrEqual(3);
});

it('the jobs of an account share its time in the same way', () => {
  const queue = new ReadQueue<ReadTurn>();
  for (let count = 0; count < 50; count += 1) queue.add(turn('a', 1), turn('a', 1));
  queue.add(turn('a', 2), turn('a', 2));
  const lines: unknown[] = [];
  for (let count = 0; count < 3; count += 1) {
    const page = queue.take(all)?.page;
    lines.push(page?.line);
    if (page !== undefined) queue.done(page, page.line === 1 ? 5_000 : 1);
  }
  expect(lines).toContain(2);
});

it('an account cannot save up time', () => {
  const queue = new ReadQueue<ReadTurn>();
  for (let count = 0; count < 100; count += 1) queue.add(turn('a'), turn('a'));
  read(queue, () => 1_000, 50);
  for (let count = 0; count < 100; count += 1) queue.add(turn('b'), turn('b'));
  const order = read(queue, () => 1_000, 20);
  expect(order.replaceAll('a', '').length).toBeGreaterThan(8);
  expect(order.replaceAll('b', '').length).toBeGreaterThan(8);
});

it('few pages of a job are in hand before it is known what one takes', () => {
  const queue = new ReadQueue<ReadTurn>();
  for (let count = 0; count < 100; count += 1) queue.add(turn('a'), turn('a'));
  let taken = 0;
  while (queue.take(all) !== null) taken += 1;
  expect(taken).toBe(4);
  queue.done(turn('a'), 3);
  const paces: unknown[] = [];
  expect(queue.take((paceMs) => paces.push(paceMs) > 0)).not.toBeNull();
  expect(paces).toEqual([3]);
});

it('many jobs of one account are no more in hand than one, before it is known what a page takes', () => {
  const queue = new ReadQueue<ReadTurn>();
  for (let line = 0; line < 100; line += 1) queue.add(turn('a', line), turn('a', line));
  let taken = 0;
  while (queue.take(all) !== null) taken += 1;
  expect(taken).toBe(4);
});

it('what a page takes is remembered while a job has none, for a bounded number of jobs', () => {
  const queue = new ReadQueue<ReadTurn>();
  const paces: unknown[] = [];
  const once = (line: number) => {
    queue.add(turn('a', line), turn('a', line));
    queue.take((paceMs) => paces.push(paceMs) > 0);
    queue.done(turn('a', line), line);
  };
  for (const line of [1, 2]) once(line);
  once(1);
  expect(paces.at(-1)).toBe(1);
  for (let line = 1_000; line < 2_000; line += 1) once(line);
  once(1);
  // The pace of the account stands in for the one of the job.
  expect(paces.at(-1)).toBeGreaterThan(1_000);
});
