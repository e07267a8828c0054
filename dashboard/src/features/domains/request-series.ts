import type { Data } from '../../api/types.ts';

export interface RequestSeries {
  /** Beginnings of the buckets, in seconds since 1970. */
  readonly x: readonly number[];
  readonly perSecond: readonly number[];
  /** The most that the policy allows in a bucket, as a rate; null: unlimited. */
  readonly limit: number | null;
  readonly highest: number;
}

/** The last hour with every bucket, also those in which nothing was sent. */
export function requestSeries({
  from,
  until,
  bucketMs,
  points,
  limit,
}: Data<'listDomainRequests'>): RequestSeries {
  const start = Date.parse(from);
  const length = Math.round((Date.parse(until) - start) / bucketMs);
  const perSecond = Array.from({ length }, () => 0);
  for (const { at, requests } of points) {
    perSecond[Math.round((Date.parse(at) - start) / bucketMs)] = (requests * 1000) / bucketMs;
  }
  return {
    x: perSecond.map((_, index) => (start + index * bucketMs) / 1000),
    perSecond,
    limit: limit.perBucket === null ? null : (limit.perBucket * 1000) / bucketMs,
    highest: Math.max(0, ...perSecond),
  };
}
