import { Link } from '@tanstack/react-router';
import { Plus, Users } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { formatBytes, formatNumber } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { Card, PageHeader } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { NewAccountDialog } from './new-account-dialog.tsx';

type Account = Item<'listAccounts'>;

const COLUMNS: readonly Column<Account>[] = [
  {
    id: 'name',
    head: 'Name',
    isWide: true,
    cell: ({ id, name }) => (
      <Link to="/accounts/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { id: 'plan', head: 'Plan', cell: ({ plan }) => plan },
  {
    id: 'pages',
    head: 'Pages at once',
    align: 'end',
    isSecondary: true,
    cell: ({ limits }) =>
      limits.concurrentPages === null ? 'no limit' : formatNumber(limits.concurrentPages),
  },
  {
    id: 'stored',
    head: 'May store',
    align: 'end',
    isSecondary: true,
    cell: ({ limits }) => (limits.storedBytes === null ? 'no limit' : formatBytes(limits.storedBytes)),
  },
  { id: 'made', head: 'Created', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'state', head: 'State', cell: (account) => <AccountState {...account} /> },
];

export const AccountState = ({
  disabledAt,
  deletingSince,
}: Pick<Account, 'disabledAt' | 'deletingSince'>) => {
  if (deletingSince !== null) return <Badge tone="bad">being deleted</Badge>;
  return disabledAt === null ? <Badge tone="good">active</Badge> : <Badge tone="warn">disabled</Badge>;
};

export function AccountsPage() {
  const [isCreating, setIsCreating] = useState(false);
  const list = useList(['accounts'], (cursor, signal) =>
    api.get('/v1/accounts', { query: { ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  return (
    <>
      <PageHeader
        title="Accounts"
        about="Each account has its own jobs, keys, limits and credits, and sees nothing of the others."
        actions={
          <Button kind="primary" icon={Plus} onClick={() => setIsCreating(true)}>
            New account
          </Button>
        }
      />
      <Card isFlush>
        <ListView list={list} empty={<EmptyState icon={Users} title="No accounts" />}>
          {(items) => <Table label="Accounts" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />}
        </ListView>
      </Card>
      <NewAccountDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
    </>
  );
}
