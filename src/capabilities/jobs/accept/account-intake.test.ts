import { describe, expect, it } from 'vitest';
import { createIntakeLimit } from './account-intake.ts';

function open(openInStore: number, maxQueuedUrls: number) {
  const world = { now: 0, open: openInStore, counts: 0 };
  const limit = createIntakeLimit({
    maxQueuedUrls,
    now: () => world.now,
    async countOpen() {
      world.counts += 1;
      return world.open;
    },
  });
  return { world, limit };
}

describe('the queue depth limit', () => {
  it('admits up to the limit and refuses what is beyond, whole', async () => {
    const { limit } = open(7, 10);
    await expect(limit.admit(4)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await limit.admit(3);
    await expect(limit.admit(1)).rejects.toMatchObject({ code: 'QUEUE_FULL', retryAfterMs: 5_000 });
  });

  it('refuses for good what exceeds it by itself, and names the limit', async () => {
    const { world, limit } = open(0, 10);
    const error = await limit.admit(11).catch((thrown: unknown) => thrown);
    const message = expect.stringMatching(/^A request with 11 URLs exceeds the limit of 10, even while none/);
    expect(error).toMatchObject({
      code: 'VALIDATION_FAILED',
      message,
      details: [{ field: 'urls', message }],
    });
    expect(error).not.toHaveProperty('retryAfterMs', expect.anything());
    expect(world.counts).toBe(0);
    await limit.admit(10);
  });

  it('asks the store at most once a second, and counts what it admitted in between', async () => {
    const { world, limit } = open(0, 10);
    for (let added = 0; added < 10; added++) await limit.admit(1);
    expect(world.counts).toBe(1);
    await expect(limit.admit(1)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    world.now = 1_000;
    world.open = 4;
    await limit.admit(6);
    expect(world.counts).toBe(2);
  });

  it('asks once for a crowd', async () => {
    const { world, limit } = open(0, 10);
    await Promise.all(Array.from({ length: 10 }, () => limit.admit(1)));
    expect(world.counts).toBe(1);
  });
});
