import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { JsonTree } from '../../kit/json-tree.tsx';
import { Card, KeyValues, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { keysQuery } from '../keys/queries.ts';

type Entry = Item<'listAudit'>;

/** The plain values of an entry in a line; the rest stands behind “Details”. */
const summaryOf = (details: Entry['details']): string =>
  Object.values(details)
    .filter((value) => typeof value !== 'object' && value !== '')
    .join(' · ');

const route = getRouteApi('/signed-in/audit');
const FILTERS = ['action', 'actor', 'target'] as const;

/** Who did what that needs consent or changes rights. Entries are chained by hashes; `scrapifie audit verify` checks it. */
export function AuditPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<Entry | null>(null);
  const list = useList(['audit', search], (cursor, signal) =>
    api.get('/v1/audit', { query: { ...search, ...(cursor && { cursor }), limit: 50 }, signal }),
  );
  const keys = useQuery(keysQuery());
  const nameOf = (actor: string) => {
    const key = keys.data?.items.find(({ id }) => id === actor);
    return key === undefined ? <code>{actor.slice(0, 20)}</code> : key.name;
  };
  const columns: readonly Column<Entry>[] = [
    { id: 'at', head: 'When', cell: ({ at }) => <Time at={at} /> },
    { id: 'action', head: 'Action', cell: ({ action }) => <code>{action}</code> },
    { id: 'actor', head: 'By', isSecondary: true, cell: ({ actor }) => nameOf(actor) },
    {
      id: 'target',
      head: 'On',
      isWide: true,
      cell: ({ target, details }) => `${target} ${summaryOf(details)}`,
    },
    {
      id: 'open',
      head: <span className="visually-hidden">Details</span>,
      align: 'end',
      cell: (entry) => (
        <Button size="small" kind="quiet" onClick={() => setOpened(entry)}>
          Details
        </Button>
      ),
    },
  ];
  return (
    <>
      <PageHeader
        title="Audit log"
        about="Uses of consent, changes of keys, accounts and policies. It can only grow."
      />
      <Stack>
        <Row align="end">
          {FILTERS.map((name) => (
            <Field key={name} label={{ action: 'Action', actor: 'By', target: 'On' }[name]}>
              <TextInput
                {...(name === 'action' && { list: 'audit-actions' })}
                defaultValue={search[name] ?? ''}
                onBlur={(event) => setFilter(name, event.target.value)}
                onKeyDown={(event) => event.key === 'Enter' && setFilter(name, event.currentTarget.value)}
              />
            </Field>
          ))}
        </Row>
        <datalist id="audit-actions">
          {[...new Set(list.items?.map(({ action }) => action))].map((action) => (
            <option key={action}>{action}</option>
          ))}
        </datalist>
        <Card isFlush>
          <ListView
            list={list}
            empty={
              <EmptyState icon={Activity} title="No entries">
                Entries appear when a key is created, a policy is changed, or a crawl uses a consent that an
                operator gave.
              </EmptyState>
            }
          >
            {(items) => (
              <Table label="Audit log" columns={columns} rows={items} keyOf={({ seq }) => String(seq)} />
            )}
          </ListView>
        </Card>
      </Stack>
      <Dialog
        isOpen={opened !== null}
        onClose={() => setOpened(null)}
        title={opened?.action ?? ''}
        shape="wide"
      >
        {opened !== null && (
          <Stack>
            <KeyValues
              entries={[
                ['When', opened.at],
                ['By', opened.actor],
                ['On', opened.target],
                ['Hash', <code key="hash">{opened.hash}</code>],
                ['Hash before', <code key="before">{opened.previousHash}</code>],
              ]}
            />
            <JsonTree name="details" value={opened.details} />
          </Stack>
        )}
      </Dialog>
    </>
  );

  function setFilter(name: (typeof FILTERS)[number], value: string) {
    if ((search[name] ?? '') === value) return;
    void navigate({
      search: ({ [name]: _, ...rest }) => (value === '' ? rest : { ...rest, [name]: value }),
      replace: true,
    });
  }
}
