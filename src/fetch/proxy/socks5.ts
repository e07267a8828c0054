import { isIP, type Socket } from 'node:net';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { proxyFailed, targetFailed } from './proxy-failure.ts';
import type { SocketReader } from './socket-reader.ts';

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
