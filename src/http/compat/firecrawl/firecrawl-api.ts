import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../lib/defined.ts';
import type { RouteDeps } from '../../routes/route-deps.ts';
import type { App } from '../../server/app.ts';
import { Refusal, sendFirecrawlFailure } from './failure.ts';
import { type FirecrawlDeps, firecrawlDeps } from './firecrawl-deps.ts';
import { addAbsentRoutes } from './routes/absent.ts';
import { addBatchRoutes } from './routes/batch.ts';
import { addCrawlRoutes } from './routes/crawl.ts';
import { addExtractRoutes } from './routes/extract.ts';
import { addMapRoutes } from './routes/map.ts';
import { addParseRoutes } from './routes/parse.ts';
import { addScrapeRoutes } from './routes/scrape.ts';
import { addSearchRoutes } from './routes/search.ts';
import { addTeamRoutes } from './routes/team.ts';
import { watchJobs } from './watch-job.ts';

const ROUTES = [
  addScrapeRoutes,
  addParseRoutes,
  addBatchRoutes,
  addCrawlRoutes,
  addMapRoutes,
  addSearchRoutes,
  addExtractRoutes,
  addTeamRoutes,
  addAbsentRoutes,
] as const;

/** What the listener of its own puts before each path; see `listenAlso`. */
export const FIRECRAWL_PREFIX = '/firecrawl';

/**
 * The Firecrawl API, v1 and v2, over our jobs: below `/firecrawl`, and v2 also at the root, where nothing of ours is. Keys,
 * scopes, limits and credits are those of the other routes.
 */
export function addFirecrawlRoutes(app: App, deps: RouteDeps): void {
  const versions = { 1: firecrawlDeps(deps, true), 2: firecrawlDeps(deps, false) } as const;
  app.register(async (scope) => addVersion(scope as App, versions[1]), { prefix: `${FIRECRAWL_PREFIX}/v1` });
  for (const prefix of [`${FIRECRAWL_PREFIX}/v2`, '/v2']) {
    app.register(async (scope) => addVersion(scope as App, versions[2]), { prefix });
  }
  app.register(
    async (scope) => {
      answerTheirWay(scope as App);
      scope.route({
        method: 'GET',
        url: '/',
        schema: { hide: true },
        handler: async () => ({ message: 'Firecrawl API', documentation_url: 'https://docs.firecrawl.dev' }),
      });
    },
    { prefix: FIRECRAWL_PREFIX },
  );
  watchJobs(app, versions);
}

function addVersion(app: App, deps: FirecrawlDeps): void {
  answerTheirWay(app);
  app.addHook('onRequest', async ({ headers }) => {
    const key = headers['x-idempotency-key'];
    if (key !== undefined) headers['idempotency-key'] ??= String(key);
  });
  // A key that was used is refused, where ours would repeat the answer.
  app.addHook('onSend', async (_request, reply, payload) => {
    if (reply.getHeader('idempotency-replayed') !== 'true') return payload;
    reply.code(409).removeHeader('idempotency-replayed');
    return JSON.stringify({ success: false, error: 'Idempotency key already used' });
  });
  for (const add of ROUTES) add(app, deps);
}

function answerTheirWay(app: App): void {
  app.setErrorHandler((thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    if (!(thrown instanceof Refusal)) return sendFirecrawlFailure(thrown, request, reply);
    const { status, message: error, code } = thrown;
    return reply.code(status).send({ success: false, error, ...defined({ code }) });
  });
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const error = `Cannot ${request.method} ${path.slice(0, 200)}`;
    request.failure = new ScrapifieError('NOT_FOUND', error);
    return reply.code(404).send({ success: false, error });
  });
}
