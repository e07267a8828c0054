import styles from './chart.module.css';
import type { ChartProps } from './chart-canvas.tsx';
import { lazyPart, PartPlace } from './lazy-part.tsx';

export type { ChartProps } from './chart-canvas.tsx';

const ChartCanvas = lazyPart(() => import('./chart-canvas.tsx'), 'ChartCanvas');

/** Lines, areas or bars over time or over numbers. The library behind it is loaded with the first chart. */
export const Chart = (props: ChartProps) => (
  <div className={styles.chart} style={{ minHeight: (props.height ?? 200) + 32 }}>
    <PartPlace>
      <ChartCanvas {...props} />
    </PartPlace>
  </div>
);
