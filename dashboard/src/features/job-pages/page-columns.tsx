import { formatBytes, formatDateTime, formatDuration, formatNumber, shortUrl } from '../../format/format.ts';
import { HttpStatus, StatusBadge } from '../../kit/badge.tsx';
import type { GridColumn } from '../../kit/data-grid.tsx';
import styles from './job-pages.module.css';
import { pageHref } from './page-address.ts';
import type { JobRow } from './queries.ts';

const none = <span className={styles.none}>–</span>;
const shown = <T,>(value: T | null, told: (value: T) => string) => (value === null ? none : told(value));

/** Without the tip that `Time` has: thousands of these pass by while one scrolls. */
const when = (at: string | null) => (at === null ? none : <time dateTime={at}>{formatDateTime(at)}</time>);

export interface PageColumn extends GridColumn<JobRow> {
  /** For the list of columns. */
  readonly name: string;
}

/** Columns that can be shown, in their order. */
export const pageColumns = (jobId: string, isNarrow: boolean): readonly PageColumn[] => [
  {
    id: 'url',
    name: 'URL',
    head: 'URL',
    width: isNarrow ? 150 : 220,
    grow: 3,
    isSortable: true,
    cell: ({ url }) => (
      // The row has the click; the link is for opening another tab and for copying the address.
      <a href={pageHref(jobId, url)} className={styles.rowLink} tabIndex={-1} title={url}>
        {shortUrl(url)}
      </a>
    ),
  },
  {
    id: 'state',
    name: 'State',
    head: 'State',
    width: 108,
    cell: ({ state }) => <StatusBadge status={state} />,
  },
  {
    id: 'statusCode',
    name: 'Status',
    head: 'Status',
    width: 78,
    isSortable: true,
    cell: ({ statusCode }) => <HttpStatus code={statusCode} />,
  },
  {
    id: 'title',
    name: 'Title',
    head: 'Title',
    width: 160,
    grow: 2,
    isSortable: true,
    cell: ({ title, message }) =>
      title ?? (message === null ? none : <span className={styles.quiet}>{message}</span>),
  },
  {
    id: 'contentType',
    name: 'Type',
    head: 'Type',
    width: 130,
    cell: ({ contentType }) => shown(contentType, (type) => type.split(';')[0] ?? type),
  },
  {
    id: 'bytes',
    name: 'Size',
    head: 'Size',
    width: 90,
    align: 'end',
    isSortable: true,
    cell: ({ bytes }) => shown(bytes, formatBytes),
  },
  {
    id: 'durationMs',
    name: 'Duration',
    head: 'Duration',
    width: 96,
    align: 'end',
    isSortable: true,
    cell: ({ durationMs }) => shown(durationMs, formatDuration),
  },
  {
    id: 'engine',
    name: 'Engine',
    head: 'Engine',
    width: 100,
    cell: ({ engine }) => engine ?? none,
  },
  {
    id: 'attempts',
    name: 'Attempts',
    head: 'Attempts',
    width: 88,
    align: 'end',
    cell: ({ attempts }) => formatNumber(attempts),
  },
  {
    id: 'credits',
    name: 'Credits',
    head: 'Credits',
    width: 84,
    align: 'end',
    cell: ({ credits }) => formatNumber(credits),
  },
  {
    id: 'depth',
    name: 'Depth',
    head: 'Depth',
    width: 76,
    align: 'end',
    isSortable: true,
    cell: ({ depth }) => depth,
  },
  {
    id: 'reason',
    name: 'Reason',
    head: 'Reason',
    width: 200,
    grow: 2,
    cell: ({ message }) => (message === null ? none : <span title={message}>{message}</span>),
  },
  {
    id: 'rule',
    name: 'Rule or error',
    head: 'Rule or error',
    width: 170,
    cell: ({ errorCode, rule }) => {
      const name = errorCode ?? rule;
      return name === null ? none : <code title={name}>{name}</code>;
    },
  },
  {
    id: 'foundOn',
    name: 'Found on',
    head: 'Found on',
    width: 180,
    grow: 1,
    cell: ({ foundOn, foundBy }) => (foundOn === null ? foundBy : shortUrl(foundOn)),
  },
  {
    id: 'finishedAt',
    name: 'Finished',
    head: 'Finished',
    width: 176,
    isSortable: true,
    cell: ({ finishedAt }) => when(finishedAt),
  },
  {
    id: 'discoveredAt',
    name: 'Discovered',
    head: 'Discovered',
    width: 176,
    isSortable: true,
    cell: ({ discoveredAt }) => when(discoveredAt),
  },
];

export const DEFAULT_COLUMNS = [
  'url',
  'state',
  'statusCode',
  'title',
  'bytes',
  'durationMs',
  'engine',
  'finishedAt',
] as const;
/** What fits a phone. */
export const NARROW_COLUMNS = ['url', 'state', 'statusCode'] as const;
