import { isIPv4 } from 'node:net';
import type { Identity } from '../../core/model/identity.ts';
import type { HeaderEntry } from '../browser/page/page-session.ts';

/** Sent with a reload, before everything else. */
const FIRST = 'cache-control';
/** Hints that a site has asked for stand with the others. */
const BEFORE_OTHER_HINTS = 'sec-ch-ua-platform';
const BEFORE_REFERER = 'sec-fetch-dest';
/** Only HTTP/2 has it, and Chromium writes it by itself. */
const WRITTEN_LATER: ReadonlySet<string> = new Set(['priority', 'cookie']);
const PLAIN_ENCODINGS = 'gzip, deflate';

/**
 * The headers of a document's request as a browser of this identity sends them: the same names in the same order and
 * spelling. Chromium, which is told its languages from outside, would put them elsewhere. It fills in what it knows
 * better (where the request came from, above all) without moving it.
 */
export function arrangeHeaders(
  headers: ReadonlyMap<string, string>,
  url: URL,
  identity: Identity,
): HeaderEntry[] {
  const left = new Map(headers);
  for (const name of ['device-memory', 'sec-ch-device-memory']) {
    if (left.has(name)) left.set(name, String(identity.deviceMemory));
  }
  const arranged: HeaderEntry[] = [];
  const take = (name: string, value = left.get(name)): void => {
    left.delete(name);
    if (value !== undefined) arranged.push({ name: spelled(name), value });
  };
  const isSafe = isTrustworthy(url);
  take(FIRST);
  for (const [name, planned] of identity.headers) {
    if (WRITTEN_LATER.has(name)) continue;
    if (name === 'accept-encoding') take(name, left.get(name) ?? (isSafe ? planned : PLAIN_ENCODINGS));
    else if (name.startsWith('sec-fetch-') && isSafe) take(name, left.get(name) ?? planned);
    else take(name);
    if (name === BEFORE_OTHER_HINTS) {
      for (const other of [...left.keys()]) if (isHint(other, identity)) take(other);
    }
    if (name === BEFORE_REFERER) take('referer');
  }
  for (const name of [...left.keys()]) take(name);
  return arranged;
}

function isHint(name: string, { headers }: Identity): boolean {
  const isPlanned = headers.some(([planned]) => planned === name);
  return !isPlanned && (name.startsWith('sec-ch-') || name === 'device-memory' || name === 'dpr');
}

/** To other sites Chrome tells neither where a request came from nor that it understands the newer encodings. */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** As Chrome writes them in HTTP/1.1; in HTTP/2 all are lower case anyway. */
function spelled(name: string): string {
  if (name.startsWith('sec-ch-') || name === 'device-memory' || name === 'dpr') return name;
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
