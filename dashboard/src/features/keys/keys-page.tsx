import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useSession } from '../../app/session-context.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, PageHeader, Row } from '../../kit/layout.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { type Key, keysQuery } from './queries.ts';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

export const KeysPage = () => (
  <>
    <PageHeader
      title="Keys"
      about="Programs sign in with a key. Give each its own, with only the rights it needs."
    />
    <KeysCard />
  </>
);

/** The keys of the account of the session, or of another one that an administrator looks at. */
export function KeysCard({ account }: { readonly account?: string }) {
  const keys = useQuery(keysQuery(account));
  const { key: own } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const [rotated, setRotated] = useState<Key | null>(null);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const action = useAction(['keys']);
  const query = { ...(account !== undefined && { account }) };
  const columns: readonly Column<Key>[] = [
    {
      id: 'name',
      head: 'Name',
      isWide: true,
      cell: ({ id, name }) => (
        <Row>
          {name}
          {id === own?.id && <Badge tone="info">this session</Badge>}
        </Row>
      ),
    },
    { id: 'prefix', head: 'Key', cell: ({ prefix }) => <code>{prefix}…</code> },
    { id: 'scopes', head: 'Rights', isSecondary: true, cell: ({ scopes }) => scopes.join(', ') },
    { id: 'used', head: 'Last used', isSecondary: true, cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    { id: 'state', head: 'State', cell: stateOf },
    {
      id: 'actions',
      head: <span className="visually-hidden">Actions</span>,
      align: 'end',
      isOneLine: true,
      cell: (key) =>
        key.revokedAt === null && (
          <Row>
            <Button size="small" icon={RefreshCw} onClick={() => setRotated(key)}>
              Rotate
            </Button>
            <Button size="small" kind="danger" icon={Trash2} onClick={() => setRevoked(key)}>
              Revoke
            </Button>
          </Row>
        ),
    },
  ];
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      New key
    </Button>
  );
  return (
    <Card title="Keys" actions={create} isFlush>
      <QueryView query={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState icon={KeyRound} title="No key yet">
              Create one for each program that calls the API, an SDK or an MCP client.
            </EmptyState>
          ) : (
            <Table label="Keys" columns={columns} rows={items} keyOf={({ id }) => id} />
          )
        }
      </QueryView>
      <NewKeyDialog isOpen={isCreating} onClose={() => setIsCreating(false)} {...(account && { account })} />
      <RotateKeyDialog of={rotated} onClose={() => setRotated(null)} {...(account && { account })} />
      <ConfirmDialog
        isOpen={revoked !== null}
        onClose={() => setRevoked(null)}
        title={`Revoke the key “${revoked?.name}”?`}
        about={
          revoked?.id === own?.id
            ? 'This session was made with it: you will be signed out. Programs that use it are refused at once.'
            : 'Programs that use it are refused at once. This cannot be undone.'
        }
        action="Revoke key"
        typeToConfirm={revoked?.name ?? ''}
        onConfirm={async () => {
          if (revoked === null) return;
          await api.delete('/v1/keys/{id}', { params: { id: revoked.id }, query });
          await action.run(async () => {}, `“${revoked.name}” is revoked.`);
        }}
      />
    </Card>
  );
}

function stateOf({ revokedAt, expiresAt }: Key) {
  if (revokedAt !== null) return <Badge tone="bad">revoked</Badge>;
  if (expiresAt === null) return <Badge tone="good">valid</Badge>;
  if (new Date(expiresAt).getTime() < Date.now()) return <Badge tone="bad">expired</Badge>;
  return (
    <span>
      valid, ends <Time at={expiresAt} />
    </span>
  );
}
