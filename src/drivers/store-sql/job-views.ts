import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { FETCHING_GIVEN } from '../../core/model/job-kinds.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import {
  DELETED_ACCOUNT,
  DELETED_AT_ONCE,
  DELETED_ID,
  EXPIRED_COLUMNS,
  HAS_BODY,
} from '../store-rows/expiry.ts';
import { JOB_COLUMNS, jobOf } from '../store-rows/job-rows.ts';
import {
  cursorOf,
  foundTaskOf,
  ledgerEntryOf,
  pageFromRow,
  STORED_PAGE_COLUMNS,
  storedPageOf,
  taskWaitOf,
  WAITS,
} from '../store-rows/rows.ts';
import { type Methods, read, transaction } from './methods.ts';
import { CLOCK, FOR_NO_KEY_UPDATE, given, oneOf, raw, sql } from './sql.ts';
import { find, get, list, one, run, slice } from './steps.ts';

/** How jobs, their pages and their ledgers are read, and how jobs are deleted. Each database crawls them in its own way. */
export type JobViewStore = Omit<
  JobStore,
  'createJob' | 'getJob' | 'cancelJob' | 'stopJob' | 'resumeJob' | 'retryJob' | 'expireJobs'
>;

const PAGES = raw(
  `SELECT p.*, ${EXPIRED_COLUMNS} FROM pages p LEFT JOIN job_expiry e ON e.job_seq = p.job_seq`,
);
const STORED_PAGES = raw(
  `SELECT ${STORED_PAGE_COLUMNS} FROM tasks t JOIN pages p ON p.task_id = t.id JOIN jobs j ON j.seq = t.job_seq`,
);
const LEDGER = raw('SELECT t.*, f.url AS found_on_url FROM tasks t LEFT JOIN tasks f ON f.id = t.found_on');
const seqOf = (job: string) => sql`(SELECT seq FROM jobs WHERE id = ${job})`;

const WAITING = raw('id, host_id, state, ready_at, rule FROM tasks WHERE job_seq = (SELECT seq FROM job)');

export const jobViewStore: Methods<JobViewStore> = {
  listJobs: read(({ accountId, status, kind, scheduleId, cursor, limit }) =>
    slice(
      sql`SELECT ${raw(JOB_COLUMNS)} FROM jobs j
        WHERE account_id = ${accountId} AND seq < ${cursorOf(cursor, Number.MAX_SAFE_INTEGER)}
          ${given(status, (one) => sql`AND status = ${one}`)} ${given(kind, (one) => sql`AND kind = ${one}`)}
          ${given(scheduleId, (one) => sql`AND schedule_id = ${one}`)}
        ORDER BY seq DESC LIMIT ${limit + 1}`,
      limit,
      jobOf,
    ),
  ),

  countOpenTasks: read(() =>
    one(sql`SELECT coalesce(sum(open), 0) AS n FROM jobs WHERE finished_at IS NULL`, ({ n }) => Number(n)),
  ),

  listPages: read(({ jobId, state, cursor, limit }) =>
    slice(
      sql`${PAGES} WHERE p.job_seq = ${seqOf(jobId)} AND p.seq > ${cursorOf(cursor, 0)}
          ${given(state, (wanted) => raw(`AND p.error_code IS ${wanted === 'done' ? '' : 'NOT'} NULL`))}
        ORDER BY p.seq LIMIT ${limit + 1}`,
      limit,
      pageFromRow,
    ),
  ),

  getPage: read((jobId, taskId) =>
    find(
      sql`${PAGES} JOIN jobs j ON j.seq = p.job_seq WHERE j.id = ${jobId} AND p.task_id = ${taskId}`,
      pageFromRow,
    ),
  ),

  pagesOf: read((jobId, urlKeys) =>
    list(
      sql`${STORED_PAGES} WHERE t.job_seq = ${seqOf(jobId)} AND t.url_key ${oneOf(urlKeys, 'text')}
        AND p.error_code IS NULL AND ${raw(HAS_BODY)}`,
      storedPageOf,
    ),
  ),

  recentPages: read(({ accountId, urlKey, since, limit }) =>
    list(
      sql`${STORED_PAGES} WHERE t.url_key = ${urlKey} AND t.found_by = 'seed' AND j.account_id = ${accountId}
          AND j.kind ${oneOf(FETCHING_GIVEN, 'text')} AND p.fetched_at >= ${Math.floor(since)}
          AND p.error_code IS NULL AND ${raw(HAS_BODY)}
        ORDER BY t.id DESC LIMIT ${limit}`,
      storedPageOf,
    ),
  ),

  listTasks: read(({ jobId, state, cursor, limit }) =>
    slice(
      // The state is one of a closed list and goes in as text, so that the partial index on failed ones can serve.
      sql`${LEDGER} WHERE t.job_seq = ${seqOf(jobId)} AND t.id > ${cursorOf(cursor, 0)}
          ${given(state, (wanted) => raw(`AND t.state = '${wanted}'`))}
        ORDER BY t.id LIMIT ${limit + 1}`,
      limit,
      ledgerEntryOf,
      'id',
    ),
  ),

  listWaits: read((id) =>
    list(
      sql`WITH job AS (SELECT seq FROM jobs WHERE id = ${id}), looked AS (
          SELECT * FROM (SELECT ${WAITING} ORDER BY id LIMIT ${WAITS.urls}) AS first
          UNION
          SELECT * FROM (SELECT ${WAITING} ORDER BY id DESC LIMIT ${WAITS.urls}) AS last
        ), open AS (
          SELECT host_id, state, count(*) AS tasks, CASE WHEN state = 'waiting' THEN rule END AS why,
            min(ready_at) FILTER (WHERE state = 'waiting') AS ready_at
          FROM looked WHERE state IN ('ready', 'waiting', 'claimed') GROUP BY host_id, state, why
        )
        SELECT h.key, h.owner, h.blocked_until, h.state AS host_state, o.state, o.tasks, o.why AS rule, o.ready_at,
          ${CLOCK} AS now
        FROM open o JOIN hosts h ON h.id = o.host_id ORDER BY o.tasks DESC, h.id, o.state LIMIT ${WAITS.entries}`,
      (row) => taskWaitOf(row, Number(row.now)),
    ),
  ),

  findTask: read((jobId, urlKey) =>
    find(sql`${LEDGER} WHERE t.job_seq = ${seqOf(jobId)} AND t.url_key = ${urlKey}`, foundTaskOf),
  ),

  getSources: read(function* (jobId) {
    const row = yield* get(sql`SELECT sources FROM job_sources WHERE job_seq = ${seqOf(jobId)}`);
    return row === undefined ? {} : (JSON.parse(String(row.sources)) as Record<string, string>);
  }),

  deleteJob: transaction(
    function* (id) {
      const job = yield* get(
        sql`SELECT seq, finished_at, known FROM jobs WHERE id = ${id} ${FOR_NO_KEY_UPDATE}`,
      );
      if (job === undefined) return false;
      if (job.finished_at === null) {
        throw new ScrapifieError('CONFLICT', 'The job is still going on: cancel it first.');
      }
      const seq = Number(job.seq);
      yield* run(sql`DELETE FROM exports WHERE job_id = ${id}`);
      if (Number(job.known) > DELETED_AT_ONCE) {
        yield* run(
          sql`UPDATE jobs SET id = ${DELETED_ID + id}, account_id = ${DELETED_ACCOUNT}, options = '{}', seeds = '[]'
            WHERE seq = ${seq}`,
        );
        return true;
      }
      yield* run(sql`DELETE FROM pages WHERE job_seq = ${seq}`);
      yield* run(sql`DELETE FROM tasks WHERE job_seq = ${seq}`);
      yield* run(sql`DELETE FROM job_sources WHERE job_seq = ${seq}`);
      yield* run(sql`DELETE FROM jobs WHERE seq = ${seq}`);
      return true;
    },
    { isReserved: true, mayWaitLong: true },
  ),
};
