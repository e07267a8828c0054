import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { ensureFirstKey } from '../../src/capabilities/accounts/api-key.ts';
import { createApi } from '../../src/http/api.ts';
import { addFirecrawlRoutes } from '../../src/http/compat/firecrawl/firecrawl-api.ts';
import { isWatchPath } from '../../src/http/compat/firecrawl/watch-job.ts';
import { createReadiness } from '../../src/http/health/readiness.ts';
import type { ApiDeps } from '../../src/http/routes/route-deps.ts';
import { openWorld, type World, type WorldOptions } from './world.ts';

export interface ApiAnswer {
  readonly status: number;
  readonly body: {
    readonly success: boolean;
    readonly data?: Record<string, unknown>;
    readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
  };
}

/** A world with its HTTP API in front, called with the key that the first start made. */
export interface ApiWorld extends World {
  readonly api: FastifyInstance;
  /** Secret of the API key. */
  readonly secret: string;
  /** The answer as it came, for what is not the one envelope. */
  send(options: InjectOptions): Promise<LightMyRequestResponse>;
  call(options: InjectOptions): Promise<ApiAnswer>;
  post(url: string, payload: unknown): Promise<ApiAnswer>;
}

/** `extendMcp` has the same meaning as in `ApiDeps`. */
export type ApiWorldOptions = WorldOptions & Pick<ApiDeps, 'extendMcp'>;

export async function openApiWorld({ extendMcp, ...options }: ApiWorldOptions = {}): Promise<ApiWorld> {
  const world = await openWorld(options);
  const { store, blobs, exportFiles, queue, bus, limits, jobs, capabilities, policies, settings } =
    world.platform;
  const { secret } = await ensureFirstKey(store, settings, Date.now());
  const api = await createApi({
    ...capabilities,
    blobs,
    exportFiles,
    store,
    bus,
    limits,
    settings,
    logger: world.logger,
    metrics: world.metrics,
    readiness: createReadiness({
      parts: {
        store: { check: () => store.check(), isEssential: true },
        queue: { check: () => queue.check(), isEssential: false },
        blobs: {
          async check() {
            await blobs.check();
            jobs.requireRoom();
          },
          isEssential: true,
          degradation: () => blobs.degradation(),
        },
        bus: { check: () => bus.check(), isEssential: false },
      },
      freshMs: 0,
      now: Date.now,
    }),
    policies: { policyFor: (host) => policies().policyFor(host), denied: (host) => policies().denied(host) },
    addOtherRoutes: addFirecrawlRoutes,
    upgrades: isWatchPath,
    version: '0.0.0-test',
    now: Date.now,
    ...(extendMcp === undefined ? {} : { extendMcp }),
  });
  const send = (request: InjectOptions) =>
    api.inject({ ...request, headers: { authorization: `Bearer ${secret}`, ...request.headers } });
  const call = async (request: InjectOptions): Promise<ApiAnswer> => {
    const answer = await send(request);
    return { status: answer.statusCode, body: answer.json() as ApiAnswer['body'] };
  };
  return {
    ...world,
    api,
    secret: secret ?? '',
    send,
    call,
    post: (url, payload) => call({ method: 'POST', url, payload: payload as Record<string, unknown> }),
    async close() {
      await api.close();
      await world.close();
    },
  };
}
