import { useQuery } from '@tanstack/react-query';
import { Download, FileDown, Link2, Trash2 } from 'lucide-react';
import { EXPORT_TYPES } from '../../api/choices.ts';
import { api } from '../../api/client.ts';
import type { Export, Job } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format/format.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { HrefButton, IconButton } from '../../kit/button.tsx';
import { Card, Stack } from '../../kit/layout.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toasts.tsx';
import { useAction } from '../../kit/use-action.ts';
import { ExportForm } from './export-form.tsx';
import { FORMAT_NAMES } from './export-kinds.ts';
import styles from './exports.module.css';
import { exportsQuery } from './queries.ts';

/** Files of the job: those that are there or being written, and a form for another one. */
export function ExportsTab({ job }: { readonly job: Job }) {
  const query = useQuery(exportsQuery(job.id));
  return (
    <Stack>
      <ExportForm job={job} />
      <Card title="Files" isFlush>
        <QueryView query={query} skeleton={<Skeleton lines={3} height={38} />}>
          {({ items }) => (items.length === 0 ? <NoExports /> : <ExportList exports={items} />)}
        </QueryView>
      </Card>
    </Stack>
  );
}

const NoExports = () => (
  <EmptyState icon={FileDown} title="No files yet">
    Choose above what you need and in which format. The file is written in the background and stays here for
    download.
  </EmptyState>
);

const typeName = (type: Export['type']): string =>
  EXPORT_TYPES.find(({ value }) => value === type)?.label ?? type;

function ExportList({ exports }: { readonly exports: readonly Export[] }) {
  return (
    <Table
      label="Exports of the job"
      rows={exports}
      keyOf={({ id }) => id}
      columns={[
        {
          id: 'what',
          head: 'File',
          isWide: true,
          cell: ({ type, format, error }) => (
            <span className={styles.file}>
              <strong>{typeName(type)}</strong>
              <span>{FORMAT_NAMES[format]}</span>
              {error !== null && (
                <span className={styles.error}>
                  <Sentence text={error.message} />
                </span>
              )}
            </span>
          ),
        },
        { id: 'status', head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
        { id: 'rows', head: 'Rows', align: 'end', cell: ({ rows }) => formatNumber(rows) },
        {
          id: 'size',
          head: 'Size',
          align: 'end',
          isSecondary: true,
          cell: ({ sizeBytes }) => formatBytes(sizeBytes),
        },
        { id: 'at', head: 'Created', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          id: 'actions',
          head: <span className="visually-hidden">Actions</span>,
          cell: (one) => <ExportActions one={one} />,
        },
      ]}
    />
  );
}

function ExportActions({ one }: { readonly one: Export }) {
  const { run, isBusy } = useAction(['exports']);
  const name = `${typeName(one.type)} ${one.format}`;
  /** The link of the list may be old: it works for an hour. */
  const copyLink = () =>
    run(async () => {
      const fresh = await api.get('/v1/exports/{id}', { params: { id: one.id } });
      if (fresh.url === null) throw new Error('The export has no file.');
      await navigator.clipboard.writeText(new URL(fresh.url, location.origin).href);
      toast.done('Link copied. It works for an hour, for everyone who has it.');
    });
  return (
    <div className={styles.actions}>
      {one.status === 'ready' && (
        <>
          <HrefButton
            size="small"
            icon={Download}
            href={`/v1/exports/${one.id}/download`}
            download
            aria-label={`Download ${name}`}
          >
            Download
          </HrefButton>
          <IconButton
            icon={Link2}
            label={`Copy a link to ${name}`}
            size="small"
            isBusy={isBusy}
            onClick={copyLink}
          />
        </>
      )}
      <IconButton
        icon={Trash2}
        label={`Delete ${name}`}
        size="small"
        isBusy={isBusy}
        onClick={() =>
          run(
            () => api.delete('/v1/exports/{id}', { params: { id: one.id } }),
            'Export deleted. It can be written again from the job.',
          )
        }
      />
    </div>
  );
}
