import { indexOfLinear, type Steps } from '../frontier/pattern.ts';

/** A parsed robots.txt, by RFC 9309. Immutable; ask it with `isAllowed` and `crawlDelayMs`. */
export interface RobotsRules {
  readonly groups: readonly RobotsGroup[];
  /** Absolute http(s) URLs, in the order of the file; they belong to no group. */
  readonly sitemaps: readonly string[];
}

/** The lines that follow one run of user-agent lines. */
interface RobotsGroup {
  /** Product tokens in lower case, or `*`. */
  readonly agents: ReadonlySet<string>;
  readonly rules: readonly RobotsRule[];
  readonly crawlDelayMs: number | null;
}

interface RobotsRule {
  /** Normalised text between the wildcards. */
  readonly segments: readonly string[];
  /** The pattern ends with `$`. */
  readonly isAnchored: boolean;
  /** Octets of the whole pattern: the longest match wins. */
  readonly octets: number;
  readonly decision: RobotsDecision;
}

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The line that decided, e.g. `disallow: /x (line 3)`; null when none matched. */
  readonly rule: string | null;
}

export const ROBOTS_LIMIT_BYTES = 500 * 1024;

const NOTHING_MATCHED: RobotsDecision = { allowed: true, rule: null };
const ROBOTS_ITSELF: RobotsDecision = { allowed: true, rule: 'allow: /robots.txt' };
/**
 * Characters looked at for one path, all rules together. A file written to cost time is not worked through: what
 * cannot be decided within this is not fetched. It runs on the main thread, and this is some 20 ms.
 */
const MAX_WILDCARD_STEPS = 4_000_000;
const TOO_COMPLEX: RobotsDecision = { allowed: false, rule: 'too many wildcard rules for so long a path' };
const SHOWN_PATTERN_CHARACTERS = 200;

/** Field names as people write them; the misspellings are frequent enough that large crawlers accept them too. */
const FIELDS: ReadonlyMap<string, 'agent' | 'allow' | 'disallow' | 'delay' | 'sitemap'> = new Map([
  ['user-agent', 'agent'],
  ['useragent', 'agent'],
  ['user agent', 'agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['crawl-delay', 'delay'],
  ['crawldelay', 'delay'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
]);

interface OpenGroup {
  agents: Set<string>;
  rules: RobotsRule[];
  crawlDelayMs: number | null;
}

export function parseRobots(text: string): RobotsRules {
  const groups: OpenGroup[] = [];
  const sitemaps = new Set<string>();
  let group: OpenGroup | null = null;
  // Only allow and disallow end a run of user-agent lines; RFC 9309 forbids any other field to do so.
  let isInAgents = false;
  const lines = cutToLimit(text).split(/\r\n|[\r\n]/);
  for (let index = 0; index < lines.length; index++) {
    const field = splitField(lines[index] ?? '');
    if (field === null) continue;
    const { name, value } = field;
    if (name === 'agent') {
      if (group === null || !isInAgents) {
        group = { agents: new Set(), rules: [], crawlDelayMs: null };
        groups.push(group);
        isInAgents = true;
      }
      group.agents.add(agentToken(value));
    } else if (name === 'sitemap') {
      if (/^https?:\/\//i.test(value) && URL.canParse(value)) sitemaps.add(value);
    } else if (group === null) {
      // A rule outside of any group.
    } else if (name === 'delay') {
      const delayMs = parseDelay(value);
      if (delayMs !== null) group.crawlDelayMs = Math.max(group.crawlDelayMs ?? 0, delayMs);
    } else {
      isInAgents = false;
      if (value !== '') group.rules.push(compileRule(name === 'allow', value, index + 1));
    }
  }
  return { groups, sitemaps: [...sitemaps] };
}

/**
 * May this user agent fetch this path (with its query)? Matching takes one pass over the path per rule, without
 * backtracking, and the passes of all rules together take at most MAX_WILDCARD_STEPS.
 */
export function isAllowed(rules: RobotsRules, userAgentToken: string, pathWithQuery: string): RobotsDecision {
  const { group } = inUse(rules, userAgentToken);
  if (group.rules.length === 0) return NOTHING_MATCHED;
  const path = normalise(pathWithQuery === '' ? '/' : pathWithQuery, false);
  if (path === '/robots.txt') return ROBOTS_ITSELF;
  const steps: Steps = { left: MAX_WILDCARD_STEPS };
  for (const rule of group.rules) {
    if (matches(rule, path, steps)) return rule.decision;
    if (steps.left < 0) return TOO_COMPLEX;
  }
  return NOTHING_MATCHED;
}

/** The pause this user agent is asked to make between requests, or null when it is not asked. */
export function crawlDelayMs(rules: RobotsRules, userAgentToken: string): number | null {
  return inUse(rules, userAgentToken).group.crawlDelayMs;
}

/** Without its byte order mark, and without what lies beyond the limit; a line cut in two by it is dropped. */
export function cutToLimit(text: string): string {
  // Half a mark, as some editors leave it, decodes to replacement characters.
  const start = text.replace(/^[\ufeff\ufffd]+/, '');
  // A character takes at most three bytes per UTF-16 unit.
  if (start.length * 3 <= ROBOTS_LIMIT_BYTES) return start;
  const bytes = Buffer.from(start);
  if (bytes.length <= ROBOTS_LIMIT_BYTES) return start;
  const end = Math.max(
    bytes.lastIndexOf(0x0a, ROBOTS_LIMIT_BYTES),
    bytes.lastIndexOf(0x0d, ROBOTS_LIMIT_BYTES),
  );
  return end < 0 ? '' : bytes.toString('utf8', 0, end);
}

function splitField(line: string) {
  const comment = line.indexOf('#');
  const text = trimBlanks(comment < 0 ? line : line.slice(0, comment));
  if (text === '') return null;
  let split = text.indexOf(':');
  if (split < 0) {
    // `Disallow /x`: the colon is forgotten often enough. More than two words are prose.
    split = text.search(/[ \t]/);
    if (split < 0 || /[ \t]/.test(trimBlanks(text.slice(split)))) return null;
  }
  const name = FIELDS.get(trimBlanks(text.slice(0, split)).toLowerCase());
  return name === undefined ? null : { name, value: trimBlanks(text.slice(split + 1)) };
}

/** Not `trim`, which also takes a byte order mark off: inside the file that makes a line unreadable. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** `FooBot/2.1 (…)` names FooBot. A name that is no product token matches no crawler, but still begins a group. */
function agentToken(value: string): string {
  if (value === '*' || /^\*\s/.test(value)) return '*';
  return (/^[A-Za-z_-]+/.exec(value)?.[0] ?? '').toLowerCase();
}

function parseDelay(value: string): number | null {
  if (!/^(\d{1,9}(\.\d*)?|\.\d+)$/.test(value)) return null;
  return Math.round(Number(value) * 1_000);
}

interface GroupInUse {
  readonly userAgentToken: string;
  readonly group: RobotsGroup;
}

/** One entry per file: a crawler asks under one name. */
const groupsInUse = new WeakMap<RobotsRules, GroupInUse>();

/** All groups that name the token, merged; else all that name `*`. Longest rule first, allow before disallow. */
function inUse(rules: RobotsRules, userAgentToken: string): GroupInUse {
  const known = groupsInUse.get(rules);
  if (known?.userAgentToken === userAgentToken) return known;
  const token = userAgentToken.toLowerCase();
  let own = rules.groups.filter((group) => token !== '' && group.agents.has(token));
  if (own.length === 0) own = rules.groups.filter((group) => group.agents.has('*'));
  const group: RobotsGroup = {
    agents: new Set([token]),
    rules: own
      .flatMap((each) => each.rules)
      .sort((a, b) => b.octets - a.octets || Number(b.decision.allowed) - Number(a.decision.allowed)),
    crawlDelayMs: own.reduce<number | null>(
      (longest, { crawlDelayMs: delay }) => (delay === null ? longest : Math.max(longest ?? 0, delay)),
      null,
    ),
  };
  const found = { userAgentToken, group };
  groupsInUse.set(rules, found);
  return found;
}

function compileRule(allowed: boolean, pattern: string, line: number): RobotsRule {
  const isAnchored = pattern.endsWith('$');
  let isInQuery = false;
  let octets = isAnchored ? 1 : 0;
  const segments = (isAnchored ? pattern.slice(0, -1) : pattern).split('*').map((piece) => {
    const segment = normalise(piece, isInQuery);
    isInQuery ||= piece.includes('?');
    octets += segment.length;
    return segment;
  });
  octets += segments.length - 1;
  const shown = pattern.slice(0, SHOWN_PATTERN_CHARACTERS);
  const rule = `${allowed ? 'allow' : 'disallow'}: ${shown} (line ${line})`;
  return { segments, isAnchored, octets, decision: { allowed, rule } };
}

/** Taking the leftmost place for each segment is enough: what a later place matches, the leftmost does too. */
function matches(rule: RobotsRule, path: string, steps: Steps): boolean {
  const { segments, isAnchored } = rule;
  const first = segments[0] ?? '';
  if (!path.startsWith(first)) return false;
  const last = segments.length - 1;
  if (last === 0) return !isAnchored || path.length === first.length;
  let position = first.length;
  for (let index = 1; index < last; index++) {
    const segment = segments[index] ?? '';
    const found = indexOfLinear(path, segment, position, steps);
    if (found < 0) return false;
    position = found + segment.length;
  }
  const tail = segments[last] ?? '';
  if (isAnchored) return path.length - tail.length >= position && path.endsWith(tail);
  return indexOfLinear(path, tail, position, steps) >= 0;
}

const UNRESERVED = /[A-Za-z0-9\-._~]/;
/** Reserved, and safe to leave as they stand. `*` and `$` are operators in rules, so as text they are encoded. */
const RESERVED = /[:/?[\]@!&'()+,;=]/;
/** Characters a query may hold encoded or not with the same meaning (RFC 3986, 3.4). */
const SAME_IN_QUERY = /[:/?@]/;
const isPlain = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return UNRESERVED.test(character) || RESERVED.test(character) ? 1 : 0;
});

const ESCAPES = Array.from(
  { length: 256 },
  (_, byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`,
);
const escapeOf = (byte: number): string => ESCAPES[byte] ?? '';
const continued = (bits: number): string => escapeOf(0x80 | (bits & 0x3f));

/** The octets of a character in UTF-8, escaped. By hand: a file has half a million of them, and a Buffer each is slow. */
function escaped(code: number): string {
  if (code < 0x80) return escapeOf(code);
  if (code < 0x800) return escapeOf(0xc0 | (code >> 6)) + continued(code);
  // Half of a pair means nothing in UTF-8; encoders write the replacement character.
  if (code >= 0xd800 && code <= 0xdfff) return '%EF%BF%BD';
  if (code < 0x1_0000) return escapeOf(0xe0 | (code >> 12)) + continued(code >> 6) + continued(code);
  return escapeOf(0xf0 | (code >> 18)) + continued(code >> 12) + continued(code >> 6) + continued(code);
}

/** One spelling for each octet, so that rules and paths can be compared as strings. Drops a fragment. */
function normalise(text: string, isQuery: boolean): string {
  let index = 0;
  while (index < text.length && isPlain[text.charCodeAt(index)] === 1) index++;
  if (index === text.length) return text;
  let isInQuery = isQuery || text.lastIndexOf('?', index) >= 0;
  let out = text.slice(0, index);
  while (index < text.length) {
    const code = text.codePointAt(index) ?? 0;
    const character = String.fromCodePoint(code);
    if (character === '#') break;
    index += character.length;
    if (character === '%') {
      const hex = text.slice(index, index + 2);
      if (/^[0-9A-Fa-f]{2}$/.test(hex)) {
        const meant = String.fromCharCode(Number.parseInt(hex, 16));
        const isDecoded = UNRESERVED.test(meant) || (isInQuery && SAME_IN_QUERY.test(meant));
        out += isDecoded ? meant : `%${hex.toUpperCase()}`;
        index += 2;
      } else {
        out += '%25';
      }
    } else if (isPlain[code] === 1) {
      isInQuery ||= character === '?';
      out += character;
    } else {
      out += escaped(code);
    }
  }
  return out;
}
