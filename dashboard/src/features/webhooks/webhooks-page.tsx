import { Link } from '@tanstack/react-router';
import { Plus, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card, PageHeader } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { NewWebhookDialog } from './new-webhook-dialog.tsx';

type Webhook = Item<'listWebhooks'>;

const REASONS: Readonly<Record<string, string>> = {
  user: 'turned off',
  gone: 'turned off: the receiver answered 410',
  failing: 'turned off: it failed for too long',
  unconfirmed: 'waits for confirmation',
};

export function WebhookState({
  enabled,
  disabledReason,
  failingSince,
}: Pick<Webhook, 'enabled' | 'disabledReason' | 'failingSince'>) {
  if (!enabled) return <Badge tone="warn">{REASONS[disabledReason ?? 'user']}</Badge>;
  if (failingSince !== null) return <Badge tone="bad">failing</Badge>;
  return <Badge tone="good">active</Badge>;
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    id: 'url',
    head: 'Receiver',
    isWide: true,
    cell: ({ id, url }) => (
      <Link to="/webhooks/$id" params={{ id }}>
        {url}
      </Link>
    ),
  },
  { id: 'format', head: 'Format', isSecondary: true, cell: ({ format }) => format },
  { id: 'events', head: 'Events', isSecondary: true, cell: ({ events }) => events.join(', ') },
  { id: 'made', head: 'Created', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'state', head: 'State', cell: (webhook) => <WebhookState {...webhook} /> },
];

export function WebhooksPage() {
  const [isCreating, setIsCreating] = useState(false);
  const list = useList(['webhooks'], (cursor, signal) =>
    api.get('/v1/webhooks', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      New webhook
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Webhooks"
        about="Send events to your programs, signed, in order, and again until they arrive."
        actions={create}
      />
      <Card isFlush>
        <ListView
          list={list}
          empty={
            <EmptyState icon={WebhookIcon} title="No webhooks yet" actions={create}>
              Get told when a job has ended, a page has changed or an export is ready. Slack, Discord, Teams,
              ntfy and e-mail have formats of their own.
            </EmptyState>
          }
        >
          {(items) => <Table label="Webhooks" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />}
        </ListView>
      </Card>
      <NewWebhookDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </>
  );
}
