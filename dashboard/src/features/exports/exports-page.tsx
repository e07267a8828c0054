import { Link } from '@tanstack/react-router';
import { BookOpen, Download, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format/format.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { HrefButton, IconButton, LinkButton } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, PageHeader, Row } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Tip } from '../../kit/tip.tsx';
import { useAction } from '../../kit/use-action.ts';

type Export = Item<'listExports'>;

/** Exports of all jobs. New ones are made on the page of their job. */
export function ExportsPage() {
  const list = useList(['exports', 'all'], (cursor, signal) =>
    api.get('/v1/exports', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const [deleted, setDeleted] = useState<Export | null>(null);
  const action = useAction(['exports']);
  const columns: readonly Column<Export>[] = [
    { id: 'type', head: 'Export', cell: ({ type, format }) => `${type}.${format}` },
    {
      id: 'job',
      head: 'Job',
      isWide: true,
      cell: ({ jobId }) => (
        <Link to="/jobs/$id" params={{ id: jobId }}>
          {jobId}
        </Link>
      ),
    },
    { id: 'status', head: 'State', cell: stateOf },
    { id: 'rows', head: 'Rows', align: 'end', isSecondary: true, cell: ({ rows }) => formatNumber(rows) },
    {
      id: 'size',
      head: 'Size',
      align: 'end',
      isSecondary: true,
      cell: ({ sizeBytes }) => formatBytes(sizeBytes),
    },
    { id: 'made', head: 'Made', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: 'actions',
      head: <span className="visually-hidden">Actions</span>,
      align: 'end',
      isOneLine: true,
      cell: (row) => (
        <Row>
          {row.status === 'ready' && (
            <HrefButton size="small" icon={Download} href={`/v1/exports/${row.id}/download`} download>
              Download
            </HrefButton>
          )}
          <IconButton icon={Trash2} label="Delete" size="small" onClick={() => setDeleted(row)} />
        </Row>
      ),
    },
  ];
  return (
    <>
      <PageHeader
        title="Exports"
        about="Files made from jobs: tables, archives, Markdown for language models."
      />
      <Card isFlush>
        <ListView
          list={list}
          empty={
            <EmptyState
              icon={BookOpen}
              title="No exports yet"
              actions={<LinkButton to="/jobs">Open a job</LinkButton>}
            >
              Open a job and choose Exports: CSV, Excel, JSON, Parquet, WARC, or Markdown with one file for
              each page.
            </EmptyState>
          }
        >
          {(items) => <Table label="Exports" columns={columns} rows={items} keyOf={({ id }) => id} />}
        </ListView>
      </Card>
      <ConfirmDialog
        isOpen={deleted !== null}
        onClose={() => setDeleted(null)}
        title="Delete this export?"
        about="The file is removed. The job keeps its pages, so the export can be made again."
        action="Delete export"
        onConfirm={async () => {
          if (deleted === null) return;
          await api.delete('/v1/exports/{id}', { params: { id: deleted.id } });
          await action.run(async () => {}, 'The export is deleted.');
        }}
      />
    </>
  );
}

function stateOf({ status, error }: Export) {
  if (error === null) return <StatusBadge status={status} />;
  return (
    <Tip text={`${error.message} (${error.code})`}>
      <button type="button" className="bare">
        <StatusBadge status={status} />
      </button>
    </Tip>
  );
}
