import { DOCUMENT_LIMITS } from './document-limits.ts';

/** JSON found in a text. */
export interface JsonSource {
  readonly value: unknown;
  /** The JSON without the text around it; for JSON lines, their values as one list. */
  readonly source: string;
  /** Lines that could not be read. */
  readonly badLines: number;
  /** True when there are more lines than the limit. */
  readonly isCut: boolean;
}

/** Prefixes that keep other sites from running the response as a script. */
const GUARD = /^(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);|throw [^;]{1,40};)\s*/;
const CALLBACK = /^(?:\/\*\*\/)?\s*[A-Za-z_$][\w$.]{0,100}\s*\(\s*(?=[{[])/;
const CALL_END = /\)\s*;?\s*$/;
const LINE_LIMIT = 200_000;

/** Reads JSON: plain, guarded against scripts, in a call (JSONP), or a value on each line. Null for any other text. */
export function findJson(text: string): JsonSource | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  return one(trimmed) ?? one(unwrapped(trimmed)) ?? lines(trimmed);
}

function one(source: string | null): JsonSource | null {
  if (source === null) return null;
  try {
    return { value: JSON.parse(source) as unknown, source, badLines: 0, isCut: false };
  } catch {
    return null;
  }
}

function unwrapped(text: string): string | null {
  const guarded = GUARD.exec(text);
  if (guarded !== null) return text.slice(guarded[0].length);
  const call = CALLBACK.exec(text);
  if (call === null) return null;
  // Only the end is searched: the pattern would try every space of a long text.
  const tail = text.slice(-100);
  const end = CALL_END.exec(tail);
  return end === null ? null : text.slice(call[0].length, text.length - tail.length + end.index);
}

/** A value on each line. A few invalid lines are skipped: a truncated file has one. */
function lines(text: string): JsonSource | null {
  if (!/^[{[]/.test(text)) return null;
  const values: unknown[] = [];
  const sources: string[] = [];
  let badLines = 0;
  let start = 0;
  while (start < text.length) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end).trim();
    start = end === -1 ? text.length : end + 1;
    if (line === '') continue;
    const read = /^[{[]/.test(line) ? one(line) : null;
    if (read === null) {
      badLines++;
      // JSON that is broken somewhere has lines too, but hardly any of them is whole.
      if (badLines > 3 && badLines > values.length / 10) return null;
    } else {
      values.push(read.value);
      sources.push(line);
      if (values.length >= LINE_LIMIT) break;
    }
  }
  if (values.length < 2) return null;
  return { value: values, source: `[${sources.join(',')}]`, badLines, isCut: start < text.length };
}

/** True when a value is neither too deep nor too large to be walked through. */
export function isWalkable(value: unknown): boolean {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DOCUMENT_LIMITS.jsonDepth) return false;
    count += level.length;
    if (count > DOCUMENT_LIMITS.jsonValues) return false;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      for (const child of Object.values(each)) next.push(child);
    }
    level = next;
  }
  return true;
}

const INDENT = '  ';

/**
 * Valid JSON with a line for each value. It works on the text itself, so that numbers stay as they were written and keys
 * that stand twice stay both. Cut after `limit` characters.
 */
export function prettyJson(json: string, limit: number): string {
  const out: string[] = [];
  let length = 0;
  let depth = 0;
  const put = (piece: string): void => {
    out.push(piece);
    length += piece.length;
  };
  const breakLine = (): void => put(`\n${INDENT.repeat(depth)}`);
  let at = 0;
  while (at < json.length && length < limit) {
    const char = json[at] ?? '';
    if (char === '"') {
      const end = stringEnd(json, at);
      put(json.slice(at, end));
      at = end;
    } else if (char === '{' || char === '[') {
      const next = skipSpace(json, at + 1);
      if (json[next] === '}' || json[next] === ']') {
        put(char + json[next]);
        at = next + 1;
        continue;
      }
      depth++;
      put(char);
      breakLine();
      at = next;
    } else if (char === '}' || char === ']') {
      depth--;
      breakLine();
      put(char);
      at++;
    } else if (char === ',') {
      put(char);
      breakLine();
      at++;
    } else if (char === ':') {
      put(': ');
      at++;
    } else if (isSpace(char)) at++;
    else {
      const end = literalEnd(json, at);
      put(json.slice(at, end));
      at = end;
    }
  }
  const text = out.join('');
  return text.length > limit ? text.slice(0, limit) : text;
}

function stringEnd(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    const char = json[at];
    if (char === '\\') at++;
    else if (char === '"') return at + 1;
  }
  return json.length;
}

function literalEnd(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && !',]}'.includes(json[at] ?? '') && !isSpace(json[at] ?? '')) at++;
  return at;
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (at < json.length && isSpace(json[at] ?? '')) at++;
  return at;
}

const isSpace = (char: string): boolean => char === ' ' || char === '\n' || char === '\r' || char === '\t';
