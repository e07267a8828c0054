import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import { createJobViews, MOST_SORTED_URLS } from '../../capabilities/query/job-views.ts';
import {
  jobRowSchema,
  jobRowView,
  jobSummarySchema,
  jobSummaryView,
} from '../../capabilities/views/ledger-view.ts';
import {
  foreignCursor,
  listAnswer,
  listSchema,
  pagingFields,
  unwrapCursor,
} from '../../capabilities/views/list.ts';
import type { Job } from '../../core/model/job.ts';
import { TASK_STATES } from '../../core/model/task.ts';
import { LEDGER_ORDERS, type LedgerFilter, STATUS_CLASSES } from '../../core/ports/ledger-view-store.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { jobParams } from './jobs.ts';
import type { RouteDeps } from './route-deps.ts';

const filterFields = {
  kind: z
    .enum(['page', 'sitemap', 'site', 'any'])
    .default('page')
    .describe('`site` is the search for a site’s sitemaps in its robots.txt.'),
  state: z.enum(TASK_STATES).optional(),
  text: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('In the URL or the title, whichever case its ASCII letters have.'),
  reason: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('A rule such as `scope.exclude:/admin/`, its part before the colon, or an error code.'),
  engine: z.string().min(1).max(100).optional().describe('Of the last attempt.'),
  contentType: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe('How it begins, such as `text/html` or `image/`.'),
  statusClass: z.enum(STATUS_CLASSES).optional().describe('`none`: no response came.'),
  statusCode: z.coerce.number().int().min(100).max(999).optional(),
  host: z.string().min(1).max(300).optional().describe('With its port, where that is not the default.'),
  depth: z.coerce.number().int().min(0).max(1_000_000).optional(),
};

type FilterQuery = z.infer<z.ZodObject<typeof filterFields>>;

function filterOf(query: FilterQuery): LedgerFilter {
  const { kind, state, text, reason, engine, contentType, statusClass, statusCode, host, depth } = query;
  return {
    kind: kind === 'any' ? undefined : kind,
    state,
    text,
    reason,
    engine,
    contentType,
    statusClass,
    statusCode,
    host: host?.toLowerCase(),
    depth,
  };
}

/** The ledger of a job as a table of light rows and as counts. */
export function addJobRowRoutes(app: App, { jobs, store, now }: RouteDeps): void {
  const views = createJobViews(store, now);

  async function jobOf(request: FastifyRequest, id: string): Promise<Job> {
    const job = await jobs.get(id, accountOf(request));
    requireReadable(apiKeyOf(request), job);
    return job;
  }

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/rows',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'URLs of a job as light rows, filtered and sorted',
      description:
        'Without contents and without attempts: `results` and `why` have these. With a filter, a page of the list may ' +
        'be shorter than `limit`, and empty, although `nextCursor` leads on. ' +
        `Jobs of more than ${MOST_SORTED_URLS.toLocaleString('en')} URLs can be sorted by \`discoveredAt\` only (QUERY_TOO_LARGE).`,
      params: jobParams,
      querystring: z.strictObject({
        ...filterFields,
        sort: z
          .enum(LEDGER_ORDERS)
          .default('discoveredAt')
          .describe('Rows without a value for it come last. The cursor is for one order only.'),
        order: z.enum(['asc', 'desc']).default('asc'),
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(jobRowSchema) }),
    },
    async handler(request) {
      const { sort, order, limit, cursor } = request.query;
      const job = await jobOf(request, request.params.id);
      const slice = await views.rows(job, {
        filter: filterOf(request.query),
        order: sort,
        isDescending: order === 'desc',
        cursor: unwrapCursor('rows', cursor),
        limit,
      });
      return success(listAnswer('rows', slice, (row) => jobRowView(row, job)));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/summary',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary:
        'What became of the URLs of a job: counts by state, cause, status, engine, depth, host and time',
      description: 'With the filters of `rows`, only of the URLs that they leave.',
      params: jobParams,
      querystring: z.strictObject(filterFields),
      response: answers({ 200: jobSummarySchema }),
    },
    async handler(request) {
      const job = await jobOf(request, request.params.id);
      return success(jobSummaryView(job, await views.counts(job, filterOf(request.query))));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/tree',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'The addresses of a job as a tree: what is below a beginning, with counts',
      params: jobParams,
      querystring: z.strictObject({
        under: z
          .string()
          .max(8_192)
          .refine((text) => text === '' || /^https?:\/\/.+\/$/.test(text), UNDER_FORM)
          .default('')
          .describe('`url` of the entry to open; left out: the origins of the job.'),
        cursor: z.string().max(24_000).optional().describe('`nextCursor` of the page before.'),
        limit: pagingFields.limit,
      }),
      response: answers({ 200: listSchema(jobPathSchema) }),
    },
    async handler(request) {
      const { under, limit } = request.query;
      const job = await jobOf(request, request.params.id);
      const after = nameBefore(unwrapCursor('tree', request.query.cursor), under);
      const { items, nextCursor } = await views.paths(job, under, { cursor: after, limit });
      // The cursor has the beginning that it is of: a name alone would be taken below any other one as well, and may be empty.
      const next = nextCursor === null ? null : JSON.stringify([under, nextCursor]);
      return success(
        listAnswer('tree', { items, nextCursor: next }, (path) => ({
          ...path,
          url: `${under}${path.name}`,
          isFolder: path.name.endsWith('/'),
        })),
      );
    },
  });
}

/** The last name of the page before, out of a cursor for the same beginning. Throws VALIDATION_FAILED for any other. */
function nameBefore(cursor: string | undefined, under: string): string | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [beginning, name] = z.tuple([z.string(), z.string()]).parse(JSON.parse(cursor));
    if (beginning === under) return name;
  } catch {
    // A cursor that cannot be parsed is refused like one of another list.
  }
  throw foreignCursor();
}

const UNDER_FORM = 'Must be the beginning of a URL up to a slash, such as `https://example.com/shop/`.';
const urlCount = z.number().int().min(0);
const jobPathSchema = z
  .object({
    name: z.string().describe('The next part of the address; ends with a slash where more follows.'),
    url: z.string().describe('The whole beginning; of a folder, a value for `under`.'),
    isFolder: z.boolean(),
    urls: urlCount.describe('Pages below it, or with this address and any query.'),
    done: urlCount,
    failed: urlCount,
    skipped: urlCount,
    denied: urlCount,
  })
  .meta({ id: 'JobPath' });
