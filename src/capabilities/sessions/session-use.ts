import type { Identity } from '../../core/model/identity.ts';
import type { BrowserStorage } from '../../core/model/render.ts';
import {
  type CookieJar,
  createCookieJar,
  fromBrowserCookie,
  type StoredCookie,
  toBrowserCookie,
} from '../../fetch/cookies/cookie-jar.ts';
import { dataOf, type Session } from './session.ts';
import type { LocalStorage, SessionData, SessionProxy } from './session-data.ts';

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
