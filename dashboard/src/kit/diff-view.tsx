import { useMemo, useState } from 'react';
import { formatNumber, formatPercent } from '../format/format.ts';
import { Button } from './button.tsx';
import { cx } from './class-names.ts';
import { type DiffRow, type DiffSegment, type DiffSpan, diffRows } from './diff-rows.ts';
import styles from './diff-view.module.css';
import { Segmented } from './field.tsx';
import { Row, Stack } from './layout.tsx';
import { Notice } from './states.tsx';

/** Rows shown at once; the rest comes by a button, so that a text of 10,000 lines does not freeze the page. */
const STEP = 400;

export interface TextDiff {
  readonly segments: readonly DiffSegment[];
  readonly addedChars: number;
  readonly removedChars: number;
  readonly share: number;
  readonly isCoarse: boolean;
  readonly isTruncated: boolean;
}

/** Two texts side by side, or below each other, with the words that differ marked by colour, line and sign. */
export function DiffView({
  diff,
  label,
  before = 'Before',
  after = 'After',
}: {
  readonly diff: TextDiff;
  readonly label: string;
  readonly before?: string;
  readonly after?: string;
}) {
  const rows = useMemo(() => diffRows(diff.segments), [diff.segments]);
  const [shape, setShape] = useState<'side' | 'inline'>(() =>
    matchMedia('(max-width: 720px)').matches ? 'inline' : 'side',
  );
  const [limit, setLimit] = useState(STEP);
  const shown = rows.slice(0, limit);
  return (
    <Stack gap="small">
      <Row align="between">
        <span className={styles.figures}>
          <span className={styles.plus}>{`+${formatNumber(diff.addedChars)}`}</span>
          <span className={styles.minus}>{`−${formatNumber(diff.removedChars)}`}</span>
          <span>{`characters · ${formatPercent(diff.share)} changed`}</span>
        </span>
        <Segmented
          label="Layout of the comparison"
          value={shape}
          onChange={setShape}
          options={[
            { value: 'side', label: 'Side by side' },
            { value: 'inline', label: 'Inline' },
          ]}
        />
      </Row>
      {diff.isCoarse && (
        <Notice tone="info">The texts differ in too many places to compare them word by word.</Notice>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={styles.frame} aria-label={label} tabIndex={0}>
        {shape === 'side' ? (
          <SideBySide rows={shown} before={before} after={after} label={label} />
        ) : (
          <Inline rows={shown} />
        )}
      </section>
      {rows.length > limit && (
        <Row>
          <Button size="small" onClick={() => setLimit(limit + STEP)}>
            {`Show more (${formatNumber(rows.length - limit)} lines left)`}
          </Button>
        </Row>
      )}
      {diff.isTruncated && <Notice tone="info">The comparison is too long to be shown whole.</Notice>}
    </Stack>
  );
}

function SideBySide({
  rows,
  before,
  after,
  label,
}: {
  readonly rows: readonly DiffRow[];
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  return (
    <table className={styles.sides} aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{before}</th>
          <th scope="col">{after}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity beside their place
          <tr key={index}>
            {row.skippedChars === undefined ? (
              <>
                <td className={cellClass(row, 'before')}>
                  <Line spans={row.before} side="before" isChanged={row.isChanged} />
                </td>
                <td className={cellClass(row, 'after')}>
                  <Line spans={row.after} side="after" isChanged={row.isChanged} />
                </td>
              </>
            ) : (
              <td colSpan={2} className={styles.skipped}>
                {skippedText(row.skippedChars)}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const Inline = ({ rows }: { readonly rows: readonly DiffRow[] }) => (
  <div className={styles.inline}>
    {rows.map((row, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity beside their place
      <div key={index}>
        {row.skippedChars !== undefined && (
          <div className={styles.skipped}>{skippedText(row.skippedChars)}</div>
        )}
        {row.before !== null && row.isChanged && (
          <div className={styles.removedLine}>
            <Line spans={row.before} side="before" isChanged />
          </div>
        )}
        {row.after !== null && (
          <div className={row.isChanged ? styles.addedLine : styles.line}>
            <Line spans={row.after} side="after" isChanged={row.isChanged} />
          </div>
        )}
      </div>
    ))}
  </div>
);

const skippedText = (chars: number): string => `${formatNumber(chars)} characters without a change`;

function cellClass(row: DiffRow, side: 'before' | 'after'): string {
  if (row[side] === null) return styles.none ?? '';
  return cx(row.isChanged && (side === 'before' ? styles.removedLine : styles.addedLine));
}

/** One line, with its sign and with `del` or `ins` around what only this side has. */
function Line({
  spans,
  side,
  isChanged,
}: {
  readonly spans: readonly DiffSpan[] | null;
  readonly side: 'before' | 'after';
  readonly isChanged: boolean;
}) {
  if (spans === null) return null;
  const Changed = side === 'before' ? 'del' : 'ins';
  return (
    <>
      <span className={styles.sign} aria-hidden>
        {isChanged ? (side === 'before' ? '−' : '+') : ''}
      </span>
      {spans.map((span, index) =>
        span.isChanged ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity beside their place
          <Changed key={index}>{span.text}</Changed>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity beside their place
          <span key={index}>{span.text}</span>
        ),
      )}
    </>
  );
}
