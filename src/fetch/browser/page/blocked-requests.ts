import type { BrowserContext } from 'patchright-core';
import type { BlockedKind } from '../../../core/model/plain-options.ts';
import type { RequestGuard } from '../../guard/guarded-lookup.ts';

const endings = (names: readonly string[]): string[] => names.flatMap((name) => [`*.${name}`, `*.${name}?*`]);
const hosts = (names: readonly string[]): string[] =>
  names.flatMap((name) => [`*://${name}/*`, `*://*.${name}/*`]);

/** Known by their usual names, since Chromium is told before it knows what an address holds. */
const PATTERNS: Readonly<Record<BlockedKind, readonly string[]>> = {
  images: endings(['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico', 'svg', 'apng']),
  fonts: [...endings(['woff', 'woff2', 'ttf', 'otf', 'eot']), ...hosts(['fonts.gstatic.com'])],
  media: endings([
    'mp4',
    'webm',
    'ogv',
    'mov',
    'm3u8',
    'mpd',
    'm4s',
    'mp3',
    'm4a',
    'ogg',
    'oga',
    'wav',
    'flac',
  ]),
  trackers: hosts([
    'google-analytics.com',
    'googletagmanager.com',
    'googlesyndication.com',
    'doubleclick.net',
    'adservice.google.com',
    'connect.facebook.net',
    'bat.bing.com',
    'clarity.ms',
    'hotjar.com',
    'mixpanel.com',
    'amplitude.com',
    'segment.io',
    'fullstory.com',
    'mc.yandex.ru',
    'criteo.com',
    'criteo.net',
    'scorecardresearch.com',
    'quantserve.com',
    'taboola.com',
    'outbrain.com',
    'nr-data.net',
    'snap.licdn.com',
    'analytics.tiktok.com',
  ]),
};

/** Whether one of these patterns means the URL; for browsers that cannot be told. */
export function isBlocked(url: string, kinds: readonly BlockedKind[]): boolean {
  return blockedPatterns(kinds).some((pattern) => expressionOf(pattern).test(url));
}

/** Bounded by the patterns above. */
const expressions = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const parts = pattern.split('*').map((part) => part.replace(/[.?/]/g, '\\$&'));
  const made = new RegExp(`^${parts.join('.*')}$`, 'i');
  expressions.set(pattern, made);
  return made;
}

/** What to hand to Chromium so that it does not even ask for these. */
export function blockedPatterns(kinds: readonly BlockedKind[]): string[] {
  return [...new Set(kinds)].sort().flatMap((kind) => PATTERNS[kind]);
}

/**
 * For browsers whose requests are looked at instead of going out by our proxy. A page's own session shows the requests
 * of the page alone, so those of frames in other processes and of windows that a page opens are looked at here. What
 * opens connections that no session shows is taken away from documents before their scripts run; a page can notice
 * that, as it can notice that its web sockets are closed.
 */
export async function guardContext(context: BrowserContext, guard: RequestGuard): Promise<void> {
  await context.route(/^/, async (route) => {
    try {
      const refusal = await guard(route.request().url());
      await (refusal === null ? route.fallback() : route.abort('blockedbyclient'));
    } catch {
      // The page has gone meanwhile, and its request with it.
    }
  });
  await context.addInitScript(removeUnguarded);
}

/** What the script below uses of a document; the types of browsers are not those of this program. */
interface DocumentScope {
  [name: string]: { readonly prototype: Record<string, unknown> } | undefined;
}
interface DocumentTools {
  readonly document: { querySelectorAll(selector: string): Iterable<{ remove(): void }> };
  readonly MutationObserver: new (changed: () => void) => { observe(target: object, what: object): void };
}

/** Runs in every document. */
function removeUnguarded(): void {
  const scope = globalThis as unknown as DocumentScope;
  const interfaces = [
    // Their requests belong to no page.
    'SharedWorker',
    // Sockets and datagrams are no requests.
    'RTCPeerConnection',
    'webkitRTCPeerConnection',
    'WebTransport',
    'WebSocketStream',
    // The browser itself sends requests to a site that the page names: for payment methods and identities.
    'PaymentRequest',
    'IdentityProvider',
  ];
  for (const name of interfaces) delete scope[name];
  delete scope.CredentialsContainer?.prototype.get;
  // The browser goes by rules in a document when its next microtasks have run, of which this is one.
  const { document, MutationObserver } = globalThis as unknown as DocumentTools;
  new MutationObserver(() => {
    for (const rules of document.querySelectorAll('script[type="speculationrules" i]')) rules.remove();
  }).observe(document, { childList: true, subtree: true });
}
