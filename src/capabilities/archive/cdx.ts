import { firstValue, headLength, parseHead, statusOf } from '../../lib/warc/http-head.ts';
import { digestOf, type WarcRecord } from '../../lib/warc/warc-record.ts';

/** Where a record lies. */
export interface RecordPlace {
  readonly fileName: string;
  readonly offset: number;
  readonly length: number;
}

/** The line of an index (CDXJ) for a record; null for records that no reader looks up by URL. */
export function cdxLine(record: WarcRecord, { fileName, offset, length }: RecordPlace): string | null {
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
export const timestampOf = (at: number): string => new Date(at).toISOString().replace(/\D/g, '').slice(0, 14);

/** The sort-friendly form of a URL: `com,example)/path?a&b`. */
export function surtOf(url: string): string {
  const parsed = /^https?:/i.test(url)
    ? URL.parse(url.toLowerCase().replace(/^(https?:\/\/)www\d*\./, '$1'))
    : null;
  if (parsed === null) return url.replaceAll(' ', '%20');
  const { hostname, port, pathname, search } = parsed;
  const host = hostname.split('.').reverse().join(',') + (port === '' ? '' : `:${port}`);
  const query = search === '' ? '' : `?${search.slice(1).split('&').sort().join('&')}`;
  return `${host})${pathname}${query}`;
}
