import { type ByteSource, badArchive, readingAhead } from './byte-source.ts';
import { inflateMember, isGzip, Truncated } from './inflate-member.ts';
import { firstValue, type HttpHead, headLength, parseHead } from './warc-record.ts';

/** A record as a scan of its file finds it. */
export interface ScannedRecord {
  readonly offset: number;
  /** Length of the record in the file, in bytes. */
  readonly length: number;
  /** The named fields; names in lower case. */
  readonly fields: HttpHead['headers'];
  readonly contentLength: number;
  /** The first bytes of the block: enough for the head of an HTTP message in it, unless that is very long. */
  readonly start: Buffer;
}

export interface ScanEnd {
  /** Where the last whole record ends. */
  readonly end: number;
  /** The file ends within a record, as it does when its writer was killed. */
  readonly isTruncated: boolean;
}

const MAX_HEAD_BYTES = 65_536;
const START_BYTES = 65_536;
/** Between two records of a file that is not compressed. */
const MAX_GAP_BYTES = 16;
const WARC_LINE = /^WARC\/(?:0\.\d+|1\.[01])$/;

/**
 * Every record of a WARC file in its order, with constant memory. Bodies are passed over. Throws BAD_ARCHIVE for what is
 * no WARC file, and for records that lie about their length.
 */
export async function* scanRecords(file: ByteSource, from = 0): AsyncGenerator<ScannedRecord, ScanEnd> {
  const source = readingAhead(file);
  const isCompressed = isGzip(await source.read(0, 2));
  let at = from;
  while (at < source.size) {
    try {
      const record = isCompressed ? await scanMember(source, at) : await scanPlain(source, at);
      if (record === null) break;
      yield record;
      at = record.offset + record.length;
    } catch (error) {
      if (!(error instanceof Truncated)) throw error;
      return { end: at, isTruncated: true };
    }
  }
  return { end: at, isTruncated: false };
}

async function scanMember(source: ByteSource, offset: number): Promise<ScannedRecord> {
  const chunks = inflateMember(source, offset);
  const reading = new RecordReading(source, offset);
  for (;;) {
    const step = await chunks.next();
    if (step.done === true) return reading.end(step.value - offset);
    reading.take(step.value);
  }
}

/** Splits what a gzip member holds into fields and the beginning of the block, and counts the rest. */
class RecordReading {
  readonly #source: ByteSource;
  readonly #offset: number;
  #head: ParsedHead | null = null;
  #pending = Buffer.alloc(0);
  #start: Buffer[] = [];
  #startBytes = 0;
  #blockBytes = 0;

  constructor(source: ByteSource, offset: number) {
    this.#source = source;
    this.#offset = offset;
  }

  take(chunk: Buffer): void {
    if (this.#head !== null) {
      this.#takeBlock(chunk);
      return;
    }
    this.#pending = Buffer.concat([this.#pending, chunk.subarray(0, MAX_HEAD_BYTES + 4)]);
    const length = headLength(this.#pending);
    if (length === -1) {
      if (this.#pending.length > MAX_HEAD_BYTES) throw tooLong(this.#source, this.#offset);
      return;
    }
    const before = this.#pending.length - Math.min(chunk.length, MAX_HEAD_BYTES + 4);
    this.#head = parsedHead(this.#source, this.#offset, this.#pending.subarray(0, length));
    this.#pending = Buffer.alloc(0);
    this.#takeBlock(chunk.subarray(length - before));
  }

  #takeBlock(chunk: Buffer): void {
    if (this.#startBytes < START_BYTES) {
      const kept = chunk.subarray(0, START_BYTES - this.#startBytes);
      this.#start.push(kept);
      this.#startBytes += kept.length;
    }
    this.#blockBytes += chunk.length;
  }

  end(length: number): ScannedRecord {
    const head = this.#head;
    if (head === null) throw badArchive(this.#source, this.#offset, 'a record without an end of its head');
    const rest = this.#blockBytes - head.contentLength;
    if (rest < 0) throw badArchive(this.#source, this.#offset, 'a record is shorter than its Content-Length');
    if (rest > MAX_GAP_BYTES) {
      const why = 'more follows a record than its Content-Length says; records are compressed one by one';
      throw badArchive(this.#source, this.#offset, why);
    }
    const start = Buffer.concat(this.#start).subarray(0, Math.min(START_BYTES, head.contentLength));
    return { offset: this.#offset, length, ...head, start };
  }
}

/** Returns null when nothing but empty lines is left. */
async function scanPlain(source: ByteSource, at: number): Promise<ScannedRecord | null> {
  const window = await source.read(at, MAX_HEAD_BYTES + START_BYTES + MAX_GAP_BYTES);
  let gap = 0;
  while (gap < MAX_GAP_BYTES && (window[gap] === 0x0d || window[gap] === 0x0a)) gap += 1;
  if (gap === window.length) return null;
  const offset = at + gap;
  const bytes = window.subarray(gap);
  const length = headLength(bytes.subarray(0, MAX_HEAD_BYTES));
  if (length === -1) {
    checkFirstLine(source, offset, bytes.toString('latin1', 0, 9).split(/\r?\n/, 1)[0] ?? '', true);
    if (bytes.length >= MAX_HEAD_BYTES) throw tooLong(source, offset);
    throw new Truncated();
  }
  const head = parsedHead(source, offset, bytes.subarray(0, length));
  if (offset + length + head.contentLength > source.size) throw new Truncated();
  const start = bytes.subarray(length, length + Math.min(START_BYTES, head.contentLength));
  return { offset, length: length + head.contentLength, ...head, start };
}

/** The block of the record at the offset, from its beginning. Throws BAD_ARCHIVE where there is no record. */
export async function* readBlock(source: ByteSource, offset: number): AsyncGenerator<Buffer> {
  const isCompressed = isGzip(await source.read(0, 2));
  const chunks = isCompressed ? inflateMember(source, offset) : plainChunks(source, offset);
  let pending: Buffer | null = Buffer.alloc(0);
  let left = 0;
  try {
    for await (const chunk of chunks) {
      let bytes = chunk;
      if (pending !== null) {
        pending = Buffer.concat([pending, chunk]);
        const length = headLength(pending.subarray(0, MAX_HEAD_BYTES));
        if (length === -1 && pending.length > MAX_HEAD_BYTES) throw tooLong(source, offset);
        if (length === -1) continue;
        left = parsedHead(source, offset, pending.subarray(0, length)).contentLength;
        bytes = pending.subarray(length);
        pending = null;
      }
      const kept = bytes.subarray(0, left);
      left -= kept.length;
      if (kept.length > 0) yield kept;
      if (left === 0) return;
    }
  } catch (error) {
    if (error instanceof Truncated) throw badArchive(source, offset, 'the file ends within a record');
    throw error;
  }
  if (pending !== null || left > 0)
    throw badArchive(source, offset, 'a record is shorter than its Content-Length');
}

async function* plainChunks(source: ByteSource, offset: number): AsyncGenerator<Buffer> {
  for (let at = offset; at < source.size; ) {
    const chunk = await source.read(at, MAX_HEAD_BYTES);
    if (chunk.length === 0) return;
    yield chunk;
    at += chunk.length;
  }
}

type ParsedHead = Pick<ScannedRecord, 'fields' | 'contentLength'>;

function parsedHead(source: ByteSource, offset: number, bytes: Buffer): ParsedHead {
  const { firstLine, headers } = parseHead(bytes);
  checkFirstLine(source, offset, firstLine, false);
  const stated = firstValue(headers['content-length']) ?? '';
  const contentLength = Number(stated);
  if (!/^\d{1,15}$/.test(stated)) throw badArchive(source, offset, 'a record without a Content-Length');
  return { fields: headers, contentLength };
}

function checkFirstLine(source: ByteSource, offset: number, line: string, isCut: boolean): void {
  if (isCut ? line.startsWith('WARC/'.slice(0, line.length)) : WARC_LINE.test(line.trim())) return;
  throw badArchive(source, offset, 'no WARC record where one should be');
}

const tooLong = (source: ByteSource, offset: number) =>
  badArchive(source, offset, `the head of a record is longer than ${MAX_HEAD_BYTES} bytes`);
