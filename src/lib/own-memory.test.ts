import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ownString, releaseBytes } from './own-memory.ts';

it('gives memory back that belongs to these bytes alone', () => {
  const bytes = Uint8Array.of(1, 2, 3);
  releaseBytes(bytes);
  expect(bytes.byteLength).toBe(0);
  releaseBytes(bytes);
});

it('leaves shared memory alone', () => {
  const whole = Uint8Array.of(1, 2, 3);
  releaseBytes(whole.subarray(1));
  const shared = new Uint8Array(new SharedArrayBuffer(2));
  releaseBytes(shared);
  expect(whole).toEqual(Uint8Array.of(1, 2, 3));
  expect(shared.byteLength).toBe(2);
});

it('copies any string as it is, halves of surrogate pairs and long ones included', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
      expect(ownString(text)).toBe(text);
    }),
  );
  for (const text of ['', 'a half \ud800 of a pair', 'é'.repeat(100_000), `${'x'.repeat(50_000)}\udc00`]) {
    expect(ownString(text)).toBe(text);
  }
});
