import { lazy, Suspense } from 'react';
import styles from './chart.module.css';
import type { ChartProps } from './chart-canvas.tsx';

export type { ChartProps } from './chart-canvas.tsx';

const ChartCanvas = lazy(() => import('./chart-canvas.tsx'));

/** Lines, areas or bars over time or over numbers. The library behind it is loaded with the first chart. */
export const Chart = (props: ChartProps) => (
  <div className={styles.chart} style={{ minHeight: (props.height ?? 200) + 32 }}>
    <Suspense fallback={null}>
      <ChartCanvas {...props} />
    </Suspense>
  </div>
);
