import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { decodeFrame, encodeFrame, isBody, packRecord, unpackRecord } from './page-record.ts';

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

const PAGE = Buffer.from('<p>A page with words that come again and again.</p>'.repeat(100));

test.each([
  ['pages', [PAGE, PAGE, Buffer.from('another')]],
  ['noise', [randomBytes(5_000)]],
  ['tiny and empty ones', [Buffer.from('x'), Buffer.alloc(0)]],
])('bodies come back one after the other: %s', (_, bodies) => {
  expect(decodeFrame(Buffer.from(encodeFrame(bodies)))).toEqual(Buffer.concat(bodies));
});

test('what compresses is compressed, what does not is left', () => {
  expect(encodeFrame([PAGE]).length).toBeLessThan(PAGE.length / 10);
  expect(encodeFrame([randomBytes(5_000)]).length).toBe(5_004);
});

test('a frame that was changed or cut is not decoded to something else', () => {
  const frame = Buffer.from(encodeFrame([PAGE]));
  expect(decodeFrame(frame.subarray(0, frame.length - 9))).toBeNull();
  expect(decodeFrame(Buffer.from('????'))).toBeNull();
  expect(decodeFrame(Buffer.alloc(0))).toBeNull();
});

test('a body is known by its hash', () => {
  const hash = createHash('sha256').update(PAGE).digest('hex');
  expect(isBody(PAGE, hash)).toBe(true);
  expect(isBody(PAGE.subarray(1), hash)).toBe(false);
});
