import { createHash, hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';

/** The head of an HTTP message in an archive: its first line and its fields, names in lower case. */
export interface HttpHead {
  readonly firstLine: string;
  readonly headers: Readonly<Record<string, string | string[]>>;
}

export type HeaderLine = readonly [name: string, value: string];

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const END_OF_LOOSE_HEAD = Buffer.from('\n\n');
// biome-ignore lint/suspicious/noControlCharactersInRegex: a value with these would begin another line
const CONTROLS = /[\x00-\x08\x0a-\x1f\x7f]+/g;

export function responseHead(statusCode: number, headers: readonly HeaderLine[]): Buffer {
  const reason = STATUS_CODES[statusCode] ?? '';
  return headBytes(`HTTP/1.1 ${statusCode} ${reason}`.trimEnd(), headers);
}

export function requestHead(method: string, url: URL, headers: readonly HeaderLine[]): Buffer {
  return headBytes(`${method} ${url.pathname}${url.search} HTTP/1.1`, [['host', url.host], ...headers]);
}

function headBytes(firstLine: string, headers: readonly HeaderLine[]): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value.replace(CONTROLS, ' ')}`);
  return Buffer.from(`${[firstLine, ...lines].join('\r\n')}\r\n\r\n`);
}

/** Where the head ends in these bytes, its empty line included; -1 when they do not reach its end. */
export function headLength(bytes: Buffer): number {
  const strict = bytes.indexOf(END_OF_HEAD);
  const loose = bytes.indexOf(END_OF_LOOSE_HEAD);
  if (strict !== -1 && (loose === -1 || strict < loose)) return strict + END_OF_HEAD.length;
  return loose === -1 ? -1 : loose + END_OF_LOOSE_HEAD.length;
}

/** Reads what stands before the end of a head. A field that is repeated becomes a list; folded lines are joined. */
export function parseHead(bytes: Uint8Array): HttpHead {
  const [firstLine = '', ...lines] = textOf(bytes).split(/\r?\n/);
  const headers: Record<string, string | string[]> = Object.create(null) as Record<string, string | string[]>;
  let last: string | null = null;
  for (const line of lines) {
    if (line === '') continue;
    if (/^[\t ]/.test(line)) {
      if (last !== null) append(headers, last, line.trim());
      continue;
    }
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    last = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    const known = headers[last];
    if (known === undefined) headers[last] = value;
    else if (typeof known === 'string') headers[last] = [known, value];
    else known.push(value);
  }
  return { firstLine, headers };
}

function append(headers: Record<string, string | string[]>, name: string, more: string): void {
  const known = headers[name];
  if (typeof known === 'string') headers[name] = `${known} ${more}`;
  else if (known !== undefined) known.push(`${known.pop() ?? ''} ${more}`);
}

/** Heads are UTF-8 where they are valid as such; other tools keep the bytes of the wire. */
function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  return text.includes('\ufffd') ? buffer.toString('latin1') : text;
}

/** The status of `HTTP/1.1 200 OK`; null when the line is none. */
export function statusOf({ firstLine }: HttpHead): number | null {
  const digits = /^HTTP\/\d(?:\.\d)? +(\d{3})(?!\d)/.exec(firstLine)?.[1];
  return digits === undefined ? null : Number(digits);
}

export const firstValue = (value: string | readonly string[] | undefined): string | null =>
  (typeof value === 'string' ? value : value?.[0]) ?? null;

export type WarcType =
  | 'warcinfo'
  | 'request'
  | 'response'
  | 'revisit'
  | 'metadata'
  | 'resource'
  | 'conversion';

/** A record of a WARC file before it is written. */
export interface WarcRecord {
  readonly type: WarcType;
  /** Id of the record, as `recordId` makes it. */
  readonly id: string;
  /** When the record was made, in milliseconds since 1970. */
  readonly at: number;
  readonly targetUri: string | null;
  readonly contentType: string;
  /** Further named fields, in order. */
  readonly fields?: readonly WarcField[];
  /** The head of an HTTP message; empty for records that hold none. */
  readonly head: Uint8Array;
  readonly payload: Uint8Array;
}

export type WarcField = readonly [name: string, value: string];

const CRLF = '\r\n';
const RECORD_END = Buffer.from('\r\n\r\n');
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Types whose payload is something else than their whole block. */
const WITH_PAYLOAD: ReadonlySet<WarcType> = new Set(['request', 'response', 'resource', 'conversion']);

/**
 * The id of a record, always the same for the same parts: a record that is written again after a crash is recognised by
 * it.
 */
export function recordId(...parts: readonly (string | number)[]): string {
  const bytes = hash('sha1', JSON.stringify(parts), 'buffer').subarray(0, 16);
  // RFC 9562: version 5, a UUID from a name.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  const groups = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)];
  return `<urn:uuid:${groups.join('-')}>`;
}

/** The form of digests that every reader of WARC files verifies. */
export const digestOf = (...parts: readonly Uint8Array[]): string => {
  const sha1 = createHash('sha1');
  for (const part of parts) sha1.update(part);
  return `sha1:${base32(sha1.digest())}`;
};

function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xffff;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >> bits) & 31);
    }
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}

/** The bytes of the record before compression, its digests included. */
export function recordBytes(record: WarcRecord): Uint8Array[] {
  const { type, id, at, targetUri, contentType, fields = [], head, payload } = record;
  const hasPayload = WITH_PAYLOAD.has(type) && !fields.some(([name]) => name === 'WARC-Payload-Digest');
  const lines: WarcField[] = [
    ['WARC-Type', type],
    ['WARC-Record-ID', id],
    ['WARC-Date', warcDate(at)],
    ...(targetUri === null ? [] : [['WARC-Target-URI', targetUri] as const]),
    ...fields,
    ['Content-Type', contentType],
    ...(hasPayload ? [['WARC-Payload-Digest', digestOf(payload)] as const] : []),
    ['WARC-Block-Digest', digestOf(head, payload)],
    ['Content-Length', String(head.byteLength + payload.byteLength)],
  ];
  const text = lines.map(([name, value]) => `${name}: ${oneLine(value)}`).join(CRLF);
  return [Buffer.from(`WARC/1.1${CRLF}${text}${CRLF}${CRLF}`), head, payload, RECORD_END];
}

/** ISO 8601 in UTC, to the millisecond, as WARC 1.1 allows. */
export const warcDate = (at: number): string => new Date(at).toISOString();

/** A value that came from a site must not begin another field. */
const oneLine = (value: string): string => value.replace(/[\r\n]+/g, ' ');

/** A block of `name: value` lines. */
export function warcFields(fields: readonly WarcField[]): Buffer {
  return Buffer.from(fields.map(([name, value]) => `${name}: ${oneLine(value)}${CRLF}`).join(''));
}
