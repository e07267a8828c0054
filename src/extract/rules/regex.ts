import { type Matcher, RE2JS, RE2JSException, RE2JSSyntaxException } from 're2js';
import type { Budget } from './budget.ts';
import { quoteAt, RULE_LIMITS, RuleSyntaxError } from './rule-text.ts';

const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
};
/** How many instructions of a pattern cost as much as one step of a selector. */
const INSTRUCTIONS_PER_STEP = 8;

/** Where a pattern was found: the groups by number (0 is the whole), null for those that took no part. */
export interface RegexMatch {
  readonly start: number;
  readonly end: number;
  readonly groups: readonly (string | null)[];
}

/** A regular expression in RE2 syntax, whose time is linear in the text whatever the pattern. */
export interface Regex {
  readonly pattern: string;
  readonly groupCount: number;
  /** Names of groups with their numbers, in the order they stand. */
  readonly names: ReadonlyMap<string, number>;
  isIn(text: string, budget: Budget): boolean;
  isAll(text: string, budget: Budget): boolean;
  /** Matches one after the other, at most `limit`. */
  find(text: string, limit: number, budget: Budget): RegexMatch[];
  /** `$1`, `$<name>`, `$&` and `$$` in the replacement mean what they do in JavaScript. */
  replace(text: string, replacement: string, isAll: boolean, budget: Budget): string;
  split(text: string, limit: number, budget: Budget): string[];
}

/** Limits of a rule set; compiling an instruction takes some microseconds. */
export const MAX_REGEX_EXCESS: RegexExcess = { instructions: 20_000, unicodeClasses: 300 };

const MAX_REPETITIONS = 1_000;
const REPETITION = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y;

/** Throws RuleSyntaxError with the position of syntax that RE2 does not support. */
export function compileRegex(pattern: string, flags = ''): Regex {
  if (pattern === '') throw new RuleSyntaxError(null, 'The pattern is empty.');
  if (pattern.length > RULE_LIMITS.selectorChars) {
    throw new RuleSyntaxError(null, `The pattern has more than ${RULE_LIMITS.selectorChars} characters.`);
  }
  refuseUnsupported(pattern);
  let bits = 0;
  for (const flag of flags) {
    const bit = FLAGS[flag];
    if (bit === undefined)
      throw new RuleSyntaxError(null, `There is no flag \`${flag}\`; the flags are i, m and s.`);
    bits |= bit;
  }
  return regexOf(pattern, compile(pattern, bits));
}

function compile(pattern: string, bits: number): RE2JS {
  try {
    return RE2JS.compile(pattern, bits);
  } catch (error) {
    if (error instanceof RE2JSSyntaxException) {
      const part = error.getPattern();
      const at = part === null || part === pattern ? -1 : pattern.indexOf(part);
      throw new RuleSyntaxError(
        at < 0 ? null : at,
        `Not a usable regular expression: ${error.getDescription()}${part === null ? '' : ` at \`${part.slice(0, 60)}\``}.`,
      );
    }
    if (error instanceof RE2JSException) {
      throw new RuleSyntaxError(null, `Not a usable regular expression: ${error.message}.`);
    }
    throw error;
  }
}

/** Refuses lookaround and backreferences with their position, which RE2 itself does not report. */
function refuseUnsupported(pattern: string): void {
  let isInClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') {
      const next = pattern[at + 1] ?? '';
      if (next === 'Q') {
        const end = pattern.indexOf('\\E', at);
        at = end < 0 ? pattern.length : end + 1;
        continue;
      }
      if (!isInClass && (/[1-9]/.test(next) || (next === 'k' && /[<{']/.test(pattern[at + 2] ?? '')))) {
        throw new RuleSyntaxError(at, 'Back references are not possible in linear time; RE2 has none.');
      }
      at++;
    } else if (isInClass) {
      if (char === ']') isInClass = false;
    } else if (char === '[') {
      isInClass = true;
      // A bracket that comes first is a character of the class.
      if (pattern[at + 1] === '^') at++;
      if (pattern[at + 1] === ']') at++;
    } else if (char === '(' && pattern[at + 1] === '?') {
      const name = unsupportedGroup(pattern.slice(at + 2, at + 4));
      if (name !== null)
        throw new RuleSyntaxError(at, `${name} are not part of RE2, the linear-time engine used here.`);
    }
  }
}

function unsupportedGroup(opening: string): string | null {
  if (/^[=!]/.test(opening)) return 'Look-aheads';
  if (/^<[=!]/.test(opening)) return 'Look-behinds';
  if (opening.startsWith('>')) return 'Atomic groups';
  if (opening.startsWith('(')) return 'Conditions';
  if (opening.startsWith('#')) return 'Comments';
  return /^(?:R|&|P=|P>)/.test(opening) ? 'References to groups' : null;
}

function regexOf(pattern: string, expression: RE2JS): Regex {
  const cost = Math.ceil(expression.programSize() / INSTRUCTIONS_PER_STEP);
  const names = new Map(Object.entries(expression.namedGroups() as Record<string, number>));
  const groupCount = expression.groupCount();
  const begin = (text: string, budget: Budget): Matcher => {
    const seen = text.length > RULE_LIMITS.regexChars ? text.slice(0, RULE_LIMITS.regexChars) : text;
    budget.spend((seen.length + 1) * cost);
    return expression.matcher(seen);
  };
  const find = (text: string, limit: number, budget: Budget): RegexMatch[] => {
    const matcher = begin(text, budget);
    const matches: RegexMatch[] = [];
    let isFirst = true;
    // The cost of a search is unknown, so each further one checks the clock.
    while (matches.length < limit && matcher.find()) {
      const groups: (string | null)[] = [];
      for (let group = 0; group <= groupCount; group++) groups.push(matcher.group(group));
      matches.push({ start: matcher.start(), end: matcher.end(), groups });
      budget.spend(groupCount + 1);
      if (!isFirst) budget.checkClock();
      isFirst = false;
    }
    return matches;
  };
  return {
    pattern,
    groupCount,
    names,
    find,
    isIn: (text, budget) => begin(text, budget).find(),
    isAll: (text, budget) => begin(text, budget).matches(),
    replace(text, replacement, isAll, budget) {
      let result = '';
      let from = 0;
      for (const match of find(text, isAll ? Number.POSITIVE_INFINITY : 1, budget)) {
        result += text.slice(from, match.start) + expand(replacement, match, names);
        from = match.end;
        budget.spend(replacement.length);
        if (result.length > RULE_LIMITS.valueChars) break;
      }
      return result + text.slice(from);
    },
    split(text, limit, budget) {
      const parts: string[] = [];
      let from = 0;
      for (const { start, end } of find(text, limit - 1, budget)) {
        if (end === start && (start === 0 || start === text.length)) continue;
        parts.push(text.slice(from, start));
        from = end;
      }
      parts.push(text.slice(from));
      return parts;
    },
  };
}

const REFERENCE = /\$(?:\$|&|(\d{1,2})|<([^>]*)>)/g;

function expand(replacement: string, { groups }: RegexMatch, names: ReadonlyMap<string, number>): string {
  if (!replacement.includes('$')) return replacement;
  return replacement.replace(REFERENCE, (whole, digits: string | undefined, name: string | undefined) => {
    if (whole === '$$') return '$';
    const number = whole === '$&' ? 0 : name === undefined ? Number(digits) : (names.get(name) ?? 0);
    return groups[number] ?? '';
  });
}

/** Refuses references to groups that the pattern does not have. */
export function checkReplacement(replacement: string, { groupCount, names }: Regex): void {
  for (const match of replacement.matchAll(REFERENCE)) {
    const [whole, digits, name] = match;
    const isKnown =
      whole === '$$' ||
      whole === '$&' ||
      (name === undefined ? Number(digits) <= groupCount : names.has(name));
    if (isKnown) continue;
    throw new RuleSyntaxError(
      match.index,
      `The pattern has no group for \`${whole}\`, from ${quoteAt(replacement, match.index)} on.`,
    );
  }
}

/** The value of a match: the group asked for, else an object of the named groups, else the first group, else the whole match. */
export function regexValue({ names }: Regex, { groups }: RegexMatch, group: string | number | null): unknown {
  if (typeof group === 'number') return groups[group] ?? null;
  if (group !== null) return groups[names.get(group) ?? 0] ?? null;
  if (names.size === 0) return (groups.length > 1 ? groups[1] : groups[0]) ?? null;
  return Object.fromEntries(Array.from(names, ([name, number]) => [name, groups[number] ?? null]));
}

/** What makes regular expressions expensive to compile, beyond their length. */
export interface RegexExcess {
  /** Instructions that repetitions such as `{1000}` add when they are written out. */
  instructions: number;
  /** `\p…`, each of which is a table of hundreds of ranges. */
  unicodeClasses: number;
}

/** Estimates the cost of one pattern in one pass, without compiling it, and adds it to `total`. */
export function addRegexExcess(pattern: string, total: RegexExcess): void {
  /** Sizes of the open groups; the last is the current one. */
  const open = [0];
  let last = 0;
  let plain = 0;
  const add = (size: number) => {
    open[open.length - 1] = (open.at(-1) ?? 0) + size;
    last = size;
  };
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '(') open.push(0);
    else if (char === ')' && open.length > 1) add(open.pop() ?? 0);
    else if (char === '{') {
      REPETITION.lastIndex = at;
      const [whole, least, most] = REPETITION.exec(pattern) ?? [];
      if (whole === undefined) continue;
      const times = Math.min(MAX_REPETITIONS, Math.max(Number(least), Number(most ?? 0), 1));
      add(last * (times - 1));
      last *= times;
      at += whole.length - 1;
    } else {
      if (char === '\\') {
        at++;
        if (pattern[at] === 'p' || pattern[at] === 'P') total.unicodeClasses++;
      }
      add(1);
      plain++;
    }
  }
  total.instructions += Math.max(0, open.reduce((sum, size) => sum + size, 0) - plain);
}
