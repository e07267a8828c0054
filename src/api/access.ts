import rateLimit from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import type { Settings } from '../config/settings.ts';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import type { AccountId } from '../model/ids.ts';
import type { ApiKey, KeyScope } from '../ports/store.ts';
import { allows } from './api-key.ts';
import type { App } from './app.ts';
import type { KeyDirectory } from './key-directory.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key needs for this route; `open` needs none, `local` none from this machine. Each route says so. */
    access?: KeyScope | 'open' | 'local';
  }
  interface FastifyRequest {
    /** The key the request came with; null on open routes. */
    key: ApiKey | null;
  }
}

/** Puts a key check and a rate limit per key before every route added afterwards. */
export async function guardRoutes(app: App, keys: KeyDirectory, settings: Settings): Promise<void> {
  app.decorateRequest('key', null);
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/') && route.config?.access === undefined) {
      throw new Error(`Route ${route.url} does not say who may use it.`);
    }
  });
  app.addHook('onRequest', async (request) => {
    const access = request.routeOptions.config.access ?? 'open';
    if (request.is404 || access === 'open' || (access === 'local' && isLocal(request))) return;
    request.key = await authenticate(request, keys);
    const needed = access === 'local' ? 'read' : access;
    if (!allows(request.key.scopes, needed)) {
      throw new ScrapifieError('FORBIDDEN', `This API key lacks the scope "${needed}".`);
    }
  });
  await app.register(rateLimit, {
    max: (request: FastifyRequest) => request.key?.ratePerMinute ?? settings.rateLimitPerMinute,
    timeWindow: 60_000,
    cache: 10_000,
    enableDraftSpec: true,
    keyGenerator: (request) => request.key?.id ?? '',
    allowList: (request) => request.key === null,
    errorResponseBuilder: (_request, { max, ttl }) =>
      new ScrapifieError('RATE_LIMITED', `This key may send ${max} requests per minute.`, {
        retryAfterMs: ttl,
      }),
  });
}

async function authenticate(request: FastifyRequest, keys: KeyDirectory): Promise<ApiKey> {
  const secret = secretOf(request);
  if (secret === null) {
    throw new ScrapifieError(
      'UNAUTHENTICATED',
      'Send an API key: `Authorization: Bearer <key>` or `X-API-Key: <key>`.',
    );
  }
  const key = await keys.identify(secret);
  if (key === null)
    throw new ScrapifieError('UNAUTHENTICATED', 'The API key is unknown, expired or revoked.');
  return key;
}

const MAX_SECRET_CHARS = 512;

function secretOf({ headers }: FastifyRequest): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const secret = bearer ?? headers['x-api-key'] ?? headers['x-service-key'];
  return typeof secret === 'string' && secret !== '' && secret.length <= MAX_SECRET_CHARS ? secret : null;
}

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** A request that a proxy on this machine passed on is not from this machine. */
function isLocal({ socket, headers }: FastifyRequest): boolean {
  const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
  return !isForwarded && LOOPBACK.test(socket.remoteAddress ?? '');
}

/** On routes that need a key there always is one. */
export function accountOf(request: FastifyRequest): AccountId {
  return keyOf(request).accountId;
}

export function keyOf(request: FastifyRequest): ApiKey {
  if (request.key === null) throw new ScrapifieError('UNAUTHENTICATED', 'This call needs an API key.');
  return request.key;
}
