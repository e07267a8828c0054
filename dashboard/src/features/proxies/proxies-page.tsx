import { useQuery } from '@tanstack/react-query';
import { Network } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatBytes, formatDuration, formatNumber, formatPercent } from '../../format/format.ts';
import { Badge } from '../../kit/badge.tsx';
import { HrefButton } from '../../kit/button.tsx';
import { Card, Columns, Figure, PageHeader, Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';

type Proxies = Data<'getProxies'>;
type Proxy = Proxies['proxies'][number];
type Provider = Proxies['providers'][number];
type Counts = Pick<Proxy, 'requests' | 'successes' | 'failures' | 'bans' | 'bytes' | 'p50Ms'>;

const successOf = ({ requests, successes }: Counts): string =>
  requests === 0 ? '–' : formatPercent(successes / requests);

const countColumns = <T extends Counts>(): readonly Column<T>[] => [
  { id: 'requests', head: 'Requests', align: 'end', cell: ({ requests }) => formatNumber(requests) },
  { id: 'success', head: 'Success', align: 'end', cell: successOf },
  { id: 'bans', head: 'Bans', align: 'end', cell: ({ bans }) => formatNumber(bans) },
  {
    id: 'failures',
    head: 'Failures',
    align: 'end',
    isSecondary: true,
    cell: ({ failures }) => formatNumber(failures),
  },
  { id: 'bytes', head: 'Traffic', align: 'end', isSecondary: true, cell: ({ bytes }) => formatBytes(bytes) },
  {
    id: 'p50',
    head: 'Median',
    align: 'end',
    isSecondary: true,
    cell: ({ p50Ms }) => (p50Ms === null ? '–' : formatDuration(p50Ms)),
  },
];

const PROVIDERS: readonly Column<Provider>[] = [
  { id: 'name', head: 'Provider', isWide: true, cell: ({ name }) => name },
  { id: 'tier', head: 'Tier', cell: ({ tier }) => tier },
  {
    id: 'healthy',
    head: 'Healthy',
    align: 'end',
    cell: ({ healthy, proxies }) => `${healthy} of ${proxies}`,
  },
  {
    id: 'breaker',
    head: 'Breaker',
    cell: ({ breaker }) => (
      <Badge tone={breaker === 'closed' ? 'good' : breaker === 'open' ? 'bad' : 'warn'}>{breaker}</Badge>
    ),
  },
  ...countColumns<Provider>(),
];

const PROXIES: readonly Column<Proxy>[] = [
  { id: 'id', head: 'Proxy', isWide: true, cell: ({ id }) => <code>{id}</code> },
  { id: 'provider', head: 'Provider', isSecondary: true, cell: ({ provider }) => provider },
  { id: 'tier', head: 'Tier', isSecondary: true, cell: ({ tier }) => tier },
  { id: 'country', head: 'Country', isSecondary: true, cell: ({ country }) => country ?? '–' },
  {
    id: 'health',
    head: 'Health',
    cell: ({ isHealthy }) => (
      <Badge tone={isHealthy ? 'good' : 'bad'}>{isHealthy ? 'healthy' : 'resting'}</Badge>
    ),
  },
  ...countColumns<Proxy>(),
];

export function ProxiesPage() {
  const proxies = useQuery({
    queryKey: ['proxies'],
    queryFn: ({ signal }) => api.get('/v1/proxies', { signal }),
    refetchInterval: 10_000,
  });
  return (
    <>
      <PageHeader
        title="Proxies"
        about="Health, bans and traffic, as this process has seen them since it started."
      />
      <QueryView query={proxies}>
        {(found) => (found.isSetUp ? <Loaded found={found} /> : <NotSetUp />)}
      </QueryView>
    </>
  );
}

const NotSetUp = () => (
  <Card>
    <EmptyState
      icon={Network}
      title="No proxies are set up"
      actions={<HrefButton href="/help/proxies">How to set up proxies</HrefButton>}
    >
      Requests go out directly. List proxies in <code>SCRAPIFIE_PROXIES</code> or in a proxy file to use
      datacenter, residential or mobile ones where a site asks for it and its policy allows it.
    </EmptyState>
  </Card>
);

const Loaded = ({ found }: { readonly found: Proxies }) => (
  <Stack>
    <Columns min="narrow">
      {found.tiers.map((tier) => (
        <Figure
          key={tier.tier}
          label={tier.tier}
          value={successOf(tier)}
          about={`${formatNumber(tier.requests)} requests, ${formatNumber(tier.bans)} bans`}
        />
      ))}
    </Columns>
    <Card title="Providers" isFlush>
      <Table
        label="Providers"
        columns={PROVIDERS}
        rows={found.providers}
        keyOf={({ name, tier }) => `${name} ${tier}`}
      />
    </Card>
    <Card title="Proxies" isFlush>
      <Table label="Proxies" columns={PROXIES} rows={found.proxies} keyOf={({ id }) => id} />
    </Card>
  </Stack>
);
