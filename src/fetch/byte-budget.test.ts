import { describe, expect, test } from 'vitest';
import { budgetBytesFor, createByteBudget } from './byte-budget.ts';

const GIB = 1_073_741_824;
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the budget', () => {
  test('never makes an attempt wait that fits', () => {
    const budget = createByteBudget(100);
    const account = budget.open();
    expect(account.take(100, () => {})).toBe(true);
    expect([account.bytes, budget.heldBytes]).toEqual([100, 100]);
    account.close();
    account.close();
    expect(budget.heldBytes).toBe(0);
  });

  test('pauses those that go beyond it, but for the largest', async () => {
    const budget = createByteBudget(100);
    const resumed: string[] = [];
    const [small, large] = [budget.open(), budget.open()];
    large.take(90);
    expect(small.take(20, () => resumed.push('small'))).toBe(false);
    expect(large.take(10, () => resumed.push('large'))).toBe(false);
    await settled();
    expect(resumed).toEqual(['large']);
    expect(large.take(500, () => resumed.push('large again'))).toBe(true);
    large.close();
    await settled();
    expect(resumed).toEqual(['large', 'small']);
  });

  test('lets one go on after another, so that all of them end', async () => {
    const budget = createByteBudget(100);
    const bodies = Array.from({ length: 30 }, () => budget.open());
    const most = { heldBytes: 0, ended: 0 };
    await Promise.all(
      bodies.map(async (account) => {
        for (let chunk = 0; chunk < 60; chunk += 1) {
          const { promise, resolve } = Promise.withResolvers<void>();
          if (!account.take(1, resolve)) await promise;
          await settled();
          most.heldBytes = Math.max(most.heldBytes, budget.heldBytes);
        }
        most.ended += 1;
        account.close();
      }),
    );
    // One body beyond the limit, and a chunk of each that was resumed.
    expect(most.heldBytes).toBeLessThanOrEqual(100 + 60 + bodies.length);
    expect([most.ended, budget.heldBytes]).toEqual([30, 0]);
  });

  test('gives the right to go on to another when its holder ends', async () => {
    const budget = createByteBudget(10);
    const resumed: string[] = [];
    const [first, second, third] = [budget.open(), budget.open(), budget.open()];
    third.take(100);
    first.take(2, () => resumed.push('first'));
    second.take(1, () => resumed.push('second'));
    await settled();
    expect(resumed).toEqual(['first']);
    first.close();
    await settled();
    expect(resumed).toEqual(['first', 'second']);
  });

  test('lets those that share a connection go on together', async () => {
    const budget = createByteBudget(10);
    const resumed: string[] = [];
    const [one, mate, other] = [budget.open(), budget.open(), budget.open()];
    const connection = {};
    one.group = connection;
    mate.group = connection;
    one.take(20, () => resumed.push('one'));
    other.take(5, () => resumed.push('other'));
    mate.take(1, () => resumed.push('mate'));
    await settled();
    expect(resumed).toEqual(['one', 'mate']);
    expect([mate.take(5, () => {}), other.take(1, () => {})]).toEqual([true, false]);
  });

  test('has no room for new attempts from three quarters on, and says when it has again', () => {
    const budget = createByteBudget(100);
    let told = 0;
    budget.onRoom(() => {
      told += 1;
    });
    const [one, other] = [budget.open(), budget.open()];
    one.take(74);
    expect(budget.hasRoom).toBe(true);
    other.take(1);
    expect([budget.hasRoom, told]).toEqual([false, 0]);
    other.give(1);
    expect([budget.hasRoom, told]).toEqual([true, 1]);
  });
});

test('the default follows the memory of the machine', () => {
  expect(budgetBytesFor(5, GIB)).toBe(5);
  expect(budgetBytesFor(0, GIB / 4)).toBe(33_554_432);
  expect(budgetBytesFor(0, 4 * GIB)).toBe(GIB / 4);
  expect(budgetBytesFor(0, 256 * GIB)).toBe(GIB);
});
