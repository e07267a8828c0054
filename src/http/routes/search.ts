import { z } from 'zod';
import { allows, requireReadable } from '../../capabilities/accounts/scopes.ts';
import type { SearchHit } from '../../capabilities/query/search/searches.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { SEARCH_LIMITS } from '../../core/ports/search-store.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const MOST_HITS = 100;
const DEFAULT_HITS = 20;

const markedSchema = z.object({
  text: z.string().describe('Plain text of the page. Never HTML: escape it where you show it.'),
  marks: z
    .array(z.array(z.number().int()).length(2))
    .describe('What was found in it: start and end, counted in UTF-16 units as JavaScript does.'),
});

const hitSchema = z
  .object({
    url: z.string(),
    jobId: z.string().describe('The job that has the newest content of the URL.'),
    statusCode: z.number().int().nullable(),
    fetchedAt: z.iso.datetime(),
    score: z.number().describe('Larger is better; only for comparing hits of one search.'),
    title: markedSchema.nullable(),
    snippet: markedSchema,
  })
  .meta({ id: 'SearchHit' });

/** Full-text search over stored pages. */
export function addSearchRoutes(app: App, { searches, jobs }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/search',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['query'],
      summary: 'Search the text of stored pages',
      description:
        'Finds pages of jobs with `search: true`: the newest content of each URL, best first. All words must be on the page. ' +
        '`"a b"` is a phrase, `wor*` the beginning of a word, `-word` must not be on the page, `a OR b` is either, ' +
        '`title:word` must be in the title. Case and accents do not matter. See docs/search.md.',
      querystring: z.strictObject({
        q: z
          .string()
          .min(1)
          .max(SEARCH_LIMITS.queryChars)
          .describe('Words to search for.')
          .meta({ example: 'solar "heat pump" -used' }),
        host: z.string().min(1).max(255).optional().describe('Only pages of this host.'),
        job: z
          .string()
          .min(1)
          .max(100)
          .optional()
          .describe('Only pages whose newest content is of this job.'),
        cursor: pagingFields.cursor,
        limit: z.coerce
          .number()
          .int()
          .min(1)
          .max(MOST_HITS)
          .default(DEFAULT_HITS)
          .describe('Hits per answer at most.'),
      }),
      response: answers({ 200: listSchema(hitSchema) }),
    },
    async handler(request) {
      const { q, host, job: jobId, limit } = request.query;
      const key = apiKeyOf(request);
      const job = jobId === undefined ? null : await jobs.get(jobId, key.accountId);
      if (job !== null) requireReadable(key, job);
      const scope = { accountId: key.accountId, hasPrivate: allows(key.scopes, 'credentials:read') };
      const answer = await searches.run(scope, {
        q,
        host: host === undefined ? undefined : hostOf(host),
        jobId: job?.id,
        limit,
        cursor: unwrapCursor('search', request.query.cursor),
      });
      return success(listAnswer('search', answer, (hit: SearchHit) => hit));
    },
  });
}
