import type { Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../core/model/proxy.ts';
import { codeOf } from '../network-errors.ts';
import type { OpenTunnel } from './open-tunnel.ts';

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
