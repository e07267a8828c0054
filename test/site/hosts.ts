/**
 * The virtual hosts. Each has a name, reachable as `name.localhost` where the machine resolves such names, and an
 * address of its own in 127.0.1.0/24, which works everywhere on Linux. What sets them apart is their robots.txt;
 * every page is on all of them.
 */
export interface VirtualHost {
  readonly name: string;
  readonly note: string;
}

export const HOSTS: readonly VirtualHost[] = [
  { name: 'shop', note: 'the demo shop at its root; robots.txt declares its sitemap' },
  { name: 'robots-some', note: 'disallows /private/, /*.pdf$ and /content/secret, allows /private/open' },
  { name: 'robots-all', note: 'disallows everything' },
  { name: 'robots-agents', note: 'disallows everything to scrapifie, nothing to others' },
  { name: 'robots-delay', note: 'Crawl-delay: 1' },
  { name: 'robots-long-delay', note: 'Crawl-delay: 86400' },
  { name: 'robots-404', note: 'no robots.txt: everything is allowed' },
  { name: 'robots-403', note: 'robots.txt is forbidden: everything is allowed (RFC 9309, 2.3.1.3)' },
  { name: 'robots-429', note: 'robots.txt answers 429 with Retry-After' },
  { name: 'robots-500', note: 'robots.txt answers 500: nothing is allowed' },
  { name: 'robots-503', note: 'robots.txt answers 503: nothing is allowed' },
  { name: 'robots-heals', note: 'robots.txt answers 503 twice and then allows all' },
  { name: 'robots-redirect', note: 'robots.txt redirects to a file that disallows /private/' },
  { name: 'robots-redirect-host', note: 'robots.txt redirects to the robots.txt of robots-some' },
  { name: 'robots-redirect-loop', note: 'robots.txt redirects to itself' },
  { name: 'robots-hang', note: 'robots.txt is never answered' },
  { name: 'robots-reset', note: 'robots.txt resets the connection' },
  { name: 'robots-endless', note: 'robots.txt never stops sending comments after disallowing /private/' },
  { name: 'robots-huge', note: '1 MB: disallows /private/ at its start and /late/ at its very end' },
  { name: 'robots-html', note: 'an HTML page with status 200 instead of rules' },
  { name: 'robots-empty', note: 'empty: everything is allowed' },
  { name: 'robots-bom', note: 'byte order mark, CR line ends and odd spacing; disallows /private/' },
  { name: 'robots-binary', note: 'random bytes with one valid group in them; disallows /private/' },
  { name: 'robots-gzip', note: 'sent with Content-Encoding: gzip; disallows /private/' },
  { name: 'sitemaps', note: 'robots.txt declares every good sitemap' },
  { name: 'sitemaps-bad', note: 'robots.txt declares every broken and hostile sitemap' },
  { name: 'busy', note: 'answers 429 with Retry-After: 1 beyond 5 requests in any second' },
];

const indexes = new Map(HOSTS.map((host, index) => [host.name, index]));
const PER_NET = 250;

/** The address of a named virtual host; `default` is 127.0.0.1. Throws for a name that is not in the table. */
export function addressOf(name: string): string {
  if (name === 'default') return '127.0.0.1';
  const index = indexes.get(name);
  if (index === undefined) throw new Error(`The test site has no virtual host "${name}".`);
  return `127.0.1.${index + 1}`;
}

/** The address of the n-th nameless host: 127.0.0.2 on, then 127.0.2.1 on. There are 63,750 of them. */
export function addressAt(n: number): string {
  if (!Number.isInteger(n) || n < 0 || n >= PER_NET * 255) throw new Error(`The test site has no host ${n}.`);
  if (n < PER_NET) return `127.0.0.${2 + n}`;
  const rest = n - PER_NET;
  return `127.0.${2 + Math.floor(rest / PER_NET)}.${1 + (rest % PER_NET)}`;
}

/** Which nameless host a Host header names; null when it is none of them. */
export function indexOfHost(host: string): number | null {
  const [, net = '', last = ''] = /^127\.0\.(\d{1,3})\.(\d{1,3})(?::\d+)?$/.exec(host) ?? [];
  const index = net === '0' ? Number(last) - 2 : PER_NET * (Number(net) - 1) + Number(last) - 1;
  return index >= 0 && index < PER_NET * 255 && host.split(':')[0] === addressAt(index) ? index : null;
}

/** Which virtual host a Host header names; `default` for every other. */
export function siteOf(host: string): string {
  if (host.startsWith('127.0.1.')) {
    const index = Number.parseInt(host.slice(8), 10) - 1;
    return HOSTS[index]?.name ?? 'default';
  }
  const end = host.indexOf('.localhost');
  if (end < 0) return 'default';
  const name = host.slice(0, end).toLowerCase();
  return indexes.has(name) ? name : 'default';
}
