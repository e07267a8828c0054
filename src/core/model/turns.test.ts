import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import type { JobKind } from './job-kinds.ts';
import {
  compareTurns,
  inTurn,
  MAX_RANK_DELAY_MS,
  NO_TURNS,
  type Queued,
  rankOf,
  type Turns,
  turnsAfter,
} from './turns.ts';

const scrape = (accountId: string, jobSeq: number): Queued => ({ accountId, jobSeq, isScrape: true });
const page = (accountId: string, jobSeq: number): Queued => ({ accountId, jobSeq, isScrape: false });
const names = (tasks: readonly Queued[]) =>
  tasks.map(({ accountId, jobSeq, isScrape }) => `${accountId}${isScrape ? 's' : jobSeq}`).join(' ');

const someTask = fc.record({
  accountId: fc.constantFrom('a', 'b', 'c', 'd'),
  jobSeq: fc.integer({ min: 1, max: 5 }),
  isScrape: fc.boolean(),
});
const someTurns = fc
  .array(someTask, { maxLength: 20 })
  .map((served) => served.reduce<Turns>(turnsAfter, NO_TURNS));

/** A host on which tasks arrive and are served one by one, in the order of their turns. */
const someEvents = fc.array(fc.oneof(fc.record({ arrives: someTask }), fc.constant('serve' as const)), {
  maxLength: 200,
});

function serveAll(
  events: readonly ({ arrives: Queued } | 'serve')[],
  see: (ready: Queued[], served: Queued) => void,
) {
  let turns = NO_TURNS;
  const ready: Queued[] = [];
  for (const event of events) {
    if (event !== 'serve') ready.push(event.arrives);
    const next =
      event === 'serve' ? ready.toSorted((one, other) => compareTurns(one, other, turns))[0] : undefined;
    if (next === undefined) continue;
    ready.splice(ready.indexOf(next), 1);
    see([next, ...ready], next);
    turns = turnsAfter(turns, next);
  }
}

describe('turns', () => {
  test('accounts take turns, then the single scrapes and the other jobs of an account, then its jobs', () => {
    const flood = Array.from({ length: 5 }, () => page('a', 1));
    expect(names(inTurn([...flood, page('b', 7)], NO_TURNS))).toBe('a1 b7 a1 a1 a1 a1');
    expect(names(inTurn([...flood, page('a', 2), page('a', 2)], NO_TURNS))).toBe('a1 a2 a1 a2 a1 a1 a1');
    const scrapes = [scrape('a', 8), scrape('a', 9), scrape('a', 10)];
    expect(names(inTurn([...flood.slice(2), ...scrapes], NO_TURNS))).toBe('as a1 as a1 as a1');
    expect(names(inTurn([...scrapes, page('b', 1), page('b', 2)], NO_TURNS))).toBe('as b1 as b2 as');
  });

  test('they begin after the account and the job that were served last', () => {
    const turns = [page('a', 1), page('b', 3)].reduce<Turns>(turnsAfter, NO_TURNS);
    const waiting = [page('a', 1), page('a', 2), page('b', 3), page('b', 4), page('c', 5)];
    expect(names(inTurn(waiting, turns))).toBe('c5 a2 b4 a1 b3');
  });

  test('between two requests of an account that waits, each other account has one at most', () => {
    fc.assert(
      fc.property(someEvents, (events) => {
        /** For each account with ready work: what the others were served since its own last turn. */
        const since = new Map<string, Map<string, number>>();
        serveAll(events, (ready, { accountId }) => {
          const waiting = new Set(ready.map((task) => task.accountId));
          for (const account of [...since.keys()]) if (!waiting.has(account)) since.delete(account);
          for (const account of waiting) {
            const others = since.get(account) ?? new Map<string, number>();
            if (account === accountId) others.clear();
            else others.set(accountId, (others.get(accountId) ?? 0) + 1);
            since.set(account, others);
            expect(Math.max(0, ...others.values())).toBeLessThanOrEqual(1);
          }
        });
      }),
    );
  });

  test('of the turns of an account a line that waits has its share', () => {
    fc.assert(
      fc.property(someEvents, (events) => {
        const missed = new Map<string, number>();
        serveAll(events, (ready, served) => {
          const lines = new Set(ready.map((task) => names([task])));
          for (const line of [...missed.keys()]) if (!lines.has(line)) missed.delete(line);
          for (const task of ready) {
            const line = names([task]);
            if (line === names([served])) missed.set(line, 0);
          }
          for (const line of lines) {
            if (line === names([served]) || !line.startsWith(served.accountId)) continue;
            const count = (missed.get(line) ?? 0) + 1;
            missed.set(line, count);
            // Scrapes wait for one other turn. A job waits for each of the four others, and a scrape before each turn.
            expect(count).toBeLessThanOrEqual(line.endsWith('s') ? 1 : 9);
          }
        });
      }),
    );
  });

  test('no task is lost, and a line keeps its order', () => {
    fc.assert(
      fc.property(fc.array(someTask), someTurns, (tasks, turns) => {
        const ordered = inTurn(tasks, turns);
        expect(ordered).toHaveLength(tasks.length);
        for (const name of new Set(tasks.map((task) => names([task])))) {
          const ofLine = (all: readonly Queued[]) => all.filter((task) => names([task]) === name);
          expect(ofLine(ordered)).toEqual(ofLine(tasks));
        }
      }),
    );
  });

  test('what a host keeps of them is bounded', () => {
    let turns = NO_TURNS;
    for (let at = 0; at < 1_000; at += 1) turns = turnsAfter(turns, page(`account ${at}`, at + 1));
    expect(Object.keys(turns.lines)).toHaveLength(64);
    expect(turnsAfter(turns, page('account 999', 1_000))).toBe(turns);
  });
});

const largeKind = fc.constantFrom<JobKind>('batch', 'crawl', 'map');
const size = fc.oneof(fc.nat(10_000_000), fc.constant(Number.POSITIVE_INFINITY));
const now = fc.integer({ min: 0, max: 4_102_444_800_000 });

describe('Property 36: the rank of a task', () => {
  it('puts smaller jobs first among those that came together', () => {
    fc.assert(
      fc.property(largeKind, largeKind, size, size, now, (one, other, a, b, at) => {
        const [small, large] = a < b ? [a, b] : [b, a];
        expect(rankOf({ kind: one, size: small }, at)).toBeLessThanOrEqual(
          rankOf({ kind: other, size: large }, at),
        );
      }),
    );
  });

  it('tells jobs apart whose sizes differ by a tenth, up to a million', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 900_000 }), now, (tasks, at) => {
        const larger = Math.ceil(tasks * 1.1);
        expect(rankOf({ kind: 'batch', size: tasks }, at)).toBeLessThan(
          rankOf({ kind: 'crawl', size: larger }, at),
        );
      }),
    );
  });

  it('puts single scrapes before everything', () => {
    fc.assert(
      fc.property(largeKind, size, now, now, (kind, tasks, at, later) => {
        expect(rankOf({ kind: 'scrape', size: 1 }, later)).toBeLessThanOrEqual(
          rankOf({ kind, size: tasks }, at),
        );
      }),
    );
    expect(rankOf({ kind: 'scrape', size: 1 }, 5_000)).toBe(0);
  });

  it('never falls with time', () => {
    fc.assert(
      fc.property(largeKind, size, now, fc.nat(), (kind, tasks, at, gap) => {
        expect(rankOf({ kind, size: tasks }, at)).toBeLessThanOrEqual(
          rankOf({ kind, size: tasks }, at + gap),
        );
      }),
    );
  });

  it('starves nobody: what comes after the greatest delay is behind, however small its job', () => {
    fc.assert(
      fc.property(
        largeKind,
        largeKind,
        size,
        size,
        now,
        fc.integer({ min: 1 }),
        (one, other, a, b, at, gap) => {
          const waiting = rankOf({ kind: one, size: a }, at);
          expect(waiting).toBeLessThan(rankOf({ kind: other, size: b }, at + MAX_RANK_DELAY_MS + gap));
        },
      ),
    );
  });

  it('is a whole number for any size', () => {
    for (const tasks of [-1, 0, 1, 7.5, 1e12, Number.POSITIVE_INFINITY]) {
      expect(Number.isSafeInteger(rankOf({ kind: 'crawl', size: tasks }, 1_800_000_000_000))).toBe(true);
    }
  });
});
