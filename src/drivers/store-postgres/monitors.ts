import { MOST_CHANGES_KEPT, MOST_CHECKS_KEPT, type MonitorStore } from '../../core/ports/monitor-store.ts';
import {
  dueRecheckOf,
  monitorChangeOf,
  monitorOf,
  monitorPageKey,
  monitorPageOf,
} from '../store-rows/monitor-rows.ts';
import { cursorOf, type Row, sliceOf } from '../store-rows/rows.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter, storableText } from './parameters.ts';
import { insertSchedule } from './schedules.ts';

/** Bytes of JSON are written as text that PostgreSQL can pass as a parameter of JSON. */
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const maybeStorable = (text: string | null) => (text === null ? null : storableText(text.toWellFormed()));

export function createPostgresMonitorStore(database: PostgresDatabase): MonitorStore {
  return {
    createMonitor({ id, accountId, scheduleId, name, settings, createdAt }, schedule, most) {
      return database.transaction(async (query) => {
        // Monitors of one account are made one after the other, so that their number is exact.
        await query(`SELECT pg_advisory_xact_lock(hashtextextended('monitors:' || $1, 0))`, [accountId]);
        const [known] = await query('SELECT * FROM monitors WHERE id = $1', [id]);
        if (known !== undefined) return monitorOf(known);
        const [count] = await query('SELECT count(*) AS count FROM monitors WHERE account_id = $1', [
          accountId,
        ]);
        if (Number(count?.count) >= most) return null;
        await insertSchedule(query, schedule);
        const [row] = await query(
          `INSERT INTO monitors (id, account_id, schedule_id, name, settings, revision, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, 1, $6, $6) RETURNING *`,
          [id, accountId, scheduleId, storableText(name), jsonParameter(settings), createdAt],
        );
        return monitorOf(row as Row);
      });
    },

    async getMonitor(account, id) {
      const [row] = await database.query('SELECT * FROM monitors WHERE account_id = $1 AND id = $2', [
        account,
        id,
      ]);
      return row === undefined ? null : monitorOf(row);
    },

    async listMonitors({ accountId, cursor, limit }) {
      const rows = await database.query(
        'SELECT * FROM monitors WHERE account_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3',
        [accountId, cursorOf(cursor, Number.MAX_SAFE_INTEGER), limit + 1],
      );
      return sliceOf(rows, limit, 'seq', monitorOf);
    },

    async updateMonitor({ accountId, id, revision, name, settings, forgetsPages }) {
      const [row] = await database.query(
        `WITH changed AS (
           UPDATE monitors SET name = $4, settings = $5, revision = revision + 1, updated_at = ${NOW},
             checks = CASE WHEN $6::boolean THEN 0 ELSE checks END
           WHERE account_id = $1 AND id = $2 AND revision = $3 RETURNING *
         ), forgotten AS (
           DELETE FROM monitor_pages WHERE $6::boolean AND monitor_id IN (SELECT id FROM changed)
         ) SELECT * FROM changed`,
        [accountId, id, revision, storableText(name), jsonParameter(settings), forgetsPages],
      );
      return row === undefined ? null : monitorOf(row);
    },

    deleteMonitor(account, id) {
      return database.transaction(async (query) => {
        const [row] = await query(
          'DELETE FROM monitors WHERE account_id = $1 AND id = $2 RETURNING schedule_id',
          [account, id],
        );
        if (row === undefined) return false;
        await query('DELETE FROM webhooks WHERE account_id = $1 AND monitor_id = $2', [account, id]);
        await query('DELETE FROM schedules WHERE account_id = $1 AND id = $2', [account, row.schedule_id]);
        return true;
      });
    },

    async listMonitorPages({ accountId, monitorId, after, urls, limit }) {
      const rows = await database.query(
        `SELECT url, state FROM monitor_pages WHERE account_id = $1 AND monitor_id = $2 AND page_key > $3
           AND ($4::text[] IS NULL OR page_key = ANY ($4::text[]))
         ORDER BY page_key LIMIT $5`,
        [
          accountId,
          monitorId,
          after === undefined ? '' : monitorPageKey(after),
          urls === undefined ? null : urls.map(monitorPageKey),
          limit,
        ],
      );
      return rows.map(monitorPageOf);
    },

    recordCheck(check) {
      const { accountId, monitorId, jobId, checks, revision, summary, pages, changes, recheck, events } =
        check;
      return database.transaction(async (query) => {
        const [monitor] = await query(
          'SELECT checks, revision FROM monitors WHERE account_id = $1 AND id = $2 FOR NO KEY UPDATE',
          [accountId, monitorId],
        );
        const known = await query('SELECT 1 FROM monitor_checks WHERE monitor_id = $1 AND job_id = $2', [
          monitorId,
          jobId,
        ]);
        if (known.length > 0) return 'repeated';
        if (Number(monitor?.checks) !== checks || Number(monitor?.revision) !== revision) return 'stale';
        await query(
          `WITH now AS MATERIALIZED (SELECT ${NOW} AS at), checked AS (
             INSERT INTO monitor_checks (monitor_id, account_id, job_id, at) SELECT $2, $1, $3, at FROM now
           )
           UPDATE monitors SET checks = checks + 1,
             last_check = ($4::jsonb || jsonb_build_object('at', now.at))::text,
             last_change_at = CASE WHEN $5::boolean THEN now.at ELSE last_change_at END,
             recheck = $6, recheck_at = now.at + $7
           FROM now WHERE account_id = $1 AND id = $2`,
          [
            accountId,
            monitorId,
            jobId,
            jsonParameter({ ...summary, jobId }),
            changes.length > 0,
            recheck === null ? null : jsonParameter({ round: recheck.round, urls: recheck.urls }),
            recheck?.inMs ?? null,
          ],
        );
        const [kept, gone] = [
          pages.filter(({ state }) => state !== null),
          pages.filter(({ state }) => state === null),
        ];
        if (gone.length > 0) {
          await query('DELETE FROM monitor_pages WHERE monitor_id = $1 AND page_key = ANY ($2::text[])', [
            monitorId,
            gone.map(({ url }) => monitorPageKey(url)),
          ]);
        }
        if (kept.length > 0) {
          await query(
            `INSERT INTO monitor_pages (monitor_id, page_key, account_id, url, state)
             SELECT $1, p.page_key, $2, p.url, decode(p.state, 'base64')
             FROM jsonb_to_recordset($3::jsonb) AS p (page_key text, url text, state text)
             ORDER BY p.page_key
             ON CONFLICT (monitor_id, page_key) DO UPDATE SET state = excluded.state`,
            [
              monitorId,
              accountId,
              jsonParameter(
                kept.map(({ url, state }) => ({
                  page_key: monitorPageKey(url),
                  url,
                  state: base64(state ?? new Uint8Array()),
                })),
              ),
            ],
          );
        }
        for (const change of changes) {
          await query(
            `INSERT INTO monitor_changes (id, monitor_id, account_id, job_id, at, kind, url, from_url, title, summary, data)
             VALUES ($1, $2, $3, $4, ${NOW}, $5, $6, $7, $8, $9, $10)`,
            [
              change.id,
              monitorId,
              accountId,
              jobId,
              change.kind,
              maybeStorable(change.url),
              maybeStorable(change.fromUrl),
              maybeStorable(change.title),
              maybeStorable(change.summary),
              change.data,
            ],
          );
        }
        for (const event of events) {
          await query(`SELECT write_event($1, $2, $3, ${NOW}, $4::jsonb)`, [
            event.type,
            event.accountId,
            event.jobId,
            jsonParameter(event.data),
          ]);
        }
        for (const [table, most] of [
          ['monitor_changes', MOST_CHANGES_KEPT],
          ['monitor_checks', MOST_CHECKS_KEPT],
        ] as const) {
          await query(
            `DELETE FROM ${table} WHERE monitor_id = $1 AND seq <= (
               SELECT seq FROM ${table} WHERE monitor_id = $1 ORDER BY seq DESC LIMIT 1 OFFSET ${most}
             )`,
            [monitorId],
          );
        }
        return 'recorded';
      });
    },

    async listDueRechecks(limit) {
      const rows = await database.query(
        `SELECT * FROM monitors WHERE recheck_at <= ${NOW} ORDER BY recheck_at, seq LIMIT $1`,
        [limit],
      );
      return rows.map(dueRecheckOf);
    },

    async takeRecheck(id, dueAt) {
      const rows = await database.query(
        'UPDATE monitors SET recheck = NULL, recheck_at = NULL WHERE id = $1 AND recheck_at = $2 RETURNING seq',
        [id, dueAt],
      );
      return rows.length > 0;
    },

    async listMonitorChanges({ accountId, monitorId, kind, url, since, cursor, limit }) {
      const rows = await database.query(
        `SELECT * FROM monitor_changes WHERE account_id = $1 AND monitor_id = $2 AND seq < $3
           AND ($4::text IS NULL OR kind = $4) AND ($5::text IS NULL OR url = $5)
           AND ($6::bigint IS NULL OR at >= $6)
         ORDER BY seq DESC LIMIT $7`,
        [
          accountId,
          monitorId,
          cursorOf(cursor, Number.MAX_SAFE_INTEGER),
          kind ?? null,
          url ?? null,
          since ?? null,
          limit + 1,
        ],
      );
      return sliceOf(rows, limit, 'seq', monitorChangeOf);
    },

    async getMonitorChange(account, id) {
      const [row] = await database.query('SELECT * FROM monitor_changes WHERE account_id = $1 AND id = $2', [
        account,
        id,
      ]);
      return row === undefined ? null : monitorChangeOf(row);
    },
  };
}
