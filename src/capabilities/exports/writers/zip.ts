import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { smallWindow } from '../../../lib/warc/gzip-member.ts';

/** A file of an archive. Its name has slashes between folders; what it holds is taken when its turn comes. */
export interface ZipEntry {
  readonly name: string;
  readonly data: Uint8Array | AsyncIterable<Uint8Array>;
  /** Kept as it is, for data that is compressed already. */
  readonly isStored?: boolean;
}

const SIGNATURE = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  central: 0x02014b50,
  end64: 0x06064b50,
  locator64: 0x07064b50,
  end: 0x06054b50,
} as const;
const DEFLATED = 8;
const UTF8_NAMES = 0x0800;
const SIZES_FOLLOW = 0x0008;
/** The version of ZIP that knows 64-bit sizes. */
const VERSION = 45;
const EXTRA64 = 0x0001;
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;
/**
 * The directory has a part for each entry and is written after the last one, in pieces of this size. Bytes outside of the heap
 * are freed when the heap is collected: many small pieces bring that about, a few large ones would be 64 MB before it.
 */
const DIRECTORY_PIECE_BYTES = 4_096;
/** How far back compressed data may refer. */
const WINDOW_BYTES = 32_768;
/** Empty, and marked as the last one of a stream. */
const LAST_BLOCK = Buffer.from([3, 0]);
/** The first day of the calendar of ZIP: archives of the same content are the same. */
const DOS_DATE = 0x0021;

interface Written {
  readonly name: Buffer;
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/**
 * A ZIP archive as a stream. Sizes of 64 bits are used where they are needed. Memory does not grow with what the entries
 * hold; the directory is kept outside of memory until the end.
 */
export async function* writeZip(
  entries: AsyncIterable<ZipEntry> | Iterable<ZipEntry>,
): AsyncGenerator<Uint8Array> {
  const directory = createDirectory();
  try {
    let offset = 0;
    for await (const { name: text, data, isStored = false } of entries) {
      const name = Buffer.from(text);
      const start = offset;
      let written: Written;
      if (data instanceof Uint8Array) {
        const packed = isStored ? data : deflateRawSync(data, smallWindow(data.length));
        const method = isStored ? 0 : DEFLATED;
        const sizes = { crc: crc32(data), packed: packed.length, size: data.length };
        written = { name, flags: UTF8_NAMES, method, ...sizes, offset: start };
        const head = localHeader(written);
        yield head;
        if (packed.length > 0) yield packed;
        offset += head.length + packed.length;
      } else {
        const method = isStored ? 0 : DEFLATED;
        const flags = UTF8_NAMES | SIZES_FOLLOW;
        const head = localHeader({ name, flags, method, crc: 0, packed: 0, size: 0, offset: start });
        yield head;
        const sizes = { crc: 0, packed: 0, size: 0 };
        const counted = counting(data, sizes);
        for await (const chunk of isStored ? counted : deflated(counted)) {
          sizes.packed += chunk.length;
          yield chunk;
        }
        const tail = descriptor(sizes);
        yield tail;
        written = { name, flags, method, ...sizes, offset: start };
        offset += head.length + sizes.packed + tail.length;
      }
      directory.add(written);
    }
    let directoryBytes = 0;
    for (const chunk of directory.chunks()) {
      directoryBytes += chunk.length;
      yield chunk;
    }
    yield endRecords(directory.entries, directoryBytes, offset);
  } finally {
    directory.close();
  }
}

async function* counting(
  data: AsyncIterable<Uint8Array>,
  sizes: { crc: number; size: number },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of data) {
    sizes.crc = crc32(chunk, sizes.crc);
    sizes.size += chunk.length;
    yield chunk;
  }
}

/**
 * Compresses each chunk by itself, with the end of the one before as its dictionary, so that the pieces are one stream. What
 * a chunk takes is free again with it; a stream of Node.js would hold buffers until the heap is collected as a whole.
 */
async function* deflated(data: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let before: Uint8Array | null = null;
  for await (const chunk of data) {
    if (chunk.length === 0) continue;
    yield deflateRawSync(chunk, {
      ...smallWindow(chunk.length),
      ...(before === null ? {} : { dictionary: before }),
      finishFlush: constants.Z_SYNC_FLUSH,
    });
    before = chunk.subarray(-WINDOW_BYTES);
  }
  yield LAST_BLOCK;
}

/** An entry whose sizes follow says in its header that they have 64 bits. */
function localHeader({ name, flags, method, crc, packed, size }: Written): Buffer {
  const follows = (flags & SIZES_FOLLOW) !== 0;
  const extra = follows || size > MAX_32 || packed > MAX_32 ? extra64([size, packed]) : Buffer.alloc(0);
  const is64 = extra.length > 0;
  const head = Buffer.alloc(30);
  head.writeUInt32LE(SIGNATURE.local, 0);
  head.writeUInt16LE(VERSION, 4);
  head.writeUInt16LE(flags, 6);
  head.writeUInt16LE(method, 8);
  head.writeUInt16LE(DOS_DATE, 12);
  head.writeUInt32LE(crc, 14);
  head.writeUInt32LE(is64 ? MAX_32 : packed, 18);
  head.writeUInt32LE(is64 ? MAX_32 : size, 22);
  head.writeUInt16LE(name.length, 26);
  head.writeUInt16LE(extra.length, 28);
  return Buffer.concat([head, name, extra]);
}

function descriptor({ crc, packed, size }: { crc: number; packed: number; size: number }): Buffer {
  const tail = Buffer.alloc(24);
  tail.writeUInt32LE(SIGNATURE.descriptor, 0);
  tail.writeUInt32LE(crc, 4);
  tail.writeBigUInt64LE(BigInt(packed), 8);
  tail.writeBigUInt64LE(BigInt(size), 16);
  return tail;
}

function extra64(values: readonly number[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(EXTRA64, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  for (const [at, value] of values.entries()) extra.writeBigUInt64LE(BigInt(value), 4 + at * 8);
  return extra;
}

function centralHeader({ name, flags, method, crc, packed, size, offset }: Written): Buffer {
  const large = [size, packed, offset].filter((value) => value >= MAX_32);
  const extra = large.length === 0 ? Buffer.alloc(0) : extra64(large);
  const head = Buffer.alloc(46);
  head.writeUInt32LE(SIGNATURE.central, 0);
  head.writeUInt16LE(VERSION, 4);
  head.writeUInt16LE(VERSION, 6);
  head.writeUInt16LE(flags, 8);
  head.writeUInt16LE(method, 10);
  head.writeUInt16LE(DOS_DATE, 14);
  head.writeUInt32LE(crc, 16);
  head.writeUInt32LE(Math.min(packed, MAX_32), 20);
  head.writeUInt32LE(Math.min(size, MAX_32), 24);
  head.writeUInt16LE(name.length, 28);
  head.writeUInt16LE(extra.length, 30);
  head.writeUInt32LE(Math.min(offset, MAX_32), 42);
  return Buffer.concat([head, name, extra]);
}

/** All but its last piece is in a temporary database without a name, which is gone with the process. */
function createDirectory() {
  const piece = Buffer.allocUnsafeSlow(DIRECTORY_PIECE_BYTES);
  let used = 0;
  let database: DatabaseSync | null = null;
  let insert: StatementSync | null = null;
  function putAside(bytes: Uint8Array): void {
    if (database === null) {
      database = new DatabaseSync('');
      database.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1024;
        CREATE TABLE pieces (bytes BLOB)`);
    }
    insert ??= database.prepare('INSERT INTO pieces VALUES (?)');
    insert.run(bytes);
  }
  return {
    entries: 0,
    add(entry: Written): void {
      const head = centralHeader(entry);
      this.entries += 1;
      if (used + head.length > piece.length) {
        if (used > 0) putAside(piece.subarray(0, used));
        used = 0;
      }
      if (head.length > piece.length) putAside(head);
      // A copy, because each head would keep the memory around it, which others have had a part of.
      else used += head.copy(piece, used);
    },
    *chunks(): Generator<Uint8Array> {
      const pieces = database?.prepare('SELECT bytes FROM pieces ORDER BY rowid').iterate() ?? [];
      for (const { bytes } of pieces) yield bytes as Uint8Array;
      if (used > 0) yield piece.subarray(0, used);
    },
    close: () => database?.close(),
  };
}

function endRecords(entries: number, directoryBytes: number, directoryAt: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(SIGNATURE.end, 0);
  end.writeUInt16LE(Math.min(entries, MAX_16), 8);
  end.writeUInt16LE(Math.min(entries, MAX_16), 10);
  end.writeUInt32LE(Math.min(directoryBytes, MAX_32), 12);
  end.writeUInt32LE(Math.min(directoryAt, MAX_32), 16);
  if (entries < MAX_16 && directoryBytes < MAX_32 && directoryAt < MAX_32) return end;
  const end64 = Buffer.alloc(56);
  end64.writeUInt32LE(SIGNATURE.end64, 0);
  end64.writeBigUInt64LE(44n, 4);
  end64.writeUInt16LE(VERSION, 12);
  end64.writeUInt16LE(VERSION, 14);
  end64.writeBigUInt64LE(BigInt(entries), 24);
  end64.writeBigUInt64LE(BigInt(entries), 32);
  end64.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end64.writeBigUInt64LE(BigInt(directoryAt), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(SIGNATURE.locator64, 0);
  locator.writeBigUInt64LE(BigInt(directoryAt + directoryBytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([end64, locator, end]);
}
