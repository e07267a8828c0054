import { createCanonicalizer, MAX_URL_CHARS } from '../../crawl/frontier/canonical.ts';
import { fold, lowerInPlace } from './text.ts';

const TRUE =
  'true,yes,y,1,on,ja,j,oui,o,si,sí,sì,sim,tak,ano,да,так,evet,ναι,igen,da,kyllä,はい,是,有,예,네,نعم,כן,हाँ,हां,ใช่,có,ya,wahr,vrai,verdadero,vero,verdadeiro,waar,prawda,истина,✓,✔,✔️,☑,✅';
const FALSE =
  'false,no,n,0,off,nein,non,não,nao,nee,nie,ne,нет,ні,hayır,όχι,nem,nu,nej,nei,ei,いいえ,否,无,無,아니요,아니오,لا,לא,नहीं,ไม่,không,tidak,falsch,faux,falso,onwaar,fałsz,ложь,✗,✘,✕,☒,❌';

const VALUES: ReadonlyMap<string, boolean> = new Map([
  ...TRUE.split(',').map((word) => [word, true] as const),
  ...FALSE.split(',').map((word) => [word, false] as const),
]);

/** Yes or no in words, digits or signs; null for anything else. */
export function parseBoolean(text: string): boolean | null {
  const key = lowerInPlace(fold(text, 40)).replace(/[.!]+$/, '');
  return VALUES.get(key) ?? null;
}

interface UrlHints {
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

/** A Global Trade Item Number with a valid check digit. */
interface Gtin {
  /** Digits as printed: 8, 12, 13 or 14. */
  readonly value: string;
  readonly kind: 'GTIN-8' | 'GTIN-12' | 'GTIN-13' | 'GTIN-14';
  /** Filled up to 14 digits: equal for the same article, however it is printed. */
  readonly gtin14: string;
}

const KINDS: Readonly<Record<number, Gtin['kind']>> = {
  8: 'GTIN-8',
  12: 'GTIN-12',
  13: 'GTIN-13',
  14: 'GTIN-14',
};
const ISBN_10 = /^\d{9}[\dX]$/;

function checkDigit(digits: string): number {
  let sum = 0;
  for (let index = digits.length - 1, weight = 3; index >= 0; index--, weight = 4 - weight) {
    sum += Number(digits[index]) * weight;
  }
  return (10 - (sum % 10)) % 10;
}

function isIsbn10(text: string): boolean {
  if (!ISBN_10.test(text)) return false;
  let sum = 0;
  for (const [index, char] of [...text].entries()) sum += (char === 'X' ? 10 : Number(char)) * (10 - index);
  return sum % 11 === 0;
}

/** Reads EAN, UPC, GTIN and ISBN (ten digits become thirteen); null when the length or the check digit is wrong. */
export function parseGtin(text: string): Gtin | null {
  const folded = fold(text, 60).toUpperCase();
  const bare = folded
    .replace(/^(?:(?:GTIN|EAN|UPC|ISBN|JAN)(?:[- ]?1[0234]|[- ]?8)?(?:-A)?[ :#]+)/, '')
    .replace(/[ \-‐‑–]/g, '');
  if (isIsbn10(bare)) {
    const body = `978${bare.slice(0, 9)}`;
    return parseGtin(`${body}${checkDigit(body)}`);
  }
  const kind = KINDS[bare.length];
  if (kind === undefined || !/^\d+$/.test(bare) || /^0+$/.test(bare)) return null;
  if (checkDigit(bare.slice(0, -1)) !== Number(bare.at(-1))) return null;
  return { value: bare, kind, gtin14: bare.padStart(14, '0') };
}
