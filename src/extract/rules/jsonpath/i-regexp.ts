import { compileRegex, type Regex } from '../regex.ts';
import { RuleSyntaxError } from '../rule-problem.ts';

/** A pattern of RFC 9485; `.` means anything but the two line ends there. Throws RuleSyntaxError at the given place. */
export function compileIRegexp(pattern: string, at: number): Regex {
  // The empty pattern matches the empty text.
  const source = pattern === '' ? '(?:)' : withDots(pattern);
  try {
    return compileRegex(source);
  } catch (error) {
    if (error instanceof RuleSyntaxError) throw new RuleSyntaxError(at, error.message);
    throw error;
  }
}

function withDots(pattern: string): string {
  let result = '';
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] as string;
    if (char === '\\') {
      result += char + (pattern[at + 1] ?? '');
      at++;
    } else if (char === '.' && !isInClass) result += '[^\\n\\r]';
    else {
      if (char === '[') isInClass = true;
      else if (char === ']') isInClass = false;
      result += char;
    }
  }
  return result;
}
