import { useSyncExternalStore } from 'react';
import { formatExact, formatRelative } from '../format/format.ts';
import styles from './time.module.css';
import { Tip } from './tip.tsx';

/** One clock for all times of a page: each component reads it, none has a timer of its own. */
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) now = Date.now();
  listeners.add(listener);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 10_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** The present time, which changes every ten seconds. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);

/** A time as people say it, with the exact one in the viewer's zone on hover and focus. */
export function Time({ at }: { readonly at: string | number | null | undefined }) {
  const present = useNow();
  if (at === null || at === undefined) return <span className={styles.none}>–</span>;
  return (
    <Tip text={formatExact(at)}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time must be reachable by keyboard */}
      <time dateTime={new Date(at).toISOString()} className={styles.time} tabIndex={0}>
        {formatRelative(at, present)}
      </time>
    </Tip>
  );
}
