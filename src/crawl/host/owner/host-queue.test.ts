import { expect, it, vi } from 'vitest';
import { listeningLogger } from '../process/claimed-task.fixture.ts';
import { createHostQueue } from './host-worker.ts';

const soon = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 20_000 });

it('takes nothing while the store is away, and goes on when it answers', async () => {
  let isAway = false;
  let open = 0;
  let opened = 0;
  const hosts = createHostQueue({
    consume: async () => {
      open += 1;
      opened += 1;
      return {
        stop: async () => {
          open -= 1;
        },
      };
    },
    reach: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve()),
    logger: listeningLogger().logger,
    lookMs: 5,
  });
  await hosts.start();
  expect([open, opened]).toEqual([1, 1]);
  isAway = true;
  hosts.suspend();
  hosts.suspend();
  await soon(() => expect(open).toBe(0));
  isAway = false;
  await soon(() => expect([open, opened]).toEqual([1, 2]));
  await hosts.stop();
  expect(open).toBe(0);
  hosts.suspend();
  expect([open, opened]).toEqual([0, 2]);
});
