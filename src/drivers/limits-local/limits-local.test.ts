import { expect, test } from 'vitest';
import { createLimitsLocal } from './limits-local.ts';

const NOW = 1_800_000_000_000;

test('remembers no more keys than it may, and forgets the one not seen for longest', async () => {
  const limits = createLimitsLocal({ maxKeys: 2 });
  for (const key of ['a', 'b', 'a', 'c']) await limits.take(key, 1, NOW);
  expect(await limits.take('a', 1, NOW)).toMatchObject({ isAllowed: false });
  expect(await limits.take('b', 1, NOW)).toMatchObject({ isAllowed: true });
});

test('a clock that is put back does not lock a key out for longer than a minute', async () => {
  const limits = createLimitsLocal();
  await limits.take('a', 1, NOW);
  expect(await limits.take('a', 1, NOW - 3_600_000)).toMatchObject({ isAllowed: true, resetMs: 60_000 });
});
