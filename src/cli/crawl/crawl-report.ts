import { existsSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { failureCode, failureMessage, stopSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import type { ErrorCode } from '../../core/errors/registry.ts';
import { creditsOf } from '../../core/model/credits.ts';
import type { Job } from '../../core/model/job.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { describeCount } from '../../lib/human-units.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import type { CrawlFolder } from '../folders/crawl-folder.ts';
import { quoted } from '../output/completion-scripts.ts';
import { cannotWrite } from '../output/screen.ts';
import { harmlessText } from '../output/table.ts';

/** Why URLs of a crawl failed, for its report and the lines at its end. */
interface CrawlFailures {
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

/** report.json. Counters are of the whole crawl, over all its runs. */
export interface CrawlReport {
  readonly jobId: string;
  readonly status: Job['status'];
  /** Why it ended before everything was fetched: a budget, or `interrupted`. */
  readonly stopReason: string | null;
  /** The reason as a sentence, with the flag that goes on. Null when the crawl was not stopped by a limit. */
  readonly stopMessage: string | null;
  readonly seeds: readonly string[];
  /** The first pages that asked to log in; left out when there are none. */
  readonly loginWalls?: readonly string[];
  /** Why URLs failed; left out when none did, and while the crawl runs. */
  readonly failures?: CrawlFailures;
  readonly pages: number;
  /** Number of pages and sitemaps that failed. */
  readonly failed: number;
  readonly skipped: number;
  readonly denied: number;
  /** URLs that still wait to be fetched. */
  readonly left: number;
  /** Every URL ever seen, robots.txt files and sitemaps included. */
  readonly known: number;
  readonly bytes: number;
  /** Time that browsers worked on pages. */
  readonly browserMs: number;
  readonly proxyBytes: number;
  /** Time crawled, over all runs: what lay between them does not count, nor what was written after the last page. */
  readonly durationMs: number;
  readonly pagesPerSecond: number;
  readonly runs: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly version: string;
}

/** What earlier runs brought to the report. */
export interface Earlier {
  readonly durationMs: number;
  readonly runs: number;
}

export type ReportedJob = Pick<
  Job,
  'id' | 'status' | 'stopReason' | 'seeds' | 'startedAt' | 'createdAt' | 'finishedAt'
> & {
  readonly counters: Omit<Job['counters'], 'claimed'>;
  readonly options: Pick<Job['options'], 'budgets'>;
};

export interface ReportFacts {
  readonly job: ReportedJob;
  readonly earlier: Earlier;
  /** Time crawled in this run. */
  readonly runMs: number;
  readonly isInterrupted: boolean;
  readonly loginWalls?: readonly string[];
  readonly failures?: CrawlFailures | null;
  readonly version: string;
}

export function reportOf({
  job,
  earlier,
  runMs,
  isInterrupted,
  loginWalls = [],
  failures = null,
  version,
}: ReportFacts): CrawlReport {
  const { counters } = job;
  const startedAt = job.startedAt ?? job.createdAt;
  // The command notices the end of the crawl a little late, so the time between the job's own start and end is the upper bound.
  const longestMs = job.finishedAt === null ? Number.POSITIVE_INFINITY : job.finishedAt - startedAt;
  const durationMs = Math.round(Math.min(earlier.durationMs + runMs, Math.max(0, longestMs)));
  return {
    jobId: job.id,
    status: job.status,
    stopReason: job.stopReason ?? (isInterrupted ? 'interrupted' : null),
    stopMessage: stopMessageOf(job),
    seeds: job.seeds,
    ...(loginWalls.length === 0 ? {} : { loginWalls }),
    ...(failures === null ? {} : { failures }),
    pages: counters.pages,
    failed: counters.failed,
    skipped: counters.skipped,
    denied: counters.denied,
    left: counters.open + counters.cancelled,
    known: counters.known,
    bytes: counters.bytes,
    browserMs: counters.browserMs,
    proxyBytes: counters.proxyBytes,
    durationMs,
    pagesPerSecond: durationMs === 0 ? 0 : Math.round((counters.pages * 100_000) / durationMs) / 100,
    runs: earlier.runs + 1,
    startedAt: isoTime(startedAt),
    finishedAt: isoTimeOrNull(job.finishedAt),
    version,
  };
}

/** In the words of the command line: which flag set the limit, and how to go on. */
function stopMessageOf(job: ReportedJob): string | null {
  const { maxPages, maxBytes, maxDurationMs, maxBrowserMs, maxProxyBytes, maxMicrocredits } =
    job.options.budgets;
  switch (job.stopReason) {
    case 'budget.pages':
      return `Stopped at --max-pages ${maxPages}; continue with --resume --max-pages N.`;
    case 'budget.bytes':
      return `Stopped at --max-bytes ${maxBytes}; continue with --resume --max-bytes N.`;
    case 'budget.duration':
      return `Stopped at --max-duration ${maxDurationMs}ms; continue with --resume --max-duration TIME.`;
    case 'budget.browser':
      return `Stopped at --max-browser-time ${maxBrowserMs}ms; continue with --resume --max-browser-time TIME.`;
    case 'budget.proxy':
      return `Stopped at --max-proxy-bytes ${maxProxyBytes}; continue with --resume --max-proxy-bytes N.`;
    case 'budget.credits':
      return `Stopped at --max-credits ${creditsOf(maxMicrocredits ?? 0)}; continue with --resume --max-credits N.`;
    default:
      return stopSentence(job);
  }
}

/** In one piece or not at all: a reader never sees half a report. */
export function writeReport(path: string, report: CrawlReport): void {
  try {
    writeFileSync(`${path}.part`, `${JSON.stringify(report, null, 2)}\n`);
    renameSync(`${path}.part`, path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** A report that is not there, or not ours, counts for nothing. */
export function readEarlier(path: string, jobId: string): Earlier {
  try {
    const found = JSON.parse(readFileSync(path, 'utf8')) as Partial<CrawlReport>;
    if (found.jobId === jobId && Number.isFinite(found.durationMs) && Number.isInteger(found.runs)) {
      return { durationMs: found.durationMs ?? 0, runs: found.runs ?? 0 };
    }
  } catch {
    // The first run, or one that was killed before it wrote a report.
  }
  return { durationMs: 0, runs: 0 };
}

/** Codes that say that a page was not even asked for, and that the command or the settings decide about that. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'ADDRESS_REFUSED',
  'CONSENT_REQUIRED',
  'DOMAIN_DENIED',
  'INVALID_URL',
  'NO_BROWSER',
  'UNSUPPORTED_OPTION',
]);

/**
 * Remembers what is in the folder before a crawl begins there. Returns what removes the files of the crawl again, so
 * that the next try can use the same folder; other files of the folder stay.
 */
export function watchFolder(folder: CrawlFolder): () => void {
  const { dir, stateDir, pagesFile, reportFile, artifactsDir } = folder;
  const wasThere = existsSync(dir);
  const hadArtifacts = existsSync(artifactsDir);
  return () => {
    for (const path of [stateDir, pagesFile, reportFile]) rmSync(path, { recursive: true, force: true });
    if (!hadArtifacts) rmSync(artifactsDir, { recursive: true, force: true });
    if (wasThere) return;
    try {
      rmdirSync(dir);
    } catch {
      // Another program has put a file into the folder meanwhile.
    }
  };
}

/** Whether every start of the crawl was refused before anything was asked for, so that there is nothing to go on with. */
export function isRefusedCrawl({ status, pages, bytes, failed, denied, failures }: CrawlReport): boolean {
  // Some denials are those of a robots.txt, which was asked for: the report has them.
  if (status !== 'failed' || pages > 0 || bytes > 0 || denied > 0) return false;
  const codes = Object.keys(failures?.codes ?? {}) as ErrorCode[];
  return failed > 0 && codes.every((code) => REFUSALS.has(code));
}
