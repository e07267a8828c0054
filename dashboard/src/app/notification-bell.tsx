import { useNavigate } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../kit/button.tsx';
import { Menu, MenuItem, MenuLabel } from '../kit/menu.tsx';
import { type LiveEvent, useLiveEvents } from './live-events.tsx';
import styles from './notification-bell.module.css';

const MOST = 30;
const TOLD =
  /^(job\.(completed|partially_completed|failed)|monitor\.|export\.|schedule\.missed|account\.low_credits)/;

/** What happened while the dashboard is open: jobs that ended, changes, exports. */
export default function NotificationBell() {
  const [events, setEvents] = useState<readonly LiveEvent[]>([]);
  const [unread, setUnread] = useState(0);
  const navigate = useNavigate();
  useLiveEvents((batch) => {
    const told = batch.filter(({ type }) => TOLD.test(type));
    if (told.length === 0) return;
    setEvents((before) => [...told.toReversed(), ...before].slice(0, MOST));
    setUnread((count) => count + told.length);
  });
  return (
    <span className={styles.bell}>
      <Menu
        trigger={
          <IconButton
            icon={Bell}
            label={unread === 0 ? 'Notifications' : `Notifications, ${unread} new`}
            onPointerDown={() => setUnread(0)}
          />
        }
      >
        {events.length === 0 && <MenuLabel>Nothing has happened since this page was opened.</MenuLabel>}
        {events.map((event) => (
          <MenuItem key={event.id} onSelect={() => void navigate({ href: targetOf(event) })}>
            {textOf(event)}
          </MenuItem>
        ))}
      </Menu>
      {unread > 0 && (
        <span className={styles.count} aria-hidden>
          {Math.min(unread, 99)}
        </span>
      )}
    </span>
  );
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function targetOf({ type, data }: LiveEvent): string {
  const job = text(data.jobId);
  if (type.startsWith('monitor.')) return `/monitors/${text(data.monitorId) ?? ''}`;
  if (type.startsWith('schedule.')) return '/schedules';
  if (type.startsWith('account.')) return '/usage';
  return job === undefined ? '/jobs' : `/jobs/${job}`;
}

function textOf({ type, data }: LiveEvent): string {
  const [family = '', what = ''] = type.split('.');
  const name = text(data.name) ?? text(data.jobId)?.slice(0, 8) ?? '';
  return `${family} ${name} ${what.replaceAll('_', ' ')}`.replaceAll(/\s+/g, ' ');
}
