import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChartColumn, ListPlus } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Job } from '../../api/types.ts';
import { useSession } from '../../app/session-context.ts';
import { formatBytes, formatNumber, plural, shortUrl } from '../../format/format.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { LinkButton } from '../../kit/button.tsx';
import { Chart } from '../../kit/chart.tsx';
import { Card, Columns, Figure, PageHeader, ProgressBar, Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { accountQuery, eachDay, usageQuery } from '../usage/queries.ts';
import { FirstSteps } from './first-steps.tsx';
import { HealthCard } from './health-card.tsx';
import styles from './home.module.css';

const DAYS = 30;
/** With so many jobs the guide of the first steps has nothing to teach. */
const LEARNT_AFTER = 10;

const recentJobs = {
  queryKey: ['jobs', 'home'],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get('/v1/jobs', { query: { limit: 20 }, signal }),
};

/** What runs, what failed and why, what was used; for newcomers, the first steps. */
export function HomePage() {
  const { account } = useSession();
  const jobs = useQuery(recentJobs);
  const isNew = jobs.data !== undefined && jobs.data.items.length === 0;
  return (
    <>
      <PageHeader
        title={isNew ? 'Welcome to Scrapifie' : 'Home'}
        about={isNew ? 'Four steps to your first results.' : account.name}
        actions={
          <>
            <LinkButton to="/playground">Try a page</LinkButton>
            <LinkButton to="/jobs/new" kind="primary" icon={ListPlus}>
              New crawl
            </LinkButton>
          </>
        }
      />
      <QueryView query={jobs} skeleton={<Skeleton lines={6} height={40} />}>
        {({ items }) => (
          <Stack>
            {items.length < LEARNT_AFTER && <FirstSteps jobs={items} />}
            {items.length > 0 && <Figures jobs={items} />}
            {items.length > 0 && (
              <Columns min="wide">
                <RunningCard jobs={items} />
                <TroubleCard jobs={items} />
              </Columns>
            )}
            <Columns min="wide">
              <UsageCard />
              <HealthCard />
            </Columns>
          </Stack>
        )}
      </QueryView>
    </>
  );
}

const isOpen = ({ status }: Job): boolean => status === 'queued' || status === 'running';
const isTrouble = ({ status }: Job): boolean => status === 'failed' || status === 'partially_completed';

function Figures({ jobs }: { readonly jobs: readonly Job[] }) {
  const account = useQuery(accountQuery);
  const usage = useQuery(usageQuery('day', DAYS));
  const pages = usage.data?.items.reduce((total, row) => total + row.pages, 0);
  return (
    <Columns min="narrow">
      <Figure label="Running jobs" value={formatNumber(jobs.filter(isOpen).length)} />
      <Figure label={`Pages, ${DAYS} days`} value={pages === undefined ? '…' : formatNumber(pages)} />
      <Figure label="URLs that wait" value={account.data ? formatNumber(account.data.used.openUrls) : '…'} />
      <Figure label="Stored" value={account.data ? formatBytes(account.data.used.storedBytes) : '…'} />
    </Columns>
  );
}

const nameOf = (job: Job) => (
  <Link to="/jobs/$id" params={{ id: job.id }}>
    {titleOf(job)}
  </Link>
);

/** Where a job begins, which people remember it by. */
const titleOf = ({ kind, seeds, id }: Job): string => `${kind} ${shortUrl(seeds[0] ?? id)}`;

const RECENT: readonly Column<Job>[] = [
  { id: 'name', head: 'Job', isWide: true, cell: nameOf },
  { id: 'pages', head: 'Pages', align: 'end', cell: ({ progress }) => formatNumber(progress.pages) },
  { id: 'status', head: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
  { id: 'made', head: 'Begun', isSecondary: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function RunningCard({ jobs }: { readonly jobs: readonly Job[] }) {
  const running = jobs.filter(isOpen);
  return (
    <Card
      title={running.length > 0 ? 'Running now' : 'Last jobs'}
      actions={<Link to="/jobs">All jobs</Link>}
      isFlush
    >
      <Table
        label="Jobs"
        columns={RECENT}
        rows={(running.length > 0 ? running : jobs).slice(0, 6)}
        keyOf={({ id }) => id}
      />
      {running.length > 0 && <ProgressBar label="Jobs are running" />}
    </Card>
  );
}

function TroubleCard({ jobs }: { readonly jobs: readonly Job[] }) {
  const troubled = jobs.filter(isTrouble).slice(0, 6);
  return (
    <Card title="What failed, and why" isFlush>
      {troubled.length === 0 ? (
        <EmptyState title="Nothing has failed lately">
          Failed jobs and pages show up here with their cause.
        </EmptyState>
      ) : (
        <Table
          label="Jobs with failures"
          rows={troubled}
          keyOf={({ id }) => id}
          columns={[
            { id: 'name', head: 'Job', isWide: true, cell: nameOf },
            {
              id: 'failed',
              head: 'Failed',
              align: 'end',
              cell: ({ progress }) => plural(progress.failed, 'page'),
            },
            { id: 'status', head: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
            {
              id: 'why',
              head: 'Why',
              cell: (job) => (
                <Link to="/jobs/$id" params={{ id: job.id }}>
                  Causes
                </Link>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function UsageCard() {
  const usage = useQuery(usageQuery('day', DAYS));
  return (
    <Card title={`Pages a day, ${DAYS} days`} actions={<Link to="/usage">Usage</Link>}>
      <QueryView query={usage} skeleton={<Skeleton lines={1} height={196} />}>
        {({ items }) => {
          const { x, values } = eachDay(items, DAYS, (row) => row.pages);
          if (values.every((value) => value === 0)) {
            return (
              <div className={styles.noUsage}>
                <EmptyState icon={ChartColumn} title="No pages yet">
                  The pages of each day stand here as bars, from the first scrape or crawl on.
                </EmptyState>
              </div>
            );
          }
          return (
            <Chart
              isUtc
              label="Pages a day"
              x={x}
              series={[{ label: 'pages', values, shape: 'bars' }]}
              height={180}
            />
          );
        }}
      </QueryView>
    </Card>
  );
}
