import type { Page } from 'patchright-core';
import { internalsOf } from './patchright-internals.ts';

interface Session {
  send(method: string, parameters?: object): Promise<unknown>;
  /** What the library asks for in passing; it goes on without an answer. */
  _sendMayFail?(method: string, parameters?: object): Promise<unknown>;
}

interface Inner {
  readonly delegate?: { readonly _mainFrameSession?: { readonly _client?: Session } };
}

const deaf = new WeakSet<Page>();
const muffled = new WeakSet<Page>();
/** As the library itself begins. */
const EVERY_REQUEST = {
  handleAuthRequests: true,
  patterns: [{ urlPattern: '*', requestStage: 'Request' }],
};
/** In every document, at every step of its loading: a search for scripts of the library's, of which there are none. */
const IN_PASSING: ReadonlySet<string> = new Set([
  'DOM.getDocument',
  'DOM.querySelectorAll',
  'Runtime.runIfWaitingForDebugger',
]);

/**
 * The library has Chromium stop at every request of a page until it says go on, and tell it of each in many messages. It
 * needs that to disguise itself, to log in to proxies and to know when a network is idle; a page that needs none of these
 * is cheaper without: see decision 8.
 */
export async function setRequestEvents(page: Page, isWanted: boolean): Promise<void> {
  if (deaf.has(page) !== isWanted) return;
  const session = internalsOf<Inner>(page)?.delegate?._mainFrameSession?._client;
  if (session === undefined) return;
  muffle(page, session);
  if (isWanted) {
    deaf.delete(page);
    await Promise.all([session.send('Network.enable'), session.send('Fetch.enable', EVERY_REQUEST)]);
  } else {
    deaf.add(page);
    await Promise.all(
      ['Fetch.disable', 'Network.disable', 'DOM.disable'].map((method) => session.send(method)),
    );
  }
}

function muffle(page: Page, session: Session): void {
  const ask = session._sendMayFail;
  if (ask === undefined || muffled.has(page)) return;
  muffled.add(page);
  session._sendMayFail = async (method, parameters) =>
    deaf.has(page) && IN_PASSING.has(method) ? undefined : ask.call(session, method, parameters);
}
