import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { CalendarClock, Pause, Play, Trash2, Zap } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Data, Item } from '../../api/types.ts';
import { formatDateTime, words } from '../../format/format.ts';
import { Badge, StatusBadge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { CodeBlock } from '../../kit/code-block.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Card, Columns, PageHeader, Row, Stack } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { timingText } from '../../kit/schedule-field.tsx';
import { EmptyState, QueryView } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { toast } from '../../kit/toasts.tsx';
import { useAction } from '../../kit/use-action.ts';

type Schedule = Data<'getSchedule'>;
type Run = Item<'listScheduleRuns'>;
const route = getRouteApi('/signed-in/schedules/$id');

export function SchedulePage() {
  const { id } = route.useParams();
  const schedule = useQuery({
    queryKey: ['schedules', id],
    queryFn: ({ signal }) => api.get('/v1/schedules/{id}', { params: { id }, signal }),
  });
  return <QueryView query={schedule}>{(found) => <Loaded schedule={found} />}</QueryView>;
}

function Loaded({ schedule }: { readonly schedule: Schedule }) {
  const { id, name, status } = schedule;
  const next = useQuery({
    queryKey: ['schedules', id, 'next'],
    queryFn: ({ signal }) => api.get('/v1/schedules/{id}/next', { params: { id }, signal }),
  });
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
        actions={<Actions schedule={schedule} />}
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

function Actions({ schedule: { id, name, status } }: { readonly schedule: Schedule }) {
  const navigate = useNavigate();
  const action = useAction(['schedules']);
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { id };
  const pause = () => api.post('/v1/schedules/{id}/pause', { params });
  const resume = () => api.post('/v1/schedules/{id}/resume', { params });
  return (
    <>
      <Button
        icon={Zap}
        isBusy={action.isBusy}
        onClick={() => action.run(() => api.post('/v1/schedules/{id}/run', { params }), 'A run has started.')}
      >
        Run now
      </Button>
      {status === 'active' ? (
        <Button
          icon={Pause}
          onClick={() => action.run(pause, `“${name}” is paused.`, () => void action.run(resume))}
        >
          Pause
        </Button>
      ) : (
        <Button icon={Play} onClick={() => action.run(resume, `“${name}” runs again.`)}>
          Resume
        </Button>
      )}
      <Button kind="danger" icon={Trash2} onClick={() => setIsDeleting(true)}>
        Delete
      </Button>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={`Delete the schedule “${name}”?`}
        about="Its history is deleted with it; its jobs stay. This cannot be undone."
        action="Delete schedule"
        typeToConfirm={name}
        onConfirm={async () => {
          await api.delete('/v1/schedules/{id}', { params });
          toast.done(`“${name}” is deleted.`);
          await navigate({ to: '/schedules' });
        }}
      />
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
