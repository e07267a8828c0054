import { get } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Site, startSite } from '../site.ts';
import { CHARSETS } from './charsets.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 1, log: 'off' });
});
afterAll(() => site.close());

const MEGABYTE = 1_048_576;

test.each([
  ['bomb-gzip', createGunzip, 256],
  ['bomb-deflate', createInflate, 256],
  ['bomb-br', createBrotliDecompress, 64],
  ['bomb-zstd', createZstdDecompress, 256],
] as const)(
  '%s is small on the wire, valid, and hundreds of megabytes inside',
  async (name, decoder, megabytes) => {
    const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
      get(`${site.url}/encodings/${name}`, resolve).on('error', reject);
    });
    expect(Number(response.headers['content-length'])).toBeLessThan(300_000);
    let decoded = 0;
    const count = new Writable({
      write(piece: Buffer, _, done) {
        decoded += piece.length;
        done();
      },
    });
    await pipeline(response, decoder(), count);
    expect(decoded).toBeGreaterThanOrEqual(megabytes * MEGABYTE);
  },
);

test('every page with a charset in its header decodes to its title', () => {
  for (const { title, contentType, bytes, note } of Object.values(CHARSETS)) {
    const label = /charset="?([\w-]+)/.exec(contentType)?.[1];
    const hasBom = (bytes[0] ?? 0) >= 0xef;
    if (label === undefined || hasBom || label === 'x-no-such') continue;
    expect([note, new TextDecoder(label).decode(bytes)]).toEqual([
      note,
      expect.stringContaining(`<title>${title}</title>`),
    ]);
  }
});
