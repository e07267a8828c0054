import { expect, it } from 'vitest';
import { sideBySide } from './multipart.ts';

it('rejects with the first failure once nothing is under way, and begins no more', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    if (item === 1) throw new Error('first');
    await new Promise((resolve) => setTimeout(resolve, 5));
    ended.push(item);
    if (item === 2) throw new Error('second');
  };
  await expect(sideBySide(3, [1, 2, 3, 4, 5], work)).rejects.toThrow('first');
  expect(ended).toEqual([2, 3]);
});
