import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CalendarClock, Zap } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Data, Item } from '../../api/types.ts';
import { formatDateTime, words } from '../../format/format.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { Card, Columns, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { timingText } from '../../kit/schedule-field.tsx';
import { StandingActions } from '../../kit/standing-actions.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { nextRunsQuery } from './queries.ts';

type Schedule = Data<'getSchedule'>;
type Run = Item<'listScheduleRuns'>;
const route = getRouteApi('/signed-in/schedules/$id');

export function SchedulePage() {
  const { id } = route.useParams();
  const schedule = useQuery({
    queryKey: ['schedules', id],
    queryFn: ({ signal }) => api.get('/v1/schedules/{id}', { params: { id }, signal }),
  });
  return (
    <QueryView isPage query={schedule}>
      {(found) => <Loaded schedule={found} />}
    </QueryView>
  );
}

function Loaded({ schedule }: { readonly schedule: Schedule }) {
  const { id, name, status } = schedule;
  const next = useQuery(nextRunsQuery(id));
  return (
    <>
      <PageHeader
        title={name}
        above={<Link to="/schedules">Schedules</Link>}
        about={
          <Row>
            <StatusBadge status={status} />
            <span>{timingText(schedule)}</span>
          </Row>
        }
        actions={
          <StandingActions
            family="schedules"
            kind="schedule"
            of={schedule}
            run={{ label: 'Run now', icon: Zap, done: 'A run has started.' }}
            resumed="runs again"
            deleted="Its history is deleted with it; its jobs stay."
          />
        }
      />
      <Stack>
        <Runs schedule={id} />
        <Columns>
          <Card title="Next runs" about={`Times in your zone; the schedule reckons in ${schedule.timeZone}.`}>
            <QueryView query={next}>
              {({ items }) => (
                <ol>
                  {items.map(({ at }) => (
                    <li key={at}>{formatDateTime(at)}</li>
                  ))}
                </ol>
              )}
            </QueryView>
          </Card>
          <Card title="Job">
            <CodeBlock label="job" text={JSON.stringify(schedule.job, null, 2)} />
          </Card>
        </Columns>
      </Stack>
    </>
  );
}

const COLUMNS: readonly Column<Run>[] = [
  { id: 'at', head: 'Time', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'trigger',
    head: 'Begun by',
    isSecondary: true,
    cell: ({ trigger }) => (trigger === 'tick' ? 'schedule' : 'hand'),
  },
  {
    id: 'status',
    head: 'Run',
    cell: ({ status, reason }) => (
      <Row>
        <Badge
          tone={status === 'started' ? 'good' : status === 'refused' || status === 'missed' ? 'bad' : 'idle'}
        >
          {words(status)}
        </Badge>
        {reason}
      </Row>
    ),
  },
  {
    id: 'job',
    head: 'Job',
    isWide: true,
    cell: ({ jobId, jobStatus }) =>
      jobId === null ? (
        '–'
      ) : (
        <Row>
          <Link to="/jobs/$id" params={{ id: jobId }}>
            {jobId.slice(0, 13)}…
          </Link>
          {jobStatus !== null && <StatusBadge status={jobStatus} />}
        </Row>
      ),
  },
];

function Runs({ schedule: id }: { readonly schedule: string }) {
  const list = useList(['schedules', id, 'runs'], (cursor, signal) =>
    api.get('/v1/schedules/{id}/runs', {
      params: { id },
      query: { ...(cursor && { cursor }), limit: 20 },
      signal,
    }),
  );
  return (
    <Card title="History" isFlush>
      <ListView
        list={list}
        empty={
          <EmptyState icon={CalendarClock} title="No run yet">
            The first one comes at the next time, or with “Run now”.
          </EmptyState>
        }
      >
        {(items) => <Table label="History" columns={COLUMNS} rows={items} keyOf={(run) => run.id} />}
      </ListView>
    </Card>
  );
}
