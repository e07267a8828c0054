import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLiveEvents } from '../../app/live-events.tsx';
import { BlockSource } from '../../kit/block-source.ts';
import { canReverse, type JobRow, jobQuery, keyOf, loadRows, summaryQuery } from './queries.ts';
import type { RowSearch } from './row-search.ts';

/** How often the rows in sight are asked for again while the job runs; orders that cost the server more, less often. */
const REFRESH_MS = 4_000;
const REFRESH_SORTED_MS = 20_000;

/** The rows of a job that a search leaves, and their summary. Rows in sight follow a job that runs. */
export function useRows(jobId: string, search: RowSearch) {
  const [source, setSource] = useState<BlockSource<JobRow> | null>(null);
  const client = useQueryClient();
  const job = useQuery(jobQuery(jobId));
  const summary = useQuery(summaryQuery(jobId, search.filter));
  const hasEnded = job.data !== undefined && job.data.finishedAt !== null;

  useEffect(() => {
    const made = new BlockSource<JobRow>({ load: loadRows(jobId, search), canReverse: canReverse(search) });
    setSource(made);
    return () => made.close();
  }, [jobId, search]);

  const counted = summary.isPlaceholderData ? undefined : summary.data?.urls;
  // Until the summary is there, and without it where a job is too large to be counted, the job's own count must do.
  const isWhole = Object.keys(search.filter).every((name) => name === 'kind');
  const known = isWhole ? job.data?.progress.known : undefined;
  const isKnownExact = hasEnded && search.filter.kind === 'any';
  useEffect(() => {
    if (counted !== undefined) source?.setTotal(counted, hasEnded);
    else if (known !== undefined) source?.setTotal(known, isKnownExact);
  }, [source, counted, known, hasEnded, isKnownExact]);

  const refreshedAt = useRef(0);
  useLiveEvents((events) => {
    const wait = search.sort === 'discoveredAt' ? REFRESH_MS : REFRESH_SORTED_MS;
    if (document.hidden || Date.now() - refreshedAt.current < wait) return;
    if (!events.some(({ data }) => data.jobId === jobId || data.id === jobId)) return;
    refreshedAt.current = Date.now();
    source?.refresh();
    void client.invalidateQueries({ queryKey: keyOf(jobId, 'summary') });
  });
  return { source, summary, job };
}
