import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { KeyRound, Send, Trash2, Webhook as WebhookIcon } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Data, Item } from '../../api/types.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, Dialog } from '../../kit/dialog.tsx';
import { Switch } from '../../kit/field.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { SecretOnce } from '../../kit/secret-once.tsx';
import { Sentence } from '../../kit/sentence.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toasts.tsx';
import { useAction } from '../../kit/use-action.ts';
import { DeliveryDialog } from './delivery-dialog.tsx';
import { WebhookState } from './webhooks-page.tsx';

type Webhook = Data<'getWebhook'>;
type Delivery = Item<'listDeliveries'>;
const route = getRouteApi('/signed-in/webhooks/$id');

export function WebhookPage() {
  const { id } = route.useParams();
  const webhook = useQuery({
    queryKey: ['webhooks', id],
    queryFn: ({ signal }) => api.get('/v1/webhooks/{id}', { params: { id }, signal }),
  });
  return (
    <QueryView isPage query={webhook}>
      {(found) => <Loaded webhook={found} />}
    </QueryView>
  );
}

function Loaded({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <PageHeader
        title={webhook.url}
        above={<Link to="/webhooks">Webhooks</Link>}
        about={
          <Row>
            <WebhookState {...webhook} />
            <span>{`${webhook.format} · ${webhook.events.join(', ')}`}</span>
          </Row>
        }
        actions={<Actions webhook={webhook} />}
      />
      <Deliveries webhook={webhook.id} />
    </>
  );
}

function Actions({ webhook: { id, url, enabled } }: { readonly webhook: Webhook }) {
  const navigate = useNavigate();
  const action = useAction(['webhooks']);
  const [isDeleting, setIsDeleting] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { id };
  const rotate = async () => {
    const { secret: made } = await api.post('/v1/webhooks/{id}/rotate', { params });
    if (made !== undefined) setSecret(made);
  };
  const enable = (next: boolean) => api.patch('/v1/webhooks/{id}', { params, body: { enabled: next } });
  return (
    <>
      <Switch
        label="Enabled"
        checked={enabled}
        onChange={(event) => {
          const next = event.target.checked;
          void action.run(
            () => enable(next),
            next ? 'The webhook is on.' : 'The webhook is off.',
            () => void action.run(() => enable(!next)),
          );
        }}
      />
      <Button
        icon={Send}
        isBusy={action.isBusy}
        onClick={() =>
          action.run(() => api.post('/v1/webhooks/{id}/test', { params }), 'A test is on its way.')
        }
      >
        Send a test
      </Button>
      <Button icon={KeyRound} onClick={() => action.run(rotate)}>
        New secret
      </Button>
      <Button kind="danger" icon={Trash2} onClick={() => setIsDeleting(true)}>
        Delete
      </Button>
      <Dialog
        isOpen={secret !== null}
        onClose={() => setSecret(null)}
        title="New signing secret"
        actions={<Button onClick={() => setSecret(null)}>Done</Button>}
      >
        {secret !== null && <SecretOnce secret={secret} label="signing secret" />}
      </Dialog>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title="Delete this webhook?"
        about={`${url} gets no more events. Its deliveries are deleted with it.`}
        action="Delete webhook"
        onConfirm={async () => {
          await api.delete('/v1/webhooks/{id}', { params });
          toast.done('The webhook is deleted.');
          await navigate({ to: '/webhooks' });
        }}
      />
    </>
  );
}

function Deliveries({ webhook: id }: { readonly webhook: string }) {
  const [opened, setOpened] = useState<string | null>(null);
  const list = useList(['webhooks', id, 'deliveries'], (cursor, signal) =>
    api.get('/v1/webhooks/{id}/deliveries', {
      params: { id },
      query: { ...(cursor && { cursor }), limit: 50 },
      signal,
    }),
  );
  const columns: readonly Column<Delivery>[] = [
    { id: 'at', head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'event', head: 'Event', cell: ({ event }) => <code>{event}</code> },
    { id: 'state', head: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
    { id: 'tries', head: 'Tries', align: 'end', isSecondary: true, cell: ({ attempts }) => attempts },
    { id: 'reason', head: 'Reason', isWide: true, cell: ({ reason }) => <Sentence text={reason ?? ''} /> },
    {
      id: 'open',
      head: <span className="visually-hidden">Details</span>,
      align: 'end',
      cell: (delivery) => (
        <Button size="small" kind="quiet" onClick={() => setOpened(delivery.id)}>
          Details
        </Button>
      ),
    },
  ];
  return (
    <Stack>
      <Card title="Deliveries" isFlush>
        <ListView
          list={list}
          empty={
            <EmptyState icon={WebhookIcon} title="No deliveries yet">
              Send a test to see what your program will get.
            </EmptyState>
          }
        >
          {(items) => (
            <Table label="Deliveries" columns={columns} rows={items} keyOf={(delivery) => delivery.id} />
          )}
        </ListView>
      </Card>
      {opened !== null && <DeliveryDialog id={opened} onClose={() => setOpened(null)} />}
    </Stack>
  );
}
