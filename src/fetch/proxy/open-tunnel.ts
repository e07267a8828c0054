import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { buildConnector } from 'undici';
import { guarded, listen, listenOnce } from '../../core/errors/guarded.ts';
import {
  isOutOfFiles,
  isScrapifieError,
  outOfFiles,
  ScrapifieError,
} from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { defined } from '../../lib/defined.ts';
import { abortError } from '../deadline.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from '../guard/address-guard.ts';
import { checkTarget, createGuardedLookup, type Resolve, resolveChecked } from '../guard/guarded-lookup.ts';
import { codeOf } from '../network-errors.ts';
import { type Fault, proxyFailed, proxyRefused } from './proxy-failure.ts';
import { httpConnect, SocketEnded, SocketReader, socks5Connect } from './proxy-handshakes.ts';

export interface TunnelOptions {
  /** Private addresses that may be targets, and proxies too; see `isPrivateAllowed` for those of the operator. */
  readonly allowPrivate: PrivateAddresses;
  /** For each step: reaching the proxy, and its answer about the target. */
  readonly timeoutMs: number;
  /** How the certificate of an https proxy is checked; as the system does by default. */
  readonly proxyTls?: ConnectionOptions | undefined;
  readonly resolve?: Resolve | undefined;
}

/**
 * A connection to `host:port` through the proxy, with nothing read or written on it yet; TLS with the target is the
 * caller's. Every failure is a ScrapifieError: ADDRESS_REFUSED before anything is sent, CANCELLED when the signal
 * fires, one with `details.fault` when the proxy is or may be to blame, the usual codes when the target is.
 */
export type OpenTunnel = (
  upstream: ProxyEndpoint,
  host: string,
  port: number,
  signal?: AbortSignal,
) => Promise<Socket>;

export function createTunnelOpener(options: TunnelOptions): OpenTunnel {
  const openTo = createOpener(options);
  return (upstream, host, port, signal) => openTo(upstream, { host, port }, signal);
}

/** Connects to a proxy without asking it for anything, and closes the connection. Fails as a tunnel does. */
type ReachProxy = (upstream: ProxyEndpoint, signal?: AbortSignal) => Promise<void>;

export function createProxyReach(options: TunnelOptions): ReachProxy {
  const openTo = createOpener(options);
  return async (upstream, signal) => {
    (await openTo(upstream, null, signal)).destroy();
  };
}

interface TunnelTarget {
  readonly host: string;
  readonly port: number;
}

function createOpener(
  options: TunnelOptions,
): (upstream: ProxyEndpoint, target: TunnelTarget | null, signal?: AbortSignal) => Promise<Socket> {
  const { allowPrivate, timeoutMs } = options;
  const lookupWith = (isAllowed: (address: string) => boolean): LookupFunction =>
    createGuardedLookup({
      isAllowed,
      ...defined({ resolve: options.resolve }),
    });
  const isAllowed = mayConnect(allowPrivate);
  const checkedLookup = lookupWith(isAllowed);
  const freeLookup = lookupWith(() => true);

  return async (upstream, asked, signal) => {
    const name = asked === null ? '' : checkTarget(asked.host, asked.port, allowPrivate);
    if (!upstream.isPrivateAllowed && isIP(upstream.host) !== 0 && !isAllowed(upstream.host)) {
      throw proxyRefused(upstream, classifyAddress(upstream.host));
    }
    if (signal?.aborted === true) throw abortError(signal?.reason);
    const isResolvedHere = asked !== null && upstream.isPrivateAllowed;
    const target = isResolvedHere ? await checkedAddress(name, checkedLookup, allowPrivate === true) : name;

    const socket = dial(upstream, upstream.isPrivateAllowed ? freeLookup : checkedLookup, options.proxyTls);
    const ignore = () => {};
    // What happens between two steps must find a listener; the next step sees that the socket is closed.
    listen(socket, 'error', ignore);
    const onAbort = guarded(() => socket.destroy(abortError(signal?.reason)));
    signal?.addEventListener('abort', onAbort);
    let timer = setTimeout(() => {
      socket.destroy(proxyFailed(upstream, `was not reached within ${timeoutMs} ms`, 'proxy'));
    }, timeoutMs);
    try {
      await connected(socket, upstream);
      clearTimeout(timer);
      timer = setTimeout(() => {
        // The proxy may still be waiting for the target, so the fault may be of either.
        socket.destroy(proxyFailed(upstream, `gave no answer within ${timeoutMs} ms`, 'unclear'));
      }, timeoutMs);
      if (asked !== null) await handshake(socket, upstream, target, asked.port);
      socket.off('error', ignore);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  };
}

function dial(proxy: ProxyEndpoint, lookup: LookupFunction, proxyTls: ConnectionOptions | undefined): Socket {
  const { host, port } = proxy;
  const where = { host, port, lookup, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
  if (proxy.protocol !== 'https') return connectTcp(where);
  const servername = isIP(host) === 0 ? host : '';
  return connectTls({ ...proxyTls, ...where, servername, ALPNProtocols: ['http/1.1'] });
}

async function connected(socket: Socket, proxy: ProxyEndpoint): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new SocketEnded('The connection was closed'));
  socket.once('error', reject);
  listenOnce(socket, 'close', onClose);
  listenOnce(socket, proxy.protocol === 'https' ? 'secureConnect' : 'connect', () => resolve());
  try {
    await promise;
  } catch (error) {
    if (isScrapifieError(error) && error.code === 'ADDRESS_REFUSED') {
      throw proxyRefused(proxy, 'private or loopback');
    }
    throw asProxyFailure(error, proxy, 'was not reached', 'proxy');
  } finally {
    socket.off('error', reject);
    socket.off('close', onClose);
  }
}

async function handshake(socket: Socket, proxy: ProxyEndpoint, host: string, port: number): Promise<void> {
  const reader = new SocketReader(socket);
  try {
    const ask = proxy.protocol === 'socks5' ? socks5Connect : httpConnect;
    await ask(socket, reader, proxy, host, port);
  } catch (error) {
    // A proxy that hangs up instead of answering may do so because of the target.
    throw asProxyFailure(error, proxy, 'broke off the connection', 'unclear');
  } finally {
    reader.release();
  }
}

function asProxyFailure(error: unknown, proxy: ProxyEndpoint, what: string, fault: Fault): ScrapifieError {
  if (isScrapifieError(error)) return error;
  if (isOutOfFiles(error)) return outOfFiles(error);
  const code = codeOf(error);
  return proxyFailed(proxy, code === '' ? what : `${what} (${code})`, fault, error);
}

/** `mayBeUnknown`: the proxy may know names of its private network that this process does not. */
async function checkedAddress(name: string, guarded: LookupFunction, mayBeUnknown: boolean): Promise<string> {
  try {
    return await resolveChecked(name, guarded);
  } catch (error) {
    if (isScrapifieError(error)) throw error;
    if (isOutOfFiles(error)) throw outOfFiles(error);
    if (mayBeUnknown) return name;
    throw new ScrapifieError('DNS_FAILED', `The host name does not resolve (${name})`, { cause: error });
  }
}

export interface ProxyConnectorOptions {
  readonly proxy: ProxyEndpoint;
  readonly openTunnel: OpenTunnel;
  /** For TLS with the target; the tunnel has its own. */
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  readonly maxCachedSessions: number;
  /** Trust other certificates of targets than the system's. */
  readonly tls?: ConnectionOptions | undefined;
  /** Gives up the tunnels that are being opened; a pool that is destroyed waits for them. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens connections for a pool through one proxy, in the way of the guarded connector: TLS with the target is spoken
 * inside the tunnel, so that the proxy carries what it cannot read.
 */
export function createProxyConnector(options: ProxyConnectorOptions): buildConnector.connector {
  const { proxy, openTunnel } = options;
  const secure = buildConnector({
    ...options.tls,
    timeout: options.timeoutMs,
    allowH2: options.allowH2,
    maxCachedSessions: options.maxCachedSessions,
  } as buildConnector.BuildOptions);

  return (target, callback) => {
    const isSecure = target.protocol === 'https:';
    const port = Number(target.port || (isSecure ? 443 : 80));
    const onTunnel = (tunnel: Socket): void => {
      if (!isSecure) {
        callback(null, tunnel);
        return;
      }
      // TLS takes the tunnel over; what still happens to it, TLS reports.
      tunnel.on('error', () => {});
      secure({ ...target, httpSocket: tunnel }, (error, socket) => {
        if (error === null && socket !== null) {
          callback(null, socket);
          return;
        }
        tunnel.destroy();
        callback(tlsFailed(proxy, target.hostname, error), null);
      });
    };
    openTunnel(proxy, target.hostname, port, options.signal).then(onTunnel, (error) => callback(error, null));
  };
}

/** A proxy that meddles, and a target with a bad certificate, look the same from here. */
function tlsFailed(proxy: ProxyEndpoint, host: string, cause: unknown): ScrapifieError {
  const code = codeOf(cause);
  const message = `The TLS handshake with ${host} failed through proxy ${proxy.id}${code === '' ? '' : ` (${code})`}`;
  return new ScrapifieError('TLS_FAILED', message, { details: { proxy: proxy.id, fault: 'unclear' }, cause });
}
