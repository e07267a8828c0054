import { formatNumber } from '../../format/format.ts';
import { Table } from '../../kit/table.tsx';
import type { QueryResult } from './query-page.tsx';

/** A value of a row as text. Lists and objects are shown as JSON. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return '–';
  return typeof value === 'number' ? formatNumber(value) : textOf(value);
};

interface KeyedRow {
  readonly key: string;
  readonly item: Readonly<Record<string, unknown>>;
}

export function ResultTable({ result }: { readonly result: QueryResult }) {
  const rows = result.items.map(
    (item, index): KeyedRow => ({ item: item as KeyedRow['item'], key: String(index) }),
  );
  return (
    <Table<KeyedRow>
      label="Result"
      rows={rows}
      keyOf={({ key }) => key}
      columns={result.columns.map(({ name, type }) => ({
        id: name,
        head: name,
        cell: ({ item }) => cellOf(item[name]),
        ...(/number|int|double|decimal/i.test(type) && { align: 'end' as const }),
      }))}
    />
  );
}
