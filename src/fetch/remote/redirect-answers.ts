import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { FetchRequest } from '../engine.ts';
import { isRedirect, type RedirectChain } from '../http/redirects.ts';
import {
  type Admitted,
  type RedirectVerdict,
  type RenderAnswer,
  type RenderCall,
  readQuestion,
} from './render-message.ts';
import { siteOf } from './worker-jar.ts';

export interface RedirectAnswersOptions {
  readonly chain: RedirectChain;
  readonly request: FetchRequest;
  readonly now: () => number;
}

/** Where a call led, and whether the attempt goes on there with a call of its own. */
export interface NextStep {
  readonly target: URL;
  readonly isTaken: boolean;
}

/**
 * What the owner of a request says about the redirects that a worker meets. Within a site the page goes on where it
 * is, so that forms can be sent and links clicked. Another site has other cookies: it is asked for anew.
 *
 * It also knows how long the gate's last admission is valid, and asks for a new one.
 */
export class RedirectAnswers {
  /** Why the attempt is over, where `onRedirect` or the gate ended it. */
  refusal: { readonly reason: unknown } | null = null;
  /** The time that decisions took; it is not the attempt's. */
  heldMs = 0;
  readonly #options: RedirectAnswersOptions;
  /** Targets that are to be asked for anew. Bounded by the redirects of one call. */
  readonly #promised = new Set<string>();
  /** When the gate admitted the request last. */
  #admittedAt: number;

  constructor(options: RedirectAnswersOptions) {
    this.#options = options;
    this.#admittedAt = options.now();
  }

  /** Until when a call that is sent now may be begun; undefined where the request came without an admission. */
  get admission(): RenderCall['admission'] {
    const { request } = this.#options;
    if (request.admission === undefined) return undefined;
    const leftMs = this.admittedForMs;
    return { validMs: Number.isFinite(leftMs) ? Math.max(0, leftMs) : null };
  }

  /** Below zero when the request has to be admitted again before it may leave. */
  get admittedForMs(): number {
    const { request, now } = this.#options;
    return (request.admission?.validMs ?? Number.POSITIVE_INFINITY) - (now() - this.#admittedAt);
  }

  /** Waits for the gate, with the clock held by the caller. */
  async admitAgain(): Promise<void> {
    const { chain, request } = this.#options;
    if (request.admission === undefined) {
      throw new ScrapifieError('NO_WORKER', `No other worker may repeat the request to ${chain.url.host}.`, {
        details: { isBegun: true },
      });
    }
    const { admission } = request;
    await this.#decide(chain.url, () => admission.again());
  }

  /** Answers a worker, with the clock held. */
  async answer(message: unknown): Promise<RedirectVerdict | Admitted> {
    const question = readQuestion(message);
    if ('again' in question) {
      await this.admitAgain();
      return { isAdmitted: true };
    }
    const { target, hop } = question;
    const url = new URL(target);
    if (!(await this.#isAllowed(url, hop))) return { isFollowed: false };
    const isFollowed = siteOf(url.hostname) === siteOf(this.#options.chain.url.hostname);
    if (!isFollowed) this.#promised.add(url.href);
    return { isFollowed };
  }

  /** Takes the way that the worker went in its call. */
  walk({ redirects = [], finalUrl }: RenderAnswer): void {
    for (const [index, { statusCode }] of redirects.entries()) {
      this.#options.chain.follow(statusCode, new URL(redirects[index + 1]?.url ?? finalUrl));
    }
  }

  /** Null when the call led nowhere else. */
  async nextStep({ statusCode, headers, redirectedTo }: RenderAnswer): Promise<NextStep | null> {
    if (redirectedTo === null) return null;
    const { chain } = this.#options;
    const isByServer = isRedirect(statusCode) && headers.location !== undefined;
    // The chain knows of loops over several calls, and counts.
    const next = isByServer ? chain.next(statusCode, headers, Date.now()) : null;
    // A worker that could not ask leaves it to us.
    if (redirectedTo === undefined) {
      return next === null ? null : { target: next, isTaken: await this.#isAllowed(next, 1) };
    }
    const target = new URL(redirectedTo);
    const isTaken = this.#promised.has(target.href);
    this.#promised.clear();
    return { target, isTaken };
  }

  async #isAllowed(target: URL, hop: number): Promise<boolean> {
    const { chain, request } = this.#options;
    const hops = chain.redirects.length + hop;
    return (await this.#decide(target, () => request.onRedirect(target.href, hops))) !== 'stop';
  }

  /** Resolves with the decision, after which the request may leave unless the decision is `stop`. */
  async #decide<T>(target: URL, work: () => Promise<T>): Promise<T> {
    const { request, now } = this.#options;
    const askedAt = now();
    try {
      const decision = await work();
      if (decision === 'stop') return decision;
      this.#admittedAt = now();
      if (request.mayStart?.() !== false) return decision;
      throw new ScrapifieError('CANCELLED', `The request to ${target.host} came too late`);
    } catch (reason) {
      this.refusal = { reason };
      throw reason;
    } finally {
      this.heldMs += now() - askedAt;
    }
  }
}
