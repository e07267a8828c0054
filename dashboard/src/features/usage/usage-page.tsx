import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleGauge } from 'lucide-react';
import { formatBytes, formatDuration, formatNumber } from '../../format/format.ts';
import { LinkButton } from '../../kit/button.tsx';
import { Chart } from '../../kit/chart.tsx';
import { Segmented, Select } from '../../kit/field.tsx';
import { Card, Columns, Figure, PageHeader, ProgressBar, Row, Stack } from '../../kit/layout.tsx';
import { EmptyState, QueryView, Skeleton } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { accountQuery, DAYS, eachDay, GROUPS, type Group, type UsageRow, usageQuery } from './queries.ts';

/** The height of the cards of limits, but for the space around a skeleton. */
const LIMITS_PX = 150;

const route = getRouteApi('/signed-in/usage');

export function UsagePage() {
  const { by = 'engine', days = 30 } = route.useSearch();
  const navigate = route.useNavigate();
  const set = (change: { by?: Group; days?: number }) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <>
      <PageHeader
        title="Usage"
        about="Pages, traffic and credits, as the ledger of jobs has them."
        actions={
          <Select
            aria-label="Time"
            value={days}
            onChange={(event) => set({ days: Number(event.target.value) })}
          >
            {DAYS.map((count) => (
              <option key={count} value={count}>{`Last ${count} days`}</option>
            ))}
          </Select>
        }
      />
      <Stack>
        <Totals days={days} />
        <Limits />
        <Card
          title="Where it went"
          isFlush
          actions={
            <Segmented
              label="Group by"
              value={by}
              options={GROUPS.map((group) => ({ value: group, label: group }))}
              onChange={(group) => set({ by: group })}
            />
          }
        >
          <Groups by={by} days={days} />
        </Card>
      </Stack>
    </>
  );
}

const sum = (rows: readonly UsageRow[], pick: (row: UsageRow) => number): number =>
  rows.reduce((total, row) => total + pick(row), 0);

function Totals({ days }: { readonly days: number }) {
  const usage = useQuery(usageQuery('day', days));
  return (
    <QueryView query={usage} skeleton={<TotalsView items={null} days={days} />}>
      {({ items }) => <TotalsView items={items} days={days} />}
    </QueryView>
  );
}

/** Figures and charts of the time; `items` is null while they are loaded, with the same places for them. */
function TotalsView({ items, days }: { readonly items: readonly UsageRow[] | null; readonly days: number }) {
  const total = (format: (value: number) => string, pick: (row: UsageRow) => number) =>
    items === null ? '…' : format(sum(items, pick));
  return (
    <Stack>
      <Columns min="narrow">
        <Figure label="Pages" value={total(formatNumber, (row) => row.pages)} />
        <Figure label="Requests" value={total(formatNumber, (row) => row.attempts)} />
        <Figure label="Traffic" value={total(formatBytes, (row) => row.bytes)} />
        <Figure label="Browser time" value={total(formatDuration, (row) => row.browserMs)} />
        <Figure label="Credits" value={total(formatNumber, (row) => row.credits)} />
      </Columns>
      <Columns min="wide">
        <DaysCard name="Pages" items={items} days={days} pick={(row) => row.pages} color={1} />
        <DaysCard name="Credits" items={items} days={days} pick={(row) => row.credits} color={2} />
      </Columns>
    </Stack>
  );
}

function DaysCard({
  name,
  items,
  days,
  pick,
  color,
}: {
  readonly name: string;
  readonly items: readonly UsageRow[] | null;
  readonly days: number;
  readonly pick: (row: UsageRow) => number;
  readonly color: 1 | 2;
}) {
  const { x, values } = eachDay(items ?? [], days, pick);
  return (
    <Card title={`${name} a day`}>
      {items === null ? (
        <Skeleton lines={1} height={216} />
      ) : (
        <Chart
          isUtc
          label={`${name} a day, last ${days} days`}
          x={x}
          series={[{ label: name.toLowerCase(), values, shape: 'bars', color }]}
        />
      )}
    </Card>
  );
}

function Limits() {
  const account = useQuery(accountQuery);
  return (
    <QueryView query={account} skeleton={<Skeleton lines={1} height={LIMITS_PX} />}>
      {({ plan, limits, used, credits }) => (
        <Columns>
          <Card title="Credits" about={`Plan: ${plan}`}>
            {credits === null ? (
              <p>This account has no limit of credits.</p>
            ) : (
              <Stack gap="small">
                <Row align="between">
                  <strong>{formatNumber(credits.availableCredits)} available</strong>
                  <span>
                    renews <Time at={credits.renewsAt} />
                  </span>
                </Row>
                <ProgressBar
                  label="Credits that are left of this month"
                  value={
                    credits.monthlyCredits === 0
                      ? 0
                      : Math.min(1, credits.allowanceCredits / credits.monthlyCredits)
                  }
                />
                <span>{`${formatNumber(credits.heldCredits)} held for pages under way, ${formatNumber(credits.balanceCredits)} bought`}</span>
              </Stack>
            )}
          </Card>
          <Card title="Limits">
            <Stack gap="small">
              <Limit
                name="Pages at the same time"
                used={used.concurrentPages}
                limit={limits.concurrentPages}
              />
              <Limit name="URLs that wait" used={used.openUrls} limit={limits.openUrls} />
              <Limit name="Stored" used={used.storedBytes} limit={limits.storedBytes} format={formatBytes} />
              <span>{`${formatNumber(limits.requestsPerMinute)} requests of the API a minute`}</span>
            </Stack>
          </Card>
        </Columns>
      )}
    </QueryView>
  );
}

function Limit({
  name,
  used,
  limit,
  format = formatNumber,
}: {
  readonly name: string;
  readonly used: number;
  readonly limit: number | null;
  readonly format?: (value: number) => string;
}) {
  return (
    <div>
      <Row align="between">
        <span>{name}</span>
        <span>{limit === null ? `${format(used)}, no limit` : `${format(used)} of ${format(limit)}`}</span>
      </Row>
      {limit !== null && <ProgressBar label={name} value={limit === 0 ? 1 : Math.min(1, used / limit)} />}
    </div>
  );
}

function Groups({ by, days }: { readonly by: Group; readonly days: number }) {
  const usage = useQuery(usageQuery(by, days));
  const columns: readonly Column<UsageRow>[] = [
    { id: 'value', head: by, isWide: true, cell: ({ value }) => nameOf(by, value) },
    { id: 'pages', head: 'Pages', align: 'end', cell: ({ pages }) => formatNumber(pages) },
    {
      id: 'attempts',
      head: 'Requests',
      align: 'end',
      isSecondary: true,
      cell: ({ attempts }) => formatNumber(attempts),
    },
    {
      id: 'bytes',
      head: 'Traffic',
      align: 'end',
      isSecondary: true,
      cell: ({ bytes }) => formatBytes(bytes),
    },
    {
      id: 'browser',
      head: 'Browser',
      align: 'end',
      isSecondary: true,
      cell: ({ browserMs }) => formatDuration(browserMs),
    },
    { id: 'credits', head: 'Credits', align: 'end', cell: ({ credits }) => formatNumber(credits) },
  ];
  return (
    <QueryView query={usage}>
      {({ items }) =>
        items.length === 0 ? (
          <EmptyState
            icon={CircleGauge}
            title="Nothing was used in this time"
            actions={<LinkButton to="/playground">Try a page</LinkButton>}
          >
            Every page that is fetched is counted here, with what it cost.
          </EmptyState>
        ) : (
          <Table label={`Usage by ${by}`} columns={columns} rows={items} keyOf={({ value }) => value} />
        )
      }
    </QueryView>
  );
}

function nameOf(by: Group, value: string) {
  if (by === 'job') {
    return (
      <Link to="/jobs/$id" params={{ id: value }}>
        {value}
      </Link>
    );
  }
  return value === '' ? '(none)' : value;
}
