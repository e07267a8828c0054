import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({});
});
afterAll(() => platform.close());

it('requests without a key leave a few lines in the log, however many there are; those with a key one each', async () => {
  const lines = (status: number) => platform.lines.filter((line) => line.includes(`"status":${status}`));
  for (let at = 0; at < 60; at += 1) await platform.api.inject({ url: '/v1/jobs' });
  expect(lines(401).length).toBeLessThan(60);
  const headers = { authorization: `Bearer ${platform.secret}` };
  for (let at = 0; at < 30; at += 1) await platform.api.inject({ url: '/v1/jobs', headers });
  expect(lines(200)).toHaveLength(30);
});
