import { pipeline, Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { constants, createGunzip } from 'node:zlib';
import {
  createTextReader,
  createXmlReader,
  type SitemapItem,
  type SitemapReader,
  type SitemapStop,
} from './sitemap-readers.ts';

/** Bytes that must be seen to tell the encoding. */
const HEAD_BYTES = 1_024;
/** Text is handed on in pieces of this size, however large the chunks are. */
const PIECE_BYTES = 65_536;

export type { SitemapItem } from './sitemap-readers.ts';

export interface SitemapLimits {
  /** Entries read of one file; language alternates belong to their entry. */
  readonly maxUrls: number;
  /** The most bytes of the file after decompression. */
  readonly maxBytes: number;
}

/** What sitemaps.org allows one file to have. */
export const SITEMAP_LIMITS: SitemapLimits = { maxUrls: 50_000, maxBytes: 52_428_800 };

/**
 * How reading ended. `reason` is null when the whole file was read; else `url-limit`, `byte-limit`, `html-page`,
 * `not-a-sitemap`, `empty`, `broken-gzip: …` or `broken-xml: …`.
 */
export interface SitemapEnd {
  readonly truncated: SitemapStop['truncated'];
  readonly reason: SitemapStop['reason'] | null;
  /** Number of items that were yielded. */
  readonly count: number;
}

/**
 * Reads a sitemap, sitemap index, RSS or Atom feed or list of URLs, gzipped or not, while it arrives, in memory that
 * does not grow with the file. Bad content never throws: what came before the break is yielded and the returned value
 * says why there is no more. Only a failure of `chunks` itself passes through. Ending early closes `chunks`.
 */
export async function* readSitemap(
  chunks: AsyncIterable<Uint8Array>,
  limits: SitemapLimits = SITEMAP_LIMITS,
): AsyncGenerator<SitemapItem, SitemapEnd, void> {
  const pieces = decodeSitemap(chunks, limits.maxBytes);
  let reader: SitemapReader | null = null;
  let count = 0;
  try {
    for (;;) {
      const piece = await pieces.next();
      if (piece.done !== true) {
        reader ??= chooseReader(piece.value, limits.maxUrls);
        reader.write(piece.value);
      } else if (piece.value !== null || reader === null) {
        const reason = piece.value ?? 'empty';
        return { truncated: reason !== 'empty', reason, count };
      } else reader.end();

      for (const item of reader.take()) {
        count++;
        yield item;
      }
      if (reader.stopped !== null) return { ...reader.stopped, count };
      if (piece.done === true) return { truncated: false, reason: null, count };
    }
  } finally {
    await pieces.return(null);
  }
}

function chooseReader(head: string, maxUrls: number): SitemapReader {
  return head.trimStart().startsWith('<') ? createXmlReader(maxUrls) : createTextReader(maxUrls);
}

/**
 * The text of a file in pieces: gunzipped when it begins like gzip, decoded by its byte order mark or XML declaration
 * (else UTF-8), cut off at `maxBytes`. The first piece holds at least the first kilobyte, when there is one. Returns
 * null at the end of the file, else why it ended earlier: `empty`, `byte-limit` or `broken-gzip: …`. Errors of
 * `chunks` pass through.
 */
async function* decodeSitemap(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string, string | null, void> {
  let decoder: TextDecoder | null = null;
  let readBytes = 0;
  try {
    for await (const chunk of withHead(gunzipped(withHead(chunks, 2)), HEAD_BYTES)) {
      decoder ??= new TextDecoder(encodingOf(chunk));
      const allowed = chunk.subarray(0, maxBytes - readBytes);
      readBytes += allowed.length;
      for (let at = 0; at < allowed.length; at += PIECE_BYTES) {
        yield decoder.decode(allowed.subarray(at, at + PIECE_BYTES), { stream: true });
      }
      if (allowed.length < chunk.length) return 'byte-limit';
    }
  } catch (error) {
    if (error instanceof BrokenGzip) return `broken-gzip: ${error.message}`;
    throw error;
  }
  if (decoder === null) return 'empty';
  yield decoder.decode();
  return null;
}

class BrokenGzip extends Error {}

/** Hands on the bytes, with a first chunk of at least `headBytes` unless there are fewer, and no empty chunks. */
async function* withHead(chunks: AsyncIterable<Uint8Array>, headBytes: number): AsyncGenerator<Uint8Array> {
  let head: Uint8Array[] | null = [];
  let gathered = 0;
  try {
    for await (const chunk of chunks) {
      if (head === null) {
        if (chunk.length > 0) yield chunk;
        continue;
      }
      head.push(chunk);
      gathered += chunk.length;
      if (gathered < headBytes) continue;
      const whole: Uint8Array = head.length === 1 ? chunk : Buffer.concat(head);
      head = null;
      yield whole;
    }
  } catch (error) {
    // What came before the break still counts.
    if (head !== null && gathered > 0) yield Buffer.concat(head);
    throw error;
  }
  if (head !== null && gathered > 0) yield Buffer.concat(head);
}

async function* gunzipped(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await chunks.next();
  if (first.done === true) return;
  const isGzip = first.value[0] === 0x1f && first.value[1] === 0x8b;
  const whole = startingWith(first.value, chunks);
  if (isGzip) yield* gunzip(whole);
  else yield* whole;
}

async function* gunzip(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let failure: { readonly error: unknown } | null = null;
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks;
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  // A truncated file is read as far as it goes; the parser notices that it is incomplete.
  const inflated = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(Readable.from(watched(), { highWaterMark: 1 }), inflated, () => {
    // The loop below sees the same error; pipeline is here to close both sides when either ends.
  });
  try {
    for await (const chunk of inflated) yield chunk as Uint8Array;
  } catch (error) {
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    throw new BrokenGzip(error instanceof Error ? error.message : String(error));
  }
}

async function* startingWith(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield first;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

function encodingOf(head: Uint8Array): string {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  const declared = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]{1,40})["']/.exec(
    Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1'),
  )?.[1];
  if (declared === undefined) return 'utf-8';
  try {
    const { encoding } = new TextDecoder(declared);
    // A declaration that could be read byte by byte is not in UTF-16, whatever it says.
    return encoding.startsWith('utf-16') ? 'utf-8' : encoding;
  } catch {
    return 'utf-8';
  }
}
