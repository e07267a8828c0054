/** Numbers of requests to a host by buckets of time, in few bytes: crawl/politeness/sent-requests.ts writes and reads them. */
export interface SentRequests {
  /** The number of the first bucket, counted from 1970. */
  readonly first: number;
  /** One number to base 36 for each bucket, separated by commas; empty where nothing was sent. */
  readonly counts: string;
}
