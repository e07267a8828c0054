import { useMemo } from 'react';
import { formatDuration } from '../../format/format.ts';
import { Chart } from '../../kit/chart.tsx';
import { Card } from '../../kit/layout.tsx';
import type { Summary } from './queries.ts';
import { timelineSeries } from './timeline-series.ts';

/** URLs that ended over time, and those of them that failed. */
export function Throughput({
  timeline,
  isLive,
}: {
  readonly timeline: Summary['timeline'];
  readonly isLive: boolean;
}) {
  const { x, done, failed } = useMemo(() => timelineSeries(timeline), [timeline]);
  const series = useMemo(
    () => [
      { label: 'Done a second', values: done, color: 1 as const, shape: 'area' as const },
      { label: 'Failed a second', values: failed, color: 4 as const, shape: 'line' as const },
    ],
    [done, failed],
  );
  if (x.length < 2) return null;
  return (
    <Card
      title="Throughput"
      about={`URLs that ended, in steps of ${formatDuration(timeline.bucketMs)}.${isLive ? ' Drawn anew while the job runs.' : ''}`}
    >
      <Chart
        label="URLs that ended a second, over time"
        x={x}
        series={series}
        height={190}
        format={rateText}
      />
    </Card>
  );
}

const rateText = (rate: number): string => (rate >= 10 ? rate.toFixed(0) : rate.toFixed(1));
