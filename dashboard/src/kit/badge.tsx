import type { ReactNode } from 'react';
import { words } from '../format/format.ts';
import styles from './badge.module.css';
import { cx } from './class-names.ts';
import tones from './tones.module.css';

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'idle';

export const Badge = ({
  tone = 'idle',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) => <span className={cx(styles.badge, tones[tone])}>{children}</span>;

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'idle',
  running: 'info',
  completed: 'good',
  partially_completed: 'warn',
  failed: 'bad',
  cancelled: 'idle',
  ready: 'good',
  writing: 'info',
  pending: 'idle',
  active: 'good',
  paused: 'idle',
  delivered: 'good',
  done: 'good',
  skipped: 'warn',
  open: 'info',
};

/** The state of a job, URL, export, monitor or delivery: a colour and a dot, and always the word. */
export function StatusBadge({ status }: { readonly status: string }) {
  const tone = TONES[status] ?? 'idle';
  return (
    <span className={cx(styles.badge, tones[tone])}>
      <span className={cx(styles.dot, status === 'running' && styles.live)} aria-hidden />
      {words(status)}
    </span>
  );
}

/** A status code of HTTP, coloured by its class. */
export function HttpStatus({ code }: { readonly code: number | null | undefined }) {
  if (code === null || code === undefined) return <span className={styles.none}>–</span>;
  const tone: Tone = code < 300 ? 'good' : code < 400 ? 'info' : code < 500 ? 'warn' : 'bad';
  return <Badge tone={tone}>{code}</Badge>;
}
