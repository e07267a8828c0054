import type { RetentionVerdict } from './kill-retention.ts';

/** An empty installation has less. */
const MOST_BYTES_AFTER = 1_048_576;

export function retentionProblems(verdict: RetentionVerdict): string[] {
  const { dangling, leaked, blobsAfter, bytesAfter, accountsAfter } = verdict;
  return [
    ...(accountsAfter === 0 ? [] : [`${accountsAfter} accounts although all were deleted`]),
    ...(dangling === 0 ? [] : [`${dangling} references to blobs that are not there`]),
    ...(leaked === 0 ? [] : [`${leaked} blobs without references after a sweep`]),
    ...(blobsAfter === 0 ? [] : [`${blobsAfter} blobs although all jobs were deleted`]),
    ...(bytesAfter <= MOST_BYTES_AFTER ? [] : [`${bytesAfter} bytes on disk although all jobs were deleted`]),
  ];
}
