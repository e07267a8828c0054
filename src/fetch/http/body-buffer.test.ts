import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createByteBudget } from '../byte-budget.ts';
import { BodyBuffer } from './body-buffer.ts';

/** What may be held besides the bytes: the unused rest of the last block, and something for each block. */
const SPARE_BYTES = 1_200_000;

function pieces(source: Buffer, sizes: readonly number[]): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0, index = 0; at < source.length; index += 1) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1);
    found.push(source.subarray(at, at + size));
    at += size;
  }
  return found;
}

describe('what a buffer holds', () => {
  test.each([
    ['single bytes', [1]],
    ['single bytes between large chunks', [1, 5_000]],
    ['chunks just below the size that is kept', [4_095]],
    ['large chunks', [65_536]],
  ])('is about the size of its bytes, which come in %s', (_, sizes) => {
    const source = Buffer.alloc(3_000_000, 'abc');
    const buffer = new BodyBuffer();
    let worst = 0;
    for (const piece of pieces(source, sizes)) {
      // Large ones have memory of their own, as a network reads them.
      buffer.append(sizes[0] === 65_536 ? new Uint8Array(piece) : piece);
      worst = Math.max(worst, buffer.heldBytes - buffer.length * 2);
    }
    expect(worst).toBeLessThan(SPARE_BYTES);
    expect(source.equals(buffer.take())).toBe(true);
    expect(buffer.heldBytes).toBe(0);
  });

  test('is not the memory that a small chunk is a part of', () => {
    const buffer = new BodyBuffer();
    for (let index = 0; index < 100; index += 1) buffer.append(new Uint8Array(65_536).subarray(0, 5_000));
    expect(buffer.heldBytes).toBeLessThan(100 * 5_000 * 2 + SPARE_BYTES);
  });

  test('comes out as it went in, however it was cut', () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 20_000 })), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 60_000 }), sizes, (bytes, cut) => {
        const source = Buffer.from(bytes);
        const account = createByteBudget(1_000_000).open();
        const buffer = new BodyBuffer(account);
        for (const piece of pieces(source, cut)) buffer.append(piece);
        const whole = buffer.take();
        expect(source.equals(whole)).toBe(true);
        expect(whole.byteLength).toBe(whole.buffer.byteLength);
        expect(account.bytes).toBe(source.length);
      }),
      { numRuns: 50 },
    );
  });
});

test('a buffer that is dropped gives everything back and resumes nothing', async () => {
  const budget = createByteBudget(10_000);
  const other = budget.open();
  other.take(9_000);
  let resumed = 0;
  const account = budget.open();
  const buffer = new BodyBuffer(account, () => {
    resumed += 1;
  });
  expect(buffer.append(new Uint8Array(8_000))).toBe(false);
  buffer.drop();
  expect(budget.heldBytes).toBe(9_000);
  other.close();
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect([resumed, budget.heldBytes]).toEqual([0, 0]);
});
