import { expect, test } from 'vitest';
import { diffLargeSite } from './large-diff.ts';

test('two crawls of a site of more pages than are in memory at once are compared page by page', async () => {
  const { counts, expected } = await diffLargeSite(2_000);
  expect(counts).toEqual(expected);
}, 60_000);
