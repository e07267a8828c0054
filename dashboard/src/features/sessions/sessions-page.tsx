import { getRouteApi } from '@tanstack/react-router';
import { LogIn, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { formatNumber } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, PageHeader, Row } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';
import { Credentials } from './credentials.tsx';
import { NewSessionDialog } from './new-session-dialog.tsx';
import { SessionDialog } from './session-dialog.tsx';

type Session = Item<'listSessions'>;
const route = getRouteApi('/signed-in/sessions');

export function SessionsPage() {
  const { tab } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader
        title="Sessions and credentials"
        about="Come back to a site as the same visitor, logged in. Secrets are stored encrypted and are never shown."
      />
      <Tabs
        label="Sessions and credentials"
        value={tab}
        onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
        tabs={[
          { value: 'sessions', label: 'Sessions', content: <Sessions /> },
          { value: 'credentials', label: 'Credentials', content: <Credentials /> },
        ]}
      />
    </>
  );
}

function Sessions() {
  const list = useList(['sessions'], (cursor, signal) =>
    api.get('/v1/sessions', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const [isCreating, setIsCreating] = useState(false);
  const [opened, setOpened] = useState<string | null>(null);
  const [deleted, setDeleted] = useState<Session | null>(null);
  const action = useAction(['sessions']);
  const columns: readonly Column<Session>[] = [
    { id: 'name', head: 'Name', isWide: true, cell: ({ name }) => <code>{name}</code> },
    {
      id: 'credentials',
      head: 'Credentials',
      isSecondary: true,
      cell: ({ credentials }) => credentials ?? '–',
    },
    {
      id: 'requests',
      head: 'Requests',
      align: 'end',
      isSecondary: true,
      cell: ({ requestCount }) => formatNumber(requestCount),
    },
    { id: 'used', head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    {
      id: 'state',
      head: 'State',
      isOneLine: true,
      cell: ({ isExpired, expiresAt }) =>
        isExpired ? (
          <Badge tone="warn">expired</Badge>
        ) : (
          <span>
            until <Time at={expiresAt} />
          </span>
        ),
    },
    {
      id: 'actions',
      head: <span className="visually-hidden">Actions</span>,
      align: 'end',
      isOneLine: true,
      cell: (session) => (
        <Row>
          <Button size="small" onClick={() => setOpened(session.name)}>
            Open
          </Button>
          <IconButton
            icon={Trash2}
            label={`Delete ${session.name}`}
            size="small"
            onClick={() => setDeleted(session)}
          />
        </Row>
      ),
    },
  ];
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      New session
    </Button>
  );
  return (
    <Card title="Sessions" actions={create} isFlush>
      <ListView
        list={list}
        empty={
          <EmptyState icon={LogIn} title="No sessions yet">
            A session keeps cookies, storage, identity and proxy between requests. Log in once, and name it in{' '}
            <code>session</code> of a scrape or crawl.
          </EmptyState>
        }
      >
        {(items) => <Table label="Sessions" columns={columns} rows={items} keyOf={({ name }) => name} />}
      </ListView>
      <NewSessionDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      {opened !== null && <SessionDialog name={opened} onClose={() => setOpened(null)} />}
      <ConfirmDialog
        isOpen={deleted !== null}
        onClose={() => setDeleted(null)}
        title={`Delete the session “${deleted?.name}”?`}
        about="Its cookies and storage are removed. Jobs that name it fail until it is made again."
        action="Delete session"
        onConfirm={async () => {
          if (deleted === null) return;
          await api.delete('/v1/sessions/{name}', { params: { name: deleted.name } });
          await action.run(async () => {}, `“${deleted.name}” is deleted.`);
        }}
      />
    </Card>
  );
}
