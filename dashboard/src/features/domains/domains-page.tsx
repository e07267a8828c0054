import { Link, useNavigate } from '@tanstack/react-router';
import { Globe, Search } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { formatNumber, formatPercent } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button, LinkButton } from '../../kit/button.tsx';
import { Field, TextInput } from '../../kit/field.tsx';
import { Card, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';

type Domain = Item<'listDomains'>;

export const BreakerBadge = ({ breaker }: Pick<Domain, 'breaker'>) => (
  <Badge tone={breaker === 'closed' ? 'good' : breaker === 'open' ? 'bad' : 'warn'}>
    {{ closed: 'normal', open: 'stopped', 'half-open': 'trying again' }[breaker]}
  </Badge>
);

const COLUMNS: readonly Column<Domain>[] = [
  {
    id: 'host',
    head: 'Host',
    isWide: true,
    cell: ({ host }) => (
      <Link to="/domains/$host" params={{ host }}>
        {host}
      </Link>
    ),
  },
  { id: 'state', head: 'State', cell: (domain) => <BreakerBadge {...domain} /> },
  { id: 'ready', head: 'Waiting', align: 'end', cell: ({ ready }) => formatNumber(ready) },
  { id: 'requests', head: 'Requests', align: 'end', cell: ({ requests }) => formatNumber(requests) },
  {
    id: 'failures',
    head: 'Failed',
    align: 'end',
    isSecondary: true,
    cell: ({ requests, failures }) => (requests === 0 ? '–' : formatPercent(failures / requests)),
  },
  {
    id: 'rate',
    head: 'Speed',
    align: 'end',
    isSecondary: true,
    cell: ({ rateFactor }) => formatPercent(rateFactor),
  },
  {
    id: 'last',
    head: 'Last request',
    isSecondary: true,
    cell: ({ lastRequestAt }) => <Time at={lastRequestAt} />,
  },
];

export function DomainsPage() {
  const list = useList(['domains'], (cursor, signal) =>
    api.get('/v1/domains', { query: { ...(cursor && { cursor }), limit: 100 }, signal }),
  );
  return (
    <>
      <PageHeader
        title="Domains"
        about="How each host is treated: policy, robots.txt, speed, and what was learned about it."
      />
      <Stack>
        <HostForm />
        <Card isFlush>
          <ListView
            list={list}
            empty={
              <EmptyState
                icon={Globe}
                title="No host was visited yet"
                actions={<LinkButton to="/playground">Try a page</LinkButton>}
              >
                Every host that a job visits is listed here, with the speed that was really kept.
              </EmptyState>
            }
          >
            {(items) => <Table label="Domains" columns={COLUMNS} rows={items} keyOf={({ host }) => host} />}
          </ListView>
        </Card>
      </Stack>
    </>
  );
}

function HostForm() {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | undefined>();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const host = hostOf(text.trim());
    setProblem(host === null ? 'Enter a host such as example.com.' : undefined);
    if (host !== null) void navigate({ to: '/domains/$host', params: { host } });
  };
  return (
    <form onSubmit={submit} noValidate>
      <Row align="start">
        <Field label="Host" isLabelHidden error={problem}>
          <TextInput
            placeholder="example.com"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </Field>
        <Button type="submit" icon={Search}>
          How is it treated?
        </Button>
      </Row>
    </form>
  );
}

/** The host of what was typed, which may be a whole URL. */
function hostOf(text: string): string | null {
  try {
    const { host } = new URL(/^https?:\/\//i.test(text) ? text : `https://${text}`);
    return text === '' || host === '' ? null : host;
  } catch {
    return null;
  }
}
