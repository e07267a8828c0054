import { RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';

/** Whether a canonical URL matches. Takes time linear in the URL's length, whatever the pattern. */
export type UrlTest = (url: string) => boolean;

export interface PatternProblem {
  readonly message: string;
  /** Offset of the offending part in the pattern, where it is known. */
  readonly position?: number;
}

const MAX_PATTERN_CHARS = 1_000;
/** What can stand in a path glob besides `*`: everything but the signs that make a regular expression. */
const PATH_GLOB = /^\/[^\\^$+()[\]{}|\s]*$/;
const IS_LITERAL = /^[\w\-~!&',=:@/%;#<>"]*$/;

/**
 * One rule for what a pattern is:
 *
 * - It begins with `/`, has a `*` and no other sign of regular expressions (`.*` and `.?` are such signs): a **path
 *   glob**. It must match the whole path, `*` standing for any characters, slashes too; `/blog/*` also means `/blog`
 *   itself. With a `?` in it, it must match the path together with the query.
 * - Anything else: a **regular expression** in RE2 syntax, found anywhere in the URL. `/admin/` thus means every URL
 *   with `/admin/` in it, `^https://example\.com/a` those that begin so, and `(?i)` ignores case.
 */
export function compilePattern(pattern: string): UrlTest | PatternProblem {
  if (pattern === '') return { message: 'The pattern is empty.' };
  if (pattern.length > MAX_PATTERN_CHARS) {
    return {
      message: `The pattern has ${pattern.length} characters; at most ${MAX_PATTERN_CHARS} are allowed.`,
    };
  }
  if (isPathGlob(pattern)) return compileGlob(pattern);
  if (IS_LITERAL.test(pattern)) return (url) => url.includes(pattern);
  try {
    const expression = RE2JS.compile(pattern);
    return (url) => expression.test(url);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) return problemOf(pattern, error);
    if (error instanceof RE2JSException)
      return { message: `Not a usable regular expression: ${error.message}.` };
    throw error;
  }
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

function compileGlob(glob: string): UrlTest {
  const subjectOf = glob.includes('?') ? pathAndQueryOf : pathOf;
  const parts = glob.split('*');
  const folder = /^[^*]+\/\*+$/.test(glob) ? glob.slice(0, glob.indexOf('*') - 1) : null;
  return (url) => {
    const subject = subjectOf(url);
    return subject === folder || matchesParts(subject, parts);
  };
}

/** Each part at its first place behind the one before is as good as any later place, so one sweep decides. */
function matchesParts(subject: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts[parts.length - 1] ?? '';
  if (!subject.startsWith(first) || !subject.endsWith(last)) return false;
  const end = subject.length - last.length;
  let at = first.length;
  for (let i = 1; i < parts.length - 1; i++) {
    const part = parts[i] ?? '';
    const found = subject.indexOf(part, at);
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
