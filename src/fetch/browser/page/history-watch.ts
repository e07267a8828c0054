import type { CDPSession } from 'patchright-core';

/**
 * Where a page is in its history. A page that was used before has the documents of other requests behind the first one
 * of this attempt, and no action may go back to them.
 */
export class HistoryWatch {
  readonly #cdp: CDPSession;
  /** The place of the first document of this attempt; null before it has arrived. */
  #first: Promise<number> | null = null;
  readonly #onNavigated: (event: { readonly frame: { readonly id: string } }) => void;

  constructor(cdp: CDPSession, mainFrameId: string) {
    this.#cdp = cdp;
    this.#onNavigated = ({ frame }) => {
      if (frame.id !== mainFrameId || this.#first !== null) return;
      this.#first = this.#index();
      this.#first.catch(() => {});
    };
    cdp.on('Page.frameNavigated', this.#onNavigated);
  }

  async canGoBack(): Promise<boolean> {
    return this.#first !== null && (await this.#index()) > (await this.#first);
  }

  end(): void {
    this.#cdp.off('Page.frameNavigated', this.#onNavigated);
  }

  async #index(): Promise<number> {
    return (await this.#cdp.send('Page.getNavigationHistory')).currentIndex;
  }
}
