import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { createBearerTokens } from '../capabilities/accounts/bearer-tokens.ts';
import { createKeyDirectory, withTokens } from '../capabilities/accounts/key-directory.ts';
import { createSignIns } from '../capabilities/accounts/sign-ins.ts';
import { addressTest, isLoopback } from '../core/config/field-types.ts';
import { listen, listenOnce } from '../core/errors/guarded.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../core/model/ids.ts';
import { createLogFlood } from '../core/observe/log-flood.ts';
import { guardRoutes } from './access/access.ts';
import { createFirstUses } from './access/first-uses.ts';
import { createDashboardFiles, createDashboardPages, DASHBOARD_DIR } from './dashboard/dashboard-files.ts';
import { addAccountRoutes, addRetentionRoutes, addUsageRoutes } from './routes/account.ts';
import { addAccountsRoutes, addCreditRoutes } from './routes/accounts.ts';
import { addAuditRoutes } from './routes/audit.ts';
import { addBotRoutes } from './routes/bot.ts';
import { addDashboardRoutes } from './routes/dashboard.ts';
import { addJobDiffRoutes, addSnapshotDiffRoutes } from './routes/diffs.ts';
import { addDocsRoutes, addHelpRoutes, collectDocs } from './routes/docs.ts';
import { addDomainRequestRoutes, addDomainRoutes } from './routes/domains.ts';
import { addEstimateRoutes } from './routes/estimate.ts';
import { addEventRoutes, addNotificationRoutes } from './routes/events.ts';
import { addExportRoutes } from './routes/exports.ts';
import { addExtractRoutes, addReextractRoutes } from './routes/extract.ts';
import { addHealthRoutes } from './routes/health.ts';
import { addJobLinkRoutes, addJobPageRoutes } from './routes/job-pages.ts';
import { addJobRowRoutes } from './routes/job-rows.ts';
import { addJobRoutes } from './routes/jobs.ts';
import { addKeyRoutes } from './routes/keys.ts';
import { addMcpRoutes } from './routes/mcp.ts';
import { addMonitorRoutes } from './routes/monitors.ts';
import { addArtifactRoutes, addPreviewRoutes } from './routes/page-files.ts';
import { addProxyRoutes } from './routes/proxies.ts';
import { addQueryRoutes, addSearchRoutes } from './routes/query.ts';
import { addRobotsTestRoutes } from './routes/robots-test.ts';
import type { ApiDeps, RouteDeps } from './routes/route-deps.ts';
import { addSampleRoutes } from './routes/sample.ts';
import { addScheduleRoutes } from './routes/schedules.ts';
import { addCredentialRoutes, addSessionRoutes } from './routes/sessions.ts';
import { addSnapshotRoutes } from './routes/snapshots.ts';
import { addBatchRoutes, addCrawlRoutes, addMapRoutes, addScrapeRoutes } from './routes/start-jobs.ts';
import { addSystemRoutes } from './routes/system.ts';
import { addConfirmMailRoutes, addWebhookRoutes } from './routes/webhooks.ts';
import { ambiguityOf } from './server/ambiguous-request.ts';
import { type App, parseWithZod } from './server/app.ts';
import { limitConnections, watchConnections } from './server/connections.ts';
import { requestIdOf } from './server/envelope.ts';
import {
  answerClientError,
  answerExpectation,
  answerFailures,
  isOurs,
  sendFailure,
} from './server/failures.ts';
import { readJsonBodies } from './server/json-body.ts';
import { createIdempotency, keepAnswers } from './server/kept-answers.ts';
import { streamLargeAnswers } from './server/large-answers.ts';
import { holdRequestBodies, leaveContinueToRoutes, limitBodyPieces } from './server/request-bodies.ts';
import { followRequestSpans, startRequestSpans } from './server/request-spans.ts';
import { isOfApi, secure } from './server/security-headers.ts';
import { keepStaleAnswers } from './server/stale-answers.ts';
import { closeUnread } from './server/unread-request.ts';

/** A client that dribbles its request is cut here; one that waits for a page may wait as long as a scrape may take. */
const HEADERS_TIMEOUT_MS = 20_000;
const REQUEST_TIMEOUT_MS = 120_000;
const IDLE_SOCKET_MS = 330_000;
/**
 * Longer than balancers keep an idle connection (Traefik 90 seconds, the AWS module of this project 300): one that the server
 * closes first may just then be given a request, which its client sees as a 502.
 */
const KEEP_ALIVE_MS = 320_000;
/** Not a registered status: what logs and metrics call a request whose client did not wait for the answer. */
const CLIENT_CLOSED_REQUEST = 499;

const ROUTES = [
  addScrapeRoutes,
  addBatchRoutes,
  addCrawlRoutes,
  addMapRoutes,
  addExtractRoutes,
  addEstimateRoutes,
  addJobRoutes,
  addJobPageRoutes,
  addJobRowRoutes,
  addJobLinkRoutes,
  addJobDiffRoutes,
  addReextractRoutes,
  addQueryRoutes,
  addSearchRoutes,
  addEventRoutes,
  addNotificationRoutes,
  addArtifactRoutes,
  addPreviewRoutes,
  addExportRoutes,
  addSnapshotRoutes,
  addSnapshotDiffRoutes,
  addScheduleRoutes,
  addMonitorRoutes,
  addSessionRoutes,
  addCredentialRoutes,
  addWebhookRoutes,
  addProxyRoutes,
  addDomainRoutes,
  addRobotsTestRoutes,
  addDomainRequestRoutes,
  addBotRoutes,
  addConfirmMailRoutes,
  addKeyRoutes,
  addAccountRoutes,
  addAccountsRoutes,
  addCreditRoutes,
  addUsageRoutes,
  addRetentionRoutes,
  addAuditRoutes,
  addSystemRoutes,
  addHealthRoutes,
  addSampleRoutes,
  addDashboardRoutes,
  addHelpRoutes,
  addMcpRoutes,
] as const;

/** After the drain time: for the last answers, which say SHUTTING_DOWN, to reach their clients. */
const LAST_ANSWERS_MS = 1_000;

/**
 * The HTTP API, ready to listen or to be injected into. Closing it refuses new requests at once, ends connections that
 * are idle, lets running requests finish (their answers say `connection: close`), and ends the waits of `jobs` that
 * outlast `drainMs`; a moment later it ends the connections that are left. It closes nothing else of what it was given.
 */
export async function createApi(deps: ApiDeps): Promise<FastifyInstance> {
  const { settings, store, jobs, now } = deps;
  const isProxy = addressTest(settings.trustedProxies);
  const app: App = Fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    trustProxy: settings.trustedProxies === '' ? false : isProxy,
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: IDLE_SOCKET_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    http: {
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: 5_000,
      // A request without one is refused below, with an envelope.
      requireHostHeader: false,
      // All others are requests like any, whatever they offer to become.
      shouldUpgradeCallback: ({ url = '', headers }) =>
        deps.upgrades?.(url) === true && headers.upgrade?.toLowerCase() === 'websocket',
    },
    // Our own hook answers 503 while the server closes, in the envelope that clients expect.
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    // A path that cannot be decoded reaches no hook.
    frameworkErrors: (error, request, reply) => sendFailure(ambiguous(request) ?? error, request, reply),
    routerOptions: { maxParamLength: 400 },
  }).withTypeProvider<ZodTypeProvider>();

  const keys = withTokens(
    createKeyDirectory({
      store,
      now,
      onError: (error) => deps.logger.warn({ err: error }, 'last uses of keys were not written'),
    }),
    createBearerTokens({ settings, store, now }),
  );
  const unsubscribe = deps.bus.subscribe('account.changed', (changed) => {
    for (const id of changed.accounts) keys.forgetAccount(id as AccountId);
    for (const id of changed.keys) keys.forget(id as KeyId);
  });
  app.addHook('onClose', async () => unsubscribe());
  listen(app.server, 'checkExpectation', answerExpectation);
  parseWithZod(app);
  leaveContinueToRoutes(app.server);
  const bodies = holdRequestBodies({
    maxHeldBytes: settings.maxRequestBytes,
    minBytesPerSecond: settings.minRequestBytesPerSecond,
    now: () => performance.now(),
    onSlow: () => deps.metrics.connectionClosed('slow'),
  });
  deps.metrics.observeRequestBytes(() => bodies.heldBytes());
  app.addHook('onClose', async () => bodies.close());
  readJsonBodies(app, bodies);
  const hasDashboard = settings.dashboard && deps.onlyOperations !== true;
  const pages = hasDashboard
    ? createDashboardPages(createDashboardFiles(deps.dashboardDir ?? DASHBOARD_DIR))
    : null;
  answerFailures(app, keepStaleAnswers(app, now), pages?.unrouted ?? null);
  keepAnswers(app, { store, vault: deps.vault, newId: jobs.newId });
  streamLargeAnswers(app, settings.maxUnreadBytes);
  limitBodyPieces(app);
  closeUnread(app);
  followRequestSpans(app);
  followLife(app, deps);
  const connections = limitConnections(app.server, {
    max: settings.maxConnections,
    maxPerAddress: settings.maxConnectionsPerAddress,
    // A reverse proxy on this machine connects from loopback, and so do the operator's own tools.
    isProxy: (address) => isLoopback(address) || isProxy(address),
    now: () => performance.now(),
    onClosed: (why) => deps.metrics.connectionClosed(why),
  });
  deps.metrics.observeUnread(() => connections.unreadBytes());
  app.addHook('onClose', async () => connections.close());

  // Order matters: what a browser needs comes before the key check, so that it can read a 401 too.
  await secure(app, settings.corsOrigins);
  await collectDocs(app, deps.version);
  const firstUses = createFirstUses(now);
  const signIns = hasDashboard
    ? createSignIns({
        store,
        keys,
        now,
        onError: (error) => deps.logger.warn({ err: error }, 'the last use of a sign-in was not written'),
      })
    : null;
  const authentication = guardRoutes(app, {
    keys,
    signIns,
    limits: deps.limits,
    settings,
    now,
    onFailedLogin(isLimited, entry) {
      deps.metrics.loginFailed(isLimited);
      if (entry === null) return;
      const { action, address } = entry;
      deps.logger.warn({ address }, action === 'login.limited' ? 'wrong keys limited' : 'wrong key');
      // The client does not wait for the entry: it is told the same whether or not it can be written.
      store
        .audit([{ at: now(), actor: address, action, target: 'api', details: {} }])
        .catch((error) => deps.logger.warn({ err: error }, 'a failed log-in was not recorded'));
    },
    onLogin(key, address, operation) {
      const use = firstUses.take(key.id, address, operation);
      if (use === null) return;
      const { omitted } = use;
      const details = { address: use.address, operation, ...(omitted > 0 && { omitted }) };
      store
        .audit([{ at: now(), actor: key.id, action: 'key.use', target: 'api', details }])
        .catch((error) => {
          firstUses.giveBack(use);
          deps.logger.warn({ err: error }, 'the use of a key was not recorded');
        });
    },
  });
  startRequestSpans(app);

  const routeDeps: RouteDeps = {
    ...deps,
    keys,
    dashboard: pages === null || signIns === null ? null : { pages, signIns, authentication },
    idempotency: createIdempotency(store, jobs),
  };
  for (const add of deps.onlyOperations === true ? [addHealthRoutes] : ROUTES) add(app, routeDeps);
  if (deps.onlyOperations !== true) {
    deps.addOtherRoutes?.(app, routeDeps);
    await addDocsRoutes(app);
  }
  app.addHook('onClose', () => keys.close());
  await app.ready();
  return app as unknown as FastifyInstance;
}

function ambiguous({ raw }: FastifyRequest): ScrapifieError | null {
  const problem = ambiguityOf(raw);
  return problem === null ? null : new ScrapifieError('BAD_REQUEST', problem);
}

/** The job that a request is about. */
function jobOf({ jobId, params, routeOptions }: FastifyRequest): { jobId?: string } {
  if (jobId !== null && jobId !== undefined) return { jobId };
  if (routeOptions.url?.startsWith('/v1/jobs/:id') !== true) return {};
  return { jobId: (params as { id: string }).id };
}

/** What the client did wrong, or a site that it asked for, is no trouble of this installation, and neither is its end. */
function levelOf(
  { failure }: FastifyRequest,
  route: string | null,
  status: number,
): 'debug' | 'info' | 'warn' {
  const isTrouble =
    status >= 500 &&
    (failure === null || failure === undefined || isOurs(failure) || failure.code === 'INTERNAL');
  if (isTrouble && failure?.code !== 'SHUTTING_DOWN') return 'warn';
  return route === null || isOfApi(route) ? 'info' : 'debug';
}

/** Request ids, one log line and one measurement per request, and the refusal of new work while closing. */
function followLife(app: App, deps: ApiDeps): void {
  const { logger, metrics, jobs, settings, activity, isStopping = () => false } = deps;
  let isClosing = false;
  app.decorateRequest('jobId', null);
  const strangers = createLogFlood({
    now: () => performance.now(),
    onHeldBack: (heldBack) =>
      logger.info({ count: heldBack.get('request') }, 'log lines of requests without a key were held back'),
  });
  const connections = watchConnections(app.server);
  let drained: NodeJS.Timeout | undefined;
  app.addHook('onRequest', async (request, reply) => {
    // A connection that was closed for its many requests: the rest of what it had sent is parsed all the same.
    if (request.raw.socket.destroyed) return reply.hijack();
    reply.header('x-request-id', request.id);
    const refusal = ambiguous(request);
    if (refusal !== null) {
      // Where the request ends and the next one begins may be unclear.
      reply.header('connection', 'close');
      throw refusal;
    }
    if (isClosing) {
      throw new ScrapifieError('SHUTTING_DOWN', 'The server is stopping.', { retryAfterMs: 5_000 });
    }
    const ended = activity?.begin(`${request.method} ${request.routeOptions.url ?? 'unmatched'}`);
    if (ended !== undefined) listenOnce(reply.raw, 'close', ended);
    // There is no response to a client that left, so `onResponse` would not tell.
    listenOnce(reply.raw, 'close', () => {
      if (!reply.raw.writableEnded) record(request, CLIENT_CLOSED_REQUEST, reply.elapsedTime);
    });
  });
  app.addHook('onSend', async (_request, reply) => {
    // Else the client would keep the connection for its next request, and closing would wait for it, or meet that request.
    if (isClosing || isStopping()) reply.header('connection', 'close');
  });
  app.addHook('onResponse', async (request, reply) => record(request, reply.statusCode, reply.elapsedTime));
  function record(request: FastifyRequest, status: number, elapsedMs: number): void {
    const route = request.is404 ? null : (request.routeOptions.url ?? null);
    metrics.httpRequest(request.method, route, status, elapsedMs);
    const ms = Math.round(elapsedMs * 100) / 100;
    const { id: requestId, method } = request;
    const level = levelOf(request, route, status);
    // Requests that no key is accountable for are as many as strangers like.
    if (request.key === null && level === 'info' && !strangers.admits('request')) return;
    const line = { requestId, ...jobOf(request), method, route, status, ms, ...whyOf(request) };
    logger[level](line, 'request');
  }
  app.addHook('preClose', async () => {
    isClosing = true;
    connections.begin(settings.drainMs + LAST_ANSWERS_MS);
    drained = setTimeout(() => jobs.close(), settings.drainMs).unref();
  });
  app.addHook('onClose', async () => {
    clearTimeout(drained);
    connections.stop();
    jobs.close();
  });
}

/** The response leaves out the details of a fault of this installation; the log line has them. */
function whyOf({ failure }: FastifyRequest): { code?: string; reason?: string } {
  if (failure === null || failure === undefined) return {};
  return isOurs(failure) ? { code: failure.code, reason: failure.message } : { code: failure.code };
}
