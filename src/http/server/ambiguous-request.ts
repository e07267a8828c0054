import type { IncomingMessage } from 'node:http';

/** `uri-host [ ":" port ]` of RFC 9112, 3.2, whose host may be empty. */
const HOST = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;

/**
 * Why a request must be refused for its header Host; null when nothing is wrong with it. Programs on the way of a request
 * that read different hosts from it would send it, keep its answer or trust it differently, and Node.js takes the first
 * of several without a word.
 */
export function hostProblem({ rawHeaders, headers, httpVersion }: IncomingMessage): string | null {
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
