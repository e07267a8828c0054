import { expect, it } from 'vitest';
import { createMemoryCache } from './llm.ts';

it('keeps what was asked for last, within its bounds', async () => {
  const cache = createMemoryCache({ maxEntries: 2, maxChars: 10 });
  await cache.put('a', '1');
  await cache.put('b', '2');
  expect(await cache.get('a')).toBe('1');
  await cache.put('c', '3');
  expect(await cache.get('b')).toBeNull();
  expect(await cache.get('a')).toBe('1');
  await cache.put('d', '123456789');
  expect(await cache.get('c')).toBeNull();
  expect(await cache.get('a')).toBe('1');
  await cache.put('e', 'more than ten characters');
  expect(await cache.get('e')).toBeNull();
  expect(await cache.get('d')).toBe('123456789');
});
