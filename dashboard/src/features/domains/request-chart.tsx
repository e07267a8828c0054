import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { Chart } from '../../kit/chart.tsx';
import { Card } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import styles from './domains.module.css';
import { requestSeries } from './request-series.ts';

const HEIGHT = 190;

/** Politeness as it was really kept: requests per second of the last hour, under the limit of the policy. */
export function RequestCard({ host }: { readonly host: string }) {
  const requests = useQuery({
    queryKey: ['domains', host, 'requests'],
    queryFn: ({ signal }) => api.get('/v1/domains/{host}/requests', { params: { host }, signal }),
    refetchInterval: 10_000,
  });
  return (
    <Card
      title="Requests a second"
      about="What was really sent within the last hour, under the limit of the policy."
    >
      <div className={styles.requests}>
        <QueryView query={requests} skeleton={<Skeleton lines={1} height={HEIGHT} />}>
          {(found) => <Loaded requests={found} />}
        </QueryView>
      </div>
    </Card>
  );
}

function Loaded({ requests }: { readonly requests: Data<'listDomainRequests'> }) {
  const { x, perSecond, limit, highest } = useMemo(() => requestSeries(requests), [requests]);
  const series = useMemo(
    () => [
      { label: 'Sent a second', values: perSecond, color: 1 as const, shape: 'area' as const },
      ...(limit === null
        ? []
        : [
            {
              label: 'Limit of the policy',
              values: perSecond.map(() => limit),
              color: 4 as const,
              shape: 'line' as const,
            },
          ]),
    ],
    [perSecond, limit],
  );
  if (highest === 0) {
    return (
      <EmptyState title="Nothing was sent within the last hour">
        While a job works on this host, this shows how fast it is asked, and that the limit is kept.
      </EmptyState>
    );
  }
  const allowed = limit === null ? 'The policy sets no limit.' : `The policy allows ${rateText(limit)}.`;
  return (
    <Chart
      label={`Requests a second to this host within the last hour: ${rateText(highest)} at most. ${allowed}`}
      x={x}
      series={series}
      height={HEIGHT}
      format={rateText}
    />
  );
}

/** Slow hosts get a request in many seconds: two figures that count. */
const rateText = (rate: number): string =>
  rate >= 10 ? rate.toFixed(0) : String(Number(rate.toPrecision(2)));
