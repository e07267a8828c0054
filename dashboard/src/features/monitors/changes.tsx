import { getRouteApi, Link } from '@tanstack/react-router';
import { GitCompare } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { shortUrl } from '../../format/format.ts';
import { Badge, type Tone } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { DiffView, type TextDiff } from '../../kit/diff-view.tsx';
import { ExternalLink } from '../../kit/external-link.tsx';
import { Select } from '../../kit/field.tsx';
import { type FieldChange, FieldDiff } from '../../kit/field-diff.tsx';
import { Card, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { CHANGE_KINDS, type ChangeKind } from './routes.ts';

type Change = Item<'listMonitorChanges'>;
const route = getRouteApi('/signed-in/monitors/$id');

const TONES: Readonly<Record<ChangeKind, Tone>> = {
  ADDED: 'good',
  REMOVED: 'bad',
  MODIFIED: 'info',
  MOVED: 'warn',
  REVERTED: 'idle',
};

/** The changes that a monitor has reported, newest first. */
export function Changes({ monitor: id }: { readonly monitor: string }) {
  const { kind } = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<Change | null>(null);
  const list = useList(['monitors', id, 'changes', kind ?? null], (cursor, signal) =>
    api.get('/v1/monitors/{id}/changes', {
      params: { id },
      query: { ...(kind && { kind }), ...(cursor && { cursor }), limit: 50 },
      signal,
    }),
  );
  const columns: readonly Column<Change>[] = [
    { id: 'at', head: 'When', cell: ({ at }) => <Time at={at} /> },
    {
      id: 'kind',
      head: 'Change',
      cell: (change) => <Badge tone={TONES[change.kind]}>{change.kind.toLowerCase()}</Badge>,
    },
    { id: 'page', head: 'Page', isSecondary: true, cell: ({ title, url }) => title ?? shortUrl(url) },
    { id: 'text', head: 'What', isWide: true, cell: ({ text }) => text },
    {
      id: 'open',
      head: <span className="visually-hidden">Difference</span>,
      align: 'end',
      cell: (change) => (
        <Button size="small" icon={GitCompare} onClick={() => setOpened(change)}>
          Difference
        </Button>
      ),
    },
  ];
  return (
    <Card
      title="Changes"
      isFlush
      actions={
        <Select
          aria-label="Kind of change"
          value={kind ?? ''}
          onChange={({ target }) =>
            void navigate({
              search: target.value === '' ? {} : { kind: target.value as ChangeKind },
              replace: true,
            })
          }
        >
          <option value="">All kinds</option>
          {CHANGE_KINDS.map((name) => (
            <option key={name} value={name}>
              {name.toLowerCase()}
            </option>
          ))}
        </Select>
      }
    >
      <ListView
        list={list}
        empty={
          <EmptyState icon={GitCompare} title="Nothing has changed yet">
            A page that seems changed is looked at again within a minute or two, and a change that shows three
            times in a row is reported. So ads, counters and outages are not.
          </EmptyState>
        }
      >
        {(items) => <Table label="Changes" columns={columns} rows={items} keyOf={(change) => change.id} />}
      </ListView>
      <Dialog
        isOpen={opened !== null}
        onClose={() => setOpened(null)}
        shape="sheet"
        title={opened?.title ?? shortUrl(opened?.url ?? '')}
      >
        {opened !== null && <ChangeDetail change={opened} />}
      </Dialog>
    </Card>
  );
}

function ChangeDetail({ change }: { readonly change: Change }) {
  const texts = (change.diff?.texts ?? []) as unknown as readonly (TextDiff & { readonly name: string })[];
  const fields = (change.diff?.fields ?? []) as unknown as readonly FieldChange[];
  return (
    <Stack>
      <Row>
        <Badge tone={TONES[change.kind]}>{change.kind.toLowerCase()}</Badge>
        <Time at={change.at} />
        <Link to="/jobs/$id" params={{ id: change.jobId }}>
          Job of this check
        </Link>
      </Row>
      <ExternalLink url={change.url} />
      {change.fromUrl !== null && (
        <span>
          before at <ExternalLink url={change.fromUrl} />
        </span>
      )}
      {fields.length > 0 && <FieldDiff fields={fields} />}
      {texts.map((text) => (
        <DiffView key={text.name} label={text.name} diff={text} />
      ))}
      {change.diff === null && <CodeBlock label="report" text={change.text} />}
    </Stack>
  );
}
