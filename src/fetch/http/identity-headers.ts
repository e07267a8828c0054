import type { Identity } from '../../core/model/identity.ts';
import type { HeaderList } from './request-headers.ts';

/** What the identity sends with every request, in its order. */
export function identityHeaders({ headers }: Identity): HeaderList {
  return headers.flat();
}

/** Browsers send these only over secure connections. */
const FOR_SECURE_ORIGINS = /^sec-(?:ch|fetch)-/;
/** What browsers accept where something in the middle might choke on newer codings. */
const CODINGS_IN_CLEAR = 'gzip, deflate';

/**
 * The headers of a request over plain http as a browser writes them: names with capitals, and without what it keeps
 * for secure origins. What the request brought itself stays as it is.
 */
export function headersInClear(headers: HeaderList, identity: Identity, { hostname }: URL): HeaderList {
  const own = new Map(identity.headers);
  const isTrusted = isOwnMachine(hostname);
  const written: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    let value = headers[index + 1] ?? '';
    if (own.get(name) === value) {
      // The header `priority` has a meaning in HTTP/2 only.
      if (name === 'priority' || (!isTrusted && FOR_SECURE_ORIGINS.test(name))) continue;
      if (!isTrusted && name === 'accept-encoding') value = CODINGS_IN_CLEAR;
    }
    written.push(name.startsWith('sec-ch-') ? name : capitalised(name), value);
  }
  return written;
}

function capitalised(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/** Browsers trust loopback like a secure connection. */
function isOwnMachine(hostname: string): boolean {
  return /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/.test(hostname);
}
