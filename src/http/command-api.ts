import { Readable } from 'node:stream';
import Fastify from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { listen, listenOnce } from '../core/errors/guarded.ts';
import type { FoundKey } from '../core/ports/key-store.ts';
import { defined } from '../lib/defined.ts';
import type { SharedRouteDeps } from './routes/route-deps.ts';
import { type App, parseWithZod } from './server/app.ts';
import { sendFailure } from './server/failures.ts';

/** A request of a command to the routes of the API. */
export interface CommandRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A success; what a route throws is thrown to the command as it is. */
export interface CommandAnswer {
  readonly status: number;
  json(): Promise<unknown>;
  bytes(): AsyncGenerator<Uint8Array>;
}

/**
 * The routes of the API for commands that work on a data folder themselves: the same use cases, with the rights of `key`.
 * Nothing of it listens; requests come from the process that made it, which already has whatever the folder has.
 */
export interface CommandApi {
  send(request: CommandRequest): Promise<CommandAnswer>;
  close(): Promise<void>;
}

type AddRoutes = (app: App, deps: SharedRouteDeps) => void;

/** The routes that commands call, by the beginning of their paths. A command loads only those that it calls. */
const AREAS: readonly (readonly [RegExp, () => Promise<AddRoutes>])[] = [
  [/^\/v1\/jobs\/[^/]+\/events/, async () => (await import('./routes/events.ts')).addEventRoutes],
  [/^\/v1\/jobs\/[^/]+\/diff/, async () => (await import('./routes/diffs.ts')).addJobDiffRoutes],
  [
    /^\/v1\/jobs\/[^/]+\/(?:results|errors|urls)/,
    async () => (await import('./routes/job-pages.ts')).addJobPageRoutes,
  ],
  [/^\/v1\/jobs\b/, async () => (await import('./routes/jobs.ts')).addJobRoutes],
  [/^\/v1\/sessions\b/, async () => (await import('./routes/sessions.ts')).addSessionRoutes],
  [/^\/v1\/credentials\b/, async () => (await import('./routes/sessions.ts')).addCredentialRoutes],
  [/^\/v1\/(?:webhooks|deliveries)\b/, async () => (await import('./routes/webhooks.ts')).addWebhookRoutes],
  [/^\/v1\/schedules\b/, async () => (await import('./routes/schedules.ts')).addScheduleRoutes],
  [/^\/v1\/monitors\b/, async () => (await import('./routes/monitors.ts')).addMonitorRoutes],
  [/^\/v1\/usage\b/, async () => (await import('./routes/account.ts')).addUsageRoutes],
  [/^\/v1\/query\b/, async () => (await import('./routes/query.ts')).addQueryRoutes],
  [/^\/v1\/search\b/, async () => (await import('./routes/query.ts')).addSearchRoutes],
  [/^\/v1\/snapshots\/[^/]+\/diff/, async () => (await import('./routes/diffs.ts')).addSnapshotDiffRoutes],
  [
    /^\/v1\/(?:pages|sightings|snapshots)\b/,
    async () => (await import('./routes/snapshots.ts')).addSnapshotRoutes,
  ],
  [/^\/v1\/accounts\/[^/]+\/credits/, async () => (await import('./routes/accounts.ts')).addCreditRoutes],
  [
    /^\/v1\/(?:account|accounts\/[^/]+)\/retention/,
    async () => (await import('./routes/account.ts')).addRetentionRoutes,
  ],
  [/^\/v1\/accounts\b/, async () => (await import('./routes/accounts.ts')).addAccountsRoutes],
  [/^\/v1\/keys\b/, async () => (await import('./routes/keys.ts')).addKeyRoutes],
];

/** What a file of credentials or a list of URLs may have at most. */
const BODY_LIMIT_BYTES = 268_435_456;
const MOST_PARAM_CHARS = 8_192;

export function createCommandApi(deps: SharedRouteDeps, key: FoundKey): CommandApi {
  const apps = new Map<RegExp, Promise<App>>();
  /** What went wrong with a request, by its id, until its answer was read. */
  const failures = new Map<string, unknown>();
  let requests = 0;

  async function open(load: () => Promise<AddRoutes>): Promise<App> {
    const app: App = Fastify({
      logger: false,
      bodyLimit: BODY_LIMIT_BYTES,
      genReqId: ({ headers }) => String(headers['x-request-id']),
      routerOptions: { maxParamLength: MOST_PARAM_CHARS },
    }).withTypeProvider<ZodTypeProvider>();
    parseWithZod(app);
    app.decorateRequest('key', null);
    app.decorateRequest('signIn', null);
    app.decorateRequest('held', null);
    app.decorateRequest('jobId', null);
    app.decorateRequest('failure', null);
    app.addHook('onRequest', async (request) => {
      request.key = key;
    });
    app.setErrorHandler((error, request, reply) => {
      failures.set(request.id, error);
      return sendFailure(error, request, reply);
    });
    app.addHook('onSend', async ({ id }, _reply, payload) => {
      if (payload instanceof Readable) listenOnce(payload, 'error', (error) => failures.set(id, error));
      return payload;
    });
    const add = await load();
    add(app, deps);
    await app.ready();
    return app;
  }

  function appFor(path: string): Promise<App> {
    const area = AREAS.find(([paths]) => paths.test(path));
    if (area === undefined) throw new Error(`No command has routes for ${path}.`);
    const [paths, load] = area;
    const app = apps.get(paths) ?? open(load);
    apps.set(paths, app);
    return app;
  }

  return {
    async send({ method, path, headers, body }) {
      const app = await appFor(path);
      requests += 1;
      const id = String(requests);
      const answer = await app.inject({
        method: method as 'GET',
        url: path,
        headers: { ...headers, host: 'localhost', 'x-request-id': id },
        payloadAsStream: true,
        ...defined({ payload: body as string | undefined }),
      });
      const stream = answer.stream();
      /** The bytes as they come. The rest of an answer that is not read to its end is not made. */
      async function* bytes(): AsyncGenerator<Uint8Array> {
        try {
          yield* stream;
        } catch (error) {
          throw failures.get(id) ?? error;
        } finally {
          failures.delete(id);
          answer.raw.res.destroy();
        }
      }
      // The stream of an answer that is thrown away may fail without a reader.
      listen(stream, 'error', () => undefined);
      if (answer.statusCode < 400) return { status: answer.statusCode, json: () => jsonOf(bytes()), bytes };
      const failure = failures.get(id);
      const told = await jsonOf(bytes());
      throw failure ?? new Error(`The answer to ${method} ${path}: ${JSON.stringify(told)}`);
    },
    async close() {
      const opened = await Promise.allSettled(apps.values());
      await Promise.all(opened.map((app) => (app.status === 'fulfilled' ? app.value.close() : undefined)));
    },
  };
}

async function jsonOf(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks = await Array.fromAsync(bytes);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}
