import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteBudget } from '../../../fetch/byte-budget.ts';
import { createSlots } from './slots.ts';

/** All places taken, and listeners that note when they are told. */
function full(places: number) {
  const slots = createSlots(places);
  for (let n = 0; n < places; n += 1) slots.take();
  const told: string[] = [];
  const listener = (name: string) => () => void told.push(name);
  /** The place that is kept for the listener is taken, and given back. */
  const use = (one: () => void) => {
    expect(slots.take(one)).toBe(true);
    slots.give();
  };
  return { slots, told, listener, use };
}

describe('slots', () => {
  it('are as many as were made', () => {
    const slots = createSlots(2);
    expect([slots.take(), slots.take(), slots.take(), slots.taken]).toEqual([true, true, false, 2]);
    slots.give();
    expect([slots.take(), slots.take()]).toEqual([true, false]);
  });

  it('when one becomes free, whoever waited longest is told, once', () => {
    const { slots, told, listener, use } = full(1);
    const [first, second] = [listener('first'), listener('second')];
    slots.whenFree(first, 'a');
    slots.whenFree(second, 'a');
    slots.give();
    expect(told).toEqual(['first']);
    use(first);
    use(second);
    expect(told).toEqual(['first', 'second']);
    expect([slots.take(), slots.taken]).toEqual([true, 1]);
  });

  it('accounts take turns, however many hosts of each wait', () => {
    const { slots, told, listener, use } = full(1);
    const listeners = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1'].map((name) => {
      const one = listener(name);
      slots.whenFree(one, name.charAt(0));
      return [name, one] as const;
    });
    slots.give();
    for (let used = 0; used < listeners.length; used += 1)
      use(new Map(listeners).get(told.at(-1) ?? '') as () => void);
    expect(told).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', 'a4']);
  });

  it('a place that a listener was called for is kept for it', () => {
    const { slots, listener } = full(2);
    const [waiting, quick] = [listener('waiting'), listener('quick')];
    slots.whenFree(waiting, 'a');
    slots.give();
    expect([slots.take(quick), slots.take(), slots.take(waiting), slots.taken]).toEqual([
      false,
      false,
      true,
      2,
    ]);
  });

  it('a listener that asks twice is told once', () => {
    const { slots, told, listener } = full(2);
    const again = listener('it');
    slots.whenFree(again, 'a');
    slots.whenFree(again, 'a');
    slots.give();
    slots.give();
    expect(told).toEqual(['it']);
  });

  it('a free place that the one told does not want goes to the next', () => {
    const { slots, told, listener } = full(1);
    const first = listener('first');
    slots.whenFree(first, 'a');
    slots.whenFree(listener('second'), 'a');
    slots.give();
    slots.decline(first);
    expect(told).toEqual(['first', 'second']);
  });

  it('whoever has gone is not told, and takes no wake-up away from others', () => {
    const { slots, told, listener } = full(1);
    const gone = listener('gone');
    slots.whenFree(gone, 'a');
    slots.whenFree(listener('patient'), 'b');
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
          if (wants.has(who)) expect(slots.take(tell[who])).toBe(true);
          else slots.decline(tell[who] as () => void);
        });
        for (const { who, wants: isWanted } of steps) {
          if (!isWanted) {
            wants.delete(who);
            if (slots.taken > 0) slots.give();
          } else {
            wants.add(who);
            if (!slots.take(tell[who])) {
              waiting.add(who);
              slots.whenFree(tell[who] as () => void, who % 2 === 0 ? 'even' : 'odd');
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
    for (const name of ['first', 'second', 'third', 'fourth'])
      slots.whenFree(() => void told.push(name), 'a');
    expect([slots.take(), slots.taken]).toEqual([false, 0]);
    held.close();
    // Each of these places is kept for its listener.
    expect(told).toEqual(['first', 'second', 'third']);
    expect(slots.take()).toBe(false);
  });
});
