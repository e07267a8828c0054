import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { addressTest, isLoopback } from '../../../core/config/field-types.ts';
import type { Settings } from '../../../core/config/settings.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import { defined } from '../../../lib/defined.ts';
import type { RouteDeps } from '../../routes/route-deps.ts';
import type { App } from '../../server/app.ts';
import { cannotListen, listenAlso, type SecondListener } from '../../server/second-listener.ts';
import { Refusal, sendFirecrawlFailure } from './failure.ts';
import { type FirecrawlDeps, firecrawlDeps } from './firecrawl-deps.ts';
import { addExtractRoutes } from './routes/extract.ts';
import { addBatchRoutes, addCrawlRoutes } from './routes/jobs.ts';
import { addMapRoutes } from './routes/map.ts';
import { addParseRoutes } from './routes/parse.ts';
import { addScrapeRoutes } from './routes/scrape.ts';
import { addSearchRoutes } from './routes/search.ts';
import { addTeamRoutes } from './routes/team.ts';
import { isWatchPath, watchJobs } from './watch-job.ts';

/** What the vendor's service has and this server does not, with what to use in its place. */
const ABSENT: readonly (readonly [string, string])[] = [
  ['/crawl/params-preview', 'No language model chooses the options of a crawl here; set them yourself.'],
  ['/llmstxt', 'Files for language models are not generated here; crawl the site and use its Markdown.'],
  ['/llmstxt/*', 'Files for language models are not generated here; crawl the site and use its Markdown.'],
  ['/deep-research', 'Research is not done here; use search and scrape.'],
  ['/deep-research/*', 'Research is not done here; use search and scrape.'],
  ['/agent', 'Agents do not run here; use scrape with actions, or extract.'],
  ['/agent/*', 'Agents do not run here; use scrape with actions, or extract.'],
  ['/browser', 'Browsers are not lent here; use scrape with actions.'],
  ['/browser/*', 'Browsers are not lent here; use scrape with actions.'],
  ['/scrape/:id/interact', 'A page is not kept open here; use scrape with actions.'],
  ['/monitor', 'Monitors are part of the own API of this server: POST /v1/monitors.'],
  ['/monitor/*', 'Monitors are part of the own API of this server: POST /v1/monitors.'],
  ['/parse/upload-url', 'Files are sent with the request: POST /v2/parse.'],
  ['/parse/upload/*', 'Files are sent with the request: POST /v2/parse.'],
  ['/search/*', 'This part of search belongs to a service of the vendor.'],
  ['/feedback', 'Feedback belongs to a service of the vendor.'],
  ['/exchange/*', 'It belongs to a service of the vendor.'],
  ['/slack/*', 'It belongs to a service of the vendor.'],
  ['/support/*', 'It belongs to a service of the vendor.'],
  ['/team/activity', 'The jobs of an account are listed by the own API of this server: GET /v1/jobs.'],
  ['/team/siem', 'It belongs to a service of the vendor.'],
  ['/team/threat-protection', 'It belongs to a service of the vendor.'],
];

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
const FIRECRAWL_PREFIX = '/firecrawl';

const LISTEN_BACKLOG = 1_024;

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

/**
 * Serves the Firecrawl API at the root of the port of the settings: some clients drop every path of the address that they are
 * given. Null without the setting.
 */
export async function listenFirecrawl(
  api: FastifyInstance,
  settings: Settings,
  metrics: Pick<Metrics, 'connectionClosed'>,
): Promise<SecondListener | null> {
  const { host, firecrawlPort: port, maxConnections, maxConnectionsPerAddress, trustedProxies } = settings;
  if (port === undefined) return null;
  const isProxy = addressTest(trustedProxies);
  try {
    return await listenAlso(api, {
      host,
      port,
      backlog: LISTEN_BACKLOG,
      prefix: FIRECRAWL_PREFIX,
      upgrades: isWatchPath,
      connections: {
        max: maxConnections,
        maxPerAddress: maxConnectionsPerAddress,
        isProxy: (address) => isLoopback(address) || isProxy(address),
        onClosed: (why) => metrics.connectionClosed(why),
      },
    });
  } catch (error) {
    throw cannotListen(error, { host, port, other: 'SCRAPIFIE_FIRECRAWL_PORT' });
  }
}

/** Answers the routes that this API does not have with 501, so that a client does not take them for a wrong address. */
function addAbsentRoutes(app: App, _deps: FirecrawlDeps): void {
  for (const [url, why] of ABSENT) {
    app.route({
      method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url,
      config: { access: 'key' },
      schema: { hide: true },
      async handler() {
        throw new Refusal(501, `Not available on this server. ${why}`, 'NOT_SUPPORTED');
      },
    });
  }
}
