import { formatDuration } from '../../../format/format.ts';
import { Stack } from '../../../kit/layout.tsx';
import { EmptyState } from '../../../kit/states.tsx';
import styles from './result.module.css';
import type { Run } from './run.ts';
import { timingBars } from './timing-bars.ts';

/** When each part of the work began and how long it took. */
export function TimingTab({ run }: { readonly run: Run }) {
  const { bars, totalMs } = timingBars(run.attempts, run.page.actions ?? [], run.totalMs);
  if (bars.length === 0) {
    return (
      <EmptyState title="No request was made">
        A stored page answered, so no time was spent on the network.
      </EmptyState>
    );
  }
  return (
    <Stack gap="small">
      <p
        className={styles.faint}
      >{`${formatDuration(totalMs)} in all, from the first look at the URL to the end.`}</p>
      <ol className={styles.waterfall} aria-label="Timing">
        {bars.map((bar, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is known by its place
          <li key={index} className={styles.bar}>
            <span className={styles.barLabel}>{bar.label}</span>
            <span className={styles.track} aria-hidden>
              <span
                className={styles[bar.kind]}
                style={{
                  left: `${(100 * bar.startMs) / totalMs}%`,
                  width: `max(2px, ${(100 * bar.ms) / totalMs}%)`,
                }}
              />
            </span>
            <span className={styles.barTime}>{formatDuration(bar.ms)}</span>
          </li>
        ))}
      </ol>
    </Stack>
  );
}
