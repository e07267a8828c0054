import type { BrowserContext, CDPSession, Page } from 'patchright-core';
import type { BrowserCookie, BrowserStorage } from '../../../core/model/render.ts';
import { type CookieJar, toBrowserCookie } from '../../cookies/cookie-jar.ts';
import type { BrowserRequest } from '../../engine.ts';
import type { StorageFill } from './page-tools.ts';

/** Gives the context the cookies that the request brings, and takes away those that its session has no more. */
export async function putCookies(context: BrowserContext, request: BrowserRequest): Promise<SentCookies> {
  const url = new URL(request.url);
  const now = Date.now();
  const fromJar = request.jar?.cookiesFor(url, now) ?? [];
  const stored = [
    ...(request.storage?.cookies ?? []),
    ...(request.jar?.list(now) ?? []).map(toBrowserCookie),
  ];
  if (request.storage !== undefined) await takeAwayOthers(context, stored);
  const { origin } = url;
  const given = Object.entries(request.cookies).map(([name, value]) => ({ name, value, url: origin }));
  await addCookies(context, [...stored, ...given]);
  return { fromJar: fromJar.map(([name]) => name), given: new Map(Object.entries(request.cookies)) };
}

/** What an attempt began with. */
export interface SentCookies {
  /** Names of those of the jar that the URL was sent. */
  readonly fromJar: readonly string[];
  /** Cookies of the request itself, by name. */
  readonly given: ReadonlyMap<string, string>;
}

async function takeAwayOthers(context: BrowserContext, stored: readonly BrowserCookie[]): Promise<void> {
  const keyOf = ({ name, domain, path }: BrowserCookie): string => JSON.stringify([name, domain, path]);
  const known = new Set(stored.map(keyOf));
  const isGone = (cookie: BrowserCookie): boolean => !known.has(keyOf(cookie));
  for (const { name, domain, path } of (await context.cookies()).filter(isGone)) {
    await context.clearCookies({ name, domain, path });
  }
}

type AddedCookie = BrowserCookie | { readonly name: string; readonly value: string; readonly url: string };

/** Chromium refuses all of them for one that is not as it should be; only that one is to be missing. */
async function addCookies(context: BrowserContext, cookies: readonly AddedCookie[]): Promise<void> {
  if (cookies.length === 0) return;
  try {
    await context.addCookies(cookies);
  } catch {
    for (const cookie of cookies) await context.addCookies([cookie]).catch(() => {});
  }
}

/** Tells the jar what the page's cookies are now, and which of those that it gave are over. */
export function updateJar(
  jar: CookieJar,
  url: URL,
  { fromJar, given }: SentCookies,
  cookies: readonly BrowserCookie[],
  now: number,
): void {
  for (const cookie of cookies) {
    // What the request brought along is for the attempt, unless the page has made it its own.
    if (given.get(cookie.name) === cookie.value) continue;
    const host = cookie.domain.replace(/^\./, '');
    const from = URL.parse(`${cookie.secure ? 'https' : 'http'}://${host}${cookie.path}`);
    if (from !== null) jar.store(from, lineOf(cookie), now);
  }
  const present = new Set(cookies.map(({ name }) => name));
  for (const name of fromJar) {
    if (present.has(name)) continue;
    const labels = url.hostname.split('.');
    const domains = labels.map((_, index) => `; Domain=${labels.slice(index).join('.')}`);
    for (const domain of ['', ...domains]) jar.store(url, `${name}=; Path=/; Max-Age=0${domain}`, now);
  }
}

function lineOf(cookie: BrowserCookie): string {
  const { name, value, domain, path, expires, secure, httpOnly, sameSite } = cookie;
  const scope = domain.startsWith('.') ? `; Domain=${domain.slice(1)}` : '';
  const until = expires > 0 ? `; Expires=${new Date(expires * 1_000).toUTCString()}` : '';
  return `${name}=${value}; Path=${path}${scope}${until}${secure ? '; Secure' : ''}${httpOnly ? '; HttpOnly' : ''}; SameSite=${sameSite}`;
}

/** Local storage of every origin that the page shows, also where there is nothing in it. */
async function readLocalStorage(page: Page): Promise<BrowserStorage['localStorage']> {
  const read = page.frames().map((frame) =>
    frame
      .evaluate(() => {
        const { location, localStorage } = globalThis as unknown as PageGlobals;
        return [location.origin, { ...localStorage }] as const;
      })
      .catch(() => null),
  );
  const found = (await Promise.all(read)).filter((entry) => entry !== null);
  return Object.fromEntries(found.filter(([origin]) => origin !== 'null'));
}

interface PageGlobals {
  readonly location: { readonly origin: string };
  readonly localStorage: Record<string, string>;
}

/** Tells the jar of the request what the page's cookies are at the end; returns them, with the storage, where asked. */
export async function readStorage(
  page: Page,
  { url, jar, wantsStorage }: BrowserRequest,
  sent: SentCookies,
): Promise<BrowserStorage | null> {
  if (wantsStorage !== true && jar === undefined) return null;
  const [cookies, localStorage] = await Promise.all([
    page.context().cookies(),
    wantsStorage === true ? readLocalStorage(page) : {},
  ]);
  if (jar !== undefined) updateJar(jar, new URL(url), sent, cookies, Date.now());
  return wantsStorage === true ? { cookies, localStorage } : null;
}

type LocalStorage = BrowserStorage['localStorage'];

/** Fills the local storage of each origin before the first scripts of its own run. */
export async function fillLocalStorage(cdp: CDPSession, storage: LocalStorage): Promise<StorageFill> {
  const left = new Map(Object.entries(storage));
  let script: Promise<string> | null = null;
  const remove = () => {
    script
      ?.then((identifier) => cdp.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }))
      .catch(() => {});
    script = null;
  };
  const add = () => {
    if (left.size === 0) return;
    const source = sourceFor(Object.fromEntries(left));
    script = cdp
      .send('Page.addScriptToEvaluateOnNewDocument', { source })
      .then(({ identifier }) => identifier);
    script.catch(() => {});
  };
  add();
  await script;
  return {
    arrivedAt(origin) {
      if (!left.delete(origin)) return;
      remove();
      add();
    },
    end: remove,
  };
}

/** Frames of the page's own origin come later than its scripts, which may have changed something by then. */
function sourceFor(origins: LocalStorage): string {
  // As text in text, so that no value can be more than a value.
  const data = JSON.stringify(JSON.stringify(origins));
  return `try {
    let isInside = false;
    try { isInside = parent !== self && parent.location.origin === location.origin; } catch {}
    const items = isInside ? undefined : JSON.parse(${data})[location.origin];
    if (items !== undefined) {
      localStorage.clear();
      for (const [name, value] of Object.entries(items)) localStorage.setItem(name, value);
    }
  } catch {}`;
}
