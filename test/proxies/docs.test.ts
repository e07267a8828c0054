import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseProxyFile } from '../../src/crawl/plan/proxies/proxy-file.ts';
import { ProxyPool } from '../../src/crawl/plan/proxies/proxy-pool.ts';

test('the file in the documentation is one that can be used', async () => {
  const text = await readFile(new URL('../../docs/proxies.md', import.meta.url), 'utf8');
  const examples = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, example = '']) => example);
  expect(examples).toHaveLength(1);
  const config = parseProxyFile(examples[0] ?? '');
  expect(config.providers.map(({ name, tier }) => `${name} ${tier}`)).toEqual([
    'office datacenter',
    'rack datacenter',
    'brightdata residential',
    'oxylabs residential',
    'decodo-mobile mobile',
  ]);
  const pool = new ProxyPool(config, () => 0);
  const wish = { host: 'shop.example', session: null, tier: null, country: 'de' };
  expect(pool.choose(wish, 0)).toMatchObject({ kind: 'use', use: { proxy: { id: 'office/3' } } });
  const residential = pool.choose({ ...wish, tier: 'residential' }, 0);
  expect(residential).toMatchObject({ kind: 'use', use: { proxy: { id: 'brightdata/1', country: 'de' } } });
});
