import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteBudget } from '../fetch/byte-budget.ts';
import { createSlots } from './slots.ts';

/** All places taken, and listeners that note when they are told. */
function full(places: number) {
  const slots = createSlots(places);
  for (let n = 0; n < places; n += 1) slots.take();
  const told: string[] = [];
  const listener = (name: string) => () => void told.push(name);
  return { slots, told, listener };
}

describe('slots', () => {
  it('are as many as were made', () => {
    const slots = createSlots(2);
    expect([slots.take(), slots.take(), slots.take(), slots.taken]).toEqual([true, true, false, 2]);
    slots.give();
    expect([slots.take(), slots.take()]).toEqual([true, false]);
  });

  it('when one becomes free, whoever waited longest is told, once', () => {
    const { slots, told, listener } = full(1);
    slots.whenFree(listener('first'));
    slots.whenFree(listener('second'));
    slots.give();
    expect(told).toEqual(['first']);
    slots.take();
    slots.give();
    slots.take();
    slots.give();
    expect(told).toEqual(['first', 'second']);
  });

  it('a listener that asks twice is told once', () => {
    const { slots, told, listener } = full(2);
    const again = listener('it');
    slots.whenFree(again);
    slots.whenFree(again);
    slots.give();
    slots.give();
    expect(told).toEqual(['it']);
  });

  it('a free place that the one told does not want goes to the next', () => {
    const { slots, told, listener } = full(1);
    const first = listener('first');
    slots.whenFree(first);
    slots.whenFree(listener('second'));
    slots.give();
    slots.decline(first);
    expect(told).toEqual(['first', 'second']);
  });

  it('whoever has gone is not told, and takes no wake-up away from others', () => {
    const { slots, told, listener } = full(1);
    const gone = listener('gone');
    slots.whenFree(gone);
    slots.whenFree(listener('patient'));
    slots.decline(gone);
    expect(told).toEqual([]);
    slots.give();
    expect(told).toEqual(['patient']);
  });

  it('nobody waits while a place is free and everybody who was told has taken it or declined', () => {
    const step = fc.record({ who: fc.nat(5), wants: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 60 }), (places, steps) => {
        const slots = createSlots(places);
        const waiting = new Set<number>();
        const wants = new Set<number>();
        const tell = Array.from({ length: 6 }, (_, who) => () => {
          waiting.delete(who);
          if (wants.has(who)) slots.take();
          else slots.decline(tell[who] as () => void);
        });
        for (const { who, wants: isWanted } of steps) {
          if (!isWanted) {
            wants.delete(who);
            if (slots.taken > 0) slots.give();
          } else {
            wants.add(who);
            if (!slots.take()) {
              waiting.add(who);
              slots.whenFree(tell[who] as () => void);
            }
          }
          expect(slots.taken).toBeLessThanOrEqual(places);
          if (slots.taken < places) expect([...waiting]).toEqual([]);
        }
      }),
    );
  });

  it('are not given while the bytes in flight leave no room, and all that are free are offered when they do', () => {
    const budget = createByteBudget(100);
    const slots = createSlots(3, budget);
    const held = budget.open();
    held.take(90);
    const told: string[] = [];
    for (const name of ['first', 'second', 'third', 'fourth']) slots.whenFree(() => void told.push(name));
    expect([slots.take(), slots.taken]).toEqual([false, 0]);
    held.close();
    expect(told).toEqual(['first', 'second', 'third']);
    expect(slots.take()).toBe(true);
  });
});
