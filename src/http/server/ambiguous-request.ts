import type { IncomingMessage } from 'node:http';

/** `uri-host [ ":" port ]` of RFC 9112, 3.2, whose host may be empty. */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;

/**
 * Why a request must be refused because programs on its way could read it differently; null when nothing is wrong with it.
 * The parser of Node.js refuses what it sees of this by itself.
 */
export const ambiguityOf = (request: IncomingMessage): string | null =>
  hostProblem(request) ?? encodingProblem(request);

/** A server of HTTP/1.0 knows no chunks, so it may take them for the next request; RFC 9112, 6.1. */
function encodingProblem({ headers, httpVersion }: IncomingMessage): string | null {
  const encoding = headers['transfer-encoding'];
  if (encoding === undefined) return null;
  if (httpVersion === '1.0') return 'Transfer-Encoding needs HTTP/1.1.';
  return encoding.toLowerCase() === 'chunked' ? null : 'Of all transfer encodings only chunked is known.';
}

/**
 * Why a request must be refused for its header Host; null when nothing is wrong with it. Programs on the way of a request
 * that read different hosts from it would send it, keep its answer or trust it differently, and Node.js takes the first
 * of several without a word.
 */
function hostProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): string | null {
  const { host } = headers;
  if (host === undefined) return httpVersion === '1.1' ? 'The header Host is missing.' : null;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  if (count > 1) return 'The header Host is there more than once.';
  return HOST.test(host) ? null : 'The header Host is no host with an optional port.';
}
