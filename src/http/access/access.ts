import type { FastifyReply, FastifyRequest } from 'fastify';
import { hashSecret } from '../../capabilities/accounts/api-key.ts';
import type { KeyDirectory } from '../../capabilities/accounts/key-directory.ts';
import { type Access, refusalOf } from '../../capabilities/accounts/scopes.ts';
import type { SignIns } from '../../capabilities/accounts/sign-ins.ts';
import { addressTest } from '../../core/config/field-types.ts';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ApiKey, FoundKey } from '../../core/ports/key-store.ts';
import type { Limits, Taken } from '../../core/ports/limits.ts';
import type { App } from '../server/app.ts';
import { requireDashboard, requireStreamOrigin, signInSecretOf } from './browser-requests.ts';
import { createFailedLogins, type FailedLogins, type FailureEntry } from './failed-logins.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** A request with a `signature` in its query needs no key: the route checks the signature. */
    isSigned?: boolean;
    /** The answer is a stream that stays open: pages of other origins may not open it. */
    isStream?: boolean;
  }
}

export interface Guard {
  readonly keys: KeyDirectory;
  /** Sign-ins of the dashboard; null when the server has no dashboard. */
  readonly signIns: SignIns | null;
  readonly limits: Limits;
  readonly settings: Pick<
    Settings,
    'rateLimitPerMinute' | 'failedLoginsPerMinute' | 'metricsFrom' | 'metricsKey' | 'corsOrigins'
  >;
  readonly now: () => number;
  /** Told of each wrong key: `entry` is for the audit log, null when that has one already. */
  readonly onFailedLogin: (isLimited: boolean, entry: FailureEntry | null) => void;
  /** Told of each request with a valid key of the right scope. `operation` is method and route. */
  readonly onLogin: (key: ApiKey, address: string, operation: string) => void;
}

/** Method and route; all that the dashboard reads for a signed-in browser is one operation, so that it does not fill the log. */
function operationOf({ signIn, method, routeOptions }: FastifyRequest): string {
  return signIn !== null && method === 'GET' ? 'GET by the dashboard' : `${method} ${routeOptions.url}`;
}

/** Puts a key check and the rate limits of key and account before every route added afterwards. */
export function guardRoutes(app: App, guard: Guard): Authentication {
  app.decorateRequest('key', null);
  app.decorateRequest('signIn', null);
  const failedLogins = createFailedLogins({
    perMinute: guard.settings.failedLoginsPerMinute,
    now: guard.now,
  });
  const mayReadMetrics = metricsTest(guard.settings);
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/') && route.config?.access === undefined) {
      throw new Error(`Route ${route.url} does not declare its access.`);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    const access = request.routeOptions.config.access ?? 'open';
    if (request.is404 || access === 'open') return;
    const { isSigned = false, isStream = false } = request.routeOptions.config;
    // Before the key is looked at: a page of a foreign site is refused whatever it sends.
    if (isStream) requireStreamOrigin(request, guard.settings.corsOrigins);
    if (isSigned && (request.query as { signature?: unknown }).signature !== undefined) return;
    if (access === 'metrics' && mayReadMetrics(request)) return;
    request.key = await authenticate(request, guard, failedLogins);
    refuseDisabled(request.key);
    const refusal = refusalOf(request.key, access);
    if (refusal !== null) throw new ScrapifieError('FORBIDDEN', refusal);
    await countIn(request.key, reply, guard);
    guard.onLogin(request.key, request.ip, operationOf(request));
  });
  return {
    requireUnlimited: (request, isRemembered) => requireUnlimited(request, guard, failedLogins, isRemembered),
    async check(request, reply, isRemembered, identify) {
      const key = await limited(request, guard, failedLogins, isRemembered, identify);
      refuseDisabled(key);
      await countIn(key, reply, guard);
      return key;
    },
  };
}

/** For routes that are open and take a secret in their body. */
export interface Authentication {
  /** Throws RATE_LIMITED when the address has sent too many wrong keys and the key is not one that is remembered. */
  requireUnlimited(request: FastifyRequest, isRemembered: boolean): void;
  /**
   * The key that `identify` finds by a secret of the request. Secrets that it does not know count as wrong keys of the
   * address, whose limit a secret that `isRemembered` passes, and the request counts in the limits of the key. Throws
   * UNAUTHENTICATED, ACCOUNT_DISABLED and RATE_LIMITED.
   */
  check(
    request: FastifyRequest,
    reply: FastifyReply,
    isRemembered: boolean,
    identify: () => Promise<FoundKey | null>,
  ): Promise<FoundKey>;
}

function refuseDisabled({ account }: FoundKey): void {
  if (account.disabledAt === null) return;
  throw new ScrapifieError('ACCOUNT_DISABLED', 'The account of this API key is disabled.');
}

/** Throws RATE_LIMITED when the key, or its account, has sent too much; either way the answer says how much is left. */
async function countIn(key: FoundKey, reply: FastifyReply, { limits, settings, now }: Guard): Promise<void> {
  const perMinute = key.ratePerMinute ?? settings.rateLimitPerMinute;
  const ofAccount = key.account.requestsPerMinute;
  const [byKey, byAccount] = await Promise.all([
    limits.take(key.id, perMinute, now()),
    ofAccount === null ? null : limits.take(`account:${key.accountId}`, ofAccount, now()),
  ]);
  // The headers tell of the limit that is nearer.
  const isAccount = byAccount !== null && isNearer(byAccount, byKey);
  const { isAllowed, remaining, resetMs } = isAccount ? byAccount : byKey;
  const limit = isAccount ? ofAccount : perMinute;
  reply.header('ratelimit-limit', limit);
  reply.header('ratelimit-remaining', remaining);
  reply.header('ratelimit-reset', Math.ceil(resetMs / 1_000));
  if (isAllowed) return;
  const what = isAccount ? 'The keys of this account together' : 'This key';
  throw new ScrapifieError('RATE_LIMITED', `${what} may send ${limit} requests per minute.`, {
    retryAfterMs: resetMs,
  });
}

function isNearer(one: Taken, other: Taken): boolean {
  if (one.isAllowed !== other.isAllowed) return !one.isAllowed;
  return one.isAllowed ? one.remaining < other.remaining : one.resetMs > other.resetMs;
}

/**
 * Keys that are remembered as valid are let in even from an address that is limited: a client that keeps sending a
 * wrong key must not lock out the others behind the same address.
 */
async function authenticate(
  request: FastifyRequest,
  guard: Guard,
  failedLogins: FailedLogins,
): Promise<FoundKey> {
  const { keys, signIns } = guard;
  const secret = secretOf(request);
  if (secret !== null) {
    return limited(request, guard, failedLogins, keys.isRemembered(secret), () => keys.identify(secret));
  }
  const cookie = signIns !== null && takesCookie(request) ? signInSecretOf(request) : null;
  if (signIns === null || cookie === null) {
    throw new ScrapifieError(
      'UNAUTHENTICATED',
      'Send an API key: `Authorization: Bearer <key>` or `X-API-Key: <key>`.',
    );
  }
  requireDashboard(request);
  const key = await signIns.identify(cookie);
  request.signIn = cookie;
  if (key !== null) return key;
  // Not counted: a browser whose sign-in has ended sends its cookie with every request of a page.
  throw new ScrapifieError('UNAUTHENTICATED', 'The sign-in has ended. Sign in again.');
}

/** The API of this program, and its metrics; APIs in the shape of other products have no dashboard. */
function takesCookie({ routeOptions: { url = '' } }: FastifyRequest): boolean {
  return url.startsWith('/v1/') || url === '/metrics';
}

function requireUnlimited(
  request: FastifyRequest,
  { onFailedLogin }: Guard,
  failedLogins: FailedLogins,
  isRemembered: boolean,
): void {
  const limitedForMs = failedLogins.limitedForMs(request.ip);
  if (limitedForMs === null || isRemembered) return;
  onFailedLogin(true, null);
  throw new ScrapifieError('RATE_LIMITED', 'Too many wrong API keys came from this address.', {
    retryAfterMs: limitedForMs,
  });
}

async function limited(
  request: FastifyRequest,
  guard: Guard,
  failedLogins: FailedLogins,
  isRemembered: boolean,
  identify: () => Promise<FoundKey | null>,
): Promise<FoundKey> {
  const { onFailedLogin } = guard;
  requireUnlimited(request, guard, failedLogins, isRemembered);
  const key = await identify();
  if (key === null) {
    onFailedLogin(false, failedLogins.count(request.ip));
    throw new ScrapifieError('UNAUTHENTICATED', 'The API key or token is unknown, expired or revoked.');
  }
  return key;
}

/** Tokens of an issuer are longer than keys. */
const MAX_SECRET_CHARS = 8_192;

function secretOf({ headers }: FastifyRequest): string | null {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  const secret = bearer ?? headers['x-api-key'] ?? headers['x-service-key'];
  return typeof secret === 'string' && secret !== '' && secret.length <= MAX_SECRET_CHARS ? secret : null;
}

/** Whether a request may read the metrics without an API key: by the key that is for them alone, or by its address. */
function metricsTest({
  metricsFrom,
  metricsKey,
}: Pick<Settings, 'metricsFrom' | 'metricsKey'>): (request: FastifyRequest) => boolean {
  const isListed = addressTest(metricsFrom);
  const keyHash = metricsKey === undefined ? null : hashSecret(metricsKey);
  return (request) => {
    const secret = keyHash === null ? null : secretOf(request);
    // Hashes are compared: how long that takes says nothing about the key.
    if (secret !== null && hashSecret(secret) === keyHash) return true;
    return !isForwardedByStranger(request) && isListed(request.ip);
  };
}

/** A proxy that is not trusted has passed the request on: its own address says nothing about the client's. */
function isForwardedByStranger({ ip, socket, headers }: FastifyRequest): boolean {
  const isForwarded = headers.forwarded !== undefined || headers['x-forwarded-for'] !== undefined;
  return isForwarded && ip === socket.remoteAddress;
}
