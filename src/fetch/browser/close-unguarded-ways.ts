import type { BrowserContext } from 'patchright-core';
import type { RequestGuard } from '../guard/request-guard.ts';

/**
 * For browsers whose requests are looked at instead of going out by our proxy. A page's own session shows the requests
 * of the page alone, so those of frames in other processes and of windows that a page opens are looked at here. What
 * opens connections that no session shows is taken away from documents before their scripts run; a page can notice
 * that, as it can notice that its web sockets are closed.
 */
export async function closeUnguardedWays(context: BrowserContext, guard: RequestGuard): Promise<void> {
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
    // The browser itself asks the site that a page names: for payment methods, and for who somebody is.
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
