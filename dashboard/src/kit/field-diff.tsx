import { formatNumber, formatPercent, words } from '../format/format.ts';
import { Badge, type Tone } from './badge.tsx';
import styles from './diff-view.module.css';
import { Table } from './table.tsx';

/** A value of a page that differs between two versions of it, as the API gives it. */
export interface FieldChange {
  readonly field: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before: unknown;
  readonly after: unknown;
  readonly difference?: number | undefined;
  readonly share?: number | undefined;
}

const TONES: Readonly<Record<FieldChange['kind'], Tone>> = { added: 'good', removed: 'bad', changed: 'info' };

const textOf = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

const signed = (value: number): string => (value > 0 ? `+${formatNumber(value)}` : formatNumber(value));

/** Fields of a page before and after, a row each. */
export const FieldDiff = ({ fields }: { readonly fields: readonly FieldChange[] }) => (
  <Table
    label="Changed fields"
    rows={fields}
    keyOf={({ field }) => field}
    columns={[
      { id: 'field', head: 'Field', cell: ({ field }) => <code>{field}</code> },
      { id: 'kind', head: 'Change', cell: ({ kind }) => <Badge tone={TONES[kind]}>{words(kind)}</Badge> },
      {
        id: 'before',
        head: 'Before',
        cell: ({ before }) => <span className={styles.value}>{textOf(before)}</span>,
      },
      {
        id: 'after',
        head: 'After',
        cell: ({ after }) => <span className={styles.value}>{textOf(after)}</span>,
      },
      {
        id: 'difference',
        head: 'Difference',
        align: 'end',
        isSecondary: true,
        cell: ({ difference, share }) =>
          difference === undefined
            ? '–'
            : `${signed(difference)}${share === undefined ? '' : ` (${formatPercent(share)})`}`,
      },
    ]}
  />
);
