import { constants, crc32, deflateRawSync } from 'node:zlib';

/** A piece of a stream, compressed so that it can stand after any other piece. */
interface Piece {
  readonly deflated: Buffer;
  readonly crc: number;
  /** What a checksum becomes by as many bytes as the piece has. */
  readonly shift: Uint32Array;
}

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
/** The last block, which is empty. */
const LAST = Buffer.from([3, 0]);
const LEVEL = 3;
const POLYNOMIAL = 0xedb88320;

/** Pieces that many streams send are compressed once, for as long as the bytes are in use. */
const pieces = new WeakMap<Buffer, Piece>();

function pieceOf(bytes: Buffer): Piece {
  const known = pieces.get(bytes);
  if (known !== undefined) return known;
  const piece = {
    // A full flush ends at a whole byte, and nothing after it refers to what was before.
    deflated: deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH }),
    crc: crc32(bytes),
    shift: shiftBy(bytes.length),
  };
  pieces.set(bytes, piece);
  return piece;
}

/** One gzip stream (RFC 1952) made of pieces that other streams share. */
export class SharedGzip {
  #crc = 0;
  #bytes = 0;
  #hasBegun = false;

  /** The bytes to send for these. */
  add(bytes: Buffer): Buffer {
    const { deflated, crc, shift } = pieceOf(bytes);
    this.#crc = (times(shift, this.#crc) ^ crc) >>> 0;
    this.#bytes += bytes.length;
    if (this.#hasBegun) return deflated;
    this.#hasBegun = true;
    return Buffer.concat([HEADER, deflated]);
  }

  /** What ends the stream. */
  end(): Buffer {
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#crc, 0);
    trailer.writeUInt32LE(this.#bytes % 2 ** 32, 4);
    return Buffer.concat([this.#hasBegun ? Buffer.alloc(0) : HEADER, LAST, trailer]);
  }
}

/** Checksums are polynomials over two elements; appending zeros multiplies them by a matrix. */
function times(matrix: Uint32Array, vector: number): number {
  let sum = 0;
  for (let rest = vector, at = 0; rest !== 0; rest >>>= 1, at += 1) if (rest & 1) sum ^= matrix[at] ?? 0;
  return sum >>> 0;
}

const square = (matrix: Uint32Array): Uint32Array => matrix.map((row) => times(matrix, row));

function shiftBy(length: number): Uint32Array {
  // By one bit, then by one byte.
  let power: Uint32Array = Uint32Array.from({ length: 32 }, (_, at) =>
    at === 0 ? POLYNOMIAL : 2 ** (at - 1),
  );
  for (let bits = 0; bits < 3; bits += 1) power = square(power);
  let shift: Uint32Array = Uint32Array.from({ length: 32 }, (_, at) => 2 ** at);
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) {
      const by = power;
      shift = shift.map((row) => times(by, row));
    }
    power = square(power);
  }
  return shift;
}
