import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { SharedGzip } from './shared-gzip.ts';

it('is read by any gunzip, whichever pieces it has and however many streams share them', () => {
  const sizes = [0, 1, 2, 3, 255, 256, 1_000, 65_535, 65_536, 300_001];
  const pieces = sizes.map((size, n) =>
    n % 2 === 0 ? randomBytes(size) : Buffer.alloc(size, 'data: {"a":1}\n'),
  );
  for (let from = 0; from <= pieces.length; from += 1) {
    const gzip = new SharedGzip();
    const sent = [...pieces.slice(from), ...pieces.slice(0, 3)];
    const bytes = Buffer.concat([...sent.map((piece) => gzip.add(piece)), gzip.end()]);
    expect(gunzipSync(bytes).equals(Buffer.concat(sent))).toBe(true);
  }
  expect(gunzipSync(new SharedGzip().end())).toHaveLength(0);
});
