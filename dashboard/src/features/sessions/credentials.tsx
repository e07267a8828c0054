import { KeyRound, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { useAction } from '../../kit/use-action.ts';
import { NewCredentialDialog } from './new-credential-dialog.tsx';

type Credential = Item<'listCredentials'>;

export function Credentials() {
  const list = useList(['credentials'], (cursor, signal) =>
    api.get('/v1/credentials', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const [isCreating, setIsCreating] = useState(false);
  const [deleted, setDeleted] = useState<Credential | null>(null);
  const action = useAction(['credentials']);
  const columns: readonly Column<Credential>[] = [
    { id: 'name', head: 'Name', cell: ({ name }) => <code>{name}</code> },
    { id: 'kind', head: 'Kind', cell: ({ kind }) => kind },
    { id: 'hosts', head: 'Sent only to', isWide: true, cell: ({ hosts }) => hosts.join(', ') },
    { id: 'changed', head: 'Changed', isSecondary: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
    {
      id: 'actions',
      head: <span className="visually-hidden">Actions</span>,
      align: 'end',
      isOneLine: true,
      cell: (entry) => (
        <IconButton
          icon={Trash2}
          label={`Delete ${entry.name}`}
          size="small"
          onClick={() => setDeleted(entry)}
        />
      ),
    },
  ];
  const create = (
    <Button kind="primary" icon={Plus} onClick={() => setIsCreating(true)}>
      New credentials
    </Button>
  );
  return (
    <Card title="Credentials" actions={create} isFlush>
      <ListView
        list={list}
        empty={
          <EmptyState icon={KeyRound} title="No credentials yet">
            Names, passwords and tokens of sites, encrypted. They are sent only to the hosts that you name,
            and never shown.
          </EmptyState>
        }
      >
        {(items) => <Table label="Credentials" columns={columns} rows={items} keyOf={({ name }) => name} />}
      </ListView>
      <NewCredentialDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      <ConfirmDialog
        isOpen={deleted !== null}
        onClose={() => setDeleted(null)}
        title={`Delete the credentials “${deleted?.name}”?`}
        about="Sessions that use them can no longer log in. This cannot be undone."
        action="Delete credentials"
        typeToConfirm={deleted?.name ?? ''}
        onConfirm={async () => {
          if (deleted === null) return;
          await api.delete('/v1/credentials/{name}', { params: { name: deleted.name } });
          await action.run(async () => {}, `“${deleted.name}” is deleted.`);
        }}
      />
    </Card>
  );
}
