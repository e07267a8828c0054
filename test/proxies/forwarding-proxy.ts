import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { ProxyCredentials, type ProxyEndpoint } from '../../src/core/model/proxy.ts';
import { type Certificate, selfSigned } from '../../src/fetch/http/self-signed.fixture.ts';
import { speakHttp } from './http-dialogue.ts';
import { listening } from './listening.ts';
import { speakSocks } from './socks-dialogue.ts';

/**
 * `forward` does what it is for; all others go wrong once a client asks for a target: `silent` never answers,
 * `hang-up` closes, `swallow` says yes and lets nothing through, `garble` says yes and talks nonsense,
 * `gateway-error` blames whatever lies behind it.
 */
export type Behaviour = 'forward' | 'silent' | 'hang-up' | 'swallow' | 'garble' | 'gateway-error';

export interface ForwardingOptions {
  readonly protocol?: ProxyEndpoint['protocol'];
  /** Who may use it; everybody unless told. */
  readonly login?: readonly [username: string, password: string];
  /** Loopback address from which targets are connected to, by which they recognise the proxy. */
  readonly exit?: string;
  readonly behaviour?: Behaviour;
  /** What names resolve to at the proxy; others do not exist. */
  readonly names?: Readonly<Record<string, string>>;
}

/** One target that was asked for. */
export interface Asked {
  readonly username: string | null;
  /** As the client wrote it: a name was not resolved before. */
  readonly host: string;
  readonly port: number;
}

export interface ForwardingProxy {
  readonly port: number;
  readonly asked: readonly Asked[];
  readonly certificate: Certificate | null;
  /** From now on; tunnels that stand are closed. */
  behave(behaviour: Behaviour): void;
  /** How to reach it. */
  endpoint(more?: Partial<ProxyEndpoint>): ProxyEndpoint;
  url(): string;
}

export type Ruling = 'granted' | 'unknown-host' | 'unreachable' | Exclude<Behaviour, 'forward'>;

/** What a dialogue with a client needs to know; it answers `granted` itself, then bytes flow. */
export interface Desk {
  isWelcome(username: string | null, password: string | null): boolean;
  readonly needsLogin: boolean;
  ask(asked: Asked): Promise<{ readonly ruling: Ruling; readonly target: Socket | null }>;
}

/** A real forwarding proxy on loopback that ends with its test. */
export async function startProxy(options: ForwardingOptions = {}): Promise<ForwardingProxy> {
  const { protocol = 'http', login, exit = '127.0.0.1', names = {} } = options;
  let behaviour = options.behaviour ?? 'forward';
  const asked: Asked[] = [];
  const desk: Desk = {
    needsLogin: login !== undefined,
    isWelcome: (username, password) =>
      login === undefined || (username === login[0] && password === login[1]),
    async ask(one) {
      asked.push(one);
      if (behaviour !== 'forward') return { ruling: behaviour, target: null };
      const address = /^[\d.]+$/.test(one.host) ? one.host : names[one.host];
      if (address === undefined) return { ruling: 'unknown-host', target: null };
      const target = await reach(address, one.port, exit);
      return { ruling: target === null ? 'unreachable' : 'granted', target };
    },
  };
  const clients = new Set<Socket>();
  const onClient = (client: Socket): void => {
    clients.add(client);
    client.on('close', () => clients.delete(client));
    client.on('error', () => {});
    (protocol === 'socks5' ? speakSocks : speakHttp)(client, desk);
  };
  const certificate = protocol === 'https' ? selfSigned() : null;
  const server = certificate === null ? createServer(onClient) : createTlsServer(certificate, onClient);
  const port = await listening(server);
  const credentials = login === undefined ? null : new ProxyCredentials(...login);
  return {
    port,
    asked,
    certificate,
    behave(next) {
      behaviour = next;
      for (const client of clients) client.destroy();
    },
    endpoint: (more = {}) => ({
      id: `test/${port}`,
      provider: 'test',
      tier: 'datacenter',
      protocol,
      host: protocol === 'https' ? 'localhost' : '127.0.0.1',
      port,
      credentials,
      country: null,
      isPrivateAllowed: false,
      ...more,
    }),
    url: () =>
      `${protocol}://${login === undefined ? '' : `${login.map(encodeURIComponent).join(':')}@`}127.0.0.1:${port}`,
  };
}

function reach(host: string, port: number, localAddress: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress });
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(null));
  });
}

/** Bytes flow both ways until either side ends. */
export function join(client: Socket, target: Socket): void {
  client.pipe(target).pipe(client);
  client.on('close', () => target.destroy());
  target.on('close', () => client.destroy());
}

const NONSENSE = '\u0000\u0001 this is neither HTTP nor TLS\r\n\r\n';

/** What is left to do once the client was told that its tunnel stands. */
export function misbehave(client: Socket, ruling: Ruling): void {
  // Once the client has spoken: what comes along with the answer to its CONNECT some clients never read.
  if (ruling === 'garble') client.once('data', () => client.write(NONSENSE));
  client.resume();
}
