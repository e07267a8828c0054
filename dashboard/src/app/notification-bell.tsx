import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Bell } from 'lucide-react';
import { useState } from 'react';
import { api } from '../api/client.ts';
import type { Item } from '../api/types.ts';
import { formatRelative } from '../format/format.ts';
import { IconButton } from '../kit/button.tsx';
import { cx } from '../kit/class-names.ts';
import { Menu, MenuItem, MenuLabel } from '../kit/menu.tsx';
import { useLiveEvents } from './live-events.tsx';
import styles from './notification-bell.module.css';

type Notification = Item<'listNotifications'>;

const MOST = 15;
const TOLD =
  /^(job\.(completed|partially_completed|failed)|monitor\.|export\.|schedule\.missed|account\.low_credits)/;

/** What happened lately: jobs that ended, changes, exports; with the number of those since the last look. */
export function NotificationBell() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [unread, setUnread] = useState(0);
  const list = useQuery({
    queryKey: ['notifications'],
    queryFn: ({ signal }) => api.get('/v1/notifications', { query: { limit: MOST }, signal }),
  });
  useLiveEvents((batch) => {
    const told = batch.filter(({ type }) => TOLD.test(type)).length;
    if (told === 0) return;
    setUnread((count) => count + told);
    void client.invalidateQueries({ queryKey: ['notifications'] });
  });
  const items = list.data?.items ?? [];
  return (
    <span className={styles.bell}>
      <Menu
        onOpen={() => setUnread(0)}
        trigger={
          <IconButton icon={Bell} label={unread === 0 ? 'Notifications' : `Notifications, ${unread} new`} />
        }
      >
        {items.length === 0 && <MenuLabel>Nothing has happened yet.</MenuLabel>}
        {items.map((entry) => (
          <MenuItem key={entry.id} onSelect={() => void navigate({ href: targetOf(entry) })}>
            <span className={styles.entry}>
              <span className={cx(styles.dot, styles[entry.level])} aria-hidden />
              <span>
                <span className={styles.title}>{entry.title}</span>
                <span className={styles.about}>{`${entry.text} · ${formatRelative(entry.at)}`}</span>
              </span>
            </span>
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

/** The page of what a notification is about. */
function targetOf({ type, jobId, data }: Notification): string {
  const { monitorId } = data as { readonly monitorId?: unknown };
  if (type.startsWith('monitor.') && typeof monitorId === 'string') return `/monitors/${monitorId}`;
  if (type.startsWith('schedule.')) return '/schedules';
  if (type.startsWith('account.')) return '/usage';
  return jobId === null ? '/jobs' : `/jobs/${jobId}`;
}
