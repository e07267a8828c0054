import { describe, expect, it } from 'vitest';
import { readSources } from './sources.ts';

/** Where a listener is registered: by a method, or by a property such as `onmessage`. */
const REGISTRATION =
  /\.(?:(?:on|once|addListener|prependListener|prependOnceListener|addEventListener)\(|on[a-z]+ = )|\bcreateServer\((?!guarded)(?=[^;]*?\bresponse\) =>)/g;
/** A call of another kind that has one of those names: keys of repeated requests. */
const NO_LISTENER = /\bidempotency\.once\($/;
/** The module whose functions the others use. */
const OWN = 'core/errors/guarded.ts';
/** A listener that cannot throw: it does nothing, or settles a promise. */
const HARMLESS =
  /^(?:\(\) => (?:undefined|\{\s*\})|(?:\w+\.)?(?:resolve|reject))(?:,\s*\{ once: true \})?,?\s*\)/;
/** Above the registrations of a block: `// unguarded: REASON`. */
const DECLARED = /\/\/ unguarded: \S+ \S+/g;

/** Comments emptied but for declared exceptions, so that prose does not count; lines stay. */
const withoutProse = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g, (comment) =>
    /^\/\/ unguarded: /.test(comment) ? comment : comment.replace(/[^\n]/g, ' '),
  );

/** Whether a comment declares it: one before it in the same block, or in one that holds it. */
function isDeclared(code: string, at: number): boolean {
  return [...code.slice(0, at).matchAll(DECLARED)].some(({ index }) => {
    let depth = 0;
    for (const char of code.slice(index, at)) {
      if (char === '{') depth += 1;
      else if (char === '}') depth -= 1;
      if (depth < 0) return false;
    }
    return true;
  });
}

/** What follows the name of the event: the listener, and the rest of the call. */
function listenerAt(code: string, at: number): string {
  const rest = code.slice(at);
  return /^[^,()]*,\s*([\s\S]*)$/.exec(rest)?.[1] ?? rest;
}

/** A call of `guarded`, or the name of one. */
function isGuarded(code: string, listener: string): boolean {
  if (listener.startsWith('guarded(')) return true;
  const name = /^(?:this\.)?(#?\w+)\s*[,)]/.exec(listener)?.[1];
  return name !== undefined && new RegExp(`(?:^|[\\s{])${name}(?:: [^=]+)? = guarded\\(`).test(code);
}

/** The lines on which an error of a listener would be uncaught. */
function unguarded(text: string): readonly number[] {
  const code = withoutProse(text);
  return [...code.matchAll(REGISTRATION)]
    .filter(({ 0: match, index }) => {
      const end = index + match.length;
      if (NO_LISTENER.test(code.slice(0, end))) return false;
      const listener = match.endsWith('= ') ? code.slice(end) : listenerAt(code, end);
      return !HARMLESS.test(listener) && !isGuarded(code, listener) && !isDeclared(code, index);
    })
    .map(({ index }) => code.slice(0, index).split('\n').length);
}

/** Written apart from its bracket: a test file with such a call counts as one that serves. */
const CREATE = 'createServer';
const sources = readSources().filter(({ path }) => path !== OWN);

describe('listeners', () => {
  it.each([
    ["socket.on('data', (piece) => read(piece));", [1]],
    ["socket.on('data', read).once('end', done);", [1, 1]],
    ["const a = 1;\nsignal?.addEventListener('abort', () => stop());", [2]],
    ['port.onmessage = ({ data }) => read(data);', [1]],
    ["process.once('exit', () => write());", [1]],
    ["server.prependListener('request', count);", [1]],
    [`${CREATE}((request, response) => answer(request, response));`, [1]],
    [`${CREATE}(guarded((request, response) => answer(request, response)));`, []],
    ["listen(socket, 'data', (piece) => read(piece));", []],
    ["socket.on('error', () => undefined);", []],
    ["child.once('error', reject);", []],
    ["signal.addEventListener('abort', guarded(() => stop()), { once: true });", []],
    ["const onAbort = guarded(() => stop());\nsignal.addEventListener('abort', onAbort);", []],
    ["// parser.on('text', add)", []],
    ["{\n  // unguarded: the parser throws to its caller.\n  parser.on('text', add);\n}", []],
    [
      "{\n  // unguarded: the parser throws to its caller.\n  parser.on('text', add);\n}\nsocket.on('data', read);",
      [5],
    ],
  ] as const)('of %j without a guard are on the lines %j', (text, lines) => {
    expect(unguarded(text)).toEqual(lines);
  });

  it('are registered through core/errors/guarded.ts, so that an error in one ends its connection and not the process', () => {
    expect(sources.filter(({ text }) => /\blisten(?:Once)?\(/.test(text)).length).toBeGreaterThan(40);
    const found = sources.flatMap(({ path, text }) => unguarded(text).map((line) => `src/${path}:${line}`));
    expect(found).toEqual([]);
  });
});
