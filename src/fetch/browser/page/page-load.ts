import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'patchright-core';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { isHtmlType } from '../../../extract/html/media-type.ts';
import type { HeldBytes } from '../../byte-budget.ts';
import { type Classification, classify } from '../../classify/classify.ts';
import { type Deadline, settlesWithin } from '../../deadline.ts';
import { type DocumentResponse, mediaTypeIn, pageTooLarge, tooLarge } from './main-document.ts';
import type { Evaluate } from './page-tools.ts';

interface PageLoadLimits {
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

/** The page and its state, for `waitUntilSettled`. */
interface SettlingPage {
  readonly page: Page;
  readonly evaluate: Evaluate;
  readonly document: {
    readonly answer: DocumentResponse | null;
    readonly leaving: Promise<void> | null;
  };
  /** Requests of scripts that have not been answered. */
  readonly network: { readonly pending: number };
  readonly deadline: Deadline;
}

const MOST_QUIET_MS = 3_000;
const MOST_TEXT_MS = 2_500;
const MOST_CHALLENGE_MS = 10_000;
const LOOK_EVERY_MS = 25;
/** A page with less may be one that its scripts have not filled. */
const LITTLE_TEXT = 80;
const MOST_LOOKED_AT_CHARS = 200_000;
/** Challenges that scripts solve without a visitor: Cloudflare, Akamai, AWS, Imperva, Kasada, Sucuri, DDoS-Guard. */
const WORKS_BY_ITSELF =
  /_cf_chl_opt|jschl|bm-verify|awswaf|aws-waf-token|_Incapsula_Resource|KPSDK|sucuri_cloudproxy|ddos-guard/i;
const CHALLENGE_HEADERS = ['cf-mitigated', 'x-amzn-waf-action', 'x-vercel-mitigated'];

/**
 * For who asked for a page and did not say when it is ready: waits while scripts are fetching what they will show,
 * while a page shows nothing but the shell that scripts will fill, and while a challenge is at work. All of it is bounded, none of
 * it fails, and a page that is at rest when it has loaded goes on at once.
 */
export async function waitUntilSettled(unsettled: SettlingPage): Promise<void> {
  const { document, network, deadline } = unsettled;
  const within = (limitMs: number) => performance.now() + Math.min(limitMs, deadline.remainingMs / 2);
  if (document.answer !== null && document.answer.statusCode >= 400) {
    await passChallenge(unsettled, within(MOST_CHALLENGE_MS));
  }
  await quiet(unsettled, within(MOST_QUIET_MS));
  const until = within(MOST_TEXT_MS);
  while ((await isUnfilled(unsettled)) && performance.now() < until) {
    await pause(LOOK_EVERY_MS);
    if (network.pending > 0) await quiet(unsettled, until);
  }
}

/** Until scripts have what they asked for, and have had a moment to show it. */
async function quiet({ evaluate, network }: SettlingPage, until: number): Promise<void> {
  while (network.pending > 0 && performance.now() < until) {
    while (network.pending > 0 && performance.now() < until) await pause(LOOK_EVERY_MS);
    await settlesWithin(evaluate(nextFrames, null), Math.max(0, until - performance.now()));
  }
}

/** Waits until the page has left the challenge for the page behind it. */
async function passChallenge({ page, document }: SettlingPage, until: number): Promise<void> {
  const { answer } = document;
  if (answer === null || !isHtmlType(mediaTypeIn(answer.headers))) return;
  const html = await page.content().catch(() => '');
  const isSaid = CHALLENGE_HEADERS.some((name) => /challenge/i.test(String(answer.headers[name] ?? '')));
  const isShown = WORKS_BY_ITSELF.test(html.slice(0, MOST_LOOKED_AT_CHARS));
  if (judge(html, answer).vendor === null || !(isSaid || isShown)) return;
  while (document.answer === answer && performance.now() < until) await pause(LOOK_EVERY_MS);
  while (document.leaving !== null && performance.now() < until) await pause(LOOK_EVERY_MS);
  await page.waitForLoadState('load', { timeout: Math.max(1, until - performance.now()) }).catch(() => {});
}

/** What the markup would be taken for if the server had sent it like this. */
function judge(html: string, { url, statusCode, headers }: DocumentResponse): Classification {
  const seen = { url, finalUrl: url, statusCode, headers, contentType: 'text/html', facts: null };
  return classify({ ...seen, bytes: html.length, html });
}

/** A page that is gone or on its way is no longer ours to wait for. */
async function isUnfilled({ evaluate, document }: SettlingPage): Promise<boolean> {
  const { answer } = document;
  if (answer === null || answer.statusCode >= 400) return false;
  const html = await evaluate(bareMarkup, [LITTLE_TEXT, MOST_LOOKED_AT_CHARS] as const).catch(() => null);
  return html !== null && judge(html, answer).outcome === 'needs-javascript';
}

/** Runs in the page: its markup, unless there is something to read. */
function bareMarkup([littleText, mostChars]: readonly [number, number]): string | null {
  const { document } = globalThis as unknown as PageGlobals;
  if (document.scripts.length === 0) return null;
  // Only what can be seen counts.
  // biome-ignore lint/performance/useDomNodeTextContent: the text of scripts and of what is hidden is no content
  if ((document.body?.innerText.trim().length ?? 0) >= littleText) return null;
  return document.documentElement?.outerHTML.slice(0, mostChars) ?? null;
}

/** Runs in the page. A page that is not painted has no frames, so time does it as well. */
function nextFrames(): Promise<void> {
  const { requestAnimationFrame, setTimeout: later } = globalThis as unknown as PageGlobals;
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
    later(resolve, 50);
  });
}

interface PageGlobals {
  readonly document: {
    readonly scripts: { readonly length: number };
    readonly body: { readonly innerText: string } | null;
    readonly documentElement: { readonly outerHTML: string } | null;
  };
  readonly requestAnimationFrame: (done: () => void) => void;
  readonly setTimeout: (done: () => void, ms: number) => void;
}
