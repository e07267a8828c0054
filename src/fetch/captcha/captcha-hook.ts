import { setTimeout as pause } from 'node:timers/promises';
import type { Frame, Page } from 'patchright-core';
import { listen, listenOnce } from '../../core/errors/guarded.ts';
import type { CaptchaResult } from '../../core/model/render.ts';
import type { CaptchaSolver, Solution } from '../../core/ports/captcha.ts';
import { abortError } from '../deadline.ts';
import type { BrowserRequest } from '../engine.ts';
import { browserCrashed } from '../render-errors.ts';
import { detailsOf } from './captcha-api-client.ts';
import { captchaOf, findWidget, submitToken, type TokenReceiver, type Widget } from './captcha-widget.ts';

export interface CaptchaHookOptions {
  readonly solver: CaptchaSolver;
  /** For the page to go on after it got the token. */
  readonly settleMs?: number | undefined;
}

/**
 * Looks for a captcha on a page that has loaded, where the request allows it: has it solved, gives the page the token
 * and waits until it goes on. A captcha that stays is no error: the page is what it is, and the result says why. Null
 * when the request does not allow it. Throws only when a signal ends it or the page is gone.
 */
export type CaptchaHook = (
  page: Page,
  request: Pick<BrowserRequest, 'maySolve'>,
  signal: AbortSignal,
) => Promise<CaptchaResult | null>;

const SETTLE_MS = 10_000;
const LOOK_AGAIN_MS = 100;

const NONE: CaptchaResult = {
  outcome: 'none',
  kind: null,
  solver: null,
  ms: 0,
  costUsd: null,
  note: 'no captcha that can be solved is on the page',
};

export function createCaptchaHook({ solver, settleMs = SETTLE_MS }: CaptchaHookOptions): CaptchaHook {
  return async (page, request, signal) => {
    if (request.maySolve !== true) return null;
    const gone = new AbortController();
    const onGone = () => gone.abort(browserCrashed('The page'));
    listenOnce(page, 'close', onGone);
    listenOnce(page, 'crash', onGone);
    const end = AbortSignal.any([signal, gone.signal]);
    try {
      const widget = await found(page, settleMs, end);
      return widget === null ? NONE : await passBy(page, widget, solver, settleMs, end);
    } catch (error) {
      if (end.aborted) throw abortError(end.reason);
      throw error;
    } finally {
      page.off('close', onGone);
      page.off('crash', onGone);
    }
  };
}

/** A page that is on its way elsewhere is looked at when it is there. */
async function found(page: Page, limitMs: number, signal: AbortSignal): Promise<Widget | null> {
  const until = performance.now() + limitMs;
  for (;;) {
    const widget = await look(page);
    if (widget !== 'unknown') return widget;
    if (performance.now() > until) return null;
    await pause(LOOK_AGAIN_MS, undefined, { signal });
  }
}

/** A document that is just being left cannot be looked at. */
async function look(page: Page): Promise<Widget | null | 'unknown'> {
  try {
    return await findWidget(page);
  } catch (error) {
    if (error instanceof Error && /navigat|context was destroyed/i.test(error.message)) return 'unknown';
    throw error;
  }
}

async function passBy(
  page: Page,
  widget: Widget,
  solver: CaptchaSolver,
  settleMs: number,
  signal: AbortSignal,
): Promise<CaptchaResult> {
  const captcha = captchaOf(widget, page.url());
  const { kind } = captcha;
  const startedAt = performance.now();
  let solution: Solution;
  try {
    solution = await solver.solve(captcha, signal);
  } catch (error) {
    const details = detailsOf(error);
    if (details === null) throw error;
    const ms = performance.now() - startedAt;
    return { outcome: 'unsolved', kind, solver: details.solver, ms, costUsd: null, note: details.reason };
  }
  const { solver: by, ms, costUsd } = solution;
  const done = { kind, solver: by, ms, costUsd };

  const watch = new MoveWatch(page);
  try {
    const handedTo = await submitToken(page, widget, solution.token);
    if (handedTo === 'nothing') {
      return { ...done, outcome: 'unsolved', note: 'nothing on the page takes the token' };
    }
    const end = await watch.settles(settleMs, signal);
    if (end === 'moved on') return { ...done, outcome: 'solved', note: WAYS[handedTo] };
    if (end === 'asked again') await solver.reportBad(solution);
    return { ...done, outcome: 'unsolved', note: ENDS[end] };
  } finally {
    watch.end();
  }
}

const WAYS: Readonly<Record<Exclude<TokenReceiver, 'nothing'>, string>> = {
  callback: "the token was given to the page's function, and the page went on",
  form: 'the token was sent with the form, and the page went on',
};
const ENDS = {
  'asked again': 'the site did not accept the solution and asks again',
  'stayed as it was': 'the page did nothing with the token',
} as const;

type End = 'moved on' | keyof typeof ENDS;

/** Notices whether a page goes anywhere. */
class MoveWatch {
  readonly #page: Page;
  #moves = 0;
  /** A page may change its address and stay what it is; what has a document of its own is another page. */
  #documents = 0;

  constructor(page: Page) {
    this.#page = page;
    listen(page, 'framenavigated', this.#onNavigated);
    listen(page, 'domcontentloaded', this.#onDocument);
  }

  /** Until another document has loaded, or the widget has gone from this one. */
  async settles(limitMs: number, signal: AbortSignal): Promise<End> {
    const until = performance.now() + limitMs;
    while (performance.now() < until) {
      const moves = this.#moves;
      if (moves > 0) {
        const timeout = Math.max(1, until - performance.now());
        await this.#page.waitForLoadState('load', { timeout }).catch(() => {});
      }
      const widget = await look(this.#page);
      const isStill = moves === this.#moves;
      if (isStill && widget === null) return 'moved on';
      if (isStill && widget !== 'unknown' && this.#documents > 0) return 'asked again';
      await pause(LOOK_AGAIN_MS, undefined, { signal });
    }
    return 'stayed as it was';
  }

  end(): void {
    this.#page.off('framenavigated', this.#onNavigated);
    this.#page.off('domcontentloaded', this.#onDocument);
  }

  readonly #onNavigated = (frame: Frame): void => {
    if (frame === this.#page.mainFrame()) this.#moves += 1;
  };

  readonly #onDocument = (): void => {
    this.#documents += 1;
  };
}
