import { createCanonicalizer, MAX_URL_CHARS } from '../../crawl/frontier/canonical.ts';

export interface UrlHints {
  /** The URL of the page, for relative links. */
  readonly base?: string | undefined;
  /** True or false for hosts known to support https or not; undefined for unknown hosts. */
  readonly speaksHttps?: ((host: string) => boolean | undefined) | undefined;
}

const canonicalize = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const NAKED_HOST = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}(?::\d{1,5})?(?:[/?#]|$)/u;
/** Extensions of files that a relative link may begin with and that are no top-level domains in use. */
const FILE = /^[^/?#]+\.(?:html?|php|aspx?|jsp|pdf|jpe?g|png|gif|webp|svg|xml|json|txt|css|js)(?:[?#]|$)/i;
const ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[.*\])$/;

/**
 * The URL as a value of a record: absolute, in the frontier's canonical form (no credentials, fragment, tracking and
 * session parameters), and https unless the host is known not to speak it, is an address or has a port of its own.
 * Null for other schemes and invalid URLs; never throws.
 */
export function normalizeUrl(raw: string, hints: UrlHints = {}): string | null {
  if (raw.length > MAX_URL_CHARS) return null;
  const text = raw.trim();
  if (text === '') return null;
  const canonical = canonicalize(absolute(text), hints.base);
  return canonical === null ? null : secured(canonical.url, hints);
}

function absolute(text: string): string {
  if (text.startsWith('//')) return `https:${text}`;
  const isHost = NAKED_HOST.test(text) && !FILE.test(text);
  // `example.com:8080/x` has the shape of a scheme, but is none.
  if (isHost && (!SCHEME.test(text) || /^[^:/]+:\d/.test(text))) return `https://${text}`;
  return text;
}

function secured(url: string, { speaksHttps }: UrlHints): string {
  if (!url.startsWith('http://')) return url;
  const { host, hostname, port } = new URL(url);
  const known = speaksHttps?.(host);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost') || ADDRESS.test(hostname);
  const canSecure = known ?? (!isLocal && port === '');
  if (!canSecure) return url;
  // The port that http implies would be wrong for https; one written out stays.
  return canonicalize(`https${url.slice('http'.length)}`)?.url ?? url;
}
