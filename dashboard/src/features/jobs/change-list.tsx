import { useQuery } from '@tanstack/react-query';
import { Equal } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { SiteChange } from '../../api/types.ts';
import { formatNumber, formatPercent, shortUrl, words } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { cx } from '../../kit/class-names.ts';
import { CodeSamples } from '../../kit/code-samples.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { Card, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState, FailureNotice, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { CHANGE_TYPES, ChangeBadge, type ChangeType } from './change-badge.tsx';
import { ChangeSheet } from './change-sheet.tsx';
import styles from './compare.module.css';

/** With screenshots among what counts as a change; the rest is what counts by default. */
const WITH_SCREENSHOTS = JSON.stringify({
  watch: { text: true, fields: ['title', 'price', 'currency', 'availability'], screenshot: true },
});

/** The changes between two jobs, with a filter by type; a row opens its change side by side. */
export function ChangeList({ jobId, against }: { readonly jobId: string; readonly against: string }) {
  const [type, setType] = useState<ChangeType | null>(null);
  const [isVisual, setIsVisual] = useState(false);
  const [open, setOpen] = useState<SiteChange | null>(null);
  const rules = isVisual ? { rules: WITH_SCREENSHOTS } : {};
  const query = { against, ...(type && { type }), ...rules };
  const summary = useQuery({
    queryKey: ['job-diff', jobId, against, 'summary', isVisual],
    queryFn: ({ signal }) =>
      api.get('/v1/jobs/{id}/diff', {
        params: { id: jobId },
        query: { against, ...rules, summary: 'true', limit: 1 },
        signal,
      }),
    staleTime: 60_000,
  });
  const list = useList<SiteChange>(['job-diff', jobId, query], (cursor, signal) =>
    api.get('/v1/jobs/{id}/diff', {
      params: { id: jobId },
      query: { ...query, limit: 50, ...(cursor && { cursor }) },
      signal,
    }),
  );
  const counts = summary.data?.summary?.counts;
  return (
    <Stack>
      {summary.error !== null && <FailureNotice failure={summary.error} />}
      <fieldset className={styles.counts}>
        <legend className="visually-hidden">Type of change</legend>
        {CHANGE_TYPES.map(([each, tone, sign]) => (
          <button
            key={each}
            type="button"
            className={cx(styles.count, styles[tone])}
            aria-pressed={type === each}
            onClick={() => setType(type === each ? null : each)}
          >
            <span className={styles.number}>
              <span aria-hidden>{sign}</span> {counts === undefined ? '…' : formatNumber(counts[each])}
            </span>
            <span>{words(each.toLowerCase())}</span>
          </button>
        ))}
      </fieldset>
      {summary.data?.summary?.isWhole === false && <p className={styles.note}>Of the first 10,000 URLs.</p>}
      <Card
        title={type === null ? 'Changes' : `Changes: ${words(type.toLowerCase())}`}
        actions={
          <Checkbox
            label="Compare screenshots too"
            checked={isVisual}
            onChange={(event) => setIsVisual(event.target.checked)}
          />
        }
        isFlush
      >
        <ListView list={list} empty={<NoChange isFiltered={type !== null} />}>
          {(changes) =>
            changes.length === 0 ? <Skeleton lines={3} /> : <Changes changes={changes} onOpen={setOpen} />
          }
        </ListView>
      </Card>
      <details className={styles.code}>
        <summary>This comparison as code</summary>
        <CodeSamples
          request={{ method: 'GET', path: `/v1/jobs/${jobId}/diff?${new URLSearchParams(query)}` }}
        />
      </details>
      {open !== null && (
        <ChangeSheet change={open} jobId={jobId} against={against} onClose={() => setOpen(null)} />
      )}
    </Stack>
  );
}

function Changes({
  changes,
  onOpen,
}: {
  readonly changes: readonly SiteChange[];
  readonly onOpen: (change: SiteChange) => void;
}) {
  return (
    <Table
      label="Changes"
      rows={changes}
      keyOf={({ type, url, previousUrl }) => `${type} ${url} ${previousUrl}`}
      columns={[
        { id: 'type', head: 'Change', cell: ({ type }) => <ChangeBadge type={type} /> },
        {
          id: 'url',
          head: 'Page',
          isWide: true,
          cell: (change) => (
            <button type="button" className={cx('bare', styles.open)} onClick={() => onOpen(change)}>
              {shortUrl(change.url)}
            </button>
          ),
        },
        { id: 'what', head: 'What', cell: (change) => <What change={change} /> },
        {
          id: 'share',
          head: 'Text changed',
          align: 'end',
          isSecondary: true,
          cell: ({ comparison }) => {
            const share = comparison?.texts[0]?.diff.share;
            return share === undefined ? '–' : formatPercent(share);
          },
        },
      ]}
    />
  );
}

function What({ change }: { readonly change: SiteChange }) {
  if (change.changed.length > 0) {
    return (
      <Row>
        {change.changed.slice(0, 6).map((name) => (
          <Badge key={name}>{name}</Badge>
        ))}
      </Row>
    );
  }
  if (change.previousUrl !== null)
    return <span className={styles.reason}>{`from ${shortUrl(change.previousUrl)}`}</span>;
  return <span className={styles.reason}>{change.reason?.message ?? '–'}</span>;
}

const NoChange = ({ isFiltered }: { readonly isFiltered: boolean }) => (
  <EmptyState icon={Equal} title={isFiltered ? 'No change of this type' : 'Nothing has changed'}>
    {isFiltered
      ? 'Choose another type above.'
      : 'Every page that both jobs have is the same, by what is compared.'}
  </EmptyState>
);
