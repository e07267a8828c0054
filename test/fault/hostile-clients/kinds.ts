/** Something that a client without a key does on one connection, as often as there are connections. */
export interface HostileKind {
  readonly name: string;
  /** What connection `n` sends, one piece after the other as the server takes them. */
  readonly pieces: (n: number) => readonly (string | Buffer)[];
  /** Sent once a second after that. */
  readonly dribble?: string;
  /** Takes nothing of what the server answers. */
  readonly isDeaf?: true;
}

const MB = 1_000_000;
const FILLER = Buffer.alloc(MB, ' ');
/** 3 MB with 199,000 fields that no schema knows. */
const MANY_KEYS = `{${Array.from({ length: 199_000 }, (_, n) => `"field${n}":1`).join(',')}}`;
/** One byte of a body in chunks, many times. */
const TINY_CHUNKS = '1\r\na\r\n'.repeat(2_000);
const SOCKET =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n';
/** Requests that may wait on one connection; more of them end it. */
const MOST_PIPELINED = 4;
const JOB = '01890a5d-ac96-774b-bcce-b302099a8057';

/** Paths that take a body from a client without a key. */
const OPEN = ['/v1/owner-requests', '/dashboard/session', '/bot'] as const;
const of = <T>(list: readonly [T, ...T[]], n: number): T => list[n % list.length] ?? list[0];

const head = (line: string, ...headers: readonly string[]) =>
  [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, '', ''].join('\r\n');
const post = (path: string, bytes: number | 'chunked', type = 'application/json') =>
  head(
    `POST ${path}`,
    `Content-Type: ${type}`,
    bytes === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`,
  );
/** A frame of a client, masked with zeros: what it carries is as it is written. */
const frame = (first: number, length: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([first, 0x80 | length, 0, 0, 0, 0]), payload]);
const PINGS = Buffer.concat(Array.from({ length: 2_000 }, () => frame(0x89, 125, Buffer.alloc(125, 'p'))));

/** What a socket that was refused, or that has no key, goes on to send. */
const SOCKET_KINDS: readonly [readonly (string | Buffer)[], ...(readonly (string | Buffer)[])[]] = [
  // A frame that never ends.
  [head('GET /v2/crawl/x', SOCKET), Buffer.from([0x89, 0xfd])],
  // A page of another origin opens it: that is refused by HTTP.
  [head(`GET /v2/crawl/${JOB}`, `${SOCKET}Origin: https://evil.example`)],
  // Fragments without an end.
  [
    head(`GET /v2/crawl/${JOB}`, SOCKET),
    Buffer.concat(Array<Buffer>(100).fill(frame(0x01, 100, Buffer.alloc(100)))),
  ],
  // A flood of pings.
  [head(`GET /v2/batch/scrape/${JOB}`, SOCKET), PINGS, PINGS],
  // A path that cannot be decoded.
  [head('GET /v2/crawl/%zz', SOCKET)],
];

export const HOSTILE_KINDS: readonly HostileKind[] = [
  {
    name: 'half-sent heads',
    pieces: (n) => [`POST ${of(OPEN, n)} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Filler: ${'a'.repeat(12_000)}`],
    dribble: 'a',
  },
  {
    name: 'half-sent bodies to open routes',
    pieces: (n) => {
      const path = of(OPEN, n);
      if (n % 3 === 0) return [post(path, 10 * MB), FILLER, FILLER];
      if (n % 3 === 1) return [post(path, 16_000), FILLER.subarray(0, 15_000)];
      return [post(path, 'chunked'), TINY_CHUNKS];
    },
    dribble: '1\r\na\r\n',
  },
  {
    name: 'half-sent bodies to paths that do not exist',
    pieces: (n) => [post(`/v1/nothing-${n}`, 10 * MB), FILLER, FILLER],
    dribble: '1\r\na\r\n',
  },
  {
    name: 'bodies with 199,000 keys',
    pieces: (n) => [post(of(OPEN, n), MANY_KEYS.length), MANY_KEYS],
  },
  {
    name: 'readers that do not read',
    pieces: (n) => [
      head(`GET ${of(['/openapi.json', '/help', '/docs', '/'], n)}`).repeat(
        n % 2 === 0 ? MOST_PIPELINED : 100,
      ),
    ],
    isDeaf: true,
  },
  {
    name: 'thousands of requests in one piece',
    pieces: (n) => [head(`GET ${of(['/', '/healthz', '/v1/jobs', '/v1/nothing'], n)}`).repeat(1_500)],
  },
  {
    name: 'WebSockets',
    pieces: (n) => of(SOCKET_KINDS, n),
  },
];
