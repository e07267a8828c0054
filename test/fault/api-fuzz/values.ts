import type { ApiDescription, Schema } from './operations.ts';

/** Chance, as a number from 0 up to 1. */
export type Random = () => number;

export const pick = <T>(random: Random, list: readonly T[]): T =>
  list[Math.floor(random() * list.length)] as T;
export const chance = (random: Random, probability: number): boolean => random() < probability;
const between = (random: Random, min: number, max: number): number =>
  Math.floor(min + random() * (max - min + 1));

export interface ValueSources {
  readonly random: Random;
  readonly description: ApiDescription;
  /** URLs that may be asked for: all of them are of this machine, or have no host at all. */
  readonly urls: readonly string[];
  /** Ids and names that the server has given out so far. */
  readonly known: () => readonly string[];
}

const MAX_DEPTH = 6;
/** Waits that a request may ask for stay short, so that one that hangs stands out. */
const MAX_WAIT_MS = 3_000;

/** A value that the schema allows, as far as its keywords tell. */
export function validValue(schema: Schema, sources: ValueSources, name = '', depth = 0): unknown {
  const { random, description } = sources;
  const resolved = description.resolve(schema);
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.enum !== undefined) return pick(random, resolved.enum);
  const choices = resolved.anyOf ?? resolved.oneOf;
  if (choices !== undefined) return validValue(pick(random, choices), sources, name, depth);
  if (resolved.allOf !== undefined) {
    return Object.assign({}, ...resolved.allOf.map((each) => validValue(each, sources, name, depth)));
  }
  const type = typeof resolved.type === 'string' ? resolved.type : pick(random, resolved.type ?? ['string']);
  switch (type) {
    case 'null':
      return null;
    case 'boolean':
      return chance(random, 0.5);
    case 'integer':
    case 'number':
      return numberFor(resolved, name, random);
    case 'array': {
      const least = resolved.minItems ?? 0;
      const most = Math.min(resolved.maxItems ?? 4, least + 3);
      const length = depth >= MAX_DEPTH ? least : between(random, least, most);
      return Array.from({ length }, () => validValue(resolved.items ?? {}, sources, name, depth + 1));
    }
    case 'object':
      return objectFor(resolved, sources, depth);
    default:
      return textFor(resolved, sources, name);
  }
}

function objectFor(schema: Schema, sources: ValueSources, depth: number): Record<string, unknown> {
  const { random } = sources;
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => required.has(name) || (depth < MAX_DEPTH && chance(random, 0.2)),
  );
  return Object.fromEntries(fields.map(([name, each]) => [name, validValue(each, sources, name, depth + 1)]));
}

function numberFor({ minimum, maximum }: Schema, name: string, random: Random): number {
  const least = minimum ?? 0;
  const highest = maximum ?? 1_000;
  const most = /(?:timeout|wait|delay|pause|duration).*ms$|^ms$/i.test(name)
    ? Math.max(least, Math.min(highest, MAX_WAIT_MS))
    : highest;
  return pick(random, [least, most, between(random, least, most)]);
}

function textFor(schema: Schema, { random, urls, known }: ValueSources, name: string): string {
  if (schema.format === 'uri' || /url/i.test(name)) return pick(random, urls);
  if (schema.format === 'date-time') return new Date(between(random, 0, 4e12)).toISOString();
  const least = schema.minLength ?? 0;
  const candidates = [
    ...known(),
    'a',
    'shop',
    'main',
    'h1',
    '0',
    'x'.repeat(Math.min(schema.maxLength ?? 50, 50)),
  ];
  return pick(random, candidates)
    .padEnd(least, 'a')
    .slice(0, schema.maxLength ?? 1_000);
}

const NESTED = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth);

/** JSON texts that are wrong in ways that programs have stumbled over. */
const HOSTILE_JSON: readonly ((random: Random) => string)[] = [
  () => NESTED(100_000, '[', ']'),
  () => NESTED(5_000, '{"a":', '}').replace(':}', ':1}'),
  () => `[${'1,'.repeat(300_000)}1]`,
  () => `{${Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`,
  () => '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}}}',
  () => '{"url":"a","url":"b"}',
  () => '{"a":1e400,"b":-0,"c":1.7976931348623157e309}',
  () => '"\\ud800\\u0000\\udfff"',
  () => '\ufeff{}',
  () => '{"a":"\u0000"}',
  () => '[1,2',
  () => ']]{',
  (random) => Array.from({ length: 50 }, () => pick(random, [...'[]{}",:1 '])).join(''),
  () => 'NaN',
  () => '',
  () => 'null',
  (random) => Buffer.from(Array.from({ length: 200 }, () => between(random, 0, 255))).toString('latin1'),
];

export const hostileJson = (random: Random): string => pick(random, HOSTILE_JSON)(random);

const HOSTILE_TEXTS: readonly string[] = [
  '',
  ' ',
  '\0',
  '../../../etc/passwd',
  '..%2f..%2fetc%2fpasswd',
  '%00',
  '%',
  '%zz',
  "' OR 1=1 --",
  '"; DROP TABLE jobs; --',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '\u202e\u2066abc\u2069',
  '😀'.repeat(50),
  'é'.normalize('NFD').repeat(20),
  '\ud800',
  'a'.repeat(5_000),
  'a'.repeat(70_000),
  '-1',
  '9007199254740993',
  '1e309',
  'NaN',
  'true',
  'null',
  '[]',
  '__proto__',
  'constructor',
  '*',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'http://user:pass@127.0.0.1/',
  'http://[::1]:0/',
  'http://127.0.0.1:99999/',
  'http:// /',
  'http://0x7f.1/',
  `http://127.0.0.1/${'a/'.repeat(2_000)}`,
];
const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e21,
  Number.MAX_SAFE_INTEGER,
  [],
  {},
  [[[[[[[[]]]]]]]],
  { length: -1 },
  { toString: 'x', valueOf: 1 },
];

export const hostileText = (random: Random): string => pick(random, HOSTILE_TEXTS);
const hostileValue = (random: Random): unknown =>
  chance(random, 0.6) ? hostileText(random) : pick(random, HOSTILE_VALUES);

/** The value with one thing in it replaced, taken out, repeated or added, at a random depth. */
export function nearlyValid(value: unknown, random: Random): unknown {
  if (Array.isArray(value) && value.length > 0 && chance(random, 0.7)) {
    const at = between(random, 0, value.length - 1);
    if (chance(random, 0.1)) return Array(5_000).fill(value[at]);
    return value.map((each, index) => (index === at ? nearlyValid(each, random) : each));
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && chance(random, 0.8)) {
    const fields = Object.entries(value);
    const at = between(random, 0, fields.length);
    const field = fields[at];
    if (field === undefined) return { ...value, [hostileText(random).slice(0, 200)]: hostileValue(random) };
    const [name, each] = field;
    if (chance(random, 0.15)) return Object.fromEntries(fields.filter(([other]) => other !== name));
    return { ...value, [name]: nearlyValid(each, random) };
  }
  return hostileValue(random);
}
