import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { allows, requireReadable } from '../../capabilities/accounts/scopes.ts';
import type { EventSink } from '../../capabilities/events/event-listener.ts';
import { createEventStreams, type EventStreams } from '../../capabilities/events/event-streams.ts';
import {
  parsePosition,
  STREAM_ONLY_TYPES,
  type StreamPosition,
  type WantedTypes,
} from '../../capabilities/events/stream-frames.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { EVENT_LINKS, jobLinks } from '../../capabilities/views/job-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { noticeOf } from '../../capabilities/webhooks/notice.ts';
import { listenOnce } from '../../core/errors/guarded.ts';
import { eventsTo } from '../../core/model/event-types.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { levelOfError } from '../../core/observe/logger.ts';
import { type EventCursor, parseEventCursor, type StoredEvent } from '../../core/ports/event-store.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import { defined } from '../../lib/defined.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { SharedGzip } from '../server/shared-gzip.ts';
import { jobParams } from './jobs.ts';
import type { RouteDeps, SharedRouteDeps } from './route-deps.ts';

/** When a client that lost the connection should come back. */
const RETRY_MS = 2_000;
const KNOWN_TYPES: readonly string[] = [...STREAM_ONLY_TYPES, ...eventsTo('stream')];
/** `job.*` and so on: one for each family that a known type belongs to. */
const TYPE_GROUPS: readonly string[] = [
  ...new Set(KNOWN_TYPES.flatMap((type) => (type.includes('.') ? [`${type.split('.')[0]}.*`] : []))),
];

const eventsQuery = z.strictObject({
  after: z
    .string()
    .max(64)
    .optional()
    .describe('`id` of the last event you have; the header `Last-Event-ID` says the same and goes first.'),
  types: z
    .string()
    .max(1_000)
    .optional()
    .describe(
      `Comma-separated types; left out: all. ${[...KNOWN_TYPES, ...TYPE_GROUPS].map((each) => `\`${each}\``).join(', ')}.`,
    ),
});

const STREAM_ANSWER = {
  description: 'A stream of server-sent events: see docs/events.md.',
  content: { 'text/event-stream': { schema: z.string() } },
};
const HOW =
  'Server-sent events. `Last-Event-ID` (or `after`) goes on after an event, with nothing missed and nothing repeated.';

/** Live events: what happens to jobs, as it is committed. */
export function addEventRoutes(app: App, deps: SharedRouteDeps): void {
  const { jobs, store, bus, settings, now, keys, dashboard, metrics } = deps;
  const streams: EventStreams = createEventStreams({
    store,
    bus,
    now,
    maxStreams: settings.maxEventStreams,
    maxPerAccount: settings.maxEventStreamsPerAccount,
    onDropped: () => metrics.connectionClosed('unread'),
    links: EVENT_LINKS,
    ...defined({ pollMs: deps.eventPollMs }),
  });
  app.addHook('preClose', async () => streams.close());

  /** Whether the key, and the sign-in that a browser came with, are still good. */
  async function mayListen({ signIn }: FastifyRequest, key: FoundKey): Promise<boolean> {
    if (!(await keys.isValid(key))) return false;
    return signIn === null || (await dashboard?.signIns.isOpen(signIn)) === true;
  }

  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    jobId: JobId | null,
    query: z.infer<typeof eventsQuery>,
  ): Promise<FastifyReply> {
    const key = apiKeyOf(request);
    const [after, types] = [positionOf(request, query.after), typesOf(query.types)];
    const sink = sinkOf(
      reply,
      /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? ''),
    );
    const ended = streams.listen({
      accountId: key.accountId,
      jobId,
      types,
      after,
      mayReadPrivate: jobId !== null || allows(key.scopes, 'credentials:read'),
      sink: sink.sink,
      isAllowed: () => mayListen(request, key),
    });
    // A refusal comes before anything was sent.
    await Promise.race([ended, sink.opened]);
    ended.catch((error: unknown) => {
      request.log[levelOfError(error)]({ err: error }, 'event stream failed');
      reply.raw.destroy();
    });
    return reply;
  }

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/events',
    exposeHeadRoute: false,
    config: { access: 'jobs:read', isStream: true },
    schema: {
      tags: ['events'],
      summary: 'Live events of one job',
      description: `${HOW} The stream of a job that has ended ends after its last event, with \`end\`.`,
      params: jobParams,
      querystring: eventsQuery,
      response: { ...answers({}), 200: STREAM_ANSWER },
    },
    async handler(request, reply) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      return stream(request, reply, job.id, request.query);
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/events',
    exposeHeadRoute: false,
    config: { access: 'jobs:read', isStream: true },
    schema: {
      tags: ['events'],
      summary: 'Live events of all jobs of the account',
      description: `${HOW} Without either it begins with what happens from now on; \`after=0-0-0\` begins with the oldest event that is kept.`,
      querystring: eventsQuery,
      response: { ...answers({}), 200: STREAM_ANSWER },
    },
    async handler(request, reply) {
      const { after, types } = request.query;
      const isNew = after === undefined && request.headers['last-event-id'] === undefined;
      const from = isNew ? await store.eventHead() : after;
      return stream(request, reply, null, { types, ...defined({ after: from }) });
    },
  });
}

function positionOf(request: FastifyRequest, after: string | undefined): StreamPosition | null {
  const given = request.headers['last-event-id'] ?? after;
  if (given === undefined || given === '') return null;
  const position = parsePosition(String(given));
  if (position !== null) return position;
  const field = request.headers['last-event-id'] === undefined ? 'after' : 'Last-Event-ID';
  throw invalidRequest([{ field, message: 'Not the id of an event of this server.' }]);
}

function typesOf(list: string | undefined): WantedTypes {
  if (list === undefined) return null;
  const types = list
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
  const unknown = types.find(
    (type) =>
      !KNOWN_TYPES.includes(type) && !TYPE_GROUPS.includes(type) && !/^monitor\.[a-z_.]{1,40}$/.test(type),
  );
  if (types.length > 0 && unknown === undefined) return types;
  const what =
    unknown === undefined ? 'Name at least one type.' : `There is no type "${unknown.slice(0, 60)}".`;
  throw invalidRequest([{ field: 'types', message: what }]);
}

/** Takes the connection over when it is opened. What all listeners get is compressed once. The body has no length and ends with the connection. */
function sinkOf(
  reply: FastifyReply,
  isZipped: boolean,
): { readonly sink: EventSink; readonly opened: Promise<void> } {
  const { raw } = reply;
  const gzip = isZipped ? new SharedGzip() : null;
  const coded = (bytes: Buffer | string) =>
    gzip === null ? bytes : gzip.add(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  const gone = new AbortController();
  const opened = Promise.withResolvers<void>();
  listenOnce(raw, 'close', () => gone.abort());
  const open = () => {
    if (reply.sent) return;
    reply.hijack();
    raw.useChunkedEncodingByDefault = false;
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Reverse proxies that collect answers before they pass them on are asked not to.
      'x-accel-buffering': 'no',
      vary: 'accept-encoding',
      ...(gzip === null ? {} : { 'content-encoding': 'gzip' }),
      connection: 'close',
    });
    raw.write(coded(`retry: ${RETRY_MS}\n\n`));
    opened.resolve();
  };
  return {
    opened: opened.promise,
    sink: {
      gone: gone.signal,
      open,
      write: (bytes) => raw.write(coded(bytes)),
      drained: () =>
        raw.destroyed || !raw.writableNeedDrain
          ? Promise.resolve()
          : new Promise((resolve) => {
              raw.once('drain', resolve);
              raw.once('close', resolve);
            }),
      end: () => void (gzip === null ? raw.end() : raw.end(gzip.end())),
      destroy: () => void raw.destroy(),
    },
  };
}

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
  return { id, type, level, title, text, at: isoTime(at), jobId, data, links };
}
