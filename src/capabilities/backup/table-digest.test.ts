import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PortableRow, PortableValue } from '../../core/ports/store-copy.ts';
import { decodeRows, encodeRow, TableDigest } from './table-digest.ts';

const digestOf = (rows: readonly PortableRow[]) => {
  const digest = new TableDigest();
  digest.add(rows);
  return digest.figures.digest;
};
const value: fc.Arbitrary<PortableValue> = fc.oneof(
  fc.constant(null),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.string({ unit: 'binary' }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
);

it('rows are the same after they were bytes', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value, value)), (rows) => {
      const bytes = Buffer.concat(rows.map(encodeRow));
      expect(decodeRows(bytes, rows.length, 3)).toEqual(rows);
    }),
  );
});

it('the digest of a table does not depend on the order of its rows, but on every row', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value), { minLength: 1 }), (rows) => {
      expect(digestOf(rows.toReversed())).toBe(digestOf(rows));
      expect(digestOf(rows.slice(1))).not.toBe(digestOf(rows));
      expect(digestOf([...rows, ...rows.slice(0, 1)])).not.toBe(digestOf(rows));
    }),
  );
});

it('what stores write in different ways has the same digest', () => {
  const same: readonly (readonly [PortableValue, PortableValue])[] = [
    ['{"b":[1,2],"a":{"d":1,"c":"x"}}', '{"a": {"c": "x", "d": 1}, "b": [1, 2]}'],
    ['["\\u00e9"]', '["é"]'],
    ['{"a":"\\u0000"}', '{"a":"\ufffd"}'],
    ['a\0b', 'a\ufffdb'],
    [7, 7n],
    [0, -0],
  ];
  for (const [one, other] of same) expect(digestOf([[one]])).toBe(digestOf([[other]]));
  expect(digestOf([['{"a":1}']])).not.toBe(digestOf([['{"a":2}']]));
  expect(digestOf([['a', 'b']])).not.toBe(digestOf([['ab', '']]));
});
