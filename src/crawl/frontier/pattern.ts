import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';

/**
 * Whether a canonical URL matches. Takes time linear in the URL's length, whatever the pattern, and takes what that
 * costs from `steps`. Once none are left the answer is false and means nothing.
 */
type UrlTest = (url: string, steps: Steps) => boolean;

/** A pattern ready to be asked. */
export interface CompiledPattern {
  readonly test: UrlTest;
  /** Steps for each character of a URL, at most. */
  readonly stepsPerChar: number;
}

export interface PatternProblem {
  readonly message: string;
  /** Offset of the offending part in the pattern, where it is known. */
  readonly position?: number;
}

const MAX_PATTERN_CHARS = 1_000;
/** Tables of hundreds of ranges, each of which costs as much to compile as a whole pattern. */
const UNICODE_CLASS = /\\[pP]/g;
const MAX_UNICODE_CLASSES = 20;
/** Compiling writes a repeated part out as often as it may occur. */
const REPETITION = /\{(\d+)(?:,(\d*))?\}/g;
const MAX_REPETITIONS = 250;
/** What can stand in a path glob besides `*`: everything but the signs that make a regular expression. */
const PATH_GLOB = /^\/[^\\^$+()[\]{}|\s]*$/;
const IS_LITERAL = /^[\w\-~!&',=:@/%;#<>"]*$/;

/** Begins a regular expression in the syntax of today. */
const REGEX_PREFIX = 're:';
/** Signs of regular expressions: a glob that has them would match nothing. */
const REGEX_SIGNS = /\\|\^|\.[*+]|\(\?|\||\{\d|\$$|\[[^\]]*-/;
const URL_START = /^https?:\/\//i;

/** Up to this length a naive comparison at every place is cheap enough. */
const SHORT_CHARS = 8;

/** The failure table of the needle being searched; searches never overlap, so one table serves all. */
let failures = new Int32Array(1_024);

/**
 * What `include`, `exclude` and `routes` take, in the API and on the command line alike:
 *
 * - `/blog/*`, `*.pdf`: a **glob** that must match the whole path, `*` standing for any characters, slashes too;
 *   `/blog/*` also means `/blog` itself. With a `?` in it, it must match the path together with the query.
 * - `https://example.com/blog/*`: a glob that must match the whole URL, without its query unless it has a `?`.
 * - `re:` and a **regular expression** in RE2 syntax, found anywhere in the URL.
 *
 * Anything else, and a glob that looks like a regular expression, is a problem that says what to write instead.
 */
export function compileUrlPattern(pattern: string): CompiledPattern | PatternProblem {
  const problem = lengthProblem(pattern);
  if (problem !== null) return problem;
  if (pattern.startsWith(REGEX_PREFIX)) {
    const compiled = compileRegex(pattern.slice(REGEX_PREFIX.length));
    if (!('message' in compiled) || compiled.position === undefined) return compiled;
    return { ...compiled, position: compiled.position + REGEX_PREFIX.length };
  }
  if (REGEX_SIGNS.test(pattern)) {
    return {
      message: `This looks like a regular expression, which begins with \`re:\`: \`re:${pattern}\`. Without it, a pattern is a glob such as \`/blog/*\`.`,
    };
  }
  if (pattern.startsWith('/') || pattern.startsWith('*'))
    return { test: compileGlob(pattern), stepsPerChar: 1 };
  if (URL_START.test(pattern)) return { test: compileGlob(pattern, withoutFragment), stepsPerChar: 1 };
  return {
    message:
      `A pattern is a glob for the whole path, such as \`/${pattern}\` or \`*${pattern}*\`, a glob for the whole URL ` +
      `(\`https://…\`), or a regular expression: \`re:${pattern}\`.`,
  };
}

function lengthProblem(pattern: string): PatternProblem | null {
  if (pattern === '') return { message: 'The pattern is empty.' };
  if (pattern.length <= MAX_PATTERN_CHARS) return null;
  return {
    message: `The pattern has ${pattern.length} characters; at most ${MAX_PATTERN_CHARS} are allowed.`,
  };
}

/**
 * The patterns of jobs that were stored before there was `re:`. One rule for what a pattern is:
 *
 * - It begins with `/`, has a `*` and no other sign of regular expressions (`.*` and `.?` are such signs): a **path
 *   glob**. It must match the whole path, `*` standing for any characters, slashes too; `/blog/*` also means `/blog`
 *   itself. With a `?` in it, it must match the path together with the query.
 * - Anything else: a **regular expression** in RE2 syntax, found anywhere in the URL. `/admin/` thus means every URL
 *   with `/admin/` in it, `^https://example\.com/a` those that begin so, and `(?i)` ignores case.
 */
export function compileStoredPattern(pattern: string): CompiledPattern | PatternProblem {
  const problem = lengthProblem(pattern);
  if (problem !== null) return problem;
  if (isPathGlob(pattern)) return { test: compileGlob(pattern), stepsPerChar: 1 };
  if (IS_LITERAL.test(pattern)) {
    return { test: (url, steps) => indexOfLinear(url, pattern, 0, steps) !== -1, stepsPerChar: 1 };
  }
  return compileRegex(pattern);
}

function compileRegex(pattern: string): CompiledPattern | PatternProblem {
  if (pattern === '') return { message: 'The regular expression is empty.' };
  try {
    const expression = RE2JS.compile(pattern);
    const stepsPerChar = expression.programSize();
    const test: UrlTest = (url, steps) => {
      steps.left -= url.length * stepsPerChar;
      return steps.left >= 0 && expression.test(url);
    };
    return { test, stepsPerChar };
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return problemOf(pattern, error);
    if (error instanceof RE2JSException)
      return { message: `Not a usable regular expression: ${error.message}.` };
    throw error;
  }
}

/** What makes compiling itself expensive, found before anything is compiled; null when nothing does. */
export function costlyPart(pattern: string): PatternProblem | null {
  const classes = pattern.match(UNICODE_CLASS)?.length ?? 0;
  if (classes > MAX_UNICODE_CLASSES) {
    return {
      message: `The pattern has ${classes} Unicode classes (\`\\p…\`); at most ${MAX_UNICODE_CLASSES} are allowed.`,
    };
  }
  for (const { 0: part, 1: least, 2: most, index } of pattern.matchAll(REPETITION)) {
    if (Math.max(Number(least), Number(most ?? 0)) <= MAX_REPETITIONS) continue;
    const message = `The repetition \`${part}\` is too large; at most ${MAX_REPETITIONS} times are allowed.`;
    return { message, position: index };
  }
  return null;
}

export function isPathGlob(pattern: string): boolean {
  return pattern.includes('*') && PATH_GLOB.test(pattern) && !/\.[*?]/.test(pattern);
}

/** The part of an absolute URL behind its host, without the fragment. */
function pathAndQueryOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start === -1) return '/';
  const end = url.indexOf('#', start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

export function pathOf(url: string): string {
  const whole = pathAndQueryOf(url);
  const query = whole.indexOf('?');
  return query === -1 ? whole : whole.slice(0, query);
}

const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? '';
const withoutQuery = (url: string): string => url.split(/[?#]/, 1)[0] ?? '';

/** `wholeOf` is the part of a URL that a glob with a query is about. */
function compileGlob(glob: string, wholeOf = pathAndQueryOf): UrlTest {
  const subjectOf = glob.includes('?') ? wholeOf : (url: string) => withoutQuery(wholeOf(url));
  const parts = glob.split('*');
  const folder = /^[^*]+\/\*+$/.test(glob) ? glob.slice(0, glob.indexOf('*') - 1) : null;
  return (url, steps) => {
    const subject = subjectOf(url);
    return subject === folder || matchesParts(subject, parts, steps);
  };
}

/** Each part at its first place behind the one before is as good as any later place, so one sweep decides. */
function matchesParts(subject: string, parts: readonly string[], steps: Steps): boolean {
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (parts.length === 1) return subject === first;
  if (!subject.startsWith(first) || !subject.endsWith(last)) return false;
  const end = subject.length - last.length;
  let at = first.length;
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] ?? '';
    const found = indexOfLinear(subject, part, at, steps);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}

function problemOf(pattern: string, error: RE2JSSyntaxException): PatternProblem {
  const part = error.getPattern();
  const isLookaround = part !== null && /^\(\?<?[=!]/.test(part);
  const message = isLookaround
    ? `Not a usable regular expression: lookaround (\`${part}\`) is not part of RE2.`
    : `Not a usable regular expression: ${error.getDescription()}${part === null ? '' : ` at \`${part}\``}.`;
  if (part === null || part === pattern) return { message };
  const position = pattern.indexOf(part);
  // Only a single occurrence tells which one was meant.
  return position !== -1 && pattern.indexOf(part, position + 1) === -1 ? { message, position } : { message };
}

/** Counts work, so that input written to cost time is noticed by its steps and not by a clock. */
export interface Steps {
  left: number;
}

/**
 * `text.indexOf(needle, from)` in time linear in both. The engine's own search compares the whole needle at every
 * place in the worst case, which makes `aaa…ab` in `aaa…a` quadratic. Takes the steps it makes from `steps` and
 * returns -1 once none are left, so callers look at `steps.left` before they believe it.
 */
export function indexOfLinear(text: string, needle: string, from: number, steps: Steps): number {
  steps.left -= 1;
  if (needle.length > text.length - from) return -1;
  // Most needles do not occur at all, and their beginning tells so at the engine's own speed.
  const head = needle.length <= SHORT_CHARS ? needle : needle.slice(0, SHORT_CHARS);
  const start = text.indexOf(head, from);
  steps.left -= (start === -1 ? text.length : start + head.length) - from;
  if (start === -1 || needle.length <= SHORT_CHARS) return start;
  return steps.left < 0 ? -1 : searchByFailures(text, needle, start, steps);
}

/** The algorithm of Knuth, Morris and Pratt. */
function searchByFailures(text: string, needle: string, from: number, steps: Steps): number {
  if (failures.length < needle.length) failures = new Int32Array(needle.length * 2);
  failures[0] = 0;
  for (let at = 1, matched = 0; at < needle.length; at++) {
    const code = needle.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = failures[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched++;
    failures[at] = matched;
  }
  let at = from;
  for (let matched = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = failures[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched++;
    if (matched === needle.length) break;
  }
  steps.left -= needle.length + at - from;
  return at < text.length ? at - needle.length + 1 : -1;
}
