import type { ErrorCode } from '../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { defined } from '../lib/defined.ts';

/** No browser can be had at the moment, or none is installed. */
export function browserUnavailable(why: string, cause?: unknown, retryAfterMs?: number): ScrapifieError {
  return new ScrapifieError('BROWSER_UNAVAILABLE', `No browser is available: ${why}`, {
    ...defined({ cause, retryAfterMs }),
  });
}

/** The whole browser ended or stopped answering; whatever pages it showed are not at fault. */
export function browserLost(why: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('BROWSER_LOST', `The browser was lost: ${why}`, {
    ...defined({ cause }),
  });
}

/** The page's process ended while the page was in use. */
export function browserCrashed(what: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('BROWSER_CRASHED', `${what} ended unexpectedly while the page was rendered`, {
    ...defined({ cause }),
  });
}

/** The page's process was ended here. `why` names the limit. */
export function outOfMemory(why: string): ScrapifieError {
  return new ScrapifieError(
    'BROWSER_CRASHED',
    `The page's process was ended while the page was rendered: ${why}`,
  );
}

/** `step` is where it stands in the request, as in `actions.2 click #buy`. */
export function stepFailed(step: string, why: string, cause?: unknown): ScrapifieError {
  return new ScrapifieError('ACTION_FAILED', `${step}: ${why}`, { details: { step }, cause });
}

/** The time for the whole attempt ran out during this step. */
export function stepTimedOut(step: string, ms: number): ScrapifieError {
  const message = `${step}: the whole attempt took longer than ${ms} ms`;
  return new ScrapifieError('TASK_TIMEOUT', message, { details: { step } });
}

export function shuttingDown(): ScrapifieError {
  return new ScrapifieError('SHUTTING_DOWN', 'The browsers are being closed');
}

/**
 * Names what kept a document from arriving. Chromium's code goes into the message, the URL beyond its host does not,
 * since it may hold secrets.
 */
export function mapNavigationError(error: unknown, host: string): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  const net = /net::ERR_([A-Z0-9_]+)/.exec(text)?.[1];
  if (net !== undefined) {
    // A name that a later Chromium has added: most of them are about connections.
    const code = codeOfNetError(net) ?? 'CONNECT_FAILED';
    if (code === 'BROWSER_LOST') return browserLost(`it gave up ${host} (${net})`, error);
    return new ScrapifieError(code, `${host} could not be loaded (${net})`, { cause: error });
  }
  if (/crashed/i.test(text)) return browserCrashed("The page's process", error);
  if (/has been closed|Target closed|disconnected/i.test(text)) {
    return browserLost('its connection was closed', error);
  }
  return new ScrapifieError('INTERNAL', 'Something went wrong inside Scrapifie.', { cause: error });
}

/** Playwright's messages without its call log, which repeats them at length, and without stacks of its own code. */
export function plainMessage(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const [first = ''] = text.split(/\n?\s*(?:Call log:|={3,} logs ={3,})|\n\s*at /);
  return (
    first
      .replace(/^[a-zA-Z]+\.[$a-zA-Z]+: /, '')
      .replace(/^Error: /, '')
      .replace(/\b(\d+)\.\d+(?=ms\b)/g, '$1')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 300) || 'it failed'
  );
}

/**
 * Chromium's network errors (`net::ERR_…`, without that prefix) by class. A name that ends in `_` or is listed as a
 * prefix stands for its family; the first match decides, so exceptions stand before their family.
 */
const BY_PREFIX: readonly (readonly [ErrorCode, readonly string[]])[] = [
  // The browser itself: a process of it is gone or has no memory left, or its context was shut down.
  [
    'BROWSER_LOST',
    ['ABORTED', 'CONTEXT_SHUT_DOWN', 'INSUFFICIENT_RESOURCES', 'OUT_OF_MEMORY', 'NO_BUFFER_SPACE'],
  ],
  // The machine of the browser: no network, or one that is changing.
  ['BROWSER_LOST', ['NETWORK_IO_SUSPENDED', 'FILE_NO_SPACE']],

  [
    'PROXY_FAILED',
    ['PROXY_', 'TUNNEL_', 'SOCKS_', 'HTTPS_PROXY_', 'MANDATORY_PROXY_', 'NO_SUPPORTED_PROXIES', 'PAC_'],
  ],
  ['PROXY_FAILED', ['UNEXPECTED_PROXY_AUTH', 'UNABLE_TO_REUSE_CONNECTION_FOR_PROXY_AUTH']],

  ['DNS_FAILED', ['NAME_', 'DNS_', 'HOST_RESOLVER_', 'ICANN_NAME_COLLISION']],

  [
    'TLS_FAILED',
    ['CERT_', 'CERTIFICATE_', 'SSL_', 'BAD_SSL_', 'NO_SSL_', 'ECH_', 'INVALID_ECH_', 'TLS13_', 'CT_'],
  ],
  [
    'TLS_FAILED',
    ['CLIENT_AUTH_', 'ALPN_', 'EARLY_DATA_', 'WRONG_VERSION_ON_EARLY_DATA', 'QUIC_CERT_', 'QUIC_HANDSHAKE_'],
  ],
  [
    'TLS_FAILED',
    ['NO_PRIVATE_KEY_FOR_CERT', 'ADD_USER_CERT_', 'IMPORT_', 'PKCS12_', 'KEY_GENERATION_', 'PRIVATE_KEY_'],
  ],
  [
    'TLS_FAILED',
    ['SELF_SIGNED_', 'INSECURE_RESPONSE', 'HTTP2_INADEQUATE_TRANSPORT_SECURITY', 'INVALID_SIGNED_EXCHANGE'],
  ],

  ['CONNECTION_RESET', ['CONNECTION_RESET', 'CONNECTION_CLOSED', 'CONNECTION_ABORTED', 'EMPTY_RESPONSE']],
  [
    'CONNECTION_RESET',
    ['SOCKET_NOT_CONNECTED', 'HTTP2_PING_FAILED', 'HTTP2_SERVER_REFUSED_STREAM', 'HTTP2_STREAM_CLOSED'],
  ],
  [
    'CONNECTION_RESET',
    ['HTTP2_CLIENT_REFUSED_STREAM', 'HTTP2_CLAIMED_PUSHED_', 'QUIC_GOAWAY_', 'NETWORK_CHANGED'],
  ],
  [
    'CONNECT_FAILED',
    ['CONNECTION_', 'ADDRESS_', 'INTERNET_DISCONNECTED', 'NETWORK_ACCESS_DENIED', 'SOCKET_'],
  ],
  [
    'CONNECT_FAILED',
    ['PRECONNECT_', 'TEMPORARILY_THROTTLED', 'H2_OR_QUIC_REQUIRED', 'WINSOCK_', 'MSG_TOO_BIG'],
  ],
  ['CONNECT_FAILED', ['READ_IF_READY_', 'CLEARTEXT_NOT_PERMITTED']],
  ['HEADERS_TIMEOUT', ['TIMED_OUT']],

  ['BAD_ENCODING', ['CONTENT_DECODING_', 'ENCODING_', 'ZSTD_WINDOW_SIZE_TOO_BIG']],
  ['HEADERS_LIMIT_EXCEEDED', ['RESPONSE_HEADERS_TOO_BIG']],
  ['BODY_LIMIT_EXCEEDED', ['RESPONSE_BODY_TOO_BIG_TO_DRAIN', 'FILE_TOO_BIG']],
  [
    'PROTOCOL_ERROR',
    ['CONTENT_LENGTH_MISMATCH', 'RESPONSE_HEADERS_', 'INVALID_HTTP_', 'INVALID_CHUNKED_', 'INVALID_RESPONSE'],
  ],
  [
    'PROTOCOL_ERROR',
    ['INCOMPLETE_', 'HTTP2_', 'HTTP_1_1_REQUIRED', 'QUIC_', 'WS_', 'SYN_REPLY_', 'INVALID_WEB_BUNDLE'],
  ],
  [
    'PROTOCOL_ERROR',
    ['METHOD_NOT_SUPPORTED', 'REQUEST_RANGE_', 'UPLOAD_', 'TOO_MANY_ACCEPT_CH_RESTARTS', 'TOO_MANY_RETRIES'],
  ],
  [
    'PROTOCOL_ERROR',
    [
      'INCONSISTENT_IP_ADDRESS_SPACE',
      'CACHED_IP_ADDRESS_SPACE_',
      'DICTIONARY_',
      'UNEXPECTED_CONTENT_DICTIONARY_',
    ],
  ],
  // The host answered with a status that Chromium shows no page for: one without a body, for example.
  ['HTTP_ERROR', ['HTTP_RESPONSE_CODE_FAILURE', 'BLOCKED_BY_RESPONSE', 'BLOCKED_BY_CSP', 'BLOCKED_BY_ORB']],
  // A login that the site asked for and that was not to be had.
  [
    'HTTP_ERROR',
    ['INVALID_AUTH_', 'UNSUPPORTED_AUTH_', 'MISSING_AUTH_', 'MISCONFIGURED_AUTH_', 'MALFORMED_IDENTITY'],
  ],
  ['HTTP_ERROR', ['UNEXPECTED_SECURITY_', 'UNDOCUMENTED_SECURITY_', 'CACHE_AUTH_', 'TRUST_TOKEN_']],

  ['TOO_MANY_REDIRECTS', ['TOO_MANY_REDIRECTS']],
  ['BAD_REDIRECT', ['UNKNOWN_URL_SCHEME', 'DISALLOWED_URL_SCHEME', 'UNSAFE_REDIRECT', 'INVALID_REDIRECT']],
  ['INVALID_URL', ['UNSAFE_PORT', 'INVALID_URL']],
  ['UNSUPPORTED_OPTION', ['FTP_', 'UNRECOGNIZED_FTP_']],
  // Rules of the machine that the browser runs on.
  ['ADDRESS_REFUSED', ['BLOCKED_BY_', 'BLOCKED_', 'LOCAL_NETWORK_ACCESS_']],

  // Its files and its cache, which live as long as the context: another context has others.
  ['BROWSER_CRASHED', ['CACHE_', 'BLOB_', 'FILE_', 'ACCESS_DENIED', 'IO_PENDING', 'FAILED', 'UNEXPECTED']],
  ['BROWSER_CRASHED', ['INVALID_ARGUMENT', 'INVALID_HANDLE', 'NOT_IMPLEMENTED']],
];

/** What a `net::ERR_…` means to us; null for a name that is not known, such as one of a later Chromium. */
export function codeOfNetError(name: string): ErrorCode | null {
  for (const [code, names] of BY_PREFIX) {
    if (names.some((one) => (one.endsWith('_') ? name.startsWith(one) : name === one))) return code;
  }
  return null;
}
