import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { asApiError } from '../../api/api-error.ts';
import { api } from '../../api/client.ts';
import type { Body } from '../../api/types.ts';
import { formatDuration, formatNumber } from '../../format/format.ts';
import { Card, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { FailureNotice, Skeleton } from '../../kit/states.tsx';
import { bodyOf, type JobForm, jobFormSchema } from './job-form.ts';
import styles from './new-job.module.css';

type EstimateBody = Body<'estimateJob'>;

const TYPING_MS = 600;

/** The same value a moment after its last change. */
function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Pages, time and credits that the job will take, as far as that is known before. */
export function EstimateCard({ form, mapId }: { readonly form: JobForm; readonly mapId: string | null }) {
  const text = useSettled(JSON.stringify(form));
  const settled = useMemo(() => JSON.parse(text) as JobForm, [text]);
  const canAsk = jobFormSchema.safeParse(settled).success;
  const { data, error, isFetching } = useQuery({
    queryKey: ['estimate', text, mapId],
    queryFn: ({ signal }) => {
      const job = { kind: settled.kind === 'batch' ? 'batch' : 'crawl', ...bodyOf(settled) };
      return api.post('/v1/estimate', { body: { job, mapId } as EstimateBody, signal });
    },
    enabled: canAsk,
    retry: false,
    staleTime: 60_000,
    placeholderData: (before) => before,
  });
  return (
    <Card title="Estimate" {...(isFetching && { about: 'Being worked out…' })}>
      {!canAsk ? (
        <p className={styles.why}>Enter a URL to see what the job will take.</p>
      ) : error !== null ? (
        <EstimateFailure failure={error} />
      ) : data === undefined ? (
        <Skeleton lines={4} />
      ) : (
        <Stack gap="small">
          <dl className={styles.figures}>
            <dt>Pages</dt>
            <dd>{rangeOf(data.pages, formatNumber)}</dd>
            <dt>Time</dt>
            <dd>{rangeOf(data.durationMs, formatDuration)}</dd>
            <dt>Credits</dt>
            <dd>{rangeOf(data.credits, formatNumber)}</dd>
          </dl>
          <ul className={styles.reasons}>
            {data.reasons.map((reason) => (
              <li key={reason}>
                <Sentence text={reason} />
              </li>
            ))}
            {data.hosts.slice(0, 3).map(({ host, reason }) => (
              <li key={host}>
                <Sentence text={`${host}: ${reason}`} />
              </li>
            ))}
          </ul>
        </Stack>
      )}
    </Card>
  );
}

/** A request that is wrong shows its problems at the fields when it is sent; here one sentence is enough. */
const EstimateFailure = ({ failure }: { readonly failure: unknown }) => {
  const [problem] = asApiError(failure).problems;
  return problem === undefined ? (
    <FailureNotice failure={failure} />
  ) : (
    <p className={styles.why}>
      <Sentence text={`No estimate yet. ${problem.field.replace(/^job\./, '')}: ${problem.message}`} />
    </p>
  );
};

const rangeOf = (
  { low, high }: { readonly low: number; readonly high: number | null },
  format: (value: number) => string,
): string => {
  if (high === null) return `${format(low)} or more`;
  return format(low) === format(high) ? format(low) : `${format(low)} – ${format(high)}`;
};
