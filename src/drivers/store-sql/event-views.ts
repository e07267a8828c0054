import { EVENTS_PER_LOOK, type EventStore, eventPlaceOf } from '../../core/ports/event-store.ts';
import { EVENT_PAGE_COLUMNS, eventPageSummaryOf, recentEventsOf } from '../store-rows/event-rows.ts';
import { type Methods, read } from './methods.ts';
import { oneOf, raw, sql } from './sql.ts';
import { all, list } from './steps.ts';

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
