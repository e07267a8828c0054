import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatCompact, formatDateTime } from '../format/format.ts';
import { useThemeName } from './theme.ts';

export interface Series {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A colour of the tokens, 1 to 6. */
  readonly color?: 1 | 2 | 3 | 4 | 5 | 6;
  readonly shape?: 'line' | 'area' | 'bars';
}

export interface ChartProps {
  /** What the chart shows, for screen readers. */
  readonly label: string;
  /** Seconds since 1970 where `isTime`, any numbers otherwise; rising. */
  readonly x: readonly number[];
  readonly series: readonly Series[];
  readonly isTime?: boolean;
  /** Times are days of the world's clock, such as those of usage, and are not moved into the viewer's zone. */
  readonly isUtc?: boolean;
  readonly height?: number;
  readonly format?: (value: number) => string;
}

const token = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** `light-dark()` is resolved by the browser only where a colour is used, so a hidden element is asked. */
function colorOf(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Steps between the marks of a time axis, in seconds. The library's own begin at a thousandth of a second. */
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 4, 6, 8, 12].map((hours) => hours * HOUR),
  ...[1, 2, 3, 5, 7, 10, 15, 30, 60, 90, 180, 365].map((days) => days * DAY),
];

const timeText = (at: number, isUtc: boolean): string =>
  isUtc ? new Date(at * 1000).toISOString().slice(0, 10) : formatDateTime(at * 1000);

export function ChartCanvas({
  label,
  x,
  series,
  isTime = true,
  isUtc = false,
  height = 200,
  format = formatCompact,
}: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const theme = useThemeName();
  const shape = JSON.stringify([
    theme,
    isTime,
    height,
    series.map((entry) => [entry.label, entry.color, entry.shape]),
  ]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new plot only for another shape; the values come below
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const axis = {
      stroke: colorOf('--text-3'),
      grid: { stroke: colorOf('--border'), width: 1 },
      ticks: { show: false },
    };
    const font = `11px ${token('--font')}`;
    const bars = uPlot.paths.bars?.({ size: [0.7, 40] });
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        scales: {
          x: { time: isTime },
          y: { range: (_, min, max) => [Math.min(0, min), max <= 0 ? 1 : max * 1.1] },
        },
        axes: [
          { ...axis, font, ...(isTime && { incrs: TIME_STEPS }) },
          { ...axis, font, size: 56, values: (_, values) => values.map((value) => format(value)) },
        ],
        series: [
          { value: (_, at) => (at === null ? '' : isTime ? timeText(at, isUtc) : format(at)) },
          ...series.map((entry, index): uPlot.Series => {
            const stroke = colorOf(`--series-${entry.color ?? (index % 6) + 1}`);
            return {
              label: entry.label,
              stroke,
              width: 1.75,
              points: { show: false },
              value: (_, value) => (value === null ? '–' : format(value)),
              ...(entry.shape === 'area' && { fill: stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.14)') }),
              ...(entry.shape === 'bars' && bars && { paths: bars, fill: stroke }),
            };
          }),
        ],
        legend: { live: true },
        ...(isUtc && { tzDate: (at: number) => uPlot.tzDate(new Date(at * 1000), 'Etc/UTC') }),
        cursor: { y: false },
      },
      [[...x], ...series.map(({ values }) => [...values])],
      element,
    );
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);

  useEffect(() => {
    plot.current?.setData([[...x], ...series.map(({ values }) => [...values])]);
  }, [x, series]);

  return <div ref={host} role="img" aria-label={label} />;
}
