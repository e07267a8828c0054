import { LITERAL_LIMITS, readLiteral, skipBlank } from './literal-reader.ts';

interface ScriptState {
  readonly name: string;
  readonly value: unknown;
}

/** Variable names under which pages hand data to their scripts. Any name of the form `__NAME__` counts as well. */
const KNOWN_NAMES = [
  '__[A-Za-z][A-Za-z0-9_]{1,60}__',
  '__remixContext',
  '__staticRouterHydrationData',
  '__PRELOADED_STATE',
  '__initialState',
  '__APP_STATE',
  'initialState',
  'preloadedState',
  'appData',
  'pageData',
  'productData',
  'product',
  'meta',
  'dataLayer',
  'utag_data',
  'digitalData',
  'ytInitialData',
  'spConfig',
  'jobData',
];
const ASSIGNMENT = new RegExp(
  `(?:(?:window|self|globalThis|this)\\s?(?:\\.|\\[\\s?["'])|\\b(?:var|let|const)\\s{1,8})(${KNOWN_NAMES.join('|')})(?:["']\\s?\\])?\\s{0,8}=(?!=)`,
  'g',
);
const MOST_ASSIGNMENTS = 50;
const FUNCTION = /\(?\s{0,20}function\s{0,20}\(([\w$,\s]{0,20000})\)\s{0,20}\{/y;
const RETURN = /\breturn\b/g;

/** The values that a script assigns to known names. The script is read, never run. */
export function readScriptState(script: string): ScriptState[] {
  const found: ScriptState[] = [];
  let past = 0;
  let count = 0;
  for (const match of script.matchAll(ASSIGNMENT)) {
    if (match.index < past) continue;
    if (++count > MOST_ASSIGNMENTS) break;
    const start = skipBlank(script, match.index + match[0].length, script.length);
    const read = readLiteral(script, start, { dialect: 'script' }) ?? readCall(script, start);
    if (read === null || read.value === null || typeof read.value !== 'object') continue;
    past = read.end;
    found.push({ name: match[1] as string, value: read.value });
  }
  return found;
}

/**
 * `(function(a,b){return {name:a}}("Desk",1))`: how Nuxt 2 writes its state. The arguments are literals, and the
 * returned literal refers to them by parameter; other statements are skipped.
 */
function readCall(script: string, start: number): { value: unknown; end: number } | null {
  FUNCTION.lastIndex = start;
  const head = FUNCTION.exec(script);
  if (head === null) return null;
  const bodyStart = start + head[0].length;
  const bodyEnd = closingBrace(script, bodyStart);
  if (bodyEnd < 0) return null;
  let at = skipBlank(script, bodyEnd + 1, script.length);
  if (script[at] === ')') at = skipBlank(script, at + 1, script.length);
  if (script[at] !== '(') return null;
  // The arguments are read as a list, from the bracket on.
  const args: unknown[] = [];
  at = skipBlank(script, at + 1, script.length);
  while (script[at] !== ')') {
    const argument = readLiteral(script, at, { dialect: 'script' });
    if (argument === null || args.length > 50_000) return null;
    args.push(argument.value);
    at = skipBlank(script, argument.end, script.length);
    if (script[at] === ',') at = skipBlank(script, at + 1, script.length);
  }
  const parameters = (head[1] as string).split(',').map((name) => name.trim());
  const names = new Map(parameters.map((name, index) => [name, args[index] ?? null]));
  RETURN.lastIndex = bodyStart;
  for (
    let found = RETURN.exec(script);
    found !== null && found.index < bodyEnd;
    found = RETURN.exec(script)
  ) {
    const read = readLiteral(script, found.index + found[0].length, { dialect: 'script', names });
    if (read !== null && read.end <= bodyEnd) return { value: read.value, end: at };
  }
  return null;
}

/** Where the brace that was opened before `start` closes; strings are skipped. -1 when it does not close. */
function closingBrace(script: string, start: number): number {
  let depth = 1;
  const end = Math.min(script.length, start + LITERAL_LIMITS.chars);
  for (let at = start; at < end; at++) {
    const char = script[at];
    if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at;
    else if (char === '"' || char === "'" || char === '`') {
      do {
        at = script[at + 1] === '\\' ? at + 2 : at + 1;
      } while (at < end && script[at] !== char);
    }
  }
  return -1;
}

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
