import { getRouteApi, Link } from '@tanstack/react-router';
import { CalendarClock, Plus } from 'lucide-react';
import { api } from '../../api/client.ts';
import type { Item } from '../../api/types.ts';
import { StatusBadge } from '../../kit/badge.tsx';
import { LinkButton } from '../../kit/button.tsx';
import { Segmented } from '../../kit/field.tsx';
import { Card, PageHeader } from '../../kit/layout.tsx';
import { ListView, useList } from '../../kit/list-view.tsx';
import { timingText } from '../../kit/schedule-field.tsx';
import { EmptyState } from '../../kit/states.tsx';
import { type Column, Table } from '../../kit/table.tsx';
import { Time } from '../../kit/time.tsx';
import { Calendar } from './calendar.tsx';
import { jobText } from './job-text.ts';
import { NewScheduleDialog } from './new-schedule-dialog.tsx';

export type Schedule = Item<'listSchedules'>;
const route = getRouteApi('/signed-in/schedules');

const COLUMNS: readonly Column<Schedule>[] = [
  {
    id: 'name',
    head: 'Name',
    cell: ({ id, name }) => (
      <Link to="/schedules/$id" params={{ id }}>
        {name}
      </Link>
    ),
  },
  { id: 'job', head: 'Job', isWide: true, isSecondary: true, cell: ({ job }) => jobText(job) },
  { id: 'when', head: 'When', isOneLine: true, cell: timingText },
  { id: 'next', head: 'Next run', cell: ({ nextRunAt }) => <Time at={nextRunAt} /> },
  { id: 'status', head: 'State', cell: ({ status }) => <StatusBadge status={status} /> },
];

export function SchedulesPage() {
  const { new: isNew = false, job, view } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(['schedules'], (cursor, signal) =>
    api.get('/v1/schedules', { query: { ...(cursor && { cursor }), limit: 100 }, signal }),
  );
  const create = (
    <LinkButton to="/schedules" search={{ new: true }} kind="primary" icon={Plus}>
      New schedule
    </LinkButton>
  );
  return (
    <>
      <PageHeader
        title="Schedules"
        about="Run the same job again and again, exactly once at each time."
        actions={create}
      />
      <Card
        isFlush
        title="All schedules"
        actions={
          <Segmented
            label="View"
            value={view ?? 'list'}
            options={[
              { value: 'list', label: 'List' },
              { value: 'calendar', label: 'Next runs' },
            ]}
            onChange={(next) =>
              void navigate({ search: next === 'calendar' ? { view: 'calendar' } : {}, replace: true })
            }
          />
        }
      >
        <ListView
          list={list}
          empty={
            <EmptyState icon={CalendarClock} title="No schedules yet" actions={create}>
              Crawl a site every night, or a list of pages every hour, by a cron line in your time zone.
            </EmptyState>
          }
        >
          {(items) =>
            view === 'calendar' ? (
              <Calendar schedules={items} />
            ) : (
              <Table label="Schedules" columns={COLUMNS} rows={items} keyOf={({ id }) => id} />
            )
          }
        </ListView>
      </Card>
      {isNew && <NewScheduleDialog job={job} onClose={() => void navigate({ search: {} })} />}
    </>
  );
}
