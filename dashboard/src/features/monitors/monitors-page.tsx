import { getRouteApi, Link } from '@tanstack/react-router';
import { Bell, Plus } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { shortUrl } from '../../format/format.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { LinkButton } from '../../kit/button.tsx';
import { Card, PageHeader } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { timingText } from '../../kit/schedule-field.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { NewMonitorDialog } from './new-monitor-dialog.tsx';

export type Monitor = Item<'listMonitors'>;
const route = getRouteApi('/signed-in/monitors');

const COLUMNS: readonly Column<Monitor>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ id, name }) => (
      <Link to="/monitors/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  {
    id: 'target',
    head: 'Watches',
    isWide: true,
    isSecondary: true,
    cell: ({ target, urls }) =>
      `${{ urls: '', site: 'Site ', sitemap: 'Sitemap ' }[target]}${shortUrl(urls[0] ?? '')}${urls.length > 1 ? ` and ${urls.length - 1} more` : ''}`,
  },
  {
    id: 'when',
    head: 'Checks',
    isSecondary: true,
    isOneLine: true,
    cell: ({ schedule }) => timingText(schedule),
  },
  { id: 'last', head: 'Last check', cell: ({ lastCheck }) => <LastCheck check={lastCheck} /> },
  { id: 'changed', head: 'Last change', cell: ({ lastChangeAt }) => <Time at={lastChangeAt} /> },
  { id: 'status', head: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
];

function LastCheck({ check }: { readonly check: Monitor['lastCheck'] }) {
  if (check === null) return <Badge>none yet</Badge>;
  if (check.failed > 0) return <Badge tone="bad">{`${check.failed} failed`}</Badge>;
  if (check.changes > 0) return <Badge tone="info">{`${check.changes} changed`}</Badge>;
  return <Time at={check.at} />;
}

export function MonitorsPage() {
  const { new: isNew = false, url } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(['monitors'], (cursor, signal) =>
    api.get('/v1/monitors', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const create = (
    <LinkButton to="/monitors" search={{ new: true }} kind="primary" icon={Plus}>
      New monitor
    </LinkButton>
  );
  return (
    <>
      <PageHeader
        title="Monitors"
        about="Tell you when a page, a list, a site or a sitemap has really changed. Noise is learned and left out."
        actions={create}
      />
      <Card isFlush>
        <ListView
          list={list}
          empty={
            <EmptyState icon={Bell} title="No monitors yet" actions={create}>
              Watch a price, a page of terms or a whole site. You get the difference by webhook, e-mail,
              Slack, Discord or Teams, and here.
            </EmptyState>
          }
        >
          {(items) => <Table label="Monitors" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />}
        </ListView>
      </Card>
      {isNew && <NewMonitorDialog url={url} onClose={() => void navigate({ search: {} })} />}
    </>
  );
}
