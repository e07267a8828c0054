import { expect, test } from 'vitest';
import { packRecord, unpackRecord } from './page-record.ts';

const linksOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    url: `https://example.com/${n}`,
    text: `é ${n}`,
    rel: '',
    from: 'a',
  }));

test.each([0, 3, 2_000])('a record of %i links comes back as it was', (count) => {
  const record = { metadata: null, links: linksOf(count) };
  expect(JSON.parse(unpackRecord(packRecord(record)).toString())).toEqual(record);
});

test('large records are kept compressed', () => {
  const record = { metadata: null, links: linksOf(2_000) };
  expect(packRecord(record).length).toBeLessThan(JSON.stringify(record).length / 4);
});
