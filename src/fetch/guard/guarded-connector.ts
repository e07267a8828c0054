import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { buildConnector } from 'undici';
import { defined } from '../../lib/defined.ts';
import { classifyAddress, mayConnect, type PrivateAddresses } from './address-guard.ts';
import { addressRefused, createGuardedLookup, type Resolve } from './guarded-lookup.ts';

export interface GuardedConnectorOptions {
  readonly allowPrivate: PrivateAddresses;
  readonly timeoutMs: number;
  readonly allowH2: boolean;
  readonly maxCachedSessions: number;
  readonly tls?: ConnectionOptions | undefined;
  readonly resolve?: Resolve | undefined;
}

/**
 * Opens connections for a pool, only to addresses that may be fetched: names through a lookup that checks what
 * they resolve to, addresses written in the URL directly, since no lookup happens for them.
 */
export function createGuardedConnector(options: GuardedConnectorOptions): buildConnector.connector {
  const { resolve } = options;
  const isAllowed = mayConnect(options.allowPrivate);
  const lookup = createGuardedLookup({ isAllowed, ...defined({ resolve }) });
  const connect = buildConnector({
    ...options.tls,
    lookup,
    timeout: options.timeoutMs,
    allowH2: options.allowH2,
    maxCachedSessions: options.maxCachedSessions,
  } as buildConnector.BuildOptions);

  return (target, callback) => {
    if (isIP(target.hostname) !== 0 && !isAllowed(target.hostname)) {
      const refusal = addressRefused(target.hostname, classifyAddress(target.hostname));
      queueMicrotask(() => callback(refusal, null));
      return;
    }
    connect(target, callback);
  };
}
