import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/**
 * So many commits may go unsynced in a row; the next one is synced. The check of the log relies on it: it tells damage
 * from what a power failure leaves by the number of commits that follow. A small number costs little, since the ledger
 * syncs more often than that while a crawl is at work.
 */
export const MOST_UNSYNCED_COMMITS = 4;

/** The format of the log is https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The last bit says in which byte order the words of checksums are read. */
const MAGIC = 0x377f0682;
const CHUNK_BYTES = 1_048_576;
/** About a second of reading. A log is larger only while another process reads from the database for a long time. */
const MOST_BYTES = 536_870_912;
/** What a file system loses as a whole when the power fails before it has written it. */
const BLOCK_BYTES = 4_096;
/** Other processes, such as the command line, make commits of their own between two syncs of the server. */
const MOST_LOST_COMMITS = 4 * MOST_UNSYNCED_COMMITS;

type Checksum = readonly [number, number];

interface Header {
  readonly isSound: boolean;
  readonly isBigEndian: boolean;
  readonly pageBytes: number;
  readonly salts: Checksum;
  readonly checksum: Checksum;
}

interface Frame {
  readonly page: number;
  readonly isCommit: boolean;
  readonly salts: Checksum;
  readonly stored: Checksum;
  /** The checksum that the frame must have after a frame with that checksum. */
  checksumAfter(previous: Checksum): Checksum;
}

/** What SQLite passes over at the end of a log that is not refused. */
export interface IgnoredTail {
  /** Frames from the first one that is not whole on. */
  readonly frames: number;
  /** Commits among them: transactions that the power failure took, or damage that looks the same. */
  readonly commits: number;
}

/**
 * Throws DATABASE_CORRUPT when the write-ahead log of the database is damaged before committed transactions. SQLite
 * itself ignores everything after the first damaged frame without a word, and overwrites it. A log that breaks off,
 * as after a crash or a power failure, is sound: what SQLite ignores then was not yet synced. Returns what that is; null
 * when the log has no commit that is ignored.
 */
export function requireIntactLog(path: string): IgnoredTail | null {
  if (path === ':memory:') return null;
  const log = `${path}-wal`;
  const first = lookAt(log);
  if (first.damage === null && first.ignored === null) return null;
  // Another process may be writing to the log: a frame that it had not finished is sound the second time.
  const { damage, ignored } = lookAt(log);
  if (damage === null || damage !== first.damage) return ignored;
  throw new ScrapifieError(
    'DATABASE_CORRUPT',
    `The database ${path} is damaged: in ${log}, ${damage} is wrong, and committed changes follow it. Restore both files from a backup. To go on without the changes of the last seconds, move ${log} away.`,
  );
}

interface LogState {
  /** The place of damage before committed changes. */
  readonly damage: string | null;
  readonly ignored: IgnoredTail | null;
}

const SOUND: LogState = { damage: null, ignored: null };

function lookAt(log: string): LogState {
  let file: number;
  try {
    file = openSync(log, 'r');
  } catch {
    // Without a log there is nothing to check; one that cannot be read is reported when SQLite opens it.
    return SOUND;
  }
  try {
    const sizeBytes = Math.min(fstatSync(file).size, MOST_BYTES);
    if (sizeBytes < HEADER_BYTES + FRAME_HEADER_BYTES) return SOUND;
    const header = readHeader(file);
    if (!header.isSound) return isHeaderLost(file, header) ? { ...SOUND, damage: 'the header' } : SOUND;
    return firstBrokenFrame(header, frameReader(file, header, sizeBytes));
  } finally {
    closeSync(file);
  }
}

function readHeader(file: number): Header {
  const bytes = new Uint8Array(HEADER_BYTES);
  readSync(file, bytes, 0, HEADER_BYTES, 0);
  const fields = new DataView(bytes.buffer);
  const pageBytes = fields.getUint32(8);
  const isBigEndian = fields.getUint32(0) === MAGIC + 1;
  const checksum = sum(wordsOf(bytes, 0, 24, isBigEndian), [0, 0]);
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0;
  return {
    isSound:
      (isBigEndian || fields.getUint32(0) === MAGIC) && isPageSize && isSame(pairAt(fields, 24), checksum),
    isBigEndian,
    pageBytes,
    salts: pairAt(fields, 16),
    checksum,
  };
}

/**
 * Whether frames belonged to a header that is damaged. SQLite syncs a header before it writes frames after it, and writes
 * a new one, with the next salts, only when all frames are in the database: a crash in the middle of that loses nothing.
 */
function isHeaderLost(file: number, { salts }: Header): boolean {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES);
  readSync(file, bytes, 0, FRAME_HEADER_BYTES, HEADER_BYTES);
  const fields = new DataView(bytes.buffer);
  const [first, second] = pairAt(fields, 8);
  if (fields.getUint32(0) === 0 || (first === 0 && second === 0)) return false;
  const isNext = salts[0] === (first + 1) >>> 0 && salts[1] !== second;
  return !isNext;
}

type ReadFrame = (index: number) => Frame | null;

/** Frames of the log by their number; null after the last whole one. Reads ahead. */
function frameReader(file: number, { pageBytes, isBigEndian }: Header, sizeBytes: number): ReadFrame {
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const count = Math.floor((sizeBytes - HEADER_BYTES) / frameBytes);
  const perChunk = Math.max(1, Math.floor(CHUNK_BYTES / frameBytes));
  const chunk = new Uint8Array(perChunk * frameBytes);
  const fields = new DataView(chunk.buffer);
  let from = 0;
  let held = 0;
  return (index) => {
    if (index >= count) return null;
    if (index < from || index >= from + held) {
      from = index;
      const bytesRead = readSync(file, chunk, 0, chunk.length, HEADER_BYTES + index * frameBytes);
      held = Math.floor(bytesRead / frameBytes);
      if (held === 0) return null;
    }
    const at = (index - from) * frameBytes;
    return {
      page: fields.getUint32(at),
      isCommit: fields.getUint32(at + 4) !== 0,
      salts: pairAt(fields, at + 8),
      stored: pairAt(fields, at + 16),
      checksumAfter(previous) {
        const head = sum(wordsOf(chunk, at, 8, isBigEndian), previous);
        return sum(wordsOf(chunk, at + FRAME_HEADER_BYTES, pageBytes, isBigEndian), head);
      },
    };
  };
}

/** The first frame that SQLite would not accept is damage if committed frames after it show that it had been accepted once. */
function firstBrokenFrame(header: Header, frameAt: ReadFrame): LogState {
  let checksum = header.checksum;
  for (let index = 0; ; index += 1) {
    const frame = frameAt(index);
    if (frame === null) return SOUND;
    const { page, salts, stored } = frame;
    const expected = frame.checksumAfter(checksum);
    if (page !== 0 && isSame(salts, header.salts) && isSame(stored, expected)) {
      checksum = expected;
      continue;
    }
    const isDamage =
      (!endsBlock(index, header.pageBytes) && isContinued(header, frameAt, index + 1, stored)) ||
      isContinued(header, frameAt, index + 1, expected) ||
      hasSyncedCommit(header, frameAt, index + 1);
    return { damage: isDamage ? `frame ${index + 1}` : null, ignored: tailFrom(header, frameAt, index) };
  }
}

/** Frames of an earlier generation of the log are not of this tail: their changes are in the database. */
function tailFrom(header: Header, frameAt: ReadFrame, from: number): IgnoredTail | null {
  let commits = 0;
  let last = from;
  for (let index = from; ; index += 1) {
    const frame = frameAt(index);
    if (frame === null) break;
    if (!isSame(frame.salts, header.salts)) continue;
    last = index;
    if (frame.isCommit) commits += 1;
  }
  return commits === 0 ? null : { frames: last - from + 1, commits };
}

/**
 * Whether a transaction that was committed goes on after the damaged frame, with the checksum that the damaged frame
 * has or should have. Frames of a transaction that was rolled back go on as well, but without a commit. A power failure
 * that loses a part of this frame loses the beginning of the next one with it, except where `endsBlock` is true.
 */
function isContinued(header: Header, frameAt: ReadFrame, next: number, seed: Checksum): boolean {
  let checksum = seed;
  for (let index = next; ; index += 1) {
    const frame = frameAt(index);
    if (frame === null || !isSame(frame.salts, header.salts)) return false;
    checksum = frame.checksumAfter(checksum);
    if (!isSame(checksum, frame.stored)) return false;
    if (frame.isCommit) return true;
  }
}

/** Whether the contents of the frame are exactly one block of the file, so that they can be lost alone. */
const endsBlock = (index: number, pageBytes: number): boolean =>
  (HEADER_BYTES + index * (FRAME_HEADER_BYTES + pageBytes) + FRAME_HEADER_BYTES) % BLOCK_BYTES === 0;

/** Whether so many commits follow that one of them was synced, and with it everything before. */
function hasSyncedCommit(header: Header, frameAt: ReadFrame, next: number): boolean {
  let commits = 0;
  for (let index = next; commits <= MOST_LOST_COMMITS; index += 1) {
    const frame = frameAt(index);
    if (frame === null) return false;
    if (frame.isCommit && isSame(frame.salts, header.salts)) commits += 1;
  }
  return true;
}

const pairAt = (fields: DataView, at: number): Checksum => [fields.getUint32(at), fields.getUint32(at + 4)];
const isSame = (one: Checksum, other: Checksum): boolean => one[0] === other[0] && one[1] === other[1];

/** The bytes as words in the byte order of the log. */
function wordsOf(bytes: Uint8Array, at: number, length: number, isBigEndian: boolean): Int32Array {
  if (isBigEndian === (endianness() === 'BE')) return new Int32Array(bytes.buffer, at, length / 4);
  const swapped = Buffer.from(bytes.subarray(at, at + length)).swap32();
  return new Int32Array(Uint8Array.from(swapped).buffer);
}

function sum(words: Int32Array, [first, second]: Checksum): Checksum {
  let [a, b] = [first | 0, second | 0];
  for (let at = 0; at < words.length; at += 2) {
    a = (a + (words[at] ?? 0) + b) | 0;
    b = (b + (words[at + 1] ?? 0) + a) | 0;
  }
  return [a >>> 0, b >>> 0];
}
