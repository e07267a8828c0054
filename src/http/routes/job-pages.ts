import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { allows, isReadable, requireReadable } from '../../capabilities/accounts/scopes.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { ruleSentence } from '../../capabilities/jobs/results/outcome-words.ts';
import { readRecord } from '../../capabilities/jobs/results/page-result.ts';
import { whyInNewest, whyOf } from '../../capabilities/jobs/results/why.ts';
import { MOST_CURSOR_CHARS } from '../../capabilities/query/parse-query.ts';
import { jobLinks } from '../../capabilities/views/job-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  jobErrorSchema,
  ledgerSchema,
  pageSchema,
  whySchema,
} from '../../capabilities/views/page-schemas.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { requireLedger } from '../../core/model/retention.ts';
import { type LedgerEntry, TASK_STATES } from '../../core/model/task.ts';
import { createCanonicalizer, parseSeed } from '../../crawl/frontier/canonical.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, originOf, placeOfCaller } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/large-answers.ts';
import { jobParams } from './jobs.ts';
import { eachWithOrigin, withOrigin } from './page-files.ts';
import type { RouteDeps, SharedRouteDeps } from './route-deps.ts';

const same = <T>(item: T): T => item;
const STREAMS = 'With `Accept: application/x-ndjson` everything is streamed, one object per line.';

const askedUrl = z.strictObject({ url: z.string().min(1).max(8_192).describe('The URL asked about.') });

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
      querystring: askedUrl,
      response: answers({ 200: whySchema }),
    },
    async handler(request) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      return success({ ...(await whyOf(store, job, request.query.url)), links: jobLinks(job.id) });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/why',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'The same of the newest job that knows the URL',
      description:
        'Where no job knows it, the newest job says what it would have decided. Jobs that the key may not read are passed over.',
      querystring: askedUrl,
      response: answers({ 200: whySchema }),
    },
    async handler(request) {
      const key = apiKeyOf(request);
      const { job, answer } = await whyInNewest(store, accountOf(request), request.query.url, {
        isReadable: (each) => isReadable(key, each),
      });
      return success({ ...answer, links: jobLinks(job.id) });
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

/** Outgoing links of one answer; pages with more are rare. */
const MOST_OUTGOING = 1_000;
const STATES_LIMIT_MS = 10_000;

const state = z.enum(TASK_STATES).nullable();
const linksSchema = z
  .object({
    url: z.string().describe('As the job knows it.'),
    state: state.describe('Null when the job does not know the URL.'),
    foundBy: z.string().nullable(),
    foundOn: z.string().nullable().describe('The page on which the job first found it.'),
    hasPage: z.boolean().describe('Without a stored page there are no outgoing links.'),
    outgoing: z.array(
      z.object({
        url: z.string(),
        text: z.string(),
        rel: z.string(),
        from: z.string().describe('The element it stood in.'),
        isInternal: z.boolean(),
        state: state.describe('What became of its target in this job; null when the job does not know it.'),
        statusCode: z.number().int().nullable(),
        errorCode: z.string().nullable(),
        rule: z.string().nullable(),
      }),
    ),
    outgoingCount: z.number().int().min(0),
    incoming: z.array(
      z.object({ url: z.string(), title: z.string().nullable(), text: z.string(), rel: z.string() }),
    ),
    nextCursor: z
      .string()
      .nullable()
      .describe('Where the incoming links of more pages are looked for; null when all pages were.'),
  })
  .meta({ id: 'JobPageLinks' });

/** The links of one page of a job, in both directions. */
export function addJobLinkRoutes(app: App, { jobs, store, queries }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/links',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'Links of one page of a job: where it leads, and which pages lead to it',
      description:
        `Of the outgoing links the first ${MOST_OUTGOING} are shown. Incoming links are looked for in the stored pages of ` +
        'the job, 20,000 at a time: an answer may have none although `nextCursor` leads on. Answers with a cursor have no ' +
        'outgoing links.',
      params: jobParams,
      querystring: z.strictObject({
        url: z.string().min(1).max(8_192).describe('The page asked about.'),
        limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Incoming links at most.'),
        cursor: z.string().max(MOST_CURSOR_CHARS).optional().describe('`nextCursor` of the answer before.'),
      }),
      response: answers({ 200: linksSchema }),
    },
    async handler(request) {
      const { url, limit, cursor } = request.query;
      const key = apiKeyOf(request);
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(key, job);
      requireLedger(job);
      const canonical = createCanonicalizer(job.options.scope);
      const asked = canonical(parseSeed(url));
      if (asked === null) throw new ScrapifieError('INVALID_URL', 'That is no URL that could be fetched.');
      const task = await store.findTask(job.id, asked.urlKey);
      const page = task === null ? null : await store.getPage(job.id, task.taskId);
      const links = page === null || cursor !== undefined ? [] : (readRecord(page.record).links ?? []);
      const shown = links.slice(0, MOST_OUTGOING).map((link) => ({ link, to: canonical(link.url) }));
      const keys = new Set(shown.flatMap(({ to }) => (to === null ? [] : [to.urlKey])));
      const states = await store.findLedgerStates(job.seq, [...keys], STATES_LIMIT_MS);
      const byKey = new Map<UrlKey, (typeof states)[number]>(states.map((each) => [each.urlKey, each]));
      const found = await queries.run(
        { accountId: key.accountId, hasPrivate: allows(key.scopes, 'credentials:read') },
        {
          from: 'links',
          select: ['pageUrl', 'pageTitle', 'text', 'rel'],
          where: {
            and: [
              { field: 'jobId', op: 'eq', value: job.id },
              {
                or: [
                  { field: 'url', op: 'eq', value: asked.url },
                  { field: 'url', op: 'startsWith', value: `${asked.url}#` },
                ],
              },
            ],
          },
          limit,
          cursor,
        },
      );
      return success({
        url: asked.url,
        state: task?.entry.state ?? null,
        foundBy: task?.entry.foundBy ?? null,
        foundOn: task?.entry.foundOn ?? null,
        hasPage: page !== null,
        outgoing: shown.map(({ link: { url, text, rel, from }, to }) => {
          const target = to === null ? undefined : byKey.get(to.urlKey);
          return {
            url,
            text,
            rel,
            from,
            isInternal: to?.hostKey === asked.hostKey,
            state: target?.state ?? null,
            statusCode: target?.statusCode ?? null,
            errorCode: target?.errorCode ?? null,
            rule: target?.rule ?? null,
          };
        }),
        outgoingCount: links.length,
        incoming: found.items.map(({ pageUrl, pageTitle, text, rel }) => ({
          url: pageUrl,
          title: pageTitle,
          text,
          rel,
        })),
        nextCursor: found.nextCursor,
      });
    },
  });
}
