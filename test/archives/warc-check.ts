import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { WARCParser } from 'warcio';

/** A record as warcio, which shares no code with the program, reads it. */
export interface CheckedRecord {
  readonly type: string;
  readonly id: string;
  readonly url: string | null;
  readonly date: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly statusCode: number | null;
  readonly statusLine: string | null;
  readonly httpHeaders: readonly (readonly [string, string])[];
  readonly payload: Buffer;
}

/**
 * Reads every record and verifies its digests and length. Throws for the first that is wrong, for bytes that are no
 * record, and for a file that breaks off within one.
 */
export async function* checkedRecords(source: AsyncIterable<Uint8Array>): AsyncGenerator<CheckedRecord> {
  const warnings: string[] = [];
  const warn = console.warn;
  console.warn = (...words) => void warnings.push(words.join(' '));
  try {
    const parser = new WARCParser(source, { keepHeadersCase: true, parseHttp: false });
    for await (const record of parser) {
      const { warcHeaders } = record;
      const fields = Object.fromEntries(warcHeaders.headers);
      const block = Buffer.from(await record.readFully(false));
      const stated = Number(fields['Content-Length']);
      if (block.length !== stated) throw new Error(`a record of ${block.length} bytes says ${stated}`);
      yield checked(fields, block, warcHeaders.statusline);
      if (warnings.length > 0) throw new Error(warnings.join('; '));
    }
  } finally {
    console.warn = warn;
  }
}

export const readWarc = (path: string): Promise<CheckedRecord[]> =>
  Array.fromAsync(checkedRecords(createReadStream(path)));

const HEAD_END = Buffer.from('\r\n\r\n');

function checked(fields: Record<string, string>, block: Buffer, version: string): CheckedRecord {
  if (version !== 'WARC/1.1') throw new Error(`the version is ${version}`);
  const isHttp = (fields['Content-Type'] ?? '').startsWith('application/http');
  const headEnd = isHttp ? block.indexOf(HEAD_END) + HEAD_END.length : 0;
  const payload = block.subarray(headEnd);
  const type = fields['WARC-Type'] ?? '';
  verify(fields['WARC-Block-Digest'], block);
  if (type !== 'revisit' && fields['WARC-Payload-Digest'] !== undefined) {
    verify(fields['WARC-Payload-Digest'], payload);
  }
  const [statusLine = null, ...lines] = isHttp
    ? block.toString('utf8', 0, headEnd).trimEnd().split('\r\n')
    : [];
  return {
    type,
    id: fields['WARC-Record-ID'] ?? '',
    url: fields['WARC-Target-URI'] ?? null,
    date: fields['WARC-Date'] ?? '',
    fields,
    statusLine,
    statusCode: statusLine?.startsWith('HTTP/') === true ? Number(statusLine.split(' ')[1]) : null,
    httpHeaders: lines.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
    payload,
  };
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Computed another way than the program does. */
function verify(stated: string | undefined, bytes: Uint8Array): void {
  const bits = [...createHash('sha1').update(bytes).digest()]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  const expected = `sha1:${bits
    .match(/.{5}/g)
    ?.map((five) => BASE32[Number.parseInt(five, 2)])
    .join('')}`;
  if (stated !== expected) throw new Error(`a digest is ${stated}, and the bytes have ${expected}`);
}
