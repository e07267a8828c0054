import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import type { JobError } from '../../../../capabilities/jobs/results/job-reader.ts';
import type { ErrorCode } from '../../../../core/errors/registry.ts';
import { isScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf, originOf } from '../../../server/caller.ts';
import { Refusal } from '../failure.ts';
import { type FirecrawlDeps, jobOf, statusParts } from '../firecrawl-deps.ts';
import { documentsOf, progressOf } from '../view/job-status.ts';

/** v1 asks for the status of a batch under the path of crawls. */
const KINDS = ['crawl', 'batch'] as const;
const ERRORS_STEP = 1_000;
const MOST_ERRORS = 10_000;

const statusQuery = z.object({
  skip: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100_000).optional(),
  after: z.string().max(200).optional(),
});

/** The address of the request without its query, as the client has written it. */
export const addressOf = (request: FastifyRequest): string =>
  `${originOf(request)}${request.originalUrl.split('?', 1)[0]}`;

/** Status, errors and cancel of a crawl or a batch, below its path. */
export function addJobRoutes(app: App, path: '/crawl' | '/batch/scrape', deps: FirecrawlDeps): void {
  const { jobs, isV1 } = deps;

  app.route({
    method: 'GET',
    url: `${path}/:id`,
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      const { skip, limit, after } = parseRequest(statusQuery, request.query);
      // `after` is where the documents behind `skip` begin.
      const from = after === undefined ? { skip } : { after, skip: 0 };
      const { documents, isMore, next } = await documentsOf(job, from, statusParts(request, deps), limit);
      const query = new URLSearchParams({
        skip: String(skip + documents.length),
        ...(limit === undefined ? {} : { limit: String(limit) }),
        after: next.after ?? '',
      });
      return {
        ...progressOf(job),
        // Clients of v1 go on for as long as the key is there.
        ...(isMore ? { next: `${addressOf(request)}?${query}` } : {}),
        data: documents,
      };
    },
  });

  app.route({
    // A client of v1 asks for errors by DELETE.
    method: isV1 ? ['GET', 'DELETE'] : 'GET',
    url: `${path}/:id/errors`,
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      const found: JobError[] = [];
      let cursor: string | undefined;
      do {
        const slice = await jobs.read.errors(job, { cursor, limit: ERRORS_STEP });
        found.push(...slice.items);
        cursor = slice.nextCursor ?? undefined;
      } while (cursor !== undefined && found.length < MOST_ERRORS);
      return {
        errors: found
          .filter((each) => !isRobots(each) && !isShown(each))
          .map((each, at) => errorView(each, job.id, at)),
        robotsBlocked: found.filter(isRobots).map(({ url }) => url),
      };
    },
  });

  app.route({
    method: 'DELETE',
    url: `${path}/:id`,
    config: { access: 'jobs:write' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, KINDS);
      try {
        await jobs.cancel(job.id, apiKeyOf(request).accountId);
      } catch (error) {
        if (!isScrapifieError(error) || error.code !== 'CONFLICT') throw error;
        const what = path === '/crawl' ? 'Crawl' : 'Batch scrape';
        throw new Refusal(
          409,
          `${what} is already ${job.status === 'cancelled' ? 'cancelled' : 'completed'}`,
        );
      }
      return { success: true, status: 'cancelled' };
    },
  });
}

const isRobots = ({ code }: JobError): boolean => code === 'ROBOTS_DISALLOWED';

/** Pages that a site has answered are documents, with the status that they have. */
const ANSWERED: ReadonlySet<ErrorCode> = new Set([
  'HTTP_ERROR',
  'HOST_RATE_LIMITED',
  'BLOCKED',
  'CAPTCHA',
  'ACTION_FAILED',
]);
const isShown = ({ code, attempts }: JobError): boolean =>
  code !== null && ANSWERED.has(code) && attempts.at(-1)?.statusCode !== null;

const errorView = ({ sourceUrl, code, message, finishedAt }: JobError, jobId: string, at: number) => ({
  id: `${jobId}-${at}`,
  ...(finishedAt === null ? {} : { timestamp: finishedAt }),
  url: sourceUrl,
  ...(code === null ? {} : { code }),
  error: message,
});
