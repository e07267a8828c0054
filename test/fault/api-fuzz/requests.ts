import type { Operation } from './operations.ts';
import {
  chance,
  hostileJson,
  hostileText,
  nearlyValid,
  pick,
  type Random,
  type ValueSources,
  validValue,
} from './values.ts';

/** A request as the bytes that go over the line. */
export interface FuzzRequest {
  /** For messages: what it tries. */
  readonly title: string;
  readonly bytes: Buffer;
  /** Whether an answer is due; where not, the server may close the connection as well, or wait for the rest. */
  readonly isWhole: boolean;
  /** An answer to HEAD has no body. */
  readonly isHead: boolean;
}

const CONTENT_TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/x-ndjson',
  'application/json, application/json',
  '\u00ff/\u00fe',
  '',
];
const ACCEPTS = ['*/*', 'application/json', 'application/x-ndjson', 'text/html', 'x', ''];

/** One request for the operation: valid, nearly valid, or hostile. */
export function buildRequest(operation: Operation, sources: ValueSources, apiKey: string): FuzzRequest {
  const { random } = sources;
  const kind = pick(random, ['valid', 'valid', 'near', 'near', 'near', 'hostile', 'raw'] as const);
  if (kind === 'raw') return rawRequest(operation, sources, apiKey);
  const isBad = kind !== 'valid';
  let path = operation.path;
  const query: string[] = [];
  const headers: [string, string][] = [
    ['Host', '127.0.0.1'],
    ['Connection', 'close'],
    ...keyHeaders(apiKey, isBad, random),
    ['Accept', isBad ? pick(random, ACCEPTS) : 'application/json'],
  ];
  for (const { name, in: place, required, schema } of operation.parameters) {
    const text =
      isBad && chance(random, 0.4) ? hostileText(random) : String(validValue(schema, sources, name));
    if (place === 'path') path = path.replace(`{${name}}`, pathPart(text, isBad, random));
    else if (!required && chance(random, 0.6)) continue;
    else if (place === 'query') query.push(`${encodeURIComponent(name)}=${encode(text)}`);
    else headers.push([name, headerText(text)]);
  }
  if (isBad && chance(random, 0.1))
    query.push(`${encode(hostileText(random))}=${encode(hostileText(random))}`);
  if (isBad && chance(random, 0.1) && query[0] !== undefined) query.push(query[0]);
  if (chance(random, 0.1))
    headers.push(['Idempotency-Key', headerText(pick(random, ['a', 'b', hostileText(random)]))]);
  const body = bodyOf(operation, kind, sources);
  if (body !== null) {
    headers.push([
      'Content-Type',
      isBad && chance(random, 0.15) ? pick(random, CONTENT_TYPES) : 'application/json',
    ]);
    headers.push(['Content-Length', String(body.byteLength)]);
  }
  const method =
    isBad && chance(random, 0.05)
      ? pick(random, ['PATCH', 'OPTIONS', 'HEAD', 'PUT', 'TRACE'])
      : operation.method;
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return {
    title: `${kind} ${method} ${target.slice(0, 200)} ${body === null ? '' : body.subarray(0, 300).toString('latin1')}`,
    bytes: Buffer.concat([head(method, target, headers), body ?? Buffer.alloc(0)]),
    isWhole: true,
    isHead: method === 'HEAD',
  };
}

function keyHeaders(apiKey: string, isBad: boolean, random: Random): [string, string][] {
  if (!isBad || chance(random, 0.93)) return [['Authorization', `Bearer ${apiKey}`]];
  return pick(random, [
    [],
    [['X-API-Key', headerText(hostileText(random))]],
    [['Authorization', 'Basic Og==']],
    [
      ['X-API-Key', apiKey],
      ['X-API-Key', 'another'],
    ],
  ] as [string, string][][]);
}

const encode = (text: string): string => encodeURIComponent(text.toWellFormed());
/** Without what would end the line; a few other bytes that headers may not have stay in. */
const headerText = (text: string): string => text.replace(/[\r\n]/g, ' ').slice(0, 4_000);

function pathPart(text: string, isBad: boolean, random: Random): string {
  const raw = isBad && chance(random, 0.3);
  return raw
    ? text
        .replace(/[\s?#\0]/g, '')
        .replace(/[^\x21-\x7e]/g, '~')
        .slice(0, 3_000)
    : encode(text) || 'x';
}

function bodyOf(
  operation: Operation,
  kind: 'valid' | 'near' | 'hostile',
  sources: ValueSources,
): Buffer | null {
  const { random } = sources;
  if (operation.body === null) {
    return kind !== 'valid' && chance(random, 0.1) ? Buffer.from(hostileJson(random)) : null;
  }
  if (kind === 'hostile' && chance(random, 0.3)) return Buffer.from(hostileJson(random), 'latin1');
  let value = validValue(operation.body, sources);
  const mutations = kind === 'valid' ? 0 : kind === 'near' ? 1 : 5;
  let text = textOfJson(value) ?? '';
  for (let n = 0; n < mutations && text.length < MOST_CHARS; n += 1) {
    value = nearlyValid(value, random);
    const changed = textOfJson(value);
    // A part that was repeated again and again is longer than any string may be.
    if (changed === null) break;
    text = changed;
  }
  return Buffer.from(text);
}

/** The longest body that is changed once more; it is above what the server accepts. */
const MOST_CHARS = 20_000_000;

/** Null when the text would be too long for a string. */
function textOfJson(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function head(method: string, target: string, headers: readonly (readonly [string, string])[]): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
}

/** What no library would send. */
function rawRequest(operation: Operation, { random }: ValueSources, apiKey: string): FuzzRequest {
  const key = `Authorization: Bearer ${apiKey}\r\n`;
  const path = operation.path.replaceAll(/\{\w+\}/g, 'x');
  const start = `${operation.method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}`;
  const json = 'Content-Type: application/json\r\n';
  const [title, text, isWhole] = pick<readonly [string, string, boolean]>(random, [
    ['two lengths', `${start}${json}Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}`, true],
    [
      'length and chunks',
      `${start}${json}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      true,
    ],
    ['unknown coding', `${start}${json}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, true],
    ['chunks with a wrong size', `${start}${json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`, true],
    [
      'chunks of one byte',
      `${start}${json}Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(2_000)}0\r\n\r\n`,
      true,
    ],
    [
      'chunk extensions',
      `${start}${json}Transfer-Encoding: chunked\r\n\r\n2;${'a=b;'.repeat(5_000)}\r\n{}\r\n0\r\n\r\n`,
      true,
    ],
    ['trailers', `${start}${json}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX-A: b\r\n\r\n`, true],
    ['negative length', `${start}${json}Content-Length: -1\r\n\r\n{}`, true],
    ['huge length', `${start}${json}Content-Length: 99999999999999\r\n\r\n{}`, false],
    ['body that never ends', `${start}${json}Content-Length: 100\r\n\r\n{`, false],
    ['header that never ends', `${start}X-A: ${'a'.repeat(1_000)}`, false],
    ['large header', `${start}X-A: ${'a'.repeat(100_000)}\r\n\r\n`, true],
    [
      'many headers',
      `${start}${Array.from({ length: 3_000 }, (_, n) => `X-${n}: a\r\n`).join('')}\r\n`,
      true,
    ],
    ['folded header', `${start}X-A: a\r\n b\r\n\r\n`, true],
    ['bare line feeds', start.replaceAll('\r\n', '\n').concat('\n'), true],
    ['no host', `${operation.method} ${path} HTTP/1.1\r\nConnection: close\r\n${key}\r\n`, true],
    [
      'absolute target',
      `GET http://127.0.0.1:1/v1/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n`,
      true,
    ],
    ['CONNECT', `CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n${key}\r\n`, false],
    ['upgrade', `${start}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, false],
    ['expectation', `${start}${json}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`, true],
    ['unknown expectation', `${start}${json}Expect: a-miracle\r\nContent-Length: 2\r\n\r\n{}`, true],
    ['HTTP/0.9', `GET ${path}\r\n`, false],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', true],
    ['TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', false],
    ['nonsense', 'a b c d\r\n\r\n', true],
    ['nothing', '', false],
    [
      'dots in the path',
      `GET /v1/../../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n`,
      true,
    ],
    [
      'bytes in the path',
      `GET /v1/jobs/\xff\xfe%ff%fe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${key}\r\n`,
      true,
    ],
    ['pipelined', `${`GET /v1/account HTTP/1.1\r\nHost: x\r\n${key}\r\n`.repeat(3)}${start}\r\n`, true],
    [
      'forged origin',
      `${start}X-Forwarded-For: ${'1.2.3.4, '.repeat(200)}\r\nForwarded: for="[::1]"\r\n\r\n`,
      true,
    ],
  ]);
  return {
    title: `raw ${title} ${operation.method} ${path}`,
    bytes: Buffer.from(text, 'latin1'),
    isWhole,
    isHead: operation.method === 'HEAD',
  };
}
