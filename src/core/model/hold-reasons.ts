import type { ReasonSpec, ReasonsOf } from './reason-spec.ts';

/** Why the gate of a host admits no request now. */
export const HOLD_REASONS = {
  'hours.closed': { words: 'The policy allows the host only in certain hours.', code: 'OUTSIDE_HOURS' },
  'rate.retry-after': { words: 'The host has asked for a pause (Retry-After).', code: 'HOST_RATE_LIMITED' },
  'breaker.open': { words: 'The host failed too often.', code: 'CIRCUIT_OPEN' },
  'breaker.probe': {
    words: 'One request tries the host, and all others wait for its answer.',
    code: 'CIRCUIT_OPEN',
  },
  'concurrency.host': { words: 'As many requests as the policy allows at once are under way.' },
  'rate.crawl-delay': {
    words: 'The robots.txt of the host asks for a pause between requests (Crawl-delay).',
    holdWords:
      'The robots.txt of {host} asks for a pause between requests (Crawl-delay); the next one is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
  'rate.min-delay': {
    words: 'The policy asks for a pause between requests.',
    holdWords: 'The policy for {host} asks for a pause between requests; the next one is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
  'rate.bucket': {
    words: 'The policy sets a rate for the host.',
    holdWords: 'The policy for {host} sets a rate at which the next request is sent at {at}.',
    code: 'HOST_RATE_LIMITED',
  },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

export type HoldReason = ReasonsOf<typeof HOLD_REASONS>;
