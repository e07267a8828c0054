import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SolverSession, SolverSessions } from './solver-client.ts';

function shelf(maxSessions: number, maxAgeMs = 1_000) {
  const ended: string[] = [];
  let made = 0;
  let now = 0;
  const sessions = new SolverSessions({
    maxSessions,
    maxAgeMs,
    now: () => now,
    newId: () => {
      made += 1;
      return `s${made}`;
    },
    destroy: async ({ id }) => {
      ended.push(id);
    },
  });
  const lend = (key: string, signal = new AbortController().signal) =>
    sessions.lend({ key, proxy: null }, signal);
  return { sessions, ended, lend, made: () => made, pass: (ms: number) => (now += ms) };
}

/** What comes of it without anything else happening. */
async function now<T>(work: Promise<T>): Promise<T | 'waits'> {
  await Promise.resolve();
  return Promise.race([work, Promise.resolve('waits' as const)]);
}

describe('sessions', () => {
  it('wait for their turn in the order they were asked for', async () => {
    const { sessions, lend } = shelf(1);
    const first = await lend('a');
    const order: string[] = [];
    const waiting = ['a', 'b', 'a'].map((key, index) =>
      lend(key).then((session) => {
        order.push(`${key}${index}`);
        sessions.giveBack(session, false);
      }),
    );
    sessions.giveBack(first, false);
    await Promise.all(waiting);
    expect(order).toEqual(['a0', 'b1', 'a2']);
  });

  it('are not kept for who has gone', async () => {
    const { sessions, lend } = shelf(1);
    const first = await lend('a');
    const caller = new AbortController();
    const gone = lend('b', caller.signal);
    const reason = new Error('gone');
    caller.abort(reason);
    await expect(gone).rejects.toBe(reason);
    await expect(lend('b', caller.signal)).rejects.toBe(reason);
    const next = lend('c');
    sessions.giveBack(first, false);
    expect((await next).key).toBe('c');
  });

  it('that are spoiled end, and the next request gets a fresh one', async () => {
    const { sessions, lend, ended } = shelf(2);
    const first = await lend('a');
    sessions.giveBack(first, true);
    sessions.giveBack(first, false);
    expect(ended).toEqual([first.id]);
    expect((await lend('a')).id).not.toBe(first.id);
  });

  it('of any use are lent to one at a time, never more than allowed, and all end', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      gives: fc.nat(10),
      isSpoiled: fc.boolean(),
      ms: fc.nat(700),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 3 }),
        fc.array(step, { maxLength: 40 }),
        async (most, steps) => {
          const { sessions, lend, ended, made, pass } = shelf(most);
          const lent: SolverSession[] = [];
          const waiting = new Set<Promise<SolverSession>>();
          const take = (work: Promise<SolverSession>) => {
            waiting.add(work);
            work.then((session) => {
              expect(lent.some(({ id, key }) => id === session.id || key === session.key)).toBe(false);
              lent.push(session);
              waiting.delete(work);
            });
            return now(work);
          };
          for (const { key, gives, isSpoiled, ms } of steps) {
            pass(ms);
            await take(lend(key));
            expect(sessions.size).toBeLessThanOrEqual(most);
            const [back] = lent.length === 0 ? [] : lent.splice(gives % lent.length, 1);
            if (back !== undefined && gives > 3) sessions.giveBack(back, isSpoiled);
            else if (back !== undefined) lent.push(back);
            await now(Promise.resolve());
          }
          // Callers that wait are served when those before them give a session back.
          for (let rounds = 0; lent.length + waiting.size > 0; rounds += 1) {
            expect(rounds).toBeLessThan(200);
            const back = lent.shift();
            if (back !== undefined) sessions.giveBack(back, false);
            await now(Promise.resolve());
          }
          await sessions.close();
          expect(ended.toSorted()).toEqual(
            Array.from({ length: made() }, (_, index) => `s${index + 1}`).toSorted(),
          );
        },
      ),
    );
  });
});
