import type { ReactNode } from 'react';
import { cx } from './class-names.ts';
import styles from './layout.module.css';

/** The head of a page: its name, what it is for, and its main actions. Sets the title of the window. */
export function PageHeader({
  title,
  about,
  above,
  actions,
  windowTitle,
}: {
  readonly title: ReactNode;
  readonly about?: ReactNode;
  /** A way back, such as a link to the list. */
  readonly above?: ReactNode;
  readonly actions?: ReactNode;
  /** The title of the window, where `title` is no plain text. */
  readonly windowTitle?: string;
}) {
  const name = windowTitle ?? (typeof title === 'string' ? title : undefined);
  return (
    <header className={styles.pageHeader}>
      {name !== undefined && <title>{`${name} · Scrapifie`}</title>}
      <div className={styles.pageTitle}>
        {above !== undefined && <div className={styles.above}>{above}</div>}
        <h1>{title}</h1>
        {about !== undefined && <p className={styles.about}>{about}</p>}
      </div>
      {actions !== undefined && <div className={styles.actions}>{actions}</div>}
    </header>
  );
}

export function Card({
  title,
  about,
  actions,
  isFlush = false,
  className,
  children,
}: {
  readonly title?: ReactNode;
  readonly about?: ReactNode;
  readonly actions?: ReactNode;
  /** Without padding, for tables and lists that reach the edge. */
  readonly isFlush?: boolean;
  readonly className?: string | undefined;
  readonly children?: ReactNode;
}) {
  return (
    <section className={cx(styles.card, className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className={styles.cardHead}>
          <div>
            {title !== undefined && <h2>{title}</h2>}
            {about !== undefined && <p className={styles.about}>{about}</p>}
          </div>
          {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        </div>
      )}
      <div className={isFlush ? styles.flush : styles.cardBody}>{children}</div>
    </section>
  );
}

/** Things below each other. */
export const Stack = ({
  gap = 'normal',
  className,
  children,
}: {
  readonly gap?: 'small' | 'normal' | 'large';
  readonly className?: string | undefined;
  readonly children: ReactNode;
}) => <div className={cx(styles.stack, styles[`gap-${gap}`], className)}>{children}</div>;

/** Things beside each other, which wrap where the window is narrow. */
export const Row = ({
  align = 'center',
  className,
  children,
}: {
  readonly align?: 'center' | 'start' | 'end' | 'between';
  readonly className?: string | undefined;
  readonly children: ReactNode;
}) => <div className={cx(styles.row, styles[`align-${align}`], className)}>{children}</div>;

/** As many columns of at least `min` pixels as fit. */
export const Columns = ({
  min = 'normal',
  children,
}: {
  readonly min?: 'narrow' | 'normal' | 'wide';
  readonly children: ReactNode;
}) => <div className={cx(styles.columns, styles[`min-${min}`])}>{children}</div>;

/** A figure with its name, for the top of a page. */
export function Figure({
  label,
  value,
  about,
}: {
  readonly label: ReactNode;
  readonly value: ReactNode;
  readonly about?: ReactNode;
}) {
  return (
    <div className={styles.figure}>
      <div className={styles.figureLabel}>{label}</div>
      <div className={styles.figureValue}>{value}</div>
      {about !== undefined && <div className={styles.figureAbout}>{about}</div>}
    </div>
  );
}

/** Names and values, in two columns. Entries with `undefined` as their value are left out. */
export function KeyValues({ entries }: { readonly entries: readonly (readonly [ReactNode, ReactNode])[] }) {
  return (
    <dl className={styles.keyValues}>
      {entries
        .filter(([, value]) => value !== undefined)
        .map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity beside their place
          <div key={index}>
            <dt>{name}</dt>
            <dd>{value ?? '–'}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A share from 0 to 1 as a bar; without `value` the end is unknown. */
export function ProgressBar({
  value,
  label,
}: {
  readonly value?: number | undefined;
  readonly label: string;
}) {
  return (
    <progress
      className={styles.progress}
      aria-label={label}
      {...(value !== undefined && { value, max: 1 })}
    />
  );
}

/** Something that most people do not need, behind its title. */
export const Fold = ({ title, children }: { readonly title: ReactNode; readonly children: ReactNode }) => (
  <details className={styles.fold}>
    <summary>{title}</summary>
    <div className={styles.foldBody}>{children}</div>
  </details>
);
