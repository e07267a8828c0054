import { hash } from 'node:crypto';
import type { AccountId, ChangeId, JobId, MonitorId, ScheduleId } from '../../core/model/ids.ts';
import type { ChangeKind, Monitor, MonitorSettings } from '../../core/model/monitor.ts';
import {
  type DueRecheck,
  MOST_CHANGES_KEPT,
  MOST_CHECKS_KEPT,
  type MonitorChange,
  type MonitorPage,
  type MonitorStore,
  type Recheck,
} from '../../core/ports/monitor-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read, transaction } from './methods.ts';
import { insertSchedule } from './schedules.ts';
import { CLOCK, FOR_NO_KEY_UPDATE, given, json, oneOf, raw, rowsOf, sql } from './sql.ts';
import { changed, find, get, list, lock, one, run, type Steps, slice, tell } from './steps.ts';

const maybeText = (value: unknown) => (value === null ? null : String(value));

const monitorOf = (row: Row): Monitor => ({
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

const monitorPageOf = (row: Row): MonitorPage => ({
  url: String(row.url),
  state: row.state as Uint8Array,
});

const monitorChangeOf = (row: Row): MonitorChange => ({
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

const dueRecheckOf = (row: Row): DueRecheck => ({
  monitor: monitorOf(row),
  recheck: {
    ...(JSON.parse(String(row.recheck)) as Omit<Recheck, 'dueAt'>),
    dueAt: Number(row.recheck_at),
  },
});

/** URLs are too long for an index. */
const monitorPageKey = (url: string): string => hash('sha256', url, 'hex').slice(0, 40);
const PAGE_COLUMNS = { page_key: 'text', url: 'text', state: 'bytes' } as const;
const KEPT = [
  ['monitor_changes', MOST_CHANGES_KEPT],
  ['monitor_checks', MOST_CHECKS_KEPT],
] as const;

export const monitorStore: Methods<MonitorStore> = {
  createMonitor: transaction(function* (
    { id, accountId, scheduleId, name, settings, createdAt },
    schedule,
    most,
  ) {
    // Monitors of one account are made one after the other, so that their number is exact.
    yield* lock(`monitors:${accountId}`);
    const known = yield* find(sql`SELECT * FROM monitors WHERE id = ${id}`, monitorOf);
    if (known !== null) return known;
    const count = yield* get(sql`SELECT count(*) AS count FROM monitors WHERE account_id = ${accountId}`);
    if (Number(count?.count) >= most) return null;
    yield* insertSchedule(schedule);
    return yield* one(
      sql`INSERT INTO monitors (id, account_id, schedule_id, name, settings, revision, created_at, updated_at)
        VALUES (${id}, ${accountId}, ${scheduleId}, ${name}, ${json(settings)}, 1, ${createdAt}, ${createdAt})
        RETURNING *`,
      monitorOf,
    );
  }),

  getMonitor: read((account, id) =>
    find(sql`SELECT * FROM monitors WHERE account_id = ${account} AND id = ${id}`, monitorOf),
  ),

  listMonitors: read(({ accountId, cursor, limit }) =>
    slice(
      sql`SELECT * FROM monitors
        WHERE account_id = ${accountId} AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      monitorOf,
    ),
  ),

  updateMonitor: transaction(function* ({ accountId, id, revision, name, settings, forgetsPages }) {
    const updated = yield* find(
      sql`UPDATE monitors SET name = ${name}, settings = ${json(settings)}, revision = revision + 1,
          updated_at = ${CLOCK}, checks = CASE WHEN ${forgetsPages} THEN 0 ELSE checks END
        WHERE account_id = ${accountId} AND id = ${id} AND revision = ${revision} RETURNING *`,
      monitorOf,
    );
    if (updated !== null && forgetsPages) yield* run(sql`DELETE FROM monitor_pages WHERE monitor_id = ${id}`);
    return updated;
  }),

  deleteMonitor: transaction(function* (account, id) {
    const monitor = yield* get(
      sql`DELETE FROM monitors WHERE account_id = ${account} AND id = ${id} RETURNING schedule_id`,
    );
    if (monitor === undefined) return false;
    yield* run(sql`DELETE FROM webhooks WHERE account_id = ${account} AND monitor_id = ${id}`);
    yield* run(
      sql`DELETE FROM schedules WHERE account_id = ${account} AND id = ${String(monitor.schedule_id)}`,
    );
    return true;
  }),

  listMonitorPages: read(({ accountId, monitorId, after, urls, limit }) =>
    list(
      sql`SELECT url, state FROM monitor_pages
        WHERE account_id = ${accountId} AND monitor_id = ${monitorId}
          AND page_key > ${after === undefined ? '' : monitorPageKey(after)}
          ${given(urls, (some) => sql`AND page_key ${oneOf(some.map(monitorPageKey), 'text')}`)}
        ORDER BY page_key LIMIT ${limit}`,
      monitorPageOf,
    ),
  ),

  recordCheck: transaction(function* (check) {
    const { accountId, monitorId, jobId, checks, revision, summary, changes, recheck } = check;
    const monitor = yield* get(
      sql`SELECT checks, revision FROM monitors
        WHERE account_id = ${accountId} AND id = ${monitorId} ${FOR_NO_KEY_UPDATE}`,
    );
    const { now, isKnown } = yield* one(
      sql`SELECT ${CLOCK} AS now, EXISTS (
        SELECT 1 FROM monitor_checks WHERE monitor_id = ${monitorId} AND job_id = ${jobId}
      ) AS is_known`,
      (row) => ({ now: Number(row.now), isKnown: Boolean(row.is_known) }),
    );
    if (isKnown) return 'repeated';
    if (Number(monitor?.checks) !== checks || Number(monitor?.revision) !== revision) return 'stale';
    yield* run(
      sql`UPDATE monitors SET checks = checks + 1, last_check = ${json({ ...summary, at: now, jobId })},
          last_change_at = CASE WHEN ${changes.length > 0} THEN ${now} ELSE last_change_at END,
          recheck = ${recheck === null ? null : json({ round: recheck.round, urls: recheck.urls })},
          recheck_at = ${recheck === null ? null : now + recheck.inMs}
        WHERE account_id = ${accountId} AND id = ${monitorId}`,
    );
    yield* run(
      sql`INSERT INTO monitor_checks (monitor_id, account_id, job_id, at)
        VALUES (${monitorId}, ${accountId}, ${jobId}, ${now})`,
    );
    yield* writePages(check);
    for (const { id, kind, url, fromUrl, title, summary: text, data } of changes) {
      yield* run(
        sql`INSERT INTO monitor_changes
            (id, monitor_id, account_id, job_id, at, kind, url, from_url, title, summary, data)
          VALUES (${id}, ${monitorId}, ${accountId}, ${jobId}, ${now}, ${kind}, ${url}, ${fromUrl}, ${title}, ${text},
            ${data})`,
      );
    }
    for (const event of check.events) yield* tell(event);
    for (const [name, most] of KEPT) {
      const table = raw(name);
      yield* run(
        sql`DELETE FROM ${table} WHERE monitor_id = ${monitorId} AND seq <= (
          SELECT seq FROM ${table} WHERE monitor_id = ${monitorId} ORDER BY seq DESC LIMIT 1 OFFSET ${most}
        )`,
      );
    }
    return 'recorded';
  }),

  listDueRechecks: read((limit) =>
    list(
      sql`SELECT * FROM monitors WHERE recheck_at <= ${CLOCK} ORDER BY recheck_at, seq LIMIT ${limit}`,
      dueRecheckOf,
    ),
  ),

  takeRecheck: change((id, dueAt) =>
    changed(
      sql`UPDATE monitors SET recheck = NULL, recheck_at = NULL WHERE id = ${id} AND recheck_at = ${dueAt}`,
    ),
  ),

  listMonitorChanges: read(({ accountId, monitorId, kind, url, since, cursor, limit }) =>
    slice(
      sql`SELECT * FROM monitor_changes
        WHERE account_id = ${accountId} AND monitor_id = ${monitorId}
          AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
          ${given(kind, (value) => sql`AND kind = ${value}`)} ${given(url, (value) => sql`AND url = ${value}`)}
          ${given(since, (value) => sql`AND at >= ${value}`)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      monitorChangeOf,
    ),
  ),

  getMonitorChange: read((account, id) =>
    find(sql`SELECT * FROM monitor_changes WHERE account_id = ${account} AND id = ${id}`, monitorChangeOf),
  ),
};

type Check = Parameters<MonitorStore['recordCheck']>[0];

/** Stores what the monitor knows of each page now, and forgets the pages without a state. */
function* writePages({ accountId, monitorId, pages }: Check): Steps<void> {
  const keyed = pages.map(({ url, state }) => ({ page_key: monitorPageKey(url), url, state }));
  const gone = keyed.filter(({ state }) => state === null).map(({ page_key }) => page_key);
  const kept = keyed.filter(({ state }) => state !== null);
  if (gone.length > 0) {
    yield* run(
      sql`DELETE FROM monitor_pages WHERE monitor_id = ${monitorId} AND page_key ${oneOf(gone, 'text')}`,
    );
  }
  if (kept.length > 0) {
    yield* run(
      sql`INSERT INTO monitor_pages (monitor_id, page_key, account_id, url, state)
        SELECT ${monitorId}, p.page_key, ${accountId}, p.url, p.state
        FROM ${rowsOf('p', PAGE_COLUMNS, kept)} WHERE true ORDER BY p.page_key
        ON CONFLICT (monitor_id, page_key) DO UPDATE SET state = excluded.state`,
    );
  }
}
