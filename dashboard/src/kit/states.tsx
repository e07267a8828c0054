import type { UseQueryResult } from '@tanstack/react-query';
import { CircleAlert, type LucideIcon, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import { type ApiError, asApiError } from '../api/api-error.ts';
import { formatDuration } from '../format/format.ts';
import { Button } from './button.tsx';
import { cx } from './class-names.ts';
import { Sentence } from './sentence.tsx';
import styles from './states.module.css';
import tones from './tones.module.css';

/** Shown where a list is empty: what would stand here, and how to get the first one. */
export function EmptyState({
  icon: Icon,
  title,
  isPage = false,
  actions,
  children,
}: {
  readonly icon?: LucideIcon;
  readonly title: string;
  /** The state stands in place of a whole page, and its title is that of the page. */
  readonly isPage?: boolean;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  const Heading = isPage ? 'h1' : 'h3';
  return (
    <div className={styles.empty}>
      {isPage && <title>{`${title} · Scrapifie`}</title>}
      {Icon && (
        <span className={styles.emptyIcon}>
          <Icon size={22} aria-hidden />
        </span>
      )}
      <Heading>{title}</Heading>
      {children !== undefined && <div className={styles.emptyText}>{children}</div>}
      {actions !== undefined && <div className={styles.emptyActions}>{actions}</div>}
    </div>
  );
}

/** What to do about a failure, where the server's own message does not say it. */
function adviceOf(error: ApiError): string | null {
  if (error.isConnection) return 'The page tries again by itself when the connection is back.';
  if (error.isSignedOut) return 'Sign in again: the key behind this session was revoked or has expired.';
  if (error.code === 'FORBIDDEN')
    return 'This key lacks a right. Sign in with another key, or ask an administrator.';
  if (error.isGone) return 'It may have been deleted meanwhile, or belongs to another account.';
  if (error.status === 402) return 'Ask an administrator for credits, or lower the limits of the request.';
  if (error.retryAfterSeconds !== null)
    return `Try again in ${formatDuration(error.retryAfterSeconds * 1000)}.`;
  return null;
}

function titleOf(error: ApiError): string {
  if (error.isGone) return 'Not found';
  return error.isConnection ? 'No connection to the server' : 'This did not work';
}

/** A failure in place of content, with a button that tries again. */
export function FailureState({
  failure,
  onRetry,
  isPage = false,
}: {
  readonly failure: unknown;
  readonly onRetry?: () => void;
  /** The state stands in place of a whole page, and its title is that of the page. */
  readonly isPage?: boolean;
}) {
  const error = asApiError(failure);
  const Heading = isPage ? 'h1' : 'h3';
  const title = titleOf(error);
  return (
    <div className={styles.failure} role="alert">
      {isPage && <title>{`${title} · Scrapifie`}</title>}
      <CircleAlert size={20} aria-hidden />
      <div>
        <Heading>{title}</Heading>
        <p>
          <Sentence text={error.message} />
        </p>
        {adviceOf(error) !== null && <p className={styles.advice}>{adviceOf(error)}</p>}
        <p className={styles.code}>
          {error.code}
          {error.requestId !== null && ` · request ${error.requestId}`}
        </p>
        {onRetry && (
          <Button icon={RotateCw} size="small" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

/** A failure of an action, beside the form or button that caused it. */
export function FailureNotice({
  failure,
  isSigningIn = false,
}: {
  readonly failure: unknown;
  /** There is no session yet that could have ended. */
  readonly isSigningIn?: boolean;
}) {
  const error = asApiError(failure);
  const advice = isSigningIn && error.isSignedOut ? null : adviceOf(error);
  return (
    <Notice tone="bad">
      <Sentence text={error.message} />
      {error.problems.length > 0 && (
        <ul>
          {error.problems.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code>: <Sentence text={message} />
            </li>
          ))}
        </ul>
      )}
      {advice !== null && <div>{advice}</div>}
    </Notice>
  );
}

export const Notice = ({
  tone = 'info',
  children,
}: {
  readonly tone?: 'info' | 'warn' | 'bad' | 'good';
  readonly children: ReactNode;
}) => (
  <div className={cx(styles.notice, tones[tone])} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
);

/** The place of content that is on its way, of the same height, so that nothing moves when it comes. */
export const Skeleton = ({ lines = 3, height }: { readonly lines?: number; readonly height?: number }) => (
  <div className={styles.skeleton} aria-hidden>
    {Array.from({ length: lines }, (_, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: lines are all alike
      <span key={index} {...(height !== undefined && { style: { height } })} />
    ))}
  </div>
);

/** What a query has brought; meanwhile a skeleton, and a failure with a way to try again. */
export function QueryView<T>({
  query,
  skeleton,
  isPage = false,
  children,
}: {
  readonly query: UseQueryResult<T>;
  readonly skeleton?: ReactNode;
  /** The query fills a whole page: a failure then has the heading of a page. */
  readonly isPage?: boolean;
  readonly children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null)
    return <FailureState isPage={isPage} failure={query.error} onRetry={() => void query.refetch()} />;
  return skeleton ?? <Skeleton />;
}
