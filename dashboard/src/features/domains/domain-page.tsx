import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { api } from '../../api/client.ts';
import type { Data } from '../../api/types.ts';
import { formatNumber, formatPercent, plural } from '../../format/format.ts';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Card, Columns, Figure, Fold, KeyValues, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { EmptyState, Notice, QueryView } from '../../kit/states.tsx';
import { Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import styles from './domains.module.css';
import { BreakerBadge } from './domains-page.tsx';
import { OptOutCard } from './opt-out-card.tsx';
import { RequestCard } from './request-chart.tsx';
import { RobotsTester } from './robots-tester.tsx';

export type Domain = Data<'getDomain'>;
const route = getRouteApi('/signed-in/domains/$host');

export function DomainPage() {
  const { host } = route.useParams();
  const domain = useQuery({
    queryKey: ['domains', host],
    queryFn: ({ signal }) => api.get('/v1/domains/{host}', { params: { host }, signal }),
    refetchInterval: 10_000,
  });
  return (
    <QueryView isPage query={domain}>
      {(found) => <Loaded domain={found} />}
    </QueryView>
  );
}

const Loaded = ({ domain }: { readonly domain: Domain }) => (
  <>
    <PageHeader
      title={domain.host}
      above={<Link to="/domains">Domains</Link>}
      about={
        <Row>
          <BreakerBadge {...domain} />
          <span>{domain.visited ? 'visited' : 'not visited yet; this is how it would be treated'}</span>
        </Row>
      }
    />
    <Stack>
      {domain.denied !== null && <Notice tone="bad">{`Denied by policy: ${domain.denied}`}</Notice>}
      {domain.blockedUntil !== null && (
        <Notice tone="warn">
          The host asked for a pause. Requests go on <Time at={domain.blockedUntil} />.
        </Notice>
      )}
      <Columns min="narrow">
        <Figure label="Requests" value={formatNumber(domain.requests)} />
        <Figure
          label="Failed"
          value={domain.requests === 0 ? '–' : formatPercent(domain.failures / domain.requests)}
        />
        <Figure label="Waiting" value={formatNumber(domain.ready)} about="URLs" />
        <Figure label="Speed" value={formatPercent(domain.rateFactor)} about="of what the policy allows" />
        <Figure label="Last request" value={<Time at={domain.lastRequestAt} />} />
      </Columns>
      <RequestCard host={domain.host} />
      <Columns min="wide">
        <Card title="Policy in force">
          <PolicyView policy={domain.policy} />
        </Card>
        <Strategy domain={domain} />
      </Columns>
      <RobotsTester domain={domain} />
      <OptOutCard domain={domain} />
    </Stack>
  </>
);

/** What the policy says, in words. Other fields of it are shown by their names. */
const NAMES: Readonly<Record<string, string>> = {
  ratePerSecond: 'Requests a second',
  burst: 'Requests in a burst',
  concurrency: 'Requests at the same time',
  minDelayMs: 'Least pause (ms)',
  maxCrawlDelayMs: 'Crawl-delay obeyed up to (ms)',
  slowDownMs: 'Slower after trouble for (ms)',
  allowedHours: 'Hours',
  robots: 'robots.txt',
  actionPauseMs: 'Pause between actions (ms)',
  proxyTier: 'Proxy tier to begin with',
  maxProxyTier: 'Highest proxy tier',
  notes: 'Notes',
};

function PolicyView({ policy }: { readonly policy: unknown }) {
  const entries = Object.entries((policy ?? {}) as Readonly<Record<string, unknown>>);
  const plain = entries.filter(([, value]) => value !== null && value !== false && typeof value !== 'object');
  return (
    <Stack gap="small">
      <KeyValues entries={plain.map(([name, value]) => [NAMES[name] ?? name, String(value)] as const)} />
      <Fold title="The policy as JSON">
        <CodeBlock label="policy" text={JSON.stringify(policy, null, 2)} />
      </Fold>
    </Stack>
  );
}

function Strategy({ domain: { strategy } }: { readonly domain: Domain }) {
  return (
    <Card
      title="What was learned"
      about="The cheapest way that works is tried first; the knowledge fades by half a day."
      isFlush
    >
      {strategy === null || strategy.ways.length === 0 ? (
        <EmptyState title="Nothing yet">
          After some pages this shows which engine and proxy tier the host lets in.
        </EmptyState>
      ) : (
        <>
          <Table
            label="Ways"
            rows={strategy.ways}
            keyOf={({ engine, proxyTier, identity }) => `${engine} ${proxyTier} ${identity}`}
            columns={[
              { id: 'engine', head: 'Engine', cell: ({ engine }) => engine },
              { id: 'proxy', head: 'Proxy', cell: ({ proxyTier }) => proxyTier ?? 'none' },
              { id: 'identity', head: 'Identity', isSecondary: true, cell: ({ identity }) => identity },
              {
                id: 'success',
                head: 'Success',
                align: 'end',
                cell: ({ successRate }) => formatPercent(successRate),
              },
              { id: 'last', head: 'Last', cell: ({ lastAt }) => <Time at={lastAt} /> },
            ]}
          />
          <p className={styles.known}>
            {`${plural(strategy.pages.known, 'shape')} of URLs known, ${formatNumber(strategy.pages.needScripts)} need scripts.`}
          </p>
        </>
      )}
    </Card>
  );
}
