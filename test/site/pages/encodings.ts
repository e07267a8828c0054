import {
  brotliCompressSync,
  constants,
  crc32,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import type { Answer, Family, Reply } from '../exchange.ts';
import { html, pageIn, raw, reply, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { headOf } from '../wire.ts';

/**
 * Content encodings: good, broken and hostile. Bombs become 256 MB when decoded. They are written from a small piece
 * repeated, so making one costs neither time nor memory here.
 */
const PREFIX = '/encodings/';
const BOMB_PIECES = 256;
const PIECE_BYTES = 1_048_576;
const HTML = 'text/html; charset=utf-8';

const PAGE = Buffer.from(
  documentOf({ title: 'Encoded', body: '<p>This paragraph was smaller on its way.</p>\n'.repeat(40) }),
);

const encoded = (encoding: string, body: Buffer): Reply =>
  reply(200, HTML, body, { 'content-encoding': encoding });

/** A bomb as its first bytes, a piece that is repeated, and its last bytes. */
interface Bomb {
  readonly first: Buffer;
  readonly piece: Buffer;
  readonly pieces: number;
  readonly last: Buffer;
}

const little = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
};
const FINAL_EMPTY_BLOCK = Buffer.from([0x03, 0x00]);

/** One megabyte of zeros as deflate blocks that end on a byte and refer to nothing before them. */
const zeroPiece = (): Buffer => {
  const whole = deflateRawSync(Buffer.alloc(PIECE_BYTES), { finishFlush: constants.Z_FULL_FLUSH });
  return whole;
};

function gzipBomb(): Bomb {
  const zeros = Buffer.alloc(PIECE_BYTES);
  let check = 0;
  for (let at = 0; at < BOMB_PIECES; at++) check = crc32(zeros, check);
  return {
    first: Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]),
    piece: zeroPiece(),
    pieces: BOMB_PIECES,
    last: Buffer.concat([FINAL_EMPTY_BLOCK, little(check), little(BOMB_PIECES * PIECE_BYTES)]),
  };
}

function deflateBomb(): Bomb {
  // Adler-32 of zeros: the low half stays 1, the high half counts the bytes.
  const adler = Buffer.alloc(4);
  adler.writeUInt16BE((BOMB_PIECES * PIECE_BYTES) % 65_521, 0);
  adler.writeUInt16BE(1, 2);
  return {
    first: Buffer.from([0x78, 0x9c]),
    piece: zeroPiece(),
    pieces: BOMB_PIECES,
    last: Buffer.concat([FINAL_EMPTY_BLOCK, adler]),
  };
}

function zstdBomb(): Bomb {
  // Frame: magic, no checksum or size, window of 1 MB; then blocks of one byte repeated 128 K times, four bytes each.
  const block = (isLast: boolean): Buffer => {
    const header = (isLast ? 1 : 0) | (1 << 1) | (131_072 << 3);
    return Buffer.from([header & 255, (header >> 8) & 255, (header >> 16) & 255, 0]);
  };
  return {
    first: Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50]),
    piece: Buffer.concat(Array.from({ length: 8 }, () => block(false))),
    pieces: BOMB_PIECES,
    last: block(true),
  };
}

function brotliBomb(): Bomb {
  // Brotli is so good at zeros that a quarter of the size is made in one go, as a hundred bytes.
  const whole = brotliCompressSync(Buffer.alloc(64 * PIECE_BYTES), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5 },
  });
  return { first: whole, piece: Buffer.alloc(0), pieces: 0, last: Buffer.alloc(0) };
}

/** Remembers what `make` gave: the checksums of a bomb take a moment. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

export const gzipBombOf = once(gzipBomb);
const deflateBombOf = once(deflateBomb);
const zstdBombOf = once(zstdBomb);
const brotliBombOf = once(brotliBomb);

export function bombBytes(bomb: Bomb): Buffer {
  return Buffer.concat([bomb.first, ...Array.from({ length: bomb.pieces }, () => bomb.piece), bomb.last]);
}

function explode(encoding: string, bomb: Bomb): Answer {
  return raw((wire) => {
    const length = bomb.first.length + bomb.piece.length * bomb.pieces + bomb.last.length;
    wire.write(
      headOf('HTTP/1.1 200 OK', [
        `content-type: ${HTML}`,
        `content-encoding: ${encoding}`,
        `content-length: ${length}`,
      ]),
    );
    let at = 0;
    wire.pour(() => {
      const step = at++;
      if (step === 0) return bomb.first;
      if (step <= bomb.pieces) return bomb.piece;
      return step === bomb.pieces + 1 ? bomb.last : null;
    });
  });
}

const nestedBomb = once(() => gzipSync(bombBytes(gzipBombOf())));
const GOOD = [
  'gzip',
  'x-gzip',
  'deflate',
  'deflate-raw',
  'br',
  'zstd',
  'identity',
  'twice',
  'two-members',
  'upper-case',
];

const PAGES: Readonly<Record<string, () => Answer>> = {
  '': () => html(documentOf({ title: 'Encodings', body: linkList(GOOD.map((name) => PREFIX + name)) })),
  gzip: () => encoded('gzip', gzipSync(PAGE)),
  'x-gzip': () => encoded('x-gzip', gzipSync(PAGE)),
  deflate: () => encoded('deflate', deflateSync(PAGE)),
  // Named deflate, sent without the zlib wrapper, as some servers do.
  'deflate-raw': () => encoded('deflate', deflateRawSync(PAGE)),
  br: () => encoded('br', brotliCompressSync(PAGE)),
  zstd: () => encoded('zstd', zstdCompressSync(PAGE)),
  identity: () => encoded('identity', PAGE),
  twice: () => encoded('gzip, br', brotliCompressSync(gzipSync(PAGE))),
  'two-members': () =>
    encoded('gzip', Buffer.concat([gzipSync(PAGE.subarray(0, 500)), gzipSync(PAGE.subarray(500))])),
  'upper-case': () => encoded('GZIP', gzipSync(PAGE)),
  'large-but-fine': () =>
    encoded('gzip', gzipSync(Buffer.concat([PAGE, Buffer.alloc(5_000_000, '<p>long</p>\n')]))),
  'gzip-truncated': () => encoded('gzip', gzipSync(PAGE).subarray(0, -60)),
  'br-truncated': () => encoded('br', brotliCompressSync(PAGE).subarray(0, -20)),
  'zstd-truncated': () => encoded('zstd', zstdCompressSync(PAGE).subarray(0, -20)),
  'gzip-bad-checksum': () => {
    const bytes = gzipSync(PAGE);
    bytes.writeUInt32LE(0x0bad0bad, bytes.length - 8);
    return encoded('gzip', bytes);
  },
  'gzip-garbage-inside': () =>
    encoded('gzip', Buffer.concat([gzipSync(PAGE).subarray(0, 60), Buffer.alloc(200, 0xff)])),
  'gzip-but-plain': () => encoded('gzip', PAGE),
  'br-but-gzip': () => encoded('br', gzipSync(PAGE)),
  'zstd-but-plain': () => encoded('zstd', PAGE),
  'plain-but-gzip': () => reply(200, HTML, gzipSync(PAGE)),
  'gzip-empty': () => encoded('gzip', Buffer.alloc(0)),
  unknown: () => encoded('rot13', PAGE),
  'many-layers': () => encoded(Array.from({ length: 50 }, () => 'gzip').join(', '), layers(50)),
  'bomb-gzip': () => explode('gzip', gzipBombOf()),
  'bomb-deflate': () => explode('deflate', deflateBombOf()),
  'bomb-br': () => explode('br', brotliBombOf()),
  'bomb-zstd': () => explode('zstd', zstdBombOf()),
  'bomb-nested': () => encoded('gzip, gzip', nestedBomb()),
};

function layers(count: number): Buffer {
  let bytes: Buffer = PAGE;
  for (let at = 0; at < count; at++) bytes = gzipSync(bytes);
  return bytes;
}

export const encodings: Family = {
  prefix: PREFIX,
  about: 'content encodings: good, broken, and bombs',
  starts: [PREFIX],
  answer(request) {
    const [first = ''] = segmentsOf(request, PREFIX);
    return pageIn(PAGES, first)?.() ?? null;
  },
};
