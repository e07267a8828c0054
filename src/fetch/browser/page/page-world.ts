import type { CDPSession, Frame, Page } from 'patchright-core';
import { listen } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { FRAME_LIMITS } from '../../../extract/scan/inline-frames.ts';
import { settlesWithin } from '../../deadline.ts';
import { type Body, ownBytes } from '../../http/body-buffer.ts';
import type { Evaluate } from './page-tools.ts';

interface Outcome {
  readonly result: { readonly value?: unknown };
  readonly exceptionDetails?: {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
}

/** The error of a call whose document has been replaced. */
const DOCUMENT_GONE = 'Execution context was destroyed, most likely because of a navigation';
const IS_GONE = /context was destroyed|Inspected target navigated/i;
const IS_UNKNOWN = /Cannot find context/i;

/** A world with a name is the frame's own for good; one without would be a new one in every document, beside all before it. */
const WORLD = 'reading';

/** Frames beyond these limits are left out; the page itself is read all the same. */
const { frames: MOST_FRAMES, depth: MOST_DEPTH, chars: MOST_CHARS } = FRAME_LIMITS;
const MOST_FRAME_CHARS = 500_000;
/** A frame may hang for good; the page is not to wait for it. */
const FRAMES_MS = 2_000;
/** Smaller frames are trackers, buttons and the boxes of captchas. */
const LEAST_WIDTH = 100;
const LEAST_HEIGHT = 100;

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

/** The document of a frame, as the page around it needs it. */
interface FrameSnapshot {
  readonly html: string;
  readonly url: string;
  /** Place among the frames of the parent's window; -1 for a frame in a shadow root. */
  readonly index: number;
}

interface SnapshotInput {
  readonly frames: readonly FrameSnapshot[];
  readonly maxChars: number;
  /** The least size of a frame; null for the page itself. */
  readonly least: { readonly width: number; readonly height: number } | null;
}

/**
 * The page as HTML with what its scripts have put elsewhere: open shadow roots as declarative ones, and the documents of its
 * frames, of its own origin or another, in `srcdoc`. Null for a page larger than `maxChars`.
 */
async function snapshotPage(page: Page, evaluate: Evaluate, maxChars: number): Promise<string | null> {
  const frames = await readFrames(page);
  const whole = await evaluate(snapshot, { frames, maxChars, least: null });
  return whole?.html ?? null;
}

/** Frames that cannot be read in time, or at all, are left out. */
async function readFrames(page: Page): Promise<readonly FrameSnapshot[]> {
  const main = page.mainFrame();
  if (main.childFrames().length === 0) return [];
  let frames = 0;
  let chars = 0;
  const read = async (frame: Frame, depth: number): Promise<FrameSnapshot | null> => {
    frames += 1;
    if (frames > MOST_FRAMES || depth > MOST_DEPTH || chars > MOST_CHARS) return null;
    const within = await Promise.all(frame.childFrames().map((child) => read(child, depth + 1)));
    const least = { width: LEAST_WIDTH, height: LEAST_HEIGHT };
    const input = { frames: within.filter((each) => each !== null), maxChars: MOST_FRAME_CHARS, least };
    const found = await frame.evaluate(snapshot, input).catch(() => null);
    chars += found?.html.length ?? 0;
    return found === null || chars > MOST_CHARS ? null : found;
  };
  const known: FrameSnapshot[] = [];
  const reading = Promise.all(
    main.childFrames().map(async (frame) => {
      const found = await read(frame, 1);
      if (found !== null) known.push(found);
    }),
  );
  await settlesWithin(reading, FRAMES_MS);
  return [...known];
}

/** Runs in the page, in a world of its own: it must need nothing but its argument. */
function snapshot({ frames, maxChars, least }: SnapshotInput): FrameSnapshot | null {
  const { document, window, XMLSerializer } = globalThis as unknown as PageGlobals;
  const root = document.documentElement;
  if (least !== null && (window.innerWidth < least.width || window.innerHeight < least.height)) return null;
  const placeOf = (frame: object | null): number => {
    const { parent } = window;
    for (let index = 0; frame !== null && index < parent.length; index += 1) {
      if (parent[index] === frame) return index;
    }
    return -1;
  };
  const placeWithin = (frame: object | null): number => {
    for (let index = 0; frame !== null && index < window.length; index += 1) {
      if (window[index] === frame) return index;
    }
    return -1;
  };
  const answer = (html: string): FrameSnapshot | null =>
    html.length > maxChars
      ? null
      : { html, url: document.URL, index: least === null ? -1 : placeOf(window.self) };
  const doctype = document.doctype === null ? '' : new XMLSerializer().serializeToString(document.doctype);
  const plain = () => answer(doctype + (root?.outerHTML ?? ''));
  if (root === null) return plain();
  const elements = Array.from(root.querySelectorAll('*'));
  const hasRoots = elements.some(({ shadowRoot }) => shadowRoot !== null);
  if (!hasRoots && frames.length === 0 && least === null) return plain();

  // An inert document: custom elements stay what they are, nothing is loaded, and the page sees no change.
  const inert = document.implementation.createHTMLDocument('');
  const srcdocOf = (element: PageElement): string | null => {
    if (element.localName !== 'iframe' && element.localName !== 'frame') return null;
    if (element.checkVisibility?.({ visibilityProperty: true }) === false) return null;
    const place = placeWithin(element.contentWindow ?? null);
    const found =
      place < 0
        ? frames.find(({ index, url }) => index < 0 && url === element.src)
        : frames.find(({ index }) => index === place);
    return found?.html ?? null;
  };
  const complete = (originals: readonly PageElement[], copies: readonly PageElement[]): void => {
    for (const [at, original] of originals.entries()) {
      const copy = copies[at];
      if (copy === undefined) return;
      const srcdoc = srcdocOf(original);
      if (srcdoc !== null) copy.setAttribute('srcdoc', srcdoc);
      const { shadowRoot } = original;
      if (shadowRoot === null) continue;
      const template = inert.createElement('template');
      template.setAttribute('shadowrootmode', 'open');
      for (const child of Array.from(shadowRoot.childNodes))
        template.content.append(inert.importNode(child, true));
      complete(
        Array.from(shadowRoot.querySelectorAll('*')),
        Array.from(template.content.querySelectorAll('*')),
      );
      copy.prepend(template);
    }
  };
  try {
    const copy = inert.importNode(root, true);
    complete(elements, Array.from(copy.querySelectorAll('*')));
    if (least !== null) {
      // What is relative in the frame is relative to its own address, wherever its document stands.
      const base = inert.createElement('base');
      base.setAttribute('href', document.baseURI);
      (copy.querySelector('head') ?? copy).prepend(base);
    }
    return answer(doctype + copy.outerHTML) ?? plain();
  } catch {
    return plain();
  }
}

/** The parts of a page that are used here. */
interface PageNode {
  readonly childNodes: ArrayLike<object>;
  querySelectorAll(selector: string): ArrayLike<PageElement>;
  querySelector(selector: string): PageElement | null;
  append(child: object): void;
  prepend(child: object): void;
}

interface PageElement extends PageNode {
  readonly localName: string;
  readonly outerHTML: string;
  readonly shadowRoot: PageNode | null;
  readonly content: PageNode;
  readonly contentWindow?: object | null;
  readonly src?: string;
  checkVisibility?(options: { readonly visibilityProperty: boolean }): boolean;
  setAttribute(name: string, value: string): void;
}

interface PageGlobals {
  readonly document: {
    readonly doctype: object | null;
    readonly documentElement: PageElement | null;
    readonly URL: string;
    readonly baseURI: string;
    readonly implementation: {
      createHTMLDocument(title: string): {
        createElement(name: string): PageElement;
        importNode<T extends object>(node: T, isDeep: boolean): T;
      };
    };
  };
  readonly window: PageWindow & { readonly parent: PageWindow; readonly self: object };
  readonly XMLSerializer: new () => { serializeToString(node: object): string };
}

interface PageWindow {
  readonly [index: number]: object;
  readonly length: number;
  readonly innerWidth: number;
  readonly innerHeight: number;
}
