import { failureCode, failureMessage } from '../../capabilities/jobs/scrape-outcome.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { describeCount } from '../../lib/human-units.ts';
import { quoted } from '../completion/command-tree.ts';
import { harmlessText } from '../output/harmless-text.ts';

/** Why URLs of a crawl failed, for its report and the lines at its end. */
export interface CrawlFailures {
  readonly pages: number;
  /** Sitemaps, and hosts whose sitemaps could not be looked for. */
  readonly sitemaps: number;
  /** How many URLs failed with which code, the most frequent code first. */
  readonly codes: Readonly<Partial<Record<ErrorCode, number>>>;
  /** The first URL with the most frequent code; a page where there is one. */
  readonly first: { readonly url: string; readonly code: ErrorCode; readonly message: string };
}

/** What the person at the command line can do about the code; the message of the URL has said what happened. */
const HINTS: Readonly<Partial<Record<ErrorCode, string>>> = {
  ADDRESS_REFUSED:
    'For a site of your own network, crawl with --allow-private (or SCRAPIFIE_ALLOW_PRIVATE=true).',
  DNS_FAILED: 'Check the spelling of the host, and that this machine can resolve names.',
  CONNECT_FAILED: 'Check the host and the port, and that the site is up.',
  TLS_FAILED: 'Check the certificate of the site, or whether it is an http:// address.',
  ROBOTS_UNREACHABLE: 'Crawl again when the site answers for its /robots.txt.',
  LOGIN_REQUIRED: 'Log in with "scrapifie login", then crawl with --session.',
  BLOCKED: 'The site turns robots away; a lower --rate may help.',
  HOST_RATE_LIMITED: 'The site asks for fewer requests: crawl with a lower --rate.',
  BROWSER_UNCONFINED: '"scrapifie doctor" tells what keeps browsers from being confined on this machine.',
  NO_BROWSER: '"scrapifie doctor" tells which browsers are found on this machine.',
};
const SHOWN_CODES = 5;

/** Returns null when nothing failed. */
export async function failuresOf(entries: AsyncIterable<LedgerEntry>): Promise<CrawlFailures | null> {
  const counts = new Map<ErrorCode, { count: number; first: LedgerEntry }>();
  let pages = 0;
  let sitemaps = 0;
  for await (const entry of entries) {
    if (entry.kind === 'page') pages += 1;
    else sitemaps += 1;
    const code = failureCode(entry);
    const known = counts.get(code) ?? { count: 0, first: entry };
    const isBetter = known.first.kind !== 'page' && entry.kind === 'page';
    counts.set(code, { count: known.count + 1, first: isBetter ? entry : known.first });
  }
  const sorted = [...counts].sort(([, one], [, other]) => other.count - one.count);
  const [top] = sorted;
  if (top === undefined) return null;
  const [code, { first }] = top;
  return {
    pages,
    sitemaps,
    codes: Object.fromEntries(sorted.map(([each, { count }]) => [each, count])),
    first: { url: first.url, code, message: failureMessage(code, first) },
  };
}

/** `1 failed`, with the sitemaps beside the pages. */
export function failedCount(failed: number, failures: CrawlFailures | undefined): string {
  if (failures === undefined || failures.sitemaps === 0) return `${failed} failed`;
  return `${failures.pages} failed (and ${describeCount(failures.sitemaps, 'sitemap')})`;
}

/** The lines that say why; `place` are the flags by which `scrapifie why` finds the crawl, null when it is gone. */
export function failureLines({ codes, first }: CrawlFailures, place: string | null): readonly string[] {
  const all = Object.entries(codes);
  const shown = all.slice(0, SHOWN_CODES).map(([code, count]) => `${code} (${count})`);
  const more = all.length > SHOWN_CODES ? ` and ${all.length - SHOWN_CODES} more codes` : '';
  const hint = HINTS[first.code];
  return [
    `Failed with ${shown.join(', ')}${more}.`,
    `  ${first.url}: ${harmlessText(first.message)}`,
    ...(hint === undefined ? [] : [`  ${hint}`]),
    ...(place === null ? [] : [`  More: scrapifie why ${argument(first.url)} ${place}`]),
  ];
}

/** A word of a command that can be pasted into a shell. */
export const argument = (text: string): string => (/^[\w./:@%+=,-]+$/.test(text) ? text : quoted(text));
