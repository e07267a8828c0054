import { ERRORS, type ErrorCode } from '../core/errors/registry.ts';
import {
  isOutOfFiles,
  isScrapifieError,
  outOfFiles,
  ScrapifieError,
} from '../core/errors/scrapifie-error.ts';

/** How far an exchange had come when it failed: the same errno means different things before and after. */
export type Phase = 'connect' | 'sent';

/** Codes of Node, OpenSSL, llhttp and undici that always mean the same to us. */
const BY_CODE: Readonly<Record<string, ErrorCode>> = {
  ENOTFOUND: 'DNS_FAILED',
  ENODATA: 'DNS_FAILED',

  ECONNREFUSED: 'CONNECT_FAILED',
  EHOSTUNREACH: 'CONNECT_FAILED',
  ENETUNREACH: 'CONNECT_FAILED',
  EADDRNOTAVAIL: 'CONNECT_FAILED',
  UND_ERR_CONNECT_TIMEOUT: 'CONNECT_FAILED',

  EPROTO: 'TLS_FAILED',
  HOSTNAME_MISMATCH: 'TLS_FAILED',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS_FAILED',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS_FAILED',
  INVALID_CA: 'TLS_FAILED',
  INVALID_PURPOSE: 'TLS_FAILED',
  PATH_LENGTH_EXCEEDED: 'TLS_FAILED',

  UND_ERR_SOCKET: 'CONNECTION_RESET',
  UND_ERR_INFO: 'CONNECTION_RESET',
  ERR_HTTP2_STREAM_ERROR: 'CONNECTION_RESET',
  ERR_HTTP2_STREAM_CANCEL: 'CONNECTION_RESET',
  ERR_HTTP2_GOAWAY_SESSION: 'CONNECTION_RESET',
  ERR_HTTP2_INVALID_SESSION: 'CONNECTION_RESET',
  ERR_STREAM_PREMATURE_CLOSE: 'CONNECTION_RESET',

  UND_ERR_HEADERS_TIMEOUT: 'HEADERS_TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'BODY_TIMEOUT',
  UND_ERR_HEADERS_OVERFLOW: 'HEADERS_LIMIT_EXCEEDED',
  HPE_HEADER_OVERFLOW: 'HEADERS_LIMIT_EXCEEDED',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'PROTOCOL_ERROR',

  UND_ERR_INVALID_ARG: 'VALIDATION_FAILED',
  UND_ERR_DESTROYED: 'SHUTTING_DOWN',
  UND_ERR_CLOSED: 'SHUTTING_DOWN',
};

/** Families of codes, asked when the table above has no entry. */
const BY_PREFIX: readonly (readonly [string, ErrorCode])[] = [
  ['EAI_', 'DNS_FAILED'],
  ['ERR_TLS_', 'TLS_FAILED'],
  ['ERR_SSL_', 'TLS_FAILED'],
  ['CERT_', 'TLS_FAILED'],
  ['CRL_', 'TLS_FAILED'],
  ['UNABLE_TO_', 'TLS_FAILED'],
  ['ERROR_IN_CERT_', 'TLS_FAILED'],
  ['HPE_', 'PROTOCOL_ERROR'],
  ['ERR_HTTP2_', 'PROTOCOL_ERROR'],
  // undici asserts that a status has three digits that make sense.
  ['ERR_ASSERTION', 'PROTOCOL_ERROR'],
];

/** undici's parser errors have no code at times; and of its socket errors these two are no fault of the network. */
const isProtocolError = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === 'HTTPParserError' || error.message === 'bad response' || error.message === 'bad upgrade');

/**
 * Names what went wrong with a request to `url`. The message has the host and the original code, never the rest of
 * the URL, which may hold secrets.
 */
export function mapError(error: unknown, url: URL, phase: Phase): ScrapifieError {
  if (isScrapifieError(error)) return error;
  // The host was not even asked.
  if (isOutOfFiles(error)) return outOfFiles(error);
  const code = codeOf(error);
  const known = lookUp(error, code, url, phase);
  if (known === null) {
    return new ScrapifieError('INTERNAL', 'Something went wrong inside Scrapifie.', { cause: error });
  }
  const message = `${ERRORS[known].meaning.replace(/\.$/, '')} (${[url.host, code].filter(Boolean).join(', ')})`;
  return new ScrapifieError(known, message, { cause: error });
}

function lookUp(error: unknown, code: string, url: URL, phase: Phase): ErrorCode | null {
  const exact = BY_CODE[code];
  if (isProtocolError(error)) return exact === 'HEADERS_LIMIT_EXCEEDED' ? exact : 'PROTOCOL_ERROR';
  if (exact !== undefined) return exact;
  for (const [prefix, mapped] of BY_PREFIX) if (code.startsWith(prefix)) return mapped;
  // The rest are errnos: ECONNRESET, EPIPE, ETIMEDOUT and rarer ones.
  if (!/^E[A-Z0-9]+$/.test(code)) return null;
  if (phase === 'sent') return 'CONNECTION_RESET';
  return code === 'ECONNRESET' && url.protocol === 'https:' ? 'TLS_FAILED' : 'CONNECT_FAILED';
}

export function codeOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string') {
    return error.code;
  }
  return '';
}
