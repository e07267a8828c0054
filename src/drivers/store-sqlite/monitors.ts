import { MOST_CHANGES_KEPT, MOST_CHECKS_KEPT, type MonitorStore } from '../../core/ports/monitor-store.ts';
import {
  dueRecheckOf,
  monitorChangeOf,
  monitorOf,
  monitorPageKey,
  monitorPageOf,
} from '../store-rows/monitor-rows.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import { writeEvent } from './event-log.ts';
import { createSqliteScheduleStore } from './schedules.ts';
import type { Synchronous } from './synchronous.ts';

export function createSqliteMonitorStore(
  database: SqliteDatabase,
  clock: () => number,
): Synchronous<MonitorStore> {
  const schedules = createSqliteScheduleStore(database, clock);
  const rowOf = (id: string) => database.get('SELECT * FROM monitors WHERE id = ?', id);

  return {
    createMonitor({ id, accountId, scheduleId, name, settings, createdAt }, schedule, most) {
      const known = rowOf(id);
      if (known !== undefined) return monitorOf(known);
      const count = database.get('SELECT count(*) AS count FROM monitors WHERE account_id = ?', accountId);
      if (Number(count?.count) >= most) return null;
      schedules.createSchedule(schedule);
      database.run(
        `INSERT INTO monitors (id, account_id, schedule_id, name, settings, revision, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, 1, ?, ?)`,
        id,
        accountId,
        scheduleId,
        name,
        JSON.stringify(settings),
        createdAt,
        createdAt,
      );
      return monitorOf(rowOf(id) as SqliteRow);
    },

    getMonitor(account, id) {
      const row = database.get('SELECT * FROM monitors WHERE account_id = ? AND id = ?', account, id);
      return row === undefined ? null : monitorOf(row);
    },

    listMonitors({ accountId, cursor, limit }) {
      const rows = database.all(
        'SELECT * FROM monitors WHERE account_id = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
        accountId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', monitorOf);
    },

    updateMonitor({ accountId, id, revision, name, settings, forgetsPages }) {
      const changed = database.run(
        `UPDATE monitors SET name = ?, settings = ?, revision = revision + 1, updated_at = ?,
           checks = iif(?, 0, checks)
         WHERE account_id = ? AND id = ? AND revision = ?`,
        name,
        JSON.stringify(settings),
        clock(),
        Number(forgetsPages),
        accountId,
        id,
        revision,
      );
      if (changed === 0) return null;
      if (forgetsPages) database.run('DELETE FROM monitor_pages WHERE monitor_id = ?', id);
      return monitorOf(rowOf(id) as SqliteRow);
    },

    deleteMonitor(account, id) {
      const row = database.get(
        'SELECT schedule_id FROM monitors WHERE account_id = ? AND id = ?',
        account,
        id,
      );
      if (row === undefined) return false;
      database.run('DELETE FROM webhooks WHERE account_id = ? AND monitor_id = ?', account, id);
      database.run('DELETE FROM monitors WHERE id = ?', id);
      database.run('DELETE FROM schedules WHERE account_id = ? AND id = ?', account, row.schedule_id ?? null);
      return true;
    },

    listMonitorPages({ accountId, monitorId, after, urls, limit }) {
      const rows = database.all(
        `SELECT url, state FROM monitor_pages WHERE account_id = ?1 AND monitor_id = ?2 AND page_key > ?3
           AND (?4 IS NULL OR page_key IN (SELECT value FROM json_each(?4)))
         ORDER BY page_key LIMIT ?5`,
        accountId,
        monitorId,
        after === undefined ? '' : monitorPageKey(after),
        urls === undefined ? null : JSON.stringify(urls.map(monitorPageKey)),
        limit,
      );
      return rows.map(monitorPageOf);
    },

    recordCheck({ accountId, monitorId, jobId, checks, revision, summary, pages, changes, recheck, events }) {
      const now = clock();
      const known = database.get(
        'SELECT 1 FROM monitor_checks WHERE monitor_id = ? AND job_id = ?',
        monitorId,
        jobId,
      );
      if (known !== undefined) return 'repeated';
      const changed = database.run(
        `UPDATE monitors SET checks = checks + 1, last_check = ?, last_change_at = iif(?, ?, last_change_at),
           recheck = ?, recheck_at = ?
         WHERE account_id = ? AND id = ? AND checks = ? AND revision = ?`,
        JSON.stringify({ ...summary, at: now, jobId }),
        Number(changes.length > 0),
        now,
        recheck === null ? null : JSON.stringify({ round: recheck.round, urls: recheck.urls }),
        recheck === null ? null : now + recheck.inMs,
        accountId,
        monitorId,
        checks,
        revision,
      );
      if (changed === 0) return 'stale';
      database.run(
        'INSERT INTO monitor_checks (monitor_id, account_id, job_id, at) VALUES (?, ?, ?, ?)',
        monitorId,
        accountId,
        jobId,
        now,
      );
      for (const { url, state } of pages) {
        if (state === null) {
          database.run(
            'DELETE FROM monitor_pages WHERE monitor_id = ? AND page_key = ?',
            monitorId,
            monitorPageKey(url),
          );
        } else {
          database.run(
            `INSERT INTO monitor_pages (monitor_id, page_key, account_id, url, state) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (monitor_id, page_key) DO UPDATE SET state = excluded.state`,
            monitorId,
            monitorPageKey(url),
            accountId,
            url,
            state,
          );
        }
      }
      for (const change of changes) {
        database.run(
          `INSERT INTO monitor_changes (id, monitor_id, account_id, job_id, at, kind, url, from_url, title, summary, data)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          change.id,
          monitorId,
          accountId,
          jobId,
          now,
          change.kind,
          change.url,
          change.fromUrl,
          change.title,
          change.summary,
          change.data,
        );
      }
      for (const event of events) writeEvent(database, event, now);
      for (const [table, most] of [
        ['monitor_changes', MOST_CHANGES_KEPT],
        ['monitor_checks', MOST_CHECKS_KEPT],
      ] as const) {
        database.run(
          `DELETE FROM ${table} WHERE monitor_id = ?1 AND seq <= (
             SELECT seq FROM ${table} WHERE monitor_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ${most}
           )`,
          monitorId,
        );
      }
      return 'recorded';
    },

    listDueRechecks(limit) {
      const rows = database.all(
        'SELECT * FROM monitors WHERE recheck_at <= ? ORDER BY recheck_at, seq LIMIT ?',
        clock(),
        limit,
      );
      return rows.map(dueRecheckOf);
    },

    takeRecheck: (id, dueAt) =>
      database.run(
        'UPDATE monitors SET recheck = NULL, recheck_at = NULL WHERE id = ? AND recheck_at = ?',
        id,
        dueAt,
      ) > 0,

    listMonitorChanges({ accountId, monitorId, kind, url, since, cursor, limit }) {
      const rows = database.all(
        `SELECT * FROM monitor_changes WHERE account_id = ?1 AND monitor_id = ?2 AND seq < ?3
           AND (?4 IS NULL OR kind = ?4) AND (?5 IS NULL OR url = ?5) AND (?6 IS NULL OR at >= ?6)
         ORDER BY seq DESC LIMIT ?7`,
        accountId,
        monitorId,
        cursorOf(cursor, Number.MAX_SAFE_INTEGER),
        kind ?? null,
        url ?? null,
        since ?? null,
        limit + 1,
      );
      return sliceOf(rows, limit, 'seq', monitorChangeOf);
    },

    getMonitorChange(account, id) {
      const row = database.get('SELECT * FROM monitor_changes WHERE account_id = ? AND id = ?', account, id);
      return row === undefined ? null : monitorChangeOf(row);
    },
  };
}
