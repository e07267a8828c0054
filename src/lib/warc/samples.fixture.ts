import { deflateRawSync, gzipSync } from 'node:zlib';
import { defined } from '../defined.ts';

/** Records written by hand, as other tools write them. */
export interface Sample {
  readonly type: string;
  readonly url?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly block: string | Uint8Array;
  /** The length that the record states, in place of the right one. */
  readonly contentLength?: string;
  readonly version?: string;
}

export function plainRecord({
  type,
  url,
  fields = {},
  block,
  contentLength,
  version = '1.0',
}: Sample): Buffer {
  const body = Buffer.from(block);
  const named = {
    'WARC-Type': type,
    'WARC-Record-ID': `<urn:uuid:${crypto.randomUUID()}>`,
    'WARC-Date': '2024-05-06T07:08:09Z',
    ...defined({ 'WARC-Target-URI': url }),
    'Content-Type': `application/http; msgtype=${type === 'request' ? 'request' : 'response'}`,
    ...fields,
    'Content-Length': contentLength ?? String(body.length),
  };
  const head = Object.entries(named).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`WARC/${version}\r\n${head.join('')}\r\n`),
    body,
    Buffer.from('\r\n\r\n'),
  ]);
}

export const plainWarc = (...samples: readonly Sample[]): Buffer => Buffer.concat(samples.map(plainRecord));

export const gzipWarc = (...samples: readonly Sample[]): Buffer =>
  Buffer.concat(samples.map((sample) => gzipSync(plainRecord(sample))));

export const http = (head: readonly string[], body: string | Uint8Array = ''): Buffer =>
  Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), Buffer.from(body)]);

/** A ZIP file; entries may lie about everything. */
export function zipOf(
  entries: readonly { readonly name: string; readonly bytes: Uint8Array; readonly isDeflated?: boolean }[],
): Buffer {
  const parts: Buffer[] = [];
  const rows: Buffer[] = [];
  let offset = 0;
  for (const { name, bytes, isDeflated = false } of entries) {
    const stored = isDeflated ? deflateRawSync(bytes) : Buffer.from(bytes);
    const text = Buffer.from(name);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(isDeflated ? 8 : 0, 8);
    local.writeUInt32LE(stored.length, 18);
    local.writeUInt32LE(bytes.byteLength, 22);
    local.writeUInt16LE(text.length, 26);
    const row = Buffer.alloc(46);
    row.writeUInt32LE(0x02014b50, 0);
    row.writeUInt16LE(isDeflated ? 8 : 0, 10);
    row.writeUInt32LE(stored.length, 20);
    row.writeUInt32LE(bytes.byteLength, 24);
    row.writeUInt16LE(text.length, 28);
    row.writeUInt32LE(offset, 42);
    rows.push(row, text);
    parts.push(local, text, stored);
    offset += local.length + text.length + stored.length;
  }
  const directory = Buffer.concat(rows);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, directory, end]);
}
