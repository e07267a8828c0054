import { createHash, hash } from 'node:crypto';

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
