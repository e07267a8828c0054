import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { ruleSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import { whyOf } from '../../capabilities/jobs/results/why.ts';
import { jobLinks } from '../../capabilities/views/job-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  jobErrorSchema,
  ledgerSchema,
  pageSchema,
  whySchema,
} from '../../capabilities/views/page-schemas.ts';
import type { Job } from '../../core/model/job.ts';
import { type LedgerEntry, TASK_STATES } from '../../core/model/task.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, originOf, placeOfCaller } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/ndjson.ts';
import { eachWithOrigin, withOrigin } from '../views/artifact-urls.ts';
import { jobParams } from './jobs.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const same = <T>(item: T): T => item;
const STREAMS = 'With `Accept: application/x-ndjson` everything is streamed, one object per line.';

/** What a job has brought so far: pages, errors and the ledger of every URL it saw. */
export function addJobPageRoutes(app: App, { jobs, store, now }: SharedRouteDeps): void {
  async function recordExport(request: FastifyRequest, target: string, what: 'results' | 'urls') {
    const details = { what, ...placeOfCaller(request) };
    await store.audit([{ at: now(), actor: apiKeyOf(request).id, action: 'job.export', target, details }]);
  }

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/results',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'Pages of a job',
      description: `In the order they were stored. A page of the list may be shorter than \`limit\`. ${STREAMS}`,
      params: jobParams,
      querystring: z.strictObject({
        state: z.enum(['done', 'failed']).optional().describe('done: fetched well. failed: with an error.'),
        url: z
          .string()
          .min(1)
          .max(8_192)
          .optional()
          .describe('Only the page of this URL; the list has one item or none.'),
        ...pagingFields,
      }),
      response: orLines(answers({ 200: listSchema(pageSchema) })),
    },
    async handler(request, reply) {
      const { state, limit, cursor, url } = request.query;
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      const origin = originOf(request);
      if (url !== undefined) {
        const page = await jobs.read.resultAt(job, url);
        return success({ items: page === null ? [] : [withOrigin(page, origin)], nextCursor: null });
      }
      if (wantsNdjson(request)) {
        refuseCursor(cursor);
        await recordExport(request, job.id, 'results');
        return sendNdjson(reply, eachWithOrigin(jobs.read.eachResult(job, state), origin));
      }
      const slice = await jobs.read.results(job, { state, limit, cursor: unwrapCursor('results', cursor) });
      return success(listAnswer('results', slice, (page) => withOrigin(page, origin)));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/errors',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'URLs that failed and URLs that were denied, with the reason',
      description: 'Without `state`: first those that failed, then those that were denied.',
      params: jobParams,
      querystring: z.strictObject({ state: z.enum(['failed', 'denied']).optional(), ...pagingFields }),
      response: answers({ 200: listSchema(jobErrorSchema) }),
    },
    async handler(request) {
      const { state, limit } = request.query;
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      const cursor = unwrapCursor('errors', request.query.cursor);
      return success(listAnswer('errors', await jobs.read.errors(job, { state, limit, cursor }), same));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/urls',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'The ledger: every URL the job has seen, and what became of it by which rule',
      description: STREAMS,
      params: jobParams,
      querystring: z.strictObject({ state: z.enum(TASK_STATES).optional(), ...pagingFields }),
      response: orLines(answers({ 200: listSchema(ledgerSchema) })),
    },
    async handler(request, reply) {
      const { state, limit, cursor } = request.query;
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      if (wantsNdjson(request)) {
        refuseCursor(cursor);
        await recordExport(request, job.id, 'urls');
        return sendNdjson(reply, eachLedgerView(jobs.read.eachUrl(job, state), job));
      }
      const slice = await jobs.read.urls(job, { state, limit, cursor: unwrapCursor('urls', cursor) });
      return success(listAnswer('urls', slice, (entry) => ledgerView(entry, job)));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/why',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'Why a URL was fetched, skipped, denied, given up, or never seen, as sentences',
      params: jobParams,
      querystring: z.strictObject({ url: z.string().min(1).max(8_192).describe('The URL asked about.') }),
      response: answers({ 200: whySchema }),
    },
    async handler(request) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      return success({ ...(await whyOf(store, job, request.query.url)), links: jobLinks(job.id) });
    },
  });
}

const ledgerView = (entry: LedgerEntry, job: Job) => ({
  ...entry,
  message: ruleSentence(entry.rule, entry, job),
});

async function* eachLedgerView(entries: AsyncIterable<LedgerEntry>, job: Job) {
  for await (const entry of entries) yield ledgerView(entry, job);
}

export function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw invalidRequest([
    { field: 'cursor', message: 'A stream always has everything; leave the cursor out.' },
  ]);
}
