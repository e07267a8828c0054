import { expect, it } from 'vitest';
import { createKnownPayloads } from '../capabilities/archive/exchange-records.ts';
import { createSorter } from './external-sorter.ts';

it('values come in the order of their keys, and of one key in the order in which they came', () => {
  const sorter = createSorter();
  const lines = Array.from({ length: 2_000 }, (_, n) => `${(n * 7919) % 2_000} line\n`);
  for (const line of lines) sorter.add(line, null);
  for (const value of ['b', 'a']) sorter.add('', value);
  expect([...sorter.values()]).toEqual(['b', 'a', ...lines.toSorted()]);
  sorter.close();
});

it('of known bodies the oldest are forgotten', () => {
  const known = createKnownPayloads(2);
  const placeOf = (n: number) => ({ id: `<urn:uuid:${n}>`, url: `https://a.test/${n}`, at: n });
  for (const n of [1, 2, 3]) known.add(`sha1:${n}`, placeOf(n));
  expect([1, 2, 3].map((n) => known.get(`sha1:${n}`))).toEqual([undefined, placeOf(2), placeOf(3)]);
  known.close();
});
