import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Identity } from '../../core/model/identity.ts';
import { PROXY_TIERS } from '../../core/model/proxy.ts';
import type { BrowserStorage } from '../../core/model/render.ts';
import type { SessionEntry, StoredSession } from '../../core/ports/session-store.ts';
import { countryCode } from '../../crawl/plan/proxies/proxy-config.ts';
import {
  type CookieJar,
  createCookieJar,
  fromBrowserCookie,
  type StoredCookie,
  toBrowserCookie,
} from '../../fetch/cookies/cookie-jar.ts';
import { type LocalStorage, type SessionData, type SessionProxy, unpackData } from './session-data.ts';
import type { Vault } from './vault.ts';

/**
 * A returning visitor: the same proxy, the same browser identity, the same cookies. A session belongs to one account, has a
 * name, and ends a fixed time after it was made.
 */
export interface Session extends SessionEntry, SessionData {
  /** Version of the stored data that this session was read from. */
  readonly version: number;
}

export function readSession(stored: StoredSession, vault: Vault | null): Session {
  const { data, ...entry } = stored;
  return { ...entry, ...unpackData(data, vault, sessionPlace(entry)) };
}

export const sessionPlace = ({ accountId, name }: Pick<SessionEntry, 'accountId' | 'name'>) => ({
  kind: 'session' as const,
  accountId,
  name,
});

export function dataOf({ proxy, identity, cookies, localStorage, dropped }: Session): SessionData {
  return { proxy, identity, cookies, localStorage, dropped };
}

export const hasEnded = ({ expiresAt }: SessionEntry, now: number): boolean => expiresAt <= now;

export function requireLiving(session: SessionEntry, now: number): void {
  if (!hasEnded(session, now)) return;
  const end = new Date(session.expiresAt).toISOString();
  throw new ScrapifieError(
    'SESSION_EXPIRED',
    `The session "${session.name}" ended at ${end}. Delete it to begin anew under this name, or use another.`,
  );
}

/** What sessions and credentials are called: fit for a URL, a file and a log line. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const NAME_RULE = '1 to 100 letters, digits, dots, dashes and underscores, a letter or digit first';

const name = z.string().regex(NAME, `Must be ${NAME_RULE}.`);

/** A new session, as the API and the command line take it. */
export const sessionRequestSchema = z
  .strictObject({
    name: name.optional().describe('Left out: a name is made up.'),
    credentials: name.nullable().default(null).describe('The name of what to log in with.'),
    proxy: z
      .strictObject({
        tier: z.enum(PROXY_TIERS).nullable().default(null),
        country: z
          .string()
          .nullable()
          .default(null)
          .refine(
            (text) => text === null || countryCode(text) !== null,
            'Not a country code of two letters (ISO 3166).',
          )
          .transform((text) => (text === null ? null : countryCode(text))),
      })
      .nullable()
      .default(null)
      .describe('Which way out its requests take; it keeps one proxy for as long as that works.'),
    identity: z
      .enum(['bot', 'browser'])
      .nullable()
      .default(null)
      .describe(
        '`browser` carries the identity of a regular browser, the same one throughout; a host’s policy must consent.',
      ),
    expiresInHours: z
      .number()
      .int()
      .min(1)
      .max(8_760)
      .nullable()
      .default(null)
      .describe('When it ends; null: as the settings say, a day unless told.'),
  })
  .meta({
    id: 'SessionRequest',
    examples: [{ name: 'shop', credentials: 'shop-login', proxy: { country: 'de' } }],
  });

export type SessionRequest = z.input<typeof sessionRequestSchema>;

/** A session lent to one attempt. */
export interface SessionUse {
  readonly session: Session;
  /** For engines that show no pages: what they send and keep. */
  readonly jar: CookieJar;
  /** For engines that show pages, together with `wantsStorage` and in place of the jar. */
  readonly storage: BrowserStorage;
  /** Whose request this is: pages of one session may share a browser's context, and no other page ever does. */
  readonly key: string;
  /** For the choice of a proxy: the session keeps its proxy. */
  readonly sticky: { readonly id: string; readonly proxyId: string | null };
}

/** What the attempt came to, as far as the session is concerned. */
export interface SessionUseEnd {
  /** The way out that was taken, where it was one of ours. */
  readonly proxy?: SessionProxy | null | undefined;
  readonly identity?: Identity | null | undefined;
  /** `rendered.extra.storage` of the response; left out where there is none. */
  readonly storage?: BrowserStorage | null | undefined;
}

export function lend(session: Session): SessionUse {
  const { id, accountId, cookies, localStorage } = session;
  return {
    session,
    jar: createCookieJar({ cookies }),
    storage: { cookies: cookies.map(toBrowserCookie), localStorage },
    key: `session ${accountId} ${id}`,
    sticky: { id: `session ${id}`, proxyId: session.proxy?.id ?? null },
  };
}

/** What the session's data is after the attempt, others aside. */
export function dataAfter({ session, jar }: SessionUse, end: SessionUseEnd, now: number): SessionData {
  const { storage } = end;
  const data = dataOf(session);
  return {
    ...data,
    proxy: end.proxy ?? data.proxy,
    identity: end.identity ?? data.identity,
    cookies: storage ? cookiesAfter(data.cookies, storage) : jar.list(now),
    // A page tells of the origins it shows and of no others.
    localStorage: storage ? storageAfter(data.localStorage, storage.localStorage) : data.localStorage,
  };
}

const storageAfter = (before: LocalStorage, shown: LocalStorage): LocalStorage => ({ ...before, ...shown });

/** A browser returns cookies in its own format; an unchanged cookie stays the stored one. */
function cookiesAfter(before: readonly StoredCookie[], { cookies }: BrowserStorage): StoredCookie[] {
  const given = new Map(before.map((cookie) => [wordsOf(cookie), cookie]));
  return cookies.map((cookie) => {
    const stored = fromBrowserCookie(cookie);
    return given.get(wordsOf(stored)) ?? stored;
  });
}

/** Times to the second: browsers round them, each in its way. */
function wordsOf(cookie: StoredCookie): string {
  const { name, value, domain, path, expires, httpOnly, secure, sameSite } = toBrowserCookie(cookie);
  return JSON.stringify([name, value, domain, path, Math.round(expires), httpOnly, secure, sameSite]);
}
