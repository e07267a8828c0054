import { expect, test } from 'vitest';
import { spawnSite } from './remote-site.ts';

test('a site in its own process tells its parent what it received, and stops when told', async () => {
  const site = await spawnSite({ pages: 10 });
  try {
    for (const path of ['/big/', '/big/1', '/big/1']) await (await fetch(site.url + path)).text();
    expect((await site.counts()).urls[`${site.url}/big/1`]).toBe(2);
    const entries = await site.entries();
    expect(entries.map(({ path }) => path)).toEqual(['/big/', '/big/1', '/big/1']);
    expect((await site.entries(2)).map(({ seq }) => seq)).toEqual([2]);
    await site.reset();
    expect(await site.counts()).toEqual({ total: 0, uncounted: 0, urls: {} });
    expect((await fetch(`${site.url}/big/10`)).status).toBe(404);
  } finally {
    // A connection that would never end must not keep it alive.
    const endless = await fetch(`${site.url}/slow/endless-drip`);
    await Promise.all([site.close(), endless.text().catch(() => {})]);
  }
  await expect(fetch(site.url)).rejects.toThrow();
});
