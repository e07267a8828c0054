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
