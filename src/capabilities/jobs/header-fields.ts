import { z } from 'zod';
import { secretField } from '../sessions/secret-fields.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible ASCII, spaces and tabs: what every server reads the same way, and nothing that could end a header. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
/** RFC 6265 cookie octets. */
const COOKIE_VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/;

/** Headers the engine must own, because they frame the message or name the target. */
const ENGINE_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'keep-alive',
  'te',
  'trailer',
  'expect',
  'accept-encoding',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
]);

export const headers = secretField(
  'page.headers',
  z.record(z.string(), z.string().max(8_192)).superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > 64) context.addIssue({ code: 'custom', message: 'At most 64 headers.' });
    for (const name of names) {
      const problem = headerProblem(name, given[name] ?? '');
      if (problem !== null) context.addIssue({ code: 'custom', path: [name], message: problem });
    }
  }),
)
  .default({})
  .describe(
    'Request headers to send. `User-Agent` needs the operator’s consent for the host; framing headers are refused. ' +
      'Headers that may hold a key go to the origin of the URL alone; see `crossOriginHeaders`.',
  );

function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return 'Not a header name.';
  if (!HEADER_VALUE.test(value)) return 'Only printable ASCII is allowed in a header value.';
  const lower = name.toLowerCase();
  if (lower === 'cookie') return 'Use `cookies` instead.';
  return ENGINE_HEADERS.has(lower) ? 'The engine sets this header itself.' : null;
}

export const cookies = secretField(
  'page.cookies',
  z.record(z.string(), z.string().max(4_096)).superRefine((given, context) => {
    const names = Object.keys(given);
    if (names.length > 64) context.addIssue({ code: 'custom', message: 'At most 64 cookies.' });
    for (const name of names) {
      if (!HEADER_NAME.test(name)) {
        context.addIssue({ code: 'custom', path: [name], message: 'Not a cookie name.' });
      } else if (!COOKIE_VALUE.test(given[name] ?? '')) {
        context.addIssue({ code: 'custom', path: [name], message: 'Not a cookie value; encode it first.' });
      }
    }
  }),
)
  .default({})
  .describe('Cookies to send to the origin of the URL.');
