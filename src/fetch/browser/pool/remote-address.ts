import { isIPv4 } from 'node:net';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';

/** The address of a browser that this process did not start. */
export interface RemoteAddress {
  readonly url: string;
  /** `cdp`: Chromium's own port. `playwright`: a server that decides by itself which browser there is. */
  readonly kind: 'cdp' | 'playwright';
  /** On this machine, so that what listens on our loopback can be reached from there. */
  readonly isNear: boolean;
  /** All of it that may be told: what follows the host is often a secret. */
  readonly shown: string;
}

/** Throws INVALID_SETTINGS for any other text. */
export function remoteAddressOf(text: string): RemoteAddress {
  const url = URL.parse(text);
  if (url === null || !/^(?:wss?|https?):$/.test(url.protocol) || url.hostname === '') {
    throw new ScrapifieError(
      'INVALID_SETTINGS',
      'The address of a remote browser must begin with ws://, wss://, http:// or https://',
    );
  }
  const isSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
  return {
    url: text,
    kind: isSocket && !url.pathname.startsWith('/devtools/') ? 'playwright' : 'cdp',
    isNear: isThisMachine(url.hostname),
    shown: `${url.protocol}//${url.host}`,
  };
}

function isThisMachine(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** What a library says of a failure, without anything of an address beyond its host. */
export function withoutAddresses(text: string): string {
  return text.replace(/\b((?:ws|http)s?:\/\/)(?:[^\s/@]*@)?([^\s/?#]+)[^\s]*/g, '$1$2');
}
