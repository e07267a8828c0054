import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiWorld, openApiWorld } from './api-world.ts';

let world: ApiWorld;
beforeAll(async () => {
  world = await openApiWorld({ site: { pages: 3 }, settings: { minScheduleSeconds: 1 } });
});
afterAll(() => world.close());

const WAIT = { timeout: 100_000, interval: 50 };

describe('a schedule of a running server', { timeout: 120_000 }, () => {
  test('runs by itself, and its jobs fetch their pages', async () => {
    const job = { kind: 'scrape', url: `${world.site.hostUrl(1)}/` };
    const made = await world.post('/v1/schedules', { name: 'every second', every: '1s', job });
    expect(made.status).toBe(201);
    const path = `/v1/schedules/${made.body.data?.id}`;
    await vi.waitFor(async () => {
      const runs = await world.call({ url: `${path}/runs` });
      const ended = ((runs.body.data?.items ?? []) as Record<string, unknown>[]).filter(
        ({ trigger, status, jobStatus }) =>
          trigger === 'tick' && status === 'started' && jobStatus === 'completed',
      );
      expect(ended.length).toBeGreaterThanOrEqual(2);
    }, WAIT);
    expect((await world.call({ method: 'DELETE', url: path })).status).toBe(200);
  });
});
