/**
 * The canonical form of a query: escapes normalised, parameters that do not choose the content left out, the
 * rest sorted by name. Parameters of one name keep their order, because for lists it carries meaning.
 */
type QueryCanonicalizer = (query: string) => string;

type Noise = 'always' | 'when it looks like a session';
const drop = (...names: readonly string[]) => names.map((name): [string, Noise] => [name, 'always']);

/** Parameters that do not choose the content. Names are compared without regard to case. */
const NOISE: ReadonlyMap<string, Noise> = new Map([
  // Where a visitor came from: Google
  ...drop('gclid', 'gclsrc', 'dclid', 'gbraid', 'wbraid', 'srsltid', '_ga', '_gl', '_gac'),
  // Facebook, Instagram, Microsoft, Yandex
  ...drop('fbclid', 'igshid', 'igsh', 'msclkid', 'yclid', 'ysclid', 'ymclid', '_openstat'),
  // X, TikTok, LinkedIn, Pinterest, Reddit, Adobe, Branch, Wicked Reports
  ...drop('twclid', 'ttclid', 'li_fat_id', 'epik', 'rdt_cid', 's_cid', '_branch_match_id', 'wickedid'),
  // Mail campaigns: Mailchimp, HubSpot, Marketo, Klaviyo, Vero, Omeda
  ...drop('mc_cid', 'mc_eid', '_hsenc', '_hsmi', '__hssc', '__hstc', '__hsfp', 'hsctatracking'),
  ...drop('mkt_tok', '_kx', 'vero_id', 'vero_conv', 'oly_anon_id', 'oly_enc_id'),
  // Matomo before it had a prefix of its own
  ...drop('pk_campaign', 'pk_kwd', 'pk_keyword', 'pk_source', 'pk_medium', 'pk_content', 'pk_cid'),
  // A visitor's session: each visit would make the whole site look new
  ...drop('phpsessid', 'jsessionid', 'asp.net_sessionid', 'cftoken', 'oscsid', 'zenid'),
  // Sessions on some sites, the number of a story on others; the value tells
  ...['sid', 'sessid', 'sessionid'].map((name): [string, Noise] => [name, 'when it looks like a session']),
]);
const NOISE_PREFIX = /^(?:utm_|mtm_|matomo_|piwik_|hsa_|aspsessionid)/;
const LOOKS_LIKE_SESSION = /^(?=[^0-9]*[0-9])[\w-]{16,}$/;

/** `ignored` are a job's own names, compared exactly; one that ends in `*` stands for all that begin so. */
export function createQueryCanonicalizer(ignored: readonly string[]): QueryCanonicalizer {
  const exact = new Set(ignored.filter((name) => !name.endsWith('*')));
  const prefixes = ignored.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const hasOwn = ignored.length > 0;

  const isIgnored = (name: string): boolean => {
    const plain = decodeName(name);
    if (exact.has(plain)) return true;
    for (const prefix of prefixes) if (plain.startsWith(prefix)) return true;
    return false;
  };

  return (query) => {
    if (query === '') return '';
    const normal = normalizeEscapes(query);
    const names: string[] = [];
    const parameters: string[] = [];
    let isSorted = true;
    let isWhole = true;
    let last = '';
    for (let start = 0; start <= normal.length; ) {
      const mark = normal.indexOf('&', start);
      const end = mark === -1 ? normal.length : mark;
      const equals = normal.indexOf('=', start);
      const name = normal.slice(start, equals === -1 || equals > end ? end : equals);
      const parameter = normal.slice(start, end);
      start = end + 1;
      if (parameter === '' || isNoise(name, parameter) || (hasOwn && isIgnored(name))) {
        isWhole = false;
        continue;
      }
      if (name < last) isSorted = false;
      last = name;
      names.push(name);
      parameters.push(parameter);
    }
    if (!isSorted) return sortByName(names, parameters).join('&');
    return isWhole ? normal : parameters.join('&');
  };
}

function sortByName(names: readonly string[], parameters: readonly string[]): string[] {
  const pairs = parameters.map((parameter, index) => ({ parameter, name: names[index] ?? '' }));
  pairs.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  return pairs.map(({ parameter }) => parameter);
}

/**
 * Escapes of letters, digits, `-`, `.`, `_` and `~` are undone, the others get capital hex digits. A stray `%` stays
 * as it is, and an escape so close behind one that undoing it would complete a new escape stays too; otherwise
 * normalising twice would not be normalising once.
 */
export function normalizeEscapes(text: string): string {
  return text.includes('%') ? text.replace(/%[0-9a-fA-F]{2}/g, normalizeEscape) : text;
}

function normalizeEscape(octet: string, offset: number, text: string): string {
  const char = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  if (!/[\w\-.~]/.test(char)) return octet.toUpperCase();
  const isAfterStray =
    text[offset - 1] === '%' || (text[offset - 2] === '%' && /[0-9a-fA-F]/.test(text[offset - 1] ?? ''));
  return isAfterStray ? octet.toUpperCase() : char;
}

function isNoise(name: string, parameter: string): boolean {
  const lower = name.toLowerCase();
  const noise = NOISE.get(lower);
  if (noise === undefined) return NOISE_PREFIX.test(lower);
  return noise === 'always' || LOOKS_LIKE_SESSION.test(parameter.slice(name.length + 1));
}

function decodeName(name: string): string {
  if (!name.includes('%') && !name.includes('+')) return name;
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
