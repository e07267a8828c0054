import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CalendarClock } from 'lucide-react';
import { EmptyState } from '../../kit/states.tsx';
import { nextRunsQuery } from './queries.ts';
import styles from './schedules.module.css';
import type { Schedule } from './schedules-page.tsx';

const DAY = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
/** Schedules whose times are asked for; an account with more finds the others in the list. */
const MOST = 30;

/** The next runs of all active schedules, day by day, in the viewer's time zone. */
export function Calendar({ schedules }: { readonly schedules: readonly Schedule[] }) {
  const active = schedules.filter(({ status }) => status === 'active').slice(0, MOST);
  const runs = useQueries({
    queries: active.map(({ id }) => nextRunsQuery(id)),
    combine: (results) =>
      results.flatMap(({ data }, index) => {
        const { id = '', name = '' } = active[index] ?? {};
        return (data?.items ?? []).map(({ at }) => ({ id, name, at: new Date(at) }));
      }),
  });
  const byDay = Map.groupBy(
    runs.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    ({ at }) => DAY.format(at),
  );
  if (byDay.size === 0) return <EmptyState icon={CalendarClock} title="No run is coming" />;
  return (
    <ol className={styles.calendar}>
      {[...byDay].slice(0, 14).map(([day, entries]) => (
        <li key={day} className={styles.day}>
          <h3>{day}</h3>
          <ul>
            {entries.slice(0, 12).map(({ id, name, at }) => (
              <li key={`${id} ${at.getTime()}`} className={styles.run}>
                <time dateTime={at.toISOString()}>{TIME.format(at)}</time>
                <Link to="/schedules/$id" params={{ id }}>
                  {name}
                </Link>
              </li>
            ))}
            {entries.length > 12 && <li className={styles.run}>{`and ${entries.length - 12} more`}</li>}
          </ul>
        </li>
      ))}
    </ol>
  );
}
