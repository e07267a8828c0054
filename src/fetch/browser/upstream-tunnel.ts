import { once } from 'node:events';
import { isIP, type Socket, connect as tcpConnect } from 'node:net';
import { connect as tlsConnect } from 'node:tls';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { cancelled } from './render-errors.ts';
import type { RenderProxy } from './render-request.ts';

/** Another proxy behind ours: opens a connection to the target by way of it. */
export interface Upstream {
  connect(host: string, port: number, signal: AbortSignal): Promise<Socket>;
}

const MOST_HEAD_BYTES = 16_384;

/** Throws VALIDATION_FAILED when the address is not one of a proxy. */
export function createUpstream({ server, username = '', password = '' }: RenderProxy): Upstream {
  const url = URL.parse(server);
  const greet = url === null ? undefined : GREETINGS[url.protocol];
  if (url === null || greet === undefined || url.hostname === '') {
    throw new ScrapifieError('VALIDATION_FAILED', 'The proxy must be an http, https or socks5 URL', {
      details: [{ path: 'proxy.server', message: 'is not http://host:port, https://… or socks5://…' }],
    });
  }
  const login: Login = {
    username: username || decodeURIComponent(url.username),
    password: password || decodeURIComponent(url.password),
  };
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = Number(url.port) || DEFAULT_PORTS[url.protocol] || 80;

  return {
    async connect(targetHost, targetPort, signal) {
      const isTls = url.protocol === 'https:';
      const socket = isTls
        ? tlsConnect({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) })
        : tcpConnect({ host, port });
      socket.setNoDelay(true);
      try {
        await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
        const reader = new SocketReader(socket, signal);
        await greet(socket, reader, targetHost, targetPort, login);
        reader.handOver();
        return socket;
      } catch (error) {
        socket.on('error', () => {});
        socket.destroy();
        if (error instanceof ScrapifieError) throw error;
        if (signal.aborted) throw cancelled(signal.reason);
        throw refused('it did not answer', error);
      }
    },
  };
}

interface Login {
  readonly username: string;
  readonly password: string;
}

type Greeting = (
  socket: Socket,
  reader: SocketReader,
  host: string,
  port: number,
  login: Login,
) => Promise<void>;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'socks5:': 1_080 };

const askByConnect: Greeting = async (socket, reader, host, port, { username, password }) => {
  const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  const login = username === '' ? '' : `Proxy-Authorization: Basic ${basic}\r\n`;
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n${login}\r\n`);
  const head = await reader.readHead();
  const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
  if (status !== '200') throw refused(`it answered ${status ?? 'something that is not HTTP'}`);
};

const askBySocks: Greeting = async (socket, reader, host, port, { username, password }) => {
  const hasLogin = username !== '';
  socket.write(Buffer.from(hasLogin ? [5, 2, 0, 2] : [5, 1, 0]));
  const [, method] = await reader.read(2);
  if (method === 2 && hasLogin) {
    const [user, pass] = [Buffer.from(username).subarray(0, 255), Buffer.from(password).subarray(0, 255)];
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([pass.length]), pass]));
    const [, verdict] = await reader.read(2);
    if (verdict !== 0) throw refused('it does not accept the login');
  } else if (method !== 0) throw refused('it wants another kind of login');

  const name = Buffer.from(host).subarray(0, 255);
  const tail = Buffer.from([port >> 8, port & 0xff]);
  socket.write(Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, tail]));
  const [, reply, , kind] = await reader.read(4);
  if (reply !== 0) throw refused(`it answered ${reply}`);
  const addressBytes = kind === 1 ? 4 : kind === 4 ? 16 : ((await reader.read(1))[0] ?? 0);
  await reader.read(addressBytes + 2);
};

const GREETINGS: Readonly<Record<string, Greeting>> = {
  'http:': askByConnect,
  'https:': askByConnect,
  'socks5:': askBySocks,
};

/** The message names neither the proxy nor its login: whoever asked for the page may not know them. */
function refused(why: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('CONNECT_FAILED', `The proxy did not connect: ${why}`, { cause });
}

/** Reads exactly what the greeting needs and leaves every further byte to whoever uses the socket next. */
class SocketReader {
  private readonly socket: Socket;
  private readonly signal: AbortSignal;

  constructor(socket: Socket, signal: AbortSignal) {
    this.socket = socket;
    this.signal = signal;
    socket.pause();
  }

  async read(bytes: number): Promise<Buffer> {
    for (;;) {
      const chunk = this.socket.read(bytes) as Buffer | null;
      if (chunk !== null && chunk.length === bytes) return chunk;
      if (this.socket.readableEnded || this.socket.destroyed) throw refused('it closed the connection');
      await Promise.race([
        once(this.socket, 'readable', { signal: this.signal }),
        once(this.socket, 'end', { signal: this.signal }),
      ]);
    }
  }

  async readHead(): Promise<string> {
    let head = '';
    while (!head.endsWith('\r\n\r\n')) {
      head += (await this.read(1)).toString('latin1');
      if (head.length > MOST_HEAD_BYTES) throw refused('its answer has no end');
    }
    return head;
  }

  handOver(): void {
    this.socket.removeAllListeners('readable');
  }
}
