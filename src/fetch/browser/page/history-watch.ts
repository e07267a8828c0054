import { setTimeout as pause } from 'node:timers/promises';
import type { CDPSession } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';

const TRIES = 5;
const AGAIN_MS = 20;

/**
 * Where a page is in its history. A page that was used before has the documents of other requests behind the first one
 * of this attempt, and no action may go back to them.
 */
export class HistoryWatch {
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
