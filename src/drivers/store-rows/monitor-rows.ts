import { hash } from 'node:crypto';
import type { AccountId, ChangeId, JobId, MonitorId, ScheduleId } from '../../core/model/ids.ts';
import type { ChangeKind, Monitor, MonitorSettings } from '../../core/model/monitor.ts';
import type { DueRecheck, MonitorChange, MonitorPage, Recheck } from '../../core/ports/monitor-store.ts';
import type { Row } from './rows.ts';

const maybeText = (value: unknown) => (value === null ? null : String(value));

export const monitorOf = (row: Row): Monitor => ({
  id: String(row.id) as MonitorId,
  accountId: String(row.account_id) as AccountId,
  scheduleId: String(row.schedule_id) as ScheduleId,
  name: String(row.name),
  settings: JSON.parse(String(row.settings)) as MonitorSettings,
  revision: Number(row.revision),
  checks: Number(row.checks),
  lastCheck: row.last_check === null ? null : (JSON.parse(String(row.last_check)) as Monitor['lastCheck']),
  lastChangeAt: row.last_change_at === null ? null : Number(row.last_change_at),
  recheckAt: row.recheck_at === null ? null : Number(row.recheck_at),
  createdAt: Number(row.created_at),
  updatedAt: Number(row.updated_at),
});

export const monitorPageOf = (row: Row): MonitorPage => ({
  url: String(row.url),
  state: row.state as Uint8Array,
});

export const monitorChangeOf = (row: Row): MonitorChange => ({
  id: String(row.id) as ChangeId,
  monitorId: String(row.monitor_id) as MonitorId,
  accountId: String(row.account_id) as AccountId,
  jobId: String(row.job_id) as JobId,
  at: Number(row.at),
  kind: String(row.kind) as ChangeKind,
  url: String(row.url),
  fromUrl: maybeText(row.from_url),
  title: maybeText(row.title),
  summary: String(row.summary),
  data: row.data as Uint8Array,
});

export const dueRecheckOf = (row: Row): DueRecheck => ({
  monitor: monitorOf(row),
  recheck: {
    ...(JSON.parse(String(row.recheck)) as Omit<Recheck, 'dueAt'>),
    dueAt: Number(row.recheck_at),
  },
});

/** URLs are too long for an index. */
export const monitorPageKey = (url: string): string => hash('sha256', url, 'hex').slice(0, 40);
