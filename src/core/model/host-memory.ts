/**
 * What a host has taught: which ways it lets in, and which of its pages can be read without scripts. It is plain
 * JSON and stays below a kilobyte, because it is written with the host's row. Older results count less, with a half-life of half a day.
 */
export interface HostMemory {
  /** By way: let in, or kept out. */
  readonly ways: Readonly<Record<string, OutcomeTally>>;
  /** By shape of URL: whole without scripts, or an empty shell. */
  readonly shapes: Readonly<Record<string, OutcomeTally>>;
  /** When a cheaper way was last tried again although it is not expected to work. */
  readonly probedAt: number;
}

/** Good and bad experiences that fade, and when they were last written down, in minutes since 1970. */
export type OutcomeTally = readonly [good: number, bad: number, atMinute: number];

/** Numbers of requests to a host by buckets of time, in few bytes: crawl/politeness/sent-requests.ts writes and reads them. */
export interface SentRequests {
  /** The number of the first bucket, counted from 1970. */
  readonly first: number;
  /** One number to base 36 for each bucket, separated by commas; empty where nothing was sent. */
  readonly counts: string;
}
