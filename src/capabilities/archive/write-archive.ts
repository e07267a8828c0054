import { createHash } from 'node:crypto';
import { createSorter, type Sorter } from '../../lib/external-sorter.ts';
import { gzipMember } from '../../lib/warc/gzip-member.ts';
import {
  digestOf,
  firstValue,
  headLength,
  parseHead,
  recordBytes,
  recordId,
  statusOf,
  type WarcRecord,
  warcFields,
} from '../../lib/warc/warc-record.ts';
import type { ArchivedJob, Exchange } from './exchange.ts';
import { createKnownPayloads, type KnownPayloads, recordsOf } from './exchange-records.ts';

/** A record with its compressed bytes. */
export interface WrittenRecord {
  readonly record: WarcRecord;
  /** In pieces; to be read once, and before the next record. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

export interface WarcInfo {
  readonly job: ArchivedJob;
  readonly version: string;
  readonly fileName: string;
  readonly at: number;
}

/** The first record of a file: which program wrote it, and what it holds. */
export function infoRecord({ job, version, fileName, at }: WarcInfo): WarcRecord {
  return {
    type: 'warcinfo',
    id: recordId('warcinfo', job.id, fileName, at),
    at,
    targetUri: null,
    contentType: 'application/warc-fields',
    fields: [['WARC-Filename', fileName]],
    head: new Uint8Array(),
    payload: warcFields([
      ['software', `Scrapifie/${version}`],
      ['format', 'WARC File Format 1.1'],
      ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
      ['isPartOf', job.id],
      ['robots', job.options.page.obeyRobots ? 'obey' : 'ignore'],
    ]),
  };
}

export const written = (record: WarcRecord): WrittenRecord => ({
  record,
  chunks: gzipMember(recordBytes(record)),
});

/** The records of exchanges, compressed one by one; one exchange is in memory at a time. */
export async function* writtenRecords(
  exchanges: AsyncIterable<Exchange>,
  known: KnownPayloads,
): AsyncGenerator<WrittenRecord> {
  for await (const exchange of exchanges) {
    for (const record of recordsOf(exchange, known)) yield written(record);
  }
}

interface WaczOptions {
  readonly job: ArchivedJob;
  readonly version: string;
  readonly title: string;
  /** When it is made. */
  readonly at: number;
  /** A WARC file in it that has grown to this is followed by another one. */
  readonly maxWarcBytes?: number;
}

interface Resource {
  readonly name: string;
  readonly path: string;
  readonly hash: string;
  readonly bytes: number;
}

const MAX_WARC_BYTES = 1_000_000_000;
/** Lines of the index in one gzip member; the secondary index has one line for each. */
const BLOCK_LINES = 3_000;
const CHUNK_CHARS = 65_536;
const PAGES_HEAD = '{"format":"json-pages-1.0","id":"pages","title":"All Pages"}\n';

/** A file of the WACZ; its bytes are to be read before the next one is asked for, and stored as they are. */
export interface WaczEntry {
  readonly name: string;
  readonly data: Uint8Array | AsyncIterable<Uint8Array>;
}

/** The files of a WACZ of exchanges, in their order: WARC files, index, pages, and what describes them. */
export async function* waczEntries(
  exchanges: AsyncIterable<Exchange>,
  options: WaczOptions,
): AsyncGenerator<WaczEntry> {
  const { at, maxWarcBytes = MAX_WARC_BYTES } = options;
  const index = createSorter();
  const pages = createSorter();
  const resources: Resource[] = [];
  const source = new WarcPart(exchanges, options, index, pages);

  function described(path: string, chunks: AsyncIterable<Uint8Array>): WaczEntry {
    const data = async function* () {
      const sha256 = createHash('sha256');
      let bytes = 0;
      for await (const chunk of chunks) {
        sha256.update(chunk);
        bytes += chunk.byteLength;
        yield chunk;
      }
      const name = path.slice(path.lastIndexOf('/') + 1);
      resources.push({ name, path, hash: `sha256:${sha256.digest('hex')}`, bytes });
    };
    return { name: path, data: data() };
  }

  try {
    for (let part = 0; part === 0 || !source.isOver; part += 1) {
      const fileName = `data-${String(part).padStart(5, '0')}.warc.gz`;
      yield described(`archive/${fileName}`, source.chunks(fileName, maxWarcBytes));
    }
    const secondary: string[] = ['!meta 0 {"format":"cdxj-gzip-1.0","filename":"index.cdx.gz"}\n'];
    yield described('indexes/index.cdx.gz', indexBlocks(index, secondary));
    yield described('indexes/index.idx', textChunks(secondary));
    yield described('pages/pages.jsonl', pageChunks(pages));
    const description = {
      profile: 'data-package',
      wacz_version: '1.1.1',
      title: options.title,
      created: new Date(at).toISOString(),
      software: `Scrapifie/${options.version}`,
      resources,
    };
    const text = Buffer.from(`${JSON.stringify(description, null, 2)}\n`);
    yield { name: 'datapackage.json', data: text };
    const hash = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const digest = { path: 'datapackage.json', hash };
    yield { name: 'datapackage-digest.json', data: Buffer.from(`${JSON.stringify(digest)}\n`) };
  } finally {
    await source.close();
    for (const each of [index, pages]) each.close();
  }
}

/** Writes the exchanges into one WARC file after the other; an exchange is never split between two. */
class WarcPart {
  readonly #exchanges: AsyncIterator<Exchange>;
  readonly #options: WaczOptions;
  readonly #index: Sorter;
  readonly #pages: Sorter;
  readonly #known = createKnownPayloads();
  #next: IteratorResult<Exchange> | null = null;

  constructor(exchanges: AsyncIterable<Exchange>, options: WaczOptions, index: Sorter, pages: Sorter) {
    this.#exchanges = exchanges[Symbol.asyncIterator]();
    this.#options = options;
    this.#index = index;
    this.#pages = pages;
  }

  get isOver(): boolean {
    return this.#next?.done === true;
  }

  async *chunks(fileName: string, maxBytes: number): AsyncGenerator<Uint8Array> {
    let offset = 0;
    const put = async function* (
      this: WarcPart,
      { record, chunks }: WrittenRecord,
    ): AsyncGenerator<Uint8Array> {
      let length = 0;
      for await (const chunk of chunks) {
        length += chunk.byteLength;
        yield chunk;
      }
      const line = cdxLine(record, { fileName, offset, length });
      if (line !== null) this.#index.add(line, null);
      offset += length;
    }.bind(this);
    const { job, version, at } = this.#options;
    yield* put(written(infoRecord({ job, version, fileName, at })));
    this.#next ??= await this.#exchanges.next();
    while (this.#next.done !== true && offset < maxBytes) {
      const exchange = this.#next.value;
      for (const record of recordsOf(exchange, this.#known)) yield* put(written(record));
      this.#addPage(exchange);
      this.#next = await this.#exchanges.next();
    }
  }

  #addPage({ key, finalUrl, fetchedAt, page, statusCode }: Exchange): void {
    if (page === null || statusCode === null) return;
    const entry = {
      id: recordId(...key, 'page').slice(10, -1),
      url: finalUrl,
      ts: new Date(fetchedAt).toISOString(),
      title: page.title ?? finalUrl,
      status: statusCode,
      depth: page.depth,
    };
    // Pages have no key: the list keeps them in the order in which they come.
    this.#pages.add('', `${JSON.stringify(entry)}\n`);
  }

  async close(): Promise<void> {
    this.#known.close();
    await this.#exchanges.return?.();
  }
}

async function* indexBlocks(index: Sorter, secondary: string[]): AsyncGenerator<Uint8Array> {
  let lines: string[] = [];
  let offset = 0;
  const flush = async (): Promise<Uint8Array> => {
    const chunks = await Array.fromAsync(gzipMember([Buffer.from(lines.join(''))]));
    const bytes = Buffer.concat(chunks);
    const [key = ''] = (lines[0] ?? '').split(' {', 1);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const place = { offset, length: bytes.length, digest, filename: 'index.cdx.gz' };
    secondary.push(`${key} ${JSON.stringify(place)}\n`);
    offset += bytes.length;
    lines = [];
    return bytes;
  };
  for (const line of index.values()) {
    lines.push(line);
    if (lines.length === BLOCK_LINES) yield await flush();
  }
  if (lines.length > 0) yield await flush();
}

async function* textChunks(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(lines.join(''));
}

async function* pageChunks(pages: Sorter): AsyncGenerator<Uint8Array> {
  let text = PAGES_HEAD;
  for (const line of pages.values()) {
    text += line;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

/** Where a record lies. */
interface RecordPlace {
  readonly fileName: string;
  readonly offset: number;
  readonly length: number;
}

/** The line of an index (CDXJ) for a record; null for records that no reader looks up by URL. */
function cdxLine(record: WarcRecord, { fileName, offset, length }: RecordPlace): string | null {
  const { type, targetUri, at, head, payload, contentType, fields = [] } = record;
  if (targetUri === null || (type !== 'response' && type !== 'revisit' && type !== 'resource')) return null;
  const message = head.byteLength === 0 ? null : parseHead(withoutEnd(head));
  const statedType = firstValue(message?.headers['content-type']);
  const mime = type === 'revisit' ? 'warc/revisit' : message === null ? contentType : (statedType ?? 'unk');
  const stated = fields.find(([name]) => name === 'WARC-Payload-Digest')?.[1];
  const entry = {
    url: targetUri,
    mime: mime.split(';', 1)[0]?.trim() ?? 'unk',
    status: String((message === null ? null : statusOf(message)) ?? 200),
    digest: stated ?? digestOf(payload),
    length: String(length),
    offset: String(offset),
    filename: fileName,
  };
  return `${surtOf(targetUri)} ${timestampOf(at)} ${JSON.stringify(entry)}\n`;
}

function withoutEnd(head: Uint8Array): Uint8Array {
  const length = headLength(Buffer.from(head.buffer, head.byteOffset, head.byteLength));
  return length === -1 ? head : head.subarray(0, length);
}

/** 14 digits, as indexes of archives have them. */
const timestampOf = (at: number): string => new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);

/** The sort-friendly form of a URL: `com,example)/path?a&b`. */
function surtOf(url: string): string {
  const parsed = /^https?:/i.test(url)
    ? URL.parse(url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, '$1'))
    : null;
  if (parsed === null) return url.replaceAll(' ', '%20');
  const { hostname, port, pathname, search } = parsed;
  const host = hostname.split('.').reverse().join(',') + (port === '' ? '' : `:${port}`);
  const query = search === '' ? '' : `?${search.slice(1).split('&').sort().join('&')}`;
  return `${host})${pathname}${query}`;
}
