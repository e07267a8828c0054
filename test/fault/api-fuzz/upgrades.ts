import type { Exchange } from './exchange.ts';
import { problemOf } from './judge.ts';
import type { FuzzRequest } from './requests.ts';
import { chance, hostileText, pick, type Random } from './values.ts';

/** Paths that a client may watch, with what stands for the id in them, and two that no client can. */
const PATHS = [
  '/v1/crawl/{id}',
  '/v2/crawl/{id}',
  '/v2/batch/scrape/{id}',
  '/v1/batch/scrape/{id}',
  '/firecrawl/v2/crawl/{id}',
  '/firecrawl/v1/batch/scrape/{id}',
  '/{id}',
  '/',
] as const;
/** Ids that cannot be decoded, or mean something to a file system, a parser or a log. */
const IDS = [
  '%zz',
  '%',
  '%c3%28',
  '%00',
  '%2e%2e',
  '..',
  '.',
  '%2f',
  '%0d%0a',
  '\\',
  '%ed%a0%80',
  '%F0%9F',
  'a%',
  '',
];
const PROTOCOLS = ['websocket', 'WebSocket', 'h2c', 'websocket, websocket', '\u00ff', ''];

/** A handshake of a WebSocket on a hostile path or with hostile headers, by a client that then says nonsense or nothing. */
export function upgradeRequest(known: readonly string[], random: Random, apiKey: string): FuzzRequest {
  const id = chance(random, 0.5) ? pick(random, IDS) : idOf(known, random);
  const query = chance(random, 0.2) ? `?${pick(random, IDS)}=${pick(random, IDS)}` : '';
  const path = pick(random, PATHS).replace('{id}', () => id) + query;
  const lines = [`GET ${path} HTTP/1.1`];
  const add = (name: string, usual: string, hostile: readonly string[], least = 0.7): void => {
    if (chance(random, least)) lines.push(`${name}: ${usual}`);
    else if (chance(random, 0.7))
      lines.push(`${name}: ${chance(random, 0.5) ? pick(random, hostile) : inHeader(random)}`);
  };
  add('Host', '127.0.0.1', ['', '%zz', 'a b', '[::', '127.0.0.1, 127.0.0.1'], 0.9);
  lines.push(`Upgrade: ${chance(random, 0.8) ? 'websocket' : pick(random, PROTOCOLS)}`);
  add('Connection', 'Upgrade', ['close', 'upgrade, close', ''], 0.9);
  add('Sec-WebSocket-Version', '13', ['8', '-1', '']);
  add('Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==', ['', '=', 'x'.repeat(9_000)]);
  if (chance(random, 0.4)) add('Authorization', `Bearer ${apiKey}`, ['Bearer', 'Bearer %zz', 'Basic Og==']);
  if (chance(random, 0.3)) add('Sec-WebSocket-Protocol', apiKey, [',', ',,,', 'a, b', '%zz']);
  if (chance(random, 0.3)) add('Origin', 'http://127.0.0.1', ['null', '%zz', 'http://', 'http://a.test']);
  if (chance(random, 0.2)) add('X-Forwarded-For', '1.2.3.4', ['', '%zz', ',,', '::1%lo']);
  if (chance(random, 0.2)) add('Cookie', 'a=b', ['=', '%zz', ';;;', 'a="']);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  const frames = chance(random, 0.5)
    ? Buffer.from(Array.from({ length: 40 }, () => Math.floor(random() * 256)))
    : null;
  return {
    title: `WebSocket ${path}`,
    bytes: frames === null ? head : Buffer.concat([head, frames]),
    // The client leaves after that: a job that is watched may go on for ever.
    isWhole: false,
    isHead: false,
  };
}

function idOf(known: readonly string[], random: Random): string {
  if (known.length > 0 && chance(random, 0.5)) return encodeURIComponent(pick(random, known).toWellFormed());
  return inHeader(random).replaceAll(' ', '');
}

/** A job that goes on may be watched for ever: the client leaves after this time. */
export const WATCH_MS = 20_000;

/** What is wrong with how a handshake ended; null when nothing is. */
export function upgradeProblemOf(
  request: FuzzRequest,
  ended: Exchange,
  secrets: readonly string[],
): string | null {
  // A client that offers its key as a protocol gets it back as the one that was chosen (RFC 6455).
  const shown = ended.bytes.toString('latin1').replace(/^Sec-WebSocket-Protocol: .*$/m, '');
  if (secrets.some((secret) => shown.includes(secret))) return 'a secret is in the answer';
  const [, status = ''] = /^HTTP\/1\.1 (\d{3})/.exec(shown) ?? [];
  if (status === '101') return null;
  // Handshakes are refused by a status alone.
  if (status !== '500' && /^Content-Length: 0$/im.test(shown)) return null;
  const problem = problemOf(request, ended, secrets);
  // What asks for no WebSocket, or not on such a path, is answered in the dialect, whose errors are plain texts.
  return status !== '500' && /\{"success":false,"error":"/.test(shown) ? null : problem;
}

/** Hostile text without the characters that would end its line. */
const inHeader = (random: Random): string =>
  hostileText(random)
    .slice(0, 2_000)
    .replace(/[\r\n\0]/g, '');
