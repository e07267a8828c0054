import { ERRORS, type ErrorCode } from '../../errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { ProxyEndpoint } from '../../model/proxy.ts';

/**
 * What the words of the libraries mean to us; the first match decides. They tell no codes. Whether the host could be
 * reached is not among them: that the guard knows, so a failure to connect is one of TLS.
 */
const SIGNS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/ProxyConnect|ProxyTunnel|ProxyAuth|tunnel error/, 'CONNECT_FAILED'],
  [/\(Connect\)|\bConnect,|ConnectError|ConnectTimeout|CERTIFICATE|InvalidCertificate/, 'TLS_FAILED'],
  [/head is too large|TooLarge/, 'HEADERS_LIMIT_EXCEEDED'],
  [/stream error|Reset\(/, 'CONNECTION_RESET'],
  [/Parse\(|\bparsed\b|[Ii]nvalid chunk|http2 error|Http2/, 'PROTOCOL_ERROR'],
  [/timed out|TimeoutError/, 'HEADERS_TIMEOUT'],
  [/hyper|from connection|closed|broken pipe|reset|\beof\b/i, 'CONNECTION_RESET'],
  [/\bDecode\b|decod/, 'BAD_ENCODING'],
];

/** Names what a library threw on a request to `url`. Its words hold the whole URL, so none of them is passed on. */
export function mapDriverError(error: unknown, url: URL, proxy: ProxyEndpoint | undefined): ScrapifieError {
  if (isScrapifieError(error)) return error;
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error);
  const code = SIGNS.find(([sign]) => sign.test(text))?.[1] ?? 'CONNECTION_RESET';
  const meaning = ERRORS[code].meaning.replace(/\.$/, '');
  if (code !== 'TLS_FAILED' || proxy === undefined) {
    return new ScrapifieError(code, `${meaning} (${url.host})`);
  }
  // A proxy that meddles, and a target with a bad certificate, look the same from here.
  return new ScrapifieError(code, `${meaning} (${url.host}, proxy ${proxy.id})`, {
    details: { proxy: proxy.id, fault: 'unclear' },
  });
}
