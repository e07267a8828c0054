import { expect, it } from 'vitest';
import { releaseBytes } from './own-memory.ts';

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
