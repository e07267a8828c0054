import { hash } from 'node:crypto';
import type { createRemoteJWKSet, JWTPayload } from 'jose';
import { Agent, fetch } from 'undici';
import { z } from 'zod';
import type { Settings } from '../../core/config/settings.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { Account } from '../../core/ports/account-store.ts';
import type { FoundKey, KeyScope } from '../../core/ports/key-store.ts';
import type { AccountStore } from '../../core/ports/store.ts';
import { createGuardedConnector } from '../../fetch/guard/guarded-lookup.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { SCOPES } from './scopes.ts';

/** Bearer tokens of the OIDC issuer that the settings name. */
export interface BearerTokens {
  /**
   * What the token allows, in the form of a key. Null for tokens that are not valid now, and for those whose claims name
   * no account of this installation. OIDC_UNAVAILABLE when the keys of the issuer cannot be fetched.
   */
  identify(token: string): Promise<FoundKey | null>;
  /** Whether the token was valid lately, without asking anyone. */
  isRemembered(token: string): boolean;
  /** Whether `identify` returned this key. */
  isFrom(key: FoundKey): boolean;
  /** Whether the token of the key has not expired, and its account is not disabled. */
  isValid(key: FoundKey): Promise<boolean>;
  forgetAccount(id: AccountId): void;
  close(): Promise<void>;
}

export interface BearerTokensOptions {
  readonly settings: Pick<
    Settings,
    | 'oidcIssuer'
    | 'oidcAudience'
    | 'oidcAccountClaim'
    | 'oidcScopesClaim'
    | 'oidcAlgorithms'
    | 'oidcClockToleranceSeconds'
    | 'allowPrivate'
  >;
  readonly store: Pick<AccountStore, 'getAccount'>;
  readonly now: () => number;
  /** How soon keys are fetched again for a token that none of them signed; half a minute by default. */
  readonly cooldownMs?: number;
}

const ID_PREFIX = 'oidc:';
const FETCH_MS = 5_000;
const COOLDOWN_MS = 30_000;
/** Keys, and where they are, are fetched again after this time. */
const KEYS_FRESH_MS = 600_000;
const MAX_BYTES = 1_048_576;
/** A verified token is not verified again for so long; a disabled account stops within the time of its own entry. */
const TOKEN_FRESH_MS = 60_000;
const ACCOUNT_FRESH_MS = 5_000;
const MAX_TOKENS = 10_000;
const MAX_ACCOUNTS = 10_000;

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** Three parts, as every signed token has; keys of this installation have no dots. */
export const isToken = (secret: string) => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(secret);

interface Verified {
  readonly principal: Omit<FoundKey, 'account'>;
  readonly expiresAt: number;
}

/** Null when the settings name no issuer. */
export function createBearerTokens(options: BearerTokensOptions): BearerTokens | null {
  const { store, now, settings } = options;
  const { oidcIssuer: issuer, oidcAudience: audience } = settings;
  if (issuer === undefined || audience === undefined) return null;
  const algorithms = settings.oidcAlgorithms.split(',');
  // The operator named the issuer, so it may be anywhere; what the issuer names may only be where pages may be fetched.
  const own = new Agent({ connect: { timeout: FETCH_MS } });
  const guarded = new Agent({
    connect: createGuardedConnector({
      allowPrivate: settings.allowPrivate,
      timeoutMs: FETCH_MS,
      allowH2: false,
      maxCachedSessions: 10,
    }),
  });
  const tokens = new BoundedMap<string, Verified>(MAX_TOKENS);
  const accounts = new BoundedMap<AccountId, { readonly account: Account; readonly at: number }>(
    MAX_ACCOUNTS,
  );
  let keys: { readonly get: Promise<ReturnType<typeof createRemoteJWKSet>>; readonly at: number } | null =
    null;

  async function fetchJson(url: string): Promise<Response> {
    const dispatcher = new URL(url).origin === new URL(issuer as string).origin ? own : guarded;
    const response = await fetch(url, {
      dispatcher,
      redirect: 'error',
      signal: AbortSignal.timeout(FETCH_MS),
      headers: { accept: 'application/json' },
    });
    const bytes: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      size += chunk.byteLength;
      if (size > MAX_BYTES) throw new Error(`The answer of ${new URL(url).host} is too long.`);
      bytes.push(chunk);
    }
    return new Response(Buffer.concat(bytes), { status: response.status });
  }

  async function discover(): Promise<ReturnType<typeof createRemoteJWKSet>> {
    const place = `${(issuer as string).replace(/\/$/, '')}/.well-known/openid-configuration`;
    const response = await fetchJson(place);
    if (response.status !== 200) throw new Error(`The issuer answered ${response.status}.`);
    const document = discoverySchema.parse(await response.json());
    if (document.issuer !== issuer) throw new Error('The issuer calls itself otherwise.');
    const { createRemoteJWKSet, customFetch } = await loadJose();
    return createRemoteJWKSet(new URL(document.jwks_uri), {
      cooldownDuration: options.cooldownMs ?? COOLDOWN_MS,
      cacheMaxAge: KEYS_FRESH_MS,
      timeoutDuration: FETCH_MS,
      [customFetch]: (url: string) => fetchJson(url),
    });
  }

  /** One question at a time; an answer that failed is forgotten. */
  async function keySet(): Promise<ReturnType<typeof createRemoteJWKSet>> {
    if (keys === null || now() - keys.at >= KEYS_FRESH_MS) {
      const asked = { get: discover(), at: now() };
      keys = asked;
      asked.get.catch(() => {
        if (keys === asked) keys = null;
      });
    }
    return keys.get;
  }

  async function verify(token: string): Promise<Verified | null> {
    const { errors, jwtVerify } = await loadJose();
    try {
      const { payload } = await jwtVerify(token, await keySet(), {
        issuer: issuer as string,
        audience: audience as string,
        algorithms,
        clockTolerance: settings.oidcClockToleranceSeconds,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'sub'],
      });
      return verifiedOf(payload, token);
    } catch (error) {
      if (isRefusal(error, errors)) return null;
      if (isScrapifieError(error)) throw error;
      throw new ScrapifieError('OIDC_UNAVAILABLE', 'The keys of the OIDC issuer cannot be fetched.', {
        cause: error,
        retryAfterMs: 5_000,
      });
    }
  }

  function verifiedOf(payload: JWTPayload, token: string): Verified | null {
    const account = payload[settings.oidcAccountClaim];
    if (typeof account !== 'string' || account === '') return null;
    const expiresAt = Number(payload.exp) * 1_000;
    const principal = {
      id: `${ID_PREFIX}${hash('sha256', `${payload.iss}\n${payload.sub}`, 'hex').slice(0, 32)}` as KeyId,
      accountId: account as AccountId,
      name: String(payload.sub).slice(0, 200),
      hash: hash('sha256', token, 'hex'),
      prefix: 'token',
      scopes: scopesOf(payload[settings.oidcScopesClaim]),
      ratePerMinute: null,
      createdAt: Number(payload.iat ?? 0) * 1_000,
      expiresAt,
      revokedAt: null,
      lastUsedAt: null,
    };
    return { principal, expiresAt: Math.min(expiresAt, now() + TOKEN_FRESH_MS) };
  }

  async function accountOf(id: AccountId): Promise<Account | null> {
    const known = accounts.get(id);
    if (known !== undefined && Math.abs(now() - known.at) < ACCOUNT_FRESH_MS) return known.account;
    const account = await store.getAccount(id);
    if (account === null) accounts.delete(id);
    else accounts.set(id, { account, at: now() });
    return account;
  }

  const remembered = (token: string) => {
    const known = tokens.get(hash('sha256', token, 'hex'));
    return known !== undefined && known.expiresAt > now() ? known : null;
  };

  return {
    async identify(token) {
      const verified = remembered(token) ?? (await verify(token));
      if (verified === null) return null;
      tokens.set(verified.principal.hash, verified);
      const account = await accountOf(verified.principal.accountId);
      if (account === null) return null;
      const { disabledAt, limits } = account;
      return { ...verified.principal, account: { disabledAt, requestsPerMinute: limits.requestsPerMinute } };
    },
    isRemembered: (token) => remembered(token) !== null,
    isFrom: ({ id }) => id.startsWith(ID_PREFIX),
    async isValid({ accountId, expiresAt }) {
      const account = await accountOf(accountId);
      return (expiresAt ?? 0) > now() && account !== null && account.disabledAt === null;
    },
    forgetAccount: (id) => void accounts.delete(id),
    async close() {
      await Promise.all([own.close(), guarded.close()]);
    },
  };
}

/** Loads the library with the first token: most installations have no issuer. */
const loadJose = () => import('jose');
type Jose = Awaited<ReturnType<typeof loadJose>>;

/** The token is at fault, not the way to the issuer. */
const isRefusal = (error: unknown, errors: Jose['errors']): boolean =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  !(error instanceof errors.JWKSInvalid) &&
  error.code !== 'ERR_JOSE_GENERIC';

/** Names apart by spaces, or a list; names that are no scopes are for other programs. */
function scopesOf(claim: unknown): readonly KeyScope[] {
  const names = typeof claim === 'string' ? claim.split(/\s+/) : Array.isArray(claim) ? claim : [];
  return SCOPES.filter((scope) => names.includes(scope));
}
