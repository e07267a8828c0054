import { type ApiDescription, type Operation, readOpenApi, type Schema } from '../api-fuzz/operations.ts';

/** A request that is made to cost the main thread of a server time. */
export interface HostileRequest {
  readonly name: string;
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'GET';
type Random = () => number;
const whole = (random: Random, max: number) => Math.floor(random() * max);
const pick = <T>(random: Random, from: readonly T[]): T => from[whole(random, from.length)] as T;

const MOST_VALUES = 199_000;
const MOST_CHARS = 9_900_000;
const list = (count: number, item: string) => `[${`${item},`.repeat(count - 1)}${item}]`;
const keys = (count: number, key: (n: number) => string, value: string) =>
  `{${Array.from({ length: count }, (_, n) => `${JSON.stringify(key(n))}:${value}`).join(',')}}`;
const STRETCHES = [
  'a',
  ' ',
  '%41',
  'a.',
  '/',
  '\u{1f600}',
  '\\n',
  '\\u0061',
  '(a',
  '[a',
  '*',
  ',',
  ':',
  '@',
  '-',
  '0',
  'é',
  'https://a.test/',
];

/** Values, as JSON, with as much of something as a body may have. Each by its name. */
const HOSTILE_VALUES: Readonly<Record<string, (random: Random) => string>> = {
  'many numbers': () => list(MOST_VALUES, '7'),
  'many texts': () => list(MOST_VALUES, '"a"'),
  'many empty texts': () => list(MOST_VALUES, '""'),
  'many empty objects': () => list(MOST_VALUES, '{}'),
  'many empty lists': () => list(MOST_VALUES, '[]'),
  'many addresses': () => list(MOST_VALUES, '"https://a.test/"'),
  'many objects': () => list(65_000, '{"a":1,"b":2}'),
  'many typed objects': () => list(65_000, '{"type":"click","name":1}'),
  'many lists of lists': () => list(2_000, list(95, '[7]')),
  'many names': () => keys(MOST_VALUES, (n) => `field${n}`, '1'),
  'many names of text': () => keys(MOST_VALUES, (n) => `X-${n}`, '"a"'),
  'many numbers as names': () => keys(MOST_VALUES, (n) => String(MOST_VALUES * 7 - n * 7), '1'),
  'many long names': () => keys(20_000, (n) => `${n}${'x'.repeat(400)}`, '1'),
  'one name many times': () => keys(MOST_VALUES, () => 'url', '1'),
  'forbidden names': () => `{${'"constructor":[],'.repeat(190_000)}"a":{"__proto__":1}}`,
  'a long text': (random) => {
    const unit = pick(random, STRETCHES);
    return `"${unit.repeat(Math.floor(MOST_CHARS / Buffer.byteLength(unit)))}"`;
  },
  'a long number': () => '9'.repeat(MOST_CHARS),
  'a deep list': () => `${'['.repeat(99)}${']'.repeat(99)}`,
  'many deep lists': () => list(2_000, `${'['.repeat(95)}${']'.repeat(95)}`),
  'a deep object': () => `${'{"fields":'.repeat(98)}1${'}'.repeat(98)}`,
};
const KINDS = Object.keys(HOSTILE_VALUES);

/** Requests of APIs that the document leaves out; they are called with the body alone. */
const HIDDEN: readonly Operation[] = [
  ...['scrape', 'crawl', 'batch/scrape', 'map', 'search', 'extract'].flatMap((name) =>
    ['/v2', '/firecrawl/v1'].map((prefix) => `${prefix}/${name}`),
  ),
  '/mcp',
  '/dashboard/session',
].map((path) => ({ method: 'POST', path, parameters: [], body: {} }));

/** Fields of bodies without a schema. */
const FIELDS = [
  'url',
  'urls',
  'formats',
  'headers',
  'scrapeOptions',
  'actions',
  'webhook',
  'schema',
  'includePaths',
  'params',
  'method',
  'key',
];

/** All that can be sent with a body. */
export function hostileOperations(
  document: unknown,
): readonly (Operation & { readonly api: ApiDescription })[] {
  const api = readOpenApi(document);
  return [...api.operations.filter(({ body }) => body !== null), ...HIDDEN].map((each) => ({ ...each, api }));
}

/** Ways to the fields of a body, two levels deep at most: `['options', 'headers']`. */
function waysTo(schema: Schema, api: ApiDescription, depth: number): readonly (readonly string[])[] {
  const { properties, anyOf, oneOf, allOf } = api.resolve(schema);
  const forms = [...(anyOf ?? []), ...(oneOf ?? []), ...(allOf ?? [])].flatMap((form) =>
    waysTo(form, api, depth),
  );
  if (depth === 0) return forms;
  const own = Object.entries(properties ?? {}).flatMap(([name, below]) => [
    [name],
    ...waysTo(below, api, depth - 1).map((way) => [name, ...way]),
  ]);
  return [...own, ...forms];
}

const MOST_WAYS = 3;

const part = (name: string, text: string) =>
  `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${text}\r\n`;
const FILE = part('name="file"; filename="a.txt"', 'hello');
/** Forms with a file, as they could cost their parser most. */
const FORMS: Readonly<Record<string, () => string>> = {
  'many parts': () => part('name="a"', '1').repeat(150_000),
  'almost boundaries': () => part('name="file"; filename="a.txt"', '\r\n--'.repeat(2_000_000)),
  'deep options': () => FILE + part('name="options"', '['.repeat(4_000_000)),
  'options of many names': () =>
    FILE +
    part(
      'name="options"',
      keys(400_000, (n) => `f${n}`, '1'),
    ),
  'many headers': () => `--b\r\n${'X-A: b\r\n'.repeat(1_000_000)}\r\n\r\nx\r\n`,
  'a long header': () => part(`name="${'%22'.repeat(3_000_000)}"`, 'x'),
};

function hostileForm(random: Random): HostileRequest {
  const kind = pick(random, Object.keys(FORMS));
  return {
    name: `POST /v2/parse: ${kind}`,
    method: 'POST',
    url: '/v2/parse',
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${FORMS[kind]?.() ?? ''}--b--\r\n`,
  };
}

/** A body with a hostile value at a place that the operation knows, or in place of all of it. */
export function hostileRequest(
  operations: ReturnType<typeof hostileOperations>,
  random: Random,
): HostileRequest {
  if (whole(random, operations.length) === 0) return hostileForm(random);
  const operation = pick(random, operations);
  const { method, path, body, api } = operation;
  const ways = body === null ? [] : waysTo(body, api, MOST_WAYS);
  const way = pick(random, [[], ...(ways.length === 0 ? FIELDS.map((name) => [name]) : ways)]);
  const kind = pick(random, KINDS);
  const value = HOSTILE_VALUES[kind]?.(random) ?? '1';
  const needed: Readonly<Record<string, string>> = {
    url: '"https://a.test/"',
    urls: '["https://a.test/"]',
    host: '"a.test"',
    want: '"stop"',
  };
  const beside = Object.entries(needed)
    .filter(([name]) => way[0] !== name && ways.some(([first]) => first === name))
    .map(([name, text]) => `"${name}":${text},`)
    .join('');
  const text = way.reduceRight(
    (inner, name, at) => `{${at === 0 ? beside : ''}${JSON.stringify(name)}:${inner}}`,
    value,
  );
  return {
    name: `${method} ${path} ${way.join('.')}: ${kind}`,
    method: method as Method,
    url: path.replaceAll(/\{\w+\}/g, '01890a5d-ac96-774b-bcce-b302099a8057'),
    headers: { 'content-type': 'application/json' },
    body: text,
  };
}
