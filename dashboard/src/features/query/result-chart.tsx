import { Chart } from '../../kit/chart.tsx';
import { EmptyState } from '../../kit/states.tsx';
import styles from './query.module.css';
import type { QueryResult } from './query-page.tsx';

type Row = Readonly<Record<string, unknown>>;
const MOST_BARS = 30;

/** Times and numbers as a line; other groups as bars with their names. */
export function ResultChart({ result }: { readonly result: QueryResult }) {
  const rows = result.items as readonly Row[];
  const names = result.columns.map(({ name }) => name);
  const numbers = names.filter((name) => rows.some((row) => typeof row[name] === 'number'));
  const x = names.find((name) => rows.every((row) => isTime(row[name])));
  const series = numbers.filter((name) => name !== x);
  if (series.length === 0) {
    return (
      <EmptyState title="Nothing to draw">
        A chart needs a column of numbers, such as a count for each group.
      </EmptyState>
    );
  }
  if (x !== undefined) {
    const sorted = rows.toSorted((a, b) => seconds(a[x]) - seconds(b[x]));
    return (
      <div className={styles.chart}>
        <Chart
          label={`${series.join(', ')} over ${x}`}
          x={sorted.map((row) => seconds(row[x]))}
          series={series.map((name) => ({
            label: name,
            values: sorted.map((row) => numberOf(row[name])),
            shape: 'area',
          }))}
          height={280}
        />
      </div>
    );
  }
  // Columns of the groups come first in an answer, what was counted in each group behind them.
  const value = series.at(-1) ?? '';
  const label = names.find((name) => name !== value) ?? value;
  return <Bars rows={rows.slice(0, MOST_BARS)} label={label} value={value} />;
}

function Bars({
  rows,
  label,
  value,
}: {
  readonly rows: readonly Row[];
  readonly label: string;
  readonly value: string;
}) {
  const most = Math.max(1, ...rows.map((row) => numberOf(row[value]) ?? 0));
  return (
    <table className={styles.bars} aria-label={`${value} by ${label}`}>
      <tbody>
        {rows.map((row) => (
          <tr key={String(row[label])}>
            <th scope="row">{String(row[label] ?? '–')}</th>
            <td>
              <span
                className={styles.bar}
                style={{ width: `${((numberOf(row[value]) ?? 0) / most) * 100}%` }}
              />
            </td>
            <td className={styles.value}>{String(row[value] ?? '')}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const isTime = (value: unknown): boolean => typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value);
const seconds = (value: unknown): number => Date.parse(String(value)) / 1000;
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
