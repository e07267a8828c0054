import { z } from 'zod';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { jobLinks } from '../../capabilities/views/job-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { noticeOf } from '../../capabilities/webhooks/notice.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { type EventCursor, parseEventCursor, type StoredEvent } from '../../core/ports/event-store.ts';
import type { App } from '../server/app.ts';
import { accountOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const LEVELS = ['good', 'neutral', 'warning', 'bad'] as const;

/** Beginnings and steps on the way are no news; `GET /v1/events` has them. */
const QUIET: ReadonlySet<string> = new Set(['job.created', 'job.started', 'job.stopping', 'job.resumed']);

const notificationSchema = z
  .object({
    id: z.string(),
    type: z.string().describe('As in docs/events.md.'),
    level: z.enum(LEVELS),
    title: z.string(),
    text: z.string(),
    at: z.iso.datetime(),
    jobId: z.string().nullable(),
    data: z.record(z.string(), z.unknown()).describe('What the event says, as in docs/events.md.'),
    links: z.object({ self: z.string() }).nullable().describe('The job; null for events of no job.'),
  })
  .meta({ id: 'Notification' });

/** What happened in the account lately, for people. */
export function addNotificationRoutes(app: App, { store }: RouteDeps): void {
  /** The jobs that the events are of, each read once. */
  async function jobsOf(events: readonly StoredEvent[]): Promise<ReadonlyMap<JobId, Job | null>> {
    const ids = new Set(events.flatMap(({ jobId }) => (jobId === null ? [] : [jobId])));
    return new Map(await Promise.all([...ids].map(async (id) => [id, await store.getJob(id)] as const)));
  }

  app.route({
    method: 'GET',
    url: '/v1/notifications',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['events'],
      summary: 'What happened lately, newest first: ends of jobs, changes, missed runs, exports',
      description:
        'Events of the account as short messages, without those of single pages and of beginnings. They are kept as long as ' +
        'events are. A page of the list may be shorter than `limit`, and empty, although `nextCursor` leads on.',
      querystring: z.strictObject({
        type: z
          .string()
          .max(100)
          .regex(
            /^[a-z_.]+\*?$/,
            'Must be a type such as `job.failed`, or `monitor.*` for all that begin so.',
          )
          .optional()
          .describe('Only events of this type; `monitor.*` stands for all that begin so.'),
        level: z.enum(LEVELS).optional().describe('Only this level.'),
        after: z
          .string()
          .max(64)
          .optional()
          .describe('`id` of the newest one you have: the list ends before it.'),
        ...pagingFields,
        limit: z.coerce.number().int().min(1).max(200).default(50).describe('Items per page at most.'),
      }),
      response: answers({ 200: listSchema(notificationSchema) }),
    },
    async handler(request) {
      const { type, level, limit, after } = request.query;
      if (after !== undefined && parseEventCursor(after.replace(/^evt_/, '')) === null) {
        throw invalidRequest([{ field: 'after', message: 'Not the id of a notification.' }]);
      }
      const before = (unwrapCursor('notifications', request.query.cursor) ?? null) as EventCursor | null;
      const slice = await store.listRecentEvents({ accountId: accountOf(request), before, limit });
      const known = after === undefined ? -1 : slice.items.findIndex(({ id }) => id === after);
      const fresh = known === -1 ? slice.items : slice.items.slice(0, known);
      const wanted = fresh.filter((event) => isWanted(event.type, type));
      const jobs = await jobsOf(wanted);
      const items = wanted
        .map((event) => notificationOf(event, event.jobId === null ? null : (jobs.get(event.jobId) ?? null)))
        .filter((each) => level === undefined || each.level === level);
      const nextCursor = known === -1 ? slice.nextCursor : null;
      return success(listAnswer('notifications', { items, nextCursor }, (each) => each));
    },
  });
}

function isWanted(type: string, wanted: string | undefined): boolean {
  if (wanted === undefined) return !QUIET.has(type);
  return wanted.endsWith('*') ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

function notificationOf(event: StoredEvent, job: Job | null) {
  const { id, type, at, jobId, data } = event;
  const { title, text, level } = noticeOf(event, { job, results: null, omitted: null }, '');
  const links = jobId === null ? null : { self: jobLinks(jobId).self };
  return { id, type, level, title, text, at: new Date(at).toISOString(), jobId, data, links };
}
