import { readLiteral } from './literal-reader.ts';

const PUSH = /self\.__next_f\.push\(/g;
const ROW = /^([0-9a-f]{1,8}):/;
const TEXT_ROW = /^T([0-9a-f]{1,8}),/;
const MOST_PUSHES = 2_000;
const MOST_ROWS = 5_000;
const MOST_OBJECTS = 100_000;

/** The part of the stream of a Next.js app router page that one script carries. */
export function flightChunk(script: string): string {
  let chunk = '';
  let pushes = 0;
  for (const match of script.matchAll(PUSH)) {
    if (++pushes > MOST_PUSHES) break;
    const value = readLiteral(script, match.index + match[0].length, { dialect: 'script' })?.value;
    if (Array.isArray(value) && value[0] === 1 && typeof value[1] === 'string') chunk += value[1];
  }
  return chunk;
}

/** The values in such a stream, by row; components and references between rows stay as they are written. */
export function readFlight(stream: string): Record<string, unknown> | null {
  const rows: Record<string, unknown> = Object.create(null);
  let count = 0;
  let at = 0;
  while (at < stream.length && count < MOST_ROWS) {
    const row = ROW.exec(stream.slice(at, at + 12));
    if (row === null) {
      const line = stream.indexOf('\n', at);
      if (line < 0) break;
      at = line + 1;
      continue;
    }
    const id = row[1] as string;
    const start = at + row[0].length;
    const text = TEXT_ROW.exec(stream.slice(start, start + 12));
    if (text !== null) {
      const bytes = Number.parseInt(text[1] as string, 16);
      const from = start + text[0].length;
      const end = from + charsOf(stream, from, bytes);
      rows[id] = stream.slice(from, end);
      at = end;
    } else {
      const line = stream.indexOf('\n', start);
      const end = line < 0 ? stream.length : line;
      const value = parse(stream.slice(start, end));
      if (value !== null && typeof value === 'object') rows[id] = value;
      at = end + 1;
    }
    count++;
  }
  const texts = new Map(
    Object.entries(rows).filter((row): row is [string, string] => typeof row[1] === 'string'),
  );
  if (texts.size > 0) fillIn(rows, texts);
  return Object.keys(rows).length === 0 ? null : rows;
}

/** Puts long texts where rows refer to them: `$6` is row 6. */
function fillIn(rows: object, texts: ReadonlyMap<string, string>): void {
  const queue: object[] = [rows];
  for (let at = 0; at < queue.length && at < MOST_OBJECTS; at++) {
    const object = queue[at] as Record<string, unknown>;
    for (const [key, value] of Object.entries(object)) {
      if (typeof value === 'string' && value.startsWith('$'))
        object[key] = texts.get(value.slice(1)) ?? value;
      else if (value !== null && typeof value === 'object') queue.push(value);
    }
  }
}

/** How many characters from a place take this many bytes of UTF-8. */
function charsOf(text: string, from: number, bytes: number): number {
  let left = bytes;
  let at = from;
  while (left > 0 && at < text.length) {
    const point = text.codePointAt(at) as number;
    left -= point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    at += point < 0x10000 ? 1 : 2;
  }
  return at - from;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
