import type { CDPSession, Page } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { type Body, ownBytes } from '../../http/body-buffer.ts';
import { snapshotPage } from './page-snapshot.ts';
import type { Evaluate } from './page-tools.ts';

interface Outcome {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
}

/** The error of a call whose document has been replaced. */
export const DOCUMENT_GONE = 'Execution context was destroyed, most likely because of a navigation';
const IS_GONE = /context was destroyed|Inspected target navigated/i;
const IS_UNKNOWN = /Cannot find context/i;

/** A world with a name is the frame's own for good; one without would be a new one in every document, beside all before it. */
const WORLD = 'reading';

/**
 * A world of our own in the page's document: we see what the page's scripts see, and they see nothing of us. Playwright has
 * one as well, but puts its tool kit into it before anything can be asked, document by document.
 */
export class PageWorld {
  readonly #cdp: CDPSession;
  readonly #frameId: string;
  /** Execution context of the current document; null before the first call. */
  #context: Promise<number> | null = null;

  constructor(cdp: CDPSession, frameId: string) {
    this.#cdp = cdp;
    this.#frameId = frameId;
    listen(cdp, 'Page.frameNavigated', ({ frame }: { readonly frame: { readonly id: string } }) => {
      if (frame.id === frameId) this.#context = null;
    });
  }

  /** Runs a function in the page; it must need nothing but its argument. Fails with DOCUMENT_GONE when the page leaves meanwhile. */
  async evaluate<Argument, Result>(
    work: (argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      const context = this.#context ?? this.#enter();
      try {
        return (await this.#call(await context, work.toString(), argument)) as Result;
      } catch (error) {
        const text = error instanceof Error ? error.message : '';
        const isUnknown = IS_UNKNOWN.test(text);
        if (!isUnknown && !IS_GONE.test(text)) throw error;
        if (this.#context === context) this.#context = null;
        // A document that had gone before it was asked anything: the next one can be asked instead.
        if (!isUnknown || tries > 1) throw new Error(DOCUMENT_GONE, { cause: error });
      }
    }
  }

  #enter(): Promise<number> {
    const entered = this.#cdp
      .send('Page.createIsolatedWorld', { frameId: this.#frameId, worldName: WORLD })
      .then(({ executionContextId }) => executionContextId);
    this.#context = entered;
    entered.catch(() => {
      if (this.#context === entered) this.#context = null;
    });
    return entered;
  }

  async #call(executionContextId: number, source: string, argument: unknown): Promise<unknown> {
    const { result, exceptionDetails }: Outcome = await this.#cdp.send('Runtime.callFunctionOn', {
      functionDeclaration: source,
      executionContextId,
      arguments: [{ value: argument }],
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails === undefined) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
}

const TRIES = 3;

/** The document as it is now, in UTF-8. A page that is on its way elsewhere is read when it is there. */
export async function readDom(page: Page, evaluate: Evaluate, maxBytes: number): Promise<Body> {
  for (let tries = 1; ; tries += 1) {
    try {
      const html = await snapshotPage(page, evaluate, maxBytes);
      const bytes = html === null ? null : new TextEncoder().encode(html);
      if (bytes !== null && bytes.length <= maxBytes) return bytes;
      throw new ScrapifieError('BODY_LIMIT_EXCEEDED', `The rendered page is larger than ${maxBytes} bytes`);
    } catch (error) {
      const isLeaving = error instanceof Error && /navigat|context was destroyed/i.test(error.message);
      if (!isLeaving || tries >= TRIES) throw error;
      await page.waitForLoadState('domcontentloaded');
    }
  }
}

/** A body as it arrived, decoded; null when Chromium has let go of it or it is larger than that. */
export async function readRaw(cdp: CDPSession, networkId: string, maxBytes: number): Promise<Body | null> {
  try {
    const { body, base64Encoded } = await cdp.send('Network.getResponseBody', { requestId: networkId });
    const bytes = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
    return bytes.length > maxBytes ? null : ownBytes(bytes);
  } catch {
    return null;
  }
}
