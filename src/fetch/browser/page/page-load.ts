import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HeldBytes } from '../../byte-budget.ts';
import { pageTooLarge, tooLarge } from './document-progress.ts';

export interface PageLoadLimits {
  /** Limit of the document alone, in bytes. */
  readonly maxDocumentBytes: number;
  /** Limit of the document and everything that it loads, frames and scripts' requests included. */
  readonly maxPageBytes: number;
  readonly held?: HeldBytes | undefined;
  /** Called once, with BODY_LIMIT_EXCEEDED. */
  readonly onExceeded: (error: ScrapifieError) => void;
}

/**
 * Bytes that a page has loaded, after decompression where that is known. A browser holds them as text, as a tree and as
 * images, so the limit applies while the page loads and not when it is read.
 */
export class PageLoad {
  readonly #limits: PageLoadLimits;
  #documentBytes = 0;
  #pageBytes = 0;
  #isOver = false;

  constructor(limits: PageLoadLimits) {
    this.#limits = limits;
  }

  get maxPageBytes(): number {
    return this.#limits.maxPageBytes;
  }

  /** Another document takes the place of the one before. */
  restartDocument(): void {
    this.#documentBytes = 0;
  }

  received(bytes: number, isDocument: boolean): void {
    if (this.#isOver) return;
    const { maxDocumentBytes, maxPageBytes, held } = this.#limits;
    this.#pageBytes += bytes;
    held?.take(bytes);
    if (isDocument) {
      this.#documentBytes += bytes;
      if (this.#documentBytes > maxDocumentBytes) this.#exceed(tooLarge(maxDocumentBytes));
    }
    if (this.#pageBytes > maxPageBytes) this.exceedPage();
  }

  exceedPage(): void {
    this.#exceed(pageTooLarge(this.#limits.maxPageBytes));
  }

  /** The attempt is over, and the browser is about to free the page. */
  end(): void {
    this.#isOver = true;
    this.#limits.held?.give(this.#pageBytes);
    this.#pageBytes = 0;
  }

  #exceed(error: ScrapifieError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#limits.onExceeded(error);
  }
}
