import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import { setRequestEvents } from '../patchright/patchright-patches.ts';
import { blockedPatterns } from './blocked-requests.ts';
import { MainDocument } from './main-document.ts';
import { NetworkRecord, NetworkWatch } from './network-record.ts';
import { block, pageSessionFor } from './page-session.ts';
import { fillLocalStorage } from './page-storage.ts';
import type { PageTools, ToolOptions } from './page-tools.ts';
import { readRaw } from './page-world.ts';

const TRIES = 5;
const AGAIN_MS = 20;

/** Opens the tools of a page that speak Chromium's own protocol. */
export async function cdpTools(options: ToolOptions): Promise<PageTools> {
  const { page, request, guard, isDisguised, proxyLogin, limits } = options;
  const session = await pageSessionFor(page, isDisguised, guard, proxyLogin);
  const { cdp } = session;
  const { wait, screenshot, pdf, actions = [] } = request;
  const awaitsIdle = [wait, ...actions].some(
    (step) => step !== undefined && 'until' in step && step.until === 'networkidle',
  );
  // A disguised browser logs in to its proxy.
  await setRequestEvents(page, isDisguised || awaitsIdle);
  const isVisual = screenshot !== undefined || pdf === true || actions.length > 0;
  const document = new MainDocument({ ...options, cdp, isVisual });
  const network = new NetworkWatch(
    cdp,
    session.mainFrameId,
    new NetworkRecord(limits, request.captureXhr === true),
    options.load,
  );
  const history = actions.some(({ type }) => type === 'back')
    ? new HistoryWatch(cdp, session.mainFrameId)
    : null;
  session.gate = document;
  return {
    document: document.progress,
    network: network.record,
    isTainted: false,
    block: (kinds) => block(session, blockedPatterns(kinds)),
    setLocalStorage: (storage) => fillLocalStorage(cdp, storage),
    canGoBack: async () => (await history?.canGoBack()) ?? false,
    evaluate: (work, argument) => session.world.evaluate(work, argument),
    async readRaw({ networkId }, maxBytes) {
      return networkId === null ? null : readRaw(cdp, networkId, maxBytes);
    },
    end() {
      session.gate = null;
      network.end();
      history?.end();
    },
  };
}

/**
 * Where a page is in its history. A page that was used before has the documents of other requests behind the first one
 * of this attempt, and no action may go back to them.
 */
class HistoryWatch {
  readonly #cdp: CDPSession;
  /** The place of the first document of this attempt; null before it has arrived, or where it could not be asked. */
  #first: Promise<number | null> | null = null;
  readonly #onNavigated: (event: { readonly frame: { readonly id: string } }) => void;

  constructor(cdp: CDPSession, mainFrameId: string) {
    this.#cdp = cdp;
    this.#onNavigated = ({ frame }) => {
      if (frame.id !== mainFrameId || this.#first !== null) return;
      this.#first = this.#index();
    };
    listen(cdp, 'Page.frameNavigated', this.#onNavigated);
  }

  async canGoBack(): Promise<boolean> {
    const [first, now] = [await this.#first, await this.#index()];
    return first !== null && now !== null && now > first;
  }

  end(): void {
    this.#cdp.off('Page.frameNavigated', this.#onNavigated);
  }

  /** Chromium does not answer while it replaces the page of a renderer, which is over in a moment. */
  async #index(): Promise<number | null> {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      try {
        return (await this.#cdp.send('Page.getNavigationHistory')).currentIndex;
      } catch {
        await pause(AGAIN_MS);
      }
    }
    return null;
  }
}
