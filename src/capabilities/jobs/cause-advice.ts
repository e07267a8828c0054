import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import type { TaskState } from '../../core/model/task.ts';

/** What a caller can do about URLs that ended this way; null when there is nothing to do. */
export function adviceFor(state: TaskState, cause: string | null, code: ErrorCode | null): string | null {
  if (state === 'cancelled') return 'Resume the job to go on with them.';
  if (state === 'failed') return code === null ? null : RETRY_ADVICE[ERRORS[code].retry];
  if (state !== 'skipped' && state !== 'denied') return null;
  return ADVICE.find(([prefix]) => cause?.startsWith(prefix))?.[1] ?? null;
}

const RETRY_ADVICE = {
  later: 'Try the failed URLs again: the same request may work after a pause.',
  otherWay: 'Allow another engine, proxy tier or identity for the host, then start the URLs again.',
  never: 'Trying again as it is fails again: change the URLs or the options.',
} as const;

/** By the beginning of the cause; the first that fits counts. */
const ADVICE: readonly (readonly [string, string])[] = [
  ['scope.depth', 'Start the crawl again with a larger `maxDepth`.'],
  ['scope.nofollow', 'Start the crawl again with `obeyNofollow: false`.'],
  ['scope.noindex', 'Start the crawl again with `obeyNoindex: false`.'],
  ['scope.domain', 'Start the crawl again with the host in `allowedDomains`, or with `allowSubdomains`.'],
  ['scope.exclude', 'Start the crawl again without the exclude pattern.'],
  ['scope.include', 'Start the crawl again with an include pattern that matches.'],
  ['scope.trap', 'Name the URLs in a batch if they are wanted: a crawl does not follow endless ones.'],
  ['scope.pattern-cost', 'Start the crawl again with simpler patterns.'],
  ['map.listed', 'Start a crawl of the site, or a batch of these URLs.'],
  ['budget.', 'Resume the job with a larger budget.'],
  ['limit.stored-bytes', 'Delete jobs or raise the limit of the account, then resume the job.'],
  ['login-walls', 'Log the session of the job in, then resume the job.'],
  ['CREDITS_EXHAUSTED', 'Add credits to the account, then resume the job.'],
  ['robots.unreachable', 'Try the host again later: its robots.txt could not be read.'],
  ['robots', 'Ask the owner of the site: robots.txt is obeyed.'],
  ['opt-out', 'The owner of the site does not want to be crawled.'],
  ['policy.', 'Ask the operator, whose policy file denies the host.'],
];
