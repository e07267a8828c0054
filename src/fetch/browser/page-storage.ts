import type { BrowserContext, Page } from 'patchright-core';
import type { BrowserCookie, BrowserStorage } from '../../model/render.ts';
import type { CookieJar } from '../http/cookie-jar.ts';
import type { PageKit } from './page-kit.ts';
import type { RenderRequest } from './render-request.ts';

/** Gives the context the cookies that the request brings. Returns the names that came from its jar. */
export async function putCookies(
  context: BrowserContext,
  request: RenderRequest,
): Promise<readonly string[]> {
  const url = new URL(request.url);
  const fromJar = request.jar?.cookiesFor(url, Date.now()) ?? [];
  const given = new Map([...fromJar, ...Object.entries(request.cookies)]);
  const { origin } = url;
  const cookies = [...given].map(([name, value]) => ({ name, value, url: origin }));
  const stored = request.storage?.cookies ?? [];
  if (cookies.length + stored.length > 0) await context.addCookies([...stored, ...cookies]);
  return fromJar.map(([name]) => name);
}

/** Puts local storage in place before the page's scripts run; the result takes the means away again. */
export async function putLocalStorage(
  kit: PageKit,
  storage: BrowserStorage | undefined,
): Promise<() => void> {
  const origins = storage?.localStorage ?? {};
  if (Object.keys(origins).length === 0) return () => {};
  // As text in text, so that no value can be more than a value.
  const data = JSON.stringify(JSON.stringify(origins));
  const source = `try { for (const [name, value] of Object.entries(JSON.parse(${data})[location.origin] ?? {})) localStorage.setItem(name, value); } catch {}`;
  const { identifier } = await kit.cdp.send('Page.addScriptToEvaluateOnNewDocument', { source });
  return () => {
    kit.cdp.send('Page.removeScriptToEvaluateOnNewDocument', { identifier }).catch(() => {});
  };
}

/** Tells the jar what the page's cookies are now. `sent` are the names it gave; those that are gone are over. */
export function tellJar(
  jar: CookieJar,
  url: URL,
  sent: readonly string[],
  cookies: readonly BrowserCookie[],
  now: number,
): void {
  for (const cookie of cookies) {
    const host = cookie.domain.replace(/^\./, '');
    const from = URL.parse(`${cookie.secure ? 'https' : 'http'}://${host}${cookie.path}`);
    if (from !== null) jar.store(from, lineOf(cookie), now);
  }
  const present = new Set(cookies.map(({ name }) => name));
  for (const name of sent) {
    if (present.has(name)) continue;
    const labels = url.hostname.split('.');
    const domains = labels.map((_, index) => `; Domain=${labels.slice(index).join('.')}`);
    for (const domain of ['', ...domains]) jar.store(url, `${name}=; Path=/; Max-Age=0${domain}`, now);
  }
}

function lineOf({ name, value, domain, path, expires, secure }: BrowserCookie): string {
  const scope = domain.startsWith('.') ? `; Domain=${domain.slice(1)}` : '';
  const until = expires > 0 ? `; Expires=${new Date(expires * 1_000).toUTCString()}` : '';
  return `${name}=${value}; Path=${path}${scope}${until}${secure ? '; Secure' : ''}`;
}

/** Local storage of every origin that the page shows. */
export async function readLocalStorage(page: Page): Promise<BrowserStorage['localStorage']> {
  const read = page.frames().map((frame) =>
    frame
      .evaluate(() => {
        const { location, localStorage } = globalThis as unknown as PageGlobals;
        return [location.origin, { ...localStorage }] as const;
      })
      .catch(() => null),
  );
  const found = (await Promise.all(read)).filter((entry) => entry !== null);
  return Object.fromEntries(found.filter(([, items]) => Object.keys(items).length > 0));
}

interface PageGlobals {
  readonly location: { readonly origin: string };
  readonly localStorage: Record<string, string>;
}
