import { isIP, isIPv6, type Socket } from 'node:net';
import { listen } from '../../core/errors/guarded.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { proxyFailed, targetFailed } from './proxy-failure.ts';

/** The other side closed the connection in the middle of a message. */
export class SocketEnded extends Error {
  override readonly name = 'SocketEnded';
}

/**
 * Reads messages of known size or end from a socket, one at a time, and gives back what it read too much. Fails with
 * the error that the socket is destroyed with.
 */
export class SocketReader {
  readonly #socket: Socket;
  #buffered = Buffer.alloc(0);
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
    listen(socket, 'readable', this.#onReadable);
    listen(socket, 'error', this.#onError);
    listen(socket, 'end', this.#onEnd);
    listen(socket, 'close', this.#onEnd);
  }

  async exactly(bytes: number): Promise<Buffer> {
    await this.#waitUntil(() => this.#buffered.length >= bytes);
    return this.#take(bytes);
  }

  /** Up to the marker, which is included; null when it does not come within `maxBytes`. */
  async upTo(marker: string, maxBytes: number): Promise<Buffer | null> {
    const endOf = () => this.#buffered.subarray(0, maxBytes).indexOf(marker);
    await this.#waitUntil(() => endOf() !== -1 || this.#buffered.length >= maxBytes);
    const end = endOf();
    return end === -1 ? null : this.#take(end + marker.length);
  }

  /** Removes all listeners and gives unread bytes back to the socket, for its new owner. */
  release(): void {
    const socket = this.#socket;
    socket.off('readable', this.#onReadable);
    socket.off('error', this.#onError);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
    if (this.#buffered.length > 0) socket.unshift(this.#buffered);
  }

  #take(bytes: number): Buffer {
    const taken = this.#buffered.subarray(0, bytes);
    this.#buffered = this.#buffered.subarray(bytes);
    return taken;
  }

  async #waitUntil(isThere: () => boolean): Promise<void> {
    this.#onReadable();
    while (!isThere()) {
      if (this.#failure !== null) throw this.#failure;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  readonly #onReadable = (): void => {
    for (let chunk = this.#socket.read(); chunk !== null; chunk = this.#socket.read()) {
      this.#buffered = Buffer.concat([this.#buffered, chunk]);
    }
    this.#wake?.();
  };

  readonly #onError = (error: Error): void => {
    this.#failure ??= error;
    this.#wake?.();
  };

  readonly #onEnd = (): void => {
    this.#failure ??= new SocketEnded('The connection was closed');
    this.#wake?.();
  };
}

const MAX_HEAD_BYTES = 16_384;

/** What RFC 9209 calls the ways in which a target fails a proxy. */
const TARGET_ERRORS: Readonly<Record<string, 'CONNECT_FAILED' | 'DNS_FAILED'>> = {
  dns_timeout: 'DNS_FAILED',
  dns_error: 'DNS_FAILED',
  destination_not_found: 'DNS_FAILED',
  destination_unavailable: 'CONNECT_FAILED',
  destination_ip_unroutable: 'CONNECT_FAILED',
  connection_refused: 'CONNECT_FAILED',
  connection_terminated: 'CONNECT_FAILED',
  connection_timeout: 'CONNECT_FAILED',
};

/**
 * Asks an HTTP proxy for a tunnel. Plain http targets get one too, rather than requests with absolute URLs: the proxy
 * then sees, caches and changes nothing, its login cannot reach a target by mistake, and one way of connecting serves
 * every engine. Proxies that allow tunnels to port 443 alone are the price, and say so when asked.
 */
export async function httpConnect(
  socket: Socket,
  reader: SocketReader,
  proxy: ProxyEndpoint,
  host: string,
  port: number,
): Promise<void> {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`];
  if (proxy.credentials !== null) {
    const { username, password } = proxy.credentials;
    lines.push(`Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);

  const head = (await reader.upTo('\r\n\r\n', MAX_HEAD_BYTES))?.toString('latin1') ?? '';
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(head)?.[1] ?? 0);
  if (status >= 200 && status < 300) return;
  throw refusalOf(status, head, proxy, host, port);
}

function refusalOf(status: number, head: string, proxy: ProxyEndpoint, host: string, port: number): Error {
  switch (status) {
    case 0:
      return proxyFailed(proxy, 'does not answer like an HTTP proxy', 'proxy');
    case 401:
    case 407:
      return proxyFailed(
        proxy,
        proxy.credentials === null ? `wants a login (${status})` : `refuses the login (${status})`,
        'proxy',
      );
    case 402:
      return proxyFailed(proxy, 'wants to be paid (402)', 'proxy');
    case 429:
      return proxyFailed(proxy, 'has too many requests (429)', 'proxy');
    default: {
      const named = /^proxy-status:.*?\berror=([a-z_]+)/im.exec(head)?.[1] ?? '';
      const code = TARGET_ERRORS[named];
      if (code !== undefined) return targetFailed(proxy, code, host, named);
      const whom = status >= 500 ? `did not reach ${host}` : `refuses a tunnel to ${host} port ${port}`;
      // One site that the provider forbids, or that is down, must not count as the proxy being down.
      return proxyFailed(proxy, `${whom} (${status})`, 'unclear');
    }
  }
}

const VERSION = 5;
const NO_LOGIN = 0;
const LOGIN = 2;
const LOGIN_VERSION = 1;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;

/** RFC 1928, section 6: what the proxy says of a target that it did not reach. */
const TARGET_REPLIES: Readonly<Record<number, string>> = {
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'no answer',
};
const OTHER_REPLIES: Readonly<Record<number, string>> = {
  1: 'reports a general failure',
  2: 'does not allow this target',
};

/** Asks a SOCKS5 proxy for a tunnel. A name is handed over as it is: the proxy resolves it. */
export async function socks5Connect(
  socket: Socket,
  reader: SocketReader,
  proxy: ProxyEndpoint,
  host: string,
  port: number,
): Promise<void> {
  const methods = proxy.credentials === null ? [NO_LOGIN] : [NO_LOGIN, LOGIN];
  socket.write(Buffer.from([VERSION, methods.length, ...methods]));
  const [version, method] = await reader.exactly(2);
  if (version !== VERSION) throw proxyFailed(proxy, 'does not answer like a SOCKS5 proxy', 'proxy');
  if (method === LOGIN && proxy.credentials !== null) await logIn(socket, reader, proxy);
  else if (method !== NO_LOGIN) {
    throw proxyFailed(
      proxy,
      proxy.credentials === null ? 'wants a login' : 'refuses to take a login',
      'proxy',
    );
  }

  socket.write(Buffer.concat([Buffer.from([VERSION, CONNECT, 0]), addressOf(host), portBytes(port)]));
  const [, reply = 1, , kind] = await reader.exactly(4);
  if (reply !== 0) {
    const said = TARGET_REPLIES[reply];
    if (said !== undefined) throw targetFailed(proxy, 'CONNECT_FAILED', host, said);
    // Many proxies have but one word for every failure, an unknown name too.
    throw proxyFailed(proxy, OTHER_REPLIES[reply] ?? `answers with code ${reply}`, 'unclear');
  }
  // Where the proxy connects from comes next; it plays no part, but has to be read away.
  const boundBytes = kind === IPV6 ? 16 : kind === NAME ? ((await reader.exactly(1))[0] ?? 0) : 4;
  await reader.exactly(boundBytes + 2);
}

async function logIn(socket: Socket, reader: SocketReader, proxy: ProxyEndpoint): Promise<void> {
  const fields = [proxy.credentials?.username ?? '', proxy.credentials?.password ?? ''].map((text) =>
    Buffer.from(text),
  );
  const prefixed = fields.flatMap((field) => [Buffer.from([field.length]), field]);
  socket.write(Buffer.concat([Buffer.from([LOGIN_VERSION]), ...prefixed]));
  const [, status] = await reader.exactly(2);
  if (status !== 0) throw proxyFailed(proxy, 'refuses the login', 'proxy');
}

function addressOf(host: string): Buffer {
  switch (isIP(host)) {
    case 4:
      return Buffer.from([IPV4, ...host.split('.').map(Number)]);
    case 6:
      return Buffer.from([IPV6, ...bytesOfIpv6(host)]);
    default: {
      const name = Buffer.from(host, 'latin1');
      return Buffer.concat([Buffer.from([NAME, name.length]), name]);
    }
  }
}

/** URL writes every IPv6 address in groups of hexadecimal digits, embedded IPv4 too. */
function bytesOfIpv6(address: string): number[] {
  const plain = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [head = '', tail] = plain.split('::');
  const groups = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const front = groups(head);
  const back = tail === undefined ? [] : groups(tail);
  const gap = new Array<number>(8 - front.length - back.length).fill(0);
  return [...front, ...gap, ...back].flatMap((group) => [group >> 8, group & 0xff]);
}

function portBytes(port: number): Buffer {
  return Buffer.from([port >> 8, port & 0xff]);
}
