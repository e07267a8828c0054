import { useQuery } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { formatBytes, formatDateTime, formatNumber } from '../../format/format.ts';
import { Segmented } from '../../kit/field.tsx';
import { Card, Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import styles from './page-views.module.css';
import { type DiffMode, type Snapshot, versionsQuery } from './queries.ts';
import { useAddress } from './row-search.ts';
import { VersionDiff } from './version-diff.tsx';

const MODES: readonly { readonly value: DiffMode; readonly label: string }[] = [
  { value: 'text', label: 'Text' },
  { value: 'fields', label: 'Fields' },
  { value: 'visual', label: 'Visual' },
];

/** Each content that was seen at the URL, over all jobs that keep snapshots, and how two of them differ. */
export function VersionsView({ url }: { readonly url: string }) {
  const query = useQuery(versionsQuery(url));
  return (
    <QueryView query={query} skeleton={<Skeleton lines={6} />}>
      {({ items }) =>
        items.length === 0 ? (
          <Card>
            <EmptyState icon={History} title="No versions of this page">
              Crawls with <code>snapshots: true</code> and monitors keep each different content of a page. Two
              of them can be compared here.
            </EmptyState>
          </Card>
        ) : (
          <Versions versions={items} />
        )
      }
    </QueryView>
  );
}

function Versions({ versions }: { readonly versions: readonly Snapshot[] }) {
  const [raw, change] = useAddress();
  const find = (id: unknown) => versions.find((version) => version.id === id);
  const after = find(raw.after) ?? versions[0];
  const before = find(raw.before) ?? versions.find((version) => version !== after);
  const mode = MODES.find(({ value }) => value === raw.diff)?.value ?? 'text';
  const choice = (name: 'before' | 'after', chosen: Snapshot | undefined) => (version: Snapshot) => (
    <input
      type="radio"
      className={styles.radio}
      name={name}
      aria-label={`${name === 'before' ? 'Compare from' : 'Compare to'} the version of ${formatDateTime(version.firstSeenAt)}`}
      checked={version.id === chosen?.id}
      onChange={() => change({ [name]: version.id })}
    />
  );
  return (
    <Stack>
      <Card title={`Versions (${formatNumber(versions.length)})`} about="Choose two to compare them." isFlush>
        <Table
          label="Versions"
          rows={versions}
          keyOf={({ id }) => id}
          columns={[
            ...(versions.length > 1
              ? [
                  { id: 'before', head: 'From', cell: choice('before', before) },
                  { id: 'after', head: 'To', cell: choice('after', after) },
                ]
              : []),
            { id: 'first', head: 'First seen', cell: ({ firstSeenAt }) => <Time at={firstSeenAt} /> },
            {
              id: 'last',
              head: 'Last seen',
              isSecondary: true,
              cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
            },
            { id: 'title', head: 'Title', isWide: true, cell: ({ title }) => title ?? '–' },
            {
              id: 'price',
              head: 'Price',
              align: 'end',
              isSecondary: true,
              cell: ({ price, currency }) =>
                price === null ? '–' : `${formatNumber(price)} ${currency ?? ''}`,
            },
            {
              id: 'times',
              head: 'Seen',
              align: 'end',
              isSecondary: true,
              cell: ({ timesSeen }) => `${formatNumber(timesSeen)}×`,
            },
            {
              id: 'size',
              head: 'Size',
              align: 'end',
              isSecondary: true,
              cell: ({ bytes }) => formatBytes(bytes),
            },
          ]}
        />
      </Card>
      {before !== undefined && after !== undefined && (
        <Card
          title="What changed"
          actions={
            <Segmented
              label="What to compare"
              value={mode}
              options={MODES}
              onChange={(value) => change({ diff: value })}
            />
          }
        >
          {before.id === after.id ? (
            <p className={styles.note}>Choose two different versions.</p>
          ) : (
            <VersionDiff {...inOrder(before, after)} mode={mode} />
          )}
        </Card>
      )}
    </Stack>
  );
}

/** The earlier one first, whichever was chosen as which. */
const inOrder = (one: Snapshot, other: Snapshot) =>
  one.firstSeenAt <= other.firstSeenAt ? { before: one, after: other } : { before: other, after: one };
