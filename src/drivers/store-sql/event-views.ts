import type { ErrorCode } from '../../core/errors/registry.ts';
import type { EventType } from '../../core/model/event-types.ts';
import type { AccountId, JobId, TaskId } from '../../core/model/ids.ts';
import type { JobStatus } from '../../core/model/job.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import {
  comparePlaces,
  EVENTS_PER_LOOK,
  type EventCursor,
  type EventData,
  type EventPage,
  type EventPageSummary,
  type EventPlace,
  type EventStore,
  eventCursorOf,
  eventPlaceOf,
  FIRST_CURSOR,
  type JobEventData,
  type StoredEvent,
} from '../../core/ports/event-store.ts';
import type { ListPage } from '../../core/ports/store.ts';
import type { Row } from '../store-rows/rows.ts';
import { type Methods, read } from './methods.ts';
import { oneOf, raw, sql } from './sql.ts';
import { all, list } from './steps.ts';

/** Columns of pages without their contents. */
const EVENT_PAGE_COLUMNS = `seq, task_id, url, final_url, status_code, content_type, title, bytes, depth,
  fetched_at, duplicate_of, error_code, error_message`;

const text = (value: unknown) => value as string;
const maybeText = (value: unknown) => value as string | null;

export const eventPlaceFromRow = (row: Row, prefix = ''): EventPlace => ({
  era: Number(row[`${prefix}era`]),
  tx: Number(row[`${prefix}tx`]),
  seq: Number(row[`${prefix}seq`]),
});

/** What an event tells of the job in this row, which has JOB_COLUMNS. */
export const jobEventDataOf = (job: Row): JobEventData => ({
  kind: text(job.kind) as JobKind,
  status: text(job.status) as JobStatus,
  stopReason: maybeText(job.stop_reason),
  counters: {
    known: Number(job.known),
    open: Number(job.open),
    pages: Number(job.pages),
    done: Number(job.done),
    failed: Number(job.failed),
    skipped: Number(job.skipped) - Number(job.skipped_files),
    denied: Number(job.denied),
    cancelled: Number(job.cancelled),
    bytes: Number(job.bytes),
  },
});

const eventPageSummaryOf = (row: Row): EventPageSummary => ({
  seq: Number(row.seq),
  taskId: Number(row.task_id) as TaskId,
  url: text(row.url),
  finalUrl: text(row.final_url),
  statusCode: row.status_code as number | null,
  contentType: maybeText(row.content_type),
  title: maybeText(row.title),
  bytes: Number(row.bytes),
  depth: Number(row.depth),
  fetchedAt: Number(row.fetched_at),
  duplicateOf: maybeText(row.duplicate_of),
  errorCode: maybeText(row.error_code) as ErrorCode | null,
  errorMessage: maybeText(row.error_message),
});

/** What reads the log backwards, and the pages that events name. Each database writes and follows the log in its own way. */
export type EventViewStore = Pick<EventStore, 'listRecentEvents' | 'listEventPages'>;

export const eventViewStore: Methods<EventViewStore> = {
  listRecentEvents: read(function* ({ accountId, before, limit }) {
    const most = Number.MAX_SAFE_INTEGER;
    const { era, tx, seq } = before === null ? { era: most, tx: most, seq: most } : eventPlaceOf(before);
    // An event about pages is read without its data, since only its place is needed.
    const rows = yield* all(
      sql`SELECT era, tx, seq, type, account_id, job_id, at,
          CASE WHEN type = 'pages.committed' THEN '{}' ELSE data END AS data
        FROM events WHERE account_id = ${accountId} AND (era, tx, seq) < (${era}, ${tx}, ${seq})
        ORDER BY era DESC, tx DESC, seq DESC LIMIT ${EVENTS_PER_LOOK}`,
    );
    return recentEventsOf(rows, limit);
  }),

  listEventPages: read((jobId, pageSeqs) =>
    list(
      sql`SELECT ${raw(EVENT_PAGE_COLUMNS)} FROM pages
        WHERE seq ${oneOf(pageSeqs, 'bigint')} AND job_seq = (SELECT seq FROM jobs WHERE id = ${jobId}) ORDER BY seq`,
      eventPageSummaryOf,
    ),
  ),
};

export function eventOf(row: Row): StoredEvent {
  const cursor = eventCursorOf(eventPlaceFromRow(row));
  return {
    id: `evt_${cursor}`,
    cursor,
    type: text(row.type) as EventType,
    accountId: text(row.account_id) as AccountId,
    jobId: maybeText(row.job_id) as JobId | null,
    at: Number(row.at),
    data: JSON.parse(text(row.data)) as EventData,
  };
}

/** `log` is the row of event_log. */
export function eventPageOf(rows: readonly Row[], after: EventPlace | null, log: Row): EventPage {
  const items = rows.map(eventOf);
  const asked: EventCursor = after === null ? FIRST_CURSOR : eventCursorOf(after);
  return {
    items,
    next: items.at(-1)?.cursor ?? asked,
    hasGap: after !== null && comparePlaces(after, eventPlaceFromRow(log, 'removed_')) < 0,
  };
}

/**
 * The page of a list of recent events from the rows that were looked at, newest first: at most `EVENTS_PER_LOOK`, which may
 * be of pages.
 */
function recentEventsOf(rows: readonly Row[], limit: number): ListPage<StoredEvent> {
  const found: StoredEvent[] = [];
  for (const row of rows) {
    if (row.type === 'pages.committed') continue;
    found.push(eventOf(row));
    if (found.length === limit && row !== rows.at(-1))
      return { items: found, nextCursor: eventOf(row).cursor };
  }
  const last = rows.length < EVENTS_PER_LOOK ? undefined : rows.at(-1);
  return { items: found, nextCursor: last === undefined ? null : eventCursorOf(eventPlaceFromRow(last)) };
}
