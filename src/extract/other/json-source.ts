import { OTHER_LIMITS } from './other-limits.ts';

/** JSON found in a text. */
export interface JsonSource {
  readonly value: unknown;
  /** Exactly the JSON: what stood around it is gone. Of lines, their values as one list. */
  readonly source: string;
  /** Lines that could not be read. */
  readonly badLines: number;
  /** There are more lines than are read. */
  readonly isCut: boolean;
}

/** What keeps other sites from running the answer as a script. */
const GUARD = /^(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);|throw [^;]{1,40};)\s*/;
const CALLBACK = /^(?:\/\*\*\/)?\s*[A-Za-z_$][\w$.]{0,100}\s*\(\s*(?=[{[])/;
const CALL_END = /\)\s*;?\s*$/;
const LINE_LIMIT = 200_000;

/** Reads JSON: plain, guarded against scripts, in a call (JSONP), or a value on each line. Null when it is none of these. */
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
  // Only the end is looked at: the pattern would try every space of a long text.
  const tail = text.slice(-100);
  const end = CALL_END.exec(tail);
  return end === null ? null : text.slice(call[0].length, text.length - tail.length + end.index);
}

/** A value on each line. Lines that are none are passed over, as long as they are few: a cut file has one. */
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

/** Whether a value can be handed on: not so deep or so large that whoever walks through it comes to harm. */
export function isWalkable(value: unknown): boolean {
  let level: unknown[] = [value];
  let count = 0;
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > OTHER_LIMITS.jsonDepth) return false;
    count += level.length;
    if (count > OTHER_LIMITS.jsonValues) return false;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      for (const child of Object.values(each)) next.push(child);
    }
    level = next;
  }
  return true;
}
