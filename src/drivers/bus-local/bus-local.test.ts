import { expect, test, vi } from 'vitest';
import { createBusLocal } from './bus-local.ts';

test('the bus within a process tells of listeners that throw or reject', async () => {
  const onListenerError = vi.fn();
  const bus = createBusLocal({ onListenerError });
  const [thrown, rejected] = [new Error('thrown'), new Error('rejected')];
  bus.subscribe('policy.changed', () => {
    throw thrown;
  });
  bus.subscribe('policy.changed', () => Promise.reject(rejected));
  bus.publish('policy.changed', {});
  await vi.waitFor(
    () =>
      expect(onListenerError.mock.calls).toEqual([
        [thrown, 'policy.changed'],
        [rejected, 'policy.changed'],
      ]),
    { timeout: 20_000 },
  );
});
