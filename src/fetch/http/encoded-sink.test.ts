import { randomBytes } from 'node:crypto';
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { codeOfFailure, get, type Loopback, serve, testEngine } from './loopback.fixture.ts';

const CODERS = {
  gzip: (bytes: Uint8Array) => gzipSync(bytes),
  deflate: (bytes: Uint8Array) => deflateSync(bytes),
  'raw deflate': (bytes: Uint8Array) => deflateRawSync(bytes),
  br: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes: Uint8Array) => zstdCompressSync(bytes),
} as const;
type Coder = keyof typeof CODERS;
const NAMES = Object.keys(CODERS) as Coder[];
const labelOf = (name: Coder) => (name === 'raw deflate' ? 'deflate' : name);

function answer(encoding: string | string[], body: Uint8Array, pieceBytes = 16_384): Promise<Loopback> {
  return serve((_, response) => {
    response.setHeader('content-encoding', encoding);
    for (let at = 0; at < body.byteLength; at += pieceBytes)
      response.write(body.subarray(at, at + pieceBytes));
    response.end();
  });
}

/** Text that shrinks, but not to nothing. */
const text = (bytes: number) => Buffer.from(randomBytes(bytes / 2).toString('hex'));

describe.each(NAMES)('%s', (name) => {
  test.each([
    ['a small page', 20_000],
    ['a page that grows past what is decoded in one go', 3_000_000],
  ])('%s comes out as it went in, alone on its buffer', async (_, bytes) => {
    const plain = text(bytes);
    const coded = CODERS[name](plain);
    const site = await answer(labelOf(name), coded);
    const response = await get(testEngine(), site.origin, { maxBodyBytes: 5_000_000 });
    expect(plain.equals(response.body)).toBe(true);
    expect(response.body.buffer.byteLength).toBe(plain.length);
    expect(response.wireBytes).toBe(coded.length);
  });

  test('a small body that unfolds to more than a megabyte comes whole', async () => {
    const plain = Buffer.alloc(4_000_000, 'ab');
    const site = await answer(labelOf(name), CODERS[name](plain));
    const response = await get(testEngine(), site.origin, { maxBodyBytes: 4_000_000 });
    expect(plain.equals(response.body)).toBe(true);
  });

  test('an empty body is empty', async () => {
    const coded = await answer(labelOf(name), CODERS[name](new Uint8Array(0)));
    const bare = await answer(labelOf(name), new Uint8Array(0));
    expect((await get(testEngine(), coded.origin)).body.byteLength).toBe(0);
    expect((await get(testEngine(), bare.origin)).body.byteLength).toBe(0);
  });

  test.each([
    ['short', 20_000],
    ['long', 400_000],
  ])('a %s body that was cut off is an error', async (_, bytes) => {
    const coded = CODERS[name](text(bytes));
    const site = await answer(labelOf(name), coded.subarray(0, coded.length - 20));
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BAD_ENCODING');
  });

  test('plain text under that name is an error', async () => {
    const site = await answer(labelOf(name), Buffer.from('<html>not compressed at all</html>'));
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BAD_ENCODING');
  });

  test('a bomb is cut at the limit', async () => {
    const small = CODERS[name](Buffer.alloc(20_000_000));
    const site = await answer(labelOf(name), small);
    const engine = testEngine();
    expect(await codeOfFailure(get(engine, site.origin))).toBe('BODY_LIMIT_EXCEEDED');
    expect(await codeOfFailure(get(engine, site.origin, { maxBodyBytes: 2_000_000 }))).toBe(
      'BODY_LIMIT_EXCEEDED',
    );
  });

  test('one byte at a time is as good', async () => {
    const plain = text(600);
    const site = await answer(labelOf(name), CODERS[name](plain), 1);
    expect(plain.equals((await get(testEngine(), site.origin)).body)).toBe(true);
  });
});

describe('a bomb without end', () => {
  test('is cut by what comes out, long before the limit of what goes in', async () => {
    const block = gzipSync(Buffer.alloc(50_000_000));
    let sentBytes = 0;
    const site = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      const more = () => {
        while (!response.destroyed && response.write(block)) sentBytes += block.length;
      };
      response.on('drain', more);
      more();
    });
    const attempt = get(testEngine(), site.origin, { maxBodyBytes: 10_000_000 });
    expect(await codeOfFailure(attempt)).toBe('BODY_LIMIT_EXCEEDED');
    expect(sentBytes).toBeLessThan(10_000_000);
  });

  test('that unfolds to nothing is cut by what goes in', async () => {
    const nothing = gzipSync(new Uint8Array(0));
    const block = Buffer.concat(Array.from({ length: 1_000 }, () => nothing));
    const site = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip');
      const more = () => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', more);
      more();
    });
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BODY_LIMIT_EXCEEDED');
  });
});

describe('several codings', () => {
  test.each([
    ['small', 5_000],
    ['large', 500_000],
  ])('are undone from the last to the first: %s', async (_, bytes) => {
    const plain = text(bytes);
    const coded = zstdCompressSync(deflateRawSync(CODERS.br(gzipSync(plain))));
    const site = await answer('gzip, br, deflate, zstd', coded);
    expect(plain.equals((await get(testEngine(), site.origin)).body)).toBe(true);
    const twice = await answer(['gzip', 'br'], CODERS.br(gzipSync(plain)));
    expect(plain.equals((await get(testEngine(), twice.origin)).body)).toBe(true);
  });

  test('a bomb in a bomb is cut too', async () => {
    const site = await answer('gzip, gzip', gzipSync(gzipSync(Buffer.alloc(30_000_000))));
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BODY_LIMIT_EXCEEDED');
  });

  test('more than four are refused', async () => {
    const site = await answer('gzip, gzip, gzip, gzip, gzip', gzipSync('x'));
    expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BAD_ENCODING');
  });
});

test.each(['identity', 'none', 'UTF-8', ''])('%j is no coding', async (encoding) => {
  const site = await answer(encoding, Buffer.from('plain'));
  expect(Buffer.from((await get(testEngine(), site.origin)).body).toString()).toBe('plain');
});

test.each(['compress', 'dcb', 'rot13'])('%s cannot be undone', async (encoding) => {
  const site = await answer(encoding, Buffer.from('plain'));
  expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BAD_ENCODING');
});

test('several gzip members are one body', async () => {
  const site = await answer('x-gzip', Buffer.concat([gzipSync('one '), gzipSync('two')]));
  expect(Buffer.from((await get(testEngine(), site.origin)).body).toString()).toBe('one two');
});

test.each([
  ['small', 1_000],
  ['large', 400_000],
])('zstd frames after the first are never lost in silence: %s', async (_, bytes) => {
  const frame = zstdCompressSync(text(bytes));
  const site = await answer('zstd', Buffer.concat([frame, frame]), 10_000);
  expect(await codeOfFailure(get(testEngine(), site.origin))).toBe('BAD_ENCODING');
});

test('a zstd window beyond what browsers accept is refused, because a decoder would make room for it', async () => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  for (const bytes of [40_000_000, 60_000]) {
    const whole = Buffer.concat([randomBytes(bytes), Buffer.alloc(1_000)]);
    const coded = zstdCompressSync(whole, { params });
    const site = await answer('zstd', coded, 1_048_576);
    const attempt = get(testEngine(), site.origin, { maxBodyBytes: 80_000_000 });
    // The size of the small body is known, so no decoder needs a window larger than the body.
    expect(await codeOfFailure(attempt)).toBe(bytes > 10_000_000 ? 'BAD_ENCODING' : 'none 200');
  }
});
