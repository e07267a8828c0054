import { expect, it } from 'vitest';
import { RenderTally } from './render-tally.ts';

it('renders beyond the pages of the browsers wait, in the order in which they were asked for', async () => {
  const tally = new RenderTally(2);
  const ended: string[] = [];
  tally.onRendered((name, isShown) => ended.push(`${name} ${isShown ? 'shown' : 'failed'}`));
  const ends = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const names = ['browser', 'stealth', 'stealth', 'browser'] as const;
  const renders = names.map((name, at) => tally.count(name, () => ends[at]?.promise ?? Promise.resolve()));
  expect(tally.waiting('browser').waiting).toBe(1);
  expect(tally.waiting('stealth').waiting).toBe(1);
  ends[0]?.resolve();
  await renders[0];
  expect(tally.waiting('stealth')).toEqual({ waiting: 0, oldestMs: 0 });
  expect(tally.waiting('browser').waiting).toBe(1);
  ends[1]?.reject(new Error('lost'));
  await expect(renders[1]).rejects.toThrow('lost');
  for (const { resolve } of ends) resolve();
  await Promise.all(renders.slice(2));
  expect(ended).toEqual(['browser shown', 'stealth failed', 'stealth shown', 'browser shown']);
  expect(tally.waiting('browser').waiting).toBe(0);
});
