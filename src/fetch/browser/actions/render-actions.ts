import type { Locator, Page } from 'patchright-core';
import {
  type ActionResult,
  type FillGuard,
  type HumanManner,
  isFor,
  notFor,
  type Picture,
  type RenderAction,
  type RenderScroll,
  type RenderWait,
  type ScreenshotOptions,
  type UploadedFile,
} from '../../../core/model/render.ts';
import { orAborted, settlesWithin } from '../../deadline.ts';
import { plainMessage, stepFailed } from '../../render-errors.ts';
import type { Evaluate } from '../page/page-tools.ts';

export const DEFAULT_STEP_MS = 10_000;
const MOST_VALUE_CHARS = 1_000_000;
const SCROLL_STEPS = 20;
const SCROLL_PAUSE_MS = 150;
/** What a page loads when its end comes into sight takes a while. */
const QUIET_STEPS = 3;

/** Actions before which a pointer moves to the element. */
const TOUCHED: ReadonlySet<RenderAction['type']> = new Set(['click', 'hover', 'type', 'select']);

/** Where something is done. */
export interface ActionTarget {
  readonly page: Page;
  readonly evaluate: Evaluate;
  /** Whether the page that an action came from is behind the present one in the history of this attempt. */
  readonly canGoBack?: (() => Promise<boolean>) | undefined;
}

/** Human-like timing and pointer movement for actions. */
export interface HumanInput {
  /** Returns how long to pause before the next action. */
  pauseMs(): number;
  /** Returns how long to pause between two keys. */
  keyMs(): number;
  /** Turns the wheel by so many pixels; null where pages are scrolled at once. */
  readonly turnWheel: ((page: Page, pixels: number) => Promise<void>) | null;
  /**
   * Brings the pointer to the element. Where in it that is, from its corner; null when it cannot be done in time,
   * which is no error: the action itself fails with the reason.
   */
  approach(page: Page, selector: string, limitMs: number): Promise<Point | null>;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Human-like input in the manner that a request asks for; in its own without one. */
export interface HumanInputSource {
  of(manner: HumanManner | undefined): HumanInput;
}

/**
 * Runs one step of a request. What fails is an error that names the step; what neither fails nor ends in time leaves
 * the page in an unknown state, which `onStuck` is told.
 */
export async function runStep<T>(
  step: string,
  limitMs: number,
  signal: AbortSignal,
  onStuck: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const running = work();
  // Playwright's own limit comes first where there is one, and its message says more.
  const isOver = await orAborted(settlesWithin(running, limitMs + 250), signal).catch((error: unknown) => {
    running.catch(() => {});
    onStuck();
    throw error;
  });
  if (!isOver) {
    running.catch(() => {});
    onStuck();
    throw stepFailed(step, `it took longer than ${limitMs} ms`);
  }
  try {
    return await running;
  } catch (error) {
    throw stepFailed(step, plainMessage(error), error);
  }
}

export function nameOfAction(action: RenderAction, index: number): string {
  const about =
    'selector' in action && action.selector !== undefined
      ? ` ${action.selector}`
      : action.type === 'press'
        ? ` ${action.key}`
        : '';
  return `actions.${index} ${action.type}${about}`;
}

export async function runAction(
  target: ActionTarget,
  action: RenderAction,
  limitMs: number,
  humanInput?: HumanInput,
): Promise<ActionResult> {
  const startedAt = performance.now();
  const isTouched = 'selector' in action && action.selector !== undefined && TOUCHED.has(action.type);
  const at = isTouched ? ((await humanInput?.approach(target.page, action.selector, limitMs)) ?? null) : null;
  const leftMs = Math.max(1, Math.ceil(limitMs - (performance.now() - startedAt)));
  const found = await perform(target, action, leftMs, at, humanInput);
  return { type: action.type, ms: performance.now() - startedAt, ...found };
}

async function perform(
  target: ActionTarget,
  action: RenderAction,
  timeout: number,
  at: Point | null,
  humanInput: HumanInput | undefined,
): Promise<Pick<ActionResult, 'value' | 'picture'>> {
  const { page } = target;
  const position = at === null ? {} : { position: at };
  switch (action.type) {
    case 'click':
      await page
        .locator(action.selector)
        .first()
        .click({ timeout, ...position });
      return {};
    case 'hover':
      await page
        .locator(action.selector)
        .first()
        .hover({ timeout, ...position });
      return {};
    case 'back':
      if ((await target.canGoBack?.()) !== true) throw new Error('there is no page to go back to');
      await page.goBack({ timeout });
      return {};
    case 'upload':
      await page.locator(action.selector).first().setInputFiles(action.files.map(asPayload), { timeout });
      return {};
    case 'type': {
      const field = page.locator(action.selector).first();
      if (at !== null) await field.click({ timeout, ...position });
      if (action.fill !== undefined) {
        await fillGuarded(field, action.text, action.fill, timeout);
        return {};
      }
      // Slow hands must not take more than half of the time that there is.
      const delay = Math.min(humanInput?.keyMs() ?? 0, timeout / 2 / Math.max(1, action.text.length));
      await field.pressSequentially(action.text, { timeout, delay });
      return {};
    }
    case 'press':
      if (action.selector === undefined) await page.keyboard.press(action.key);
      else await page.locator(action.selector).first().press(action.key, { timeout });
      return {};
    case 'select':
      await page.locator(action.selector).first().selectOption(action.value, { timeout });
      return {};
    case 'wait':
      await waitFor(target, action, timeout);
      return {};
    case 'scroll':
      if (action.selector !== undefined) {
        await page.locator(action.selector).first().scrollIntoViewIfNeeded({ timeout });
      } else await scrollOn(target, action.pixels ?? null, humanInput);
      return {};
    case 'evaluate':
      return { value: await runScript(page, action.script) };
    case 'screenshot':
      return { picture: await takePicture(page, action, timeout) };
  }
}

const asPayload = ({ name, contentType = 'application/octet-stream', base64 }: UploadedFile) => ({
  name,
  mimeType: contentType,
  buffer: Buffer.from(base64, 'base64'),
});

/**
 * Puts stored credentials into a field of a page that they are for. The element itself is held: another one that takes its
 * place, by a navigation or a script, gets nothing. No keys are pressed, because another frame could take the focus.
 */
async function fillGuarded(field: Locator, text: string, guard: FillGuard, timeout: number): Promise<void> {
  const element = await field.elementHandle({ timeout });
  if (element === null) throw new Error('there is no such element');
  try {
    const frame = await element.ownerFrame();
    const url = frame?.url() ?? '';
    if (!isFor(guard, url)) throw new Error(notFor(guard, url));
    const type = (await element.getAttribute('type'))?.toLowerCase() ?? 'text';
    if (guard.isPassword && type !== 'password') {
      throw new Error('a stored password is only put into a field of the type password');
    }
    if (guard.isPassword) await element.evaluate(keepMasked);
    await element.fill(text, { timeout });
  } finally {
    await element.dispose();
  }
}

/** Runs in the page: a field that is made readable later, by a button that shows passwords, stays masked. */
function keepMasked(element: unknown): void {
  const { style } = element as {
    style: { setProperty(name: string, value: string, priority: string): void };
  };
  style.setProperty('-webkit-text-security', 'disc', 'important');
}

/**
 * Playwright's own way to wait puts its whole tool kit into every new document, which costs more than most pages. Plain
 * CSS needs none of it; any other selector is one of Playwright's own.
 */
async function appears({ page, evaluate }: ActionTarget, selector: string, timeout: number): Promise<void> {
  const endsAt = performance.now() + timeout;
  for (;;) {
    const leftMs = Math.max(1, endsAt - performance.now());
    try {
      const seen = await evaluate(watchFor, { selector, timeoutMs: leftMs });
      if (seen === 'seen') return;
      if (seen === 'late') throw new Error(`Timeout ${timeout}ms exceeded.`);
      break;
    } catch (error) {
      // The document it was looked for in has gone; the next one may have it.
      if (!/context was destroyed|navigat/i.test(String(error)) || performance.now() >= endsAt) throw error;
    }
  }
  await page
    .locator(selector)
    .first()
    .waitFor({ state: 'attached', timeout: Math.max(1, endsAt - performance.now()) });
}

/** Runs in the page. */
function watchFor({
  selector,
  timeoutMs,
}: {
  selector: string;
  timeoutMs: number;
}): Promise<'seen' | 'late' | 'no css'> | 'seen' | 'no css' {
  const { document, MutationObserver, setTimeout, clearTimeout } = globalThis as unknown as WatchedPage;
  try {
    if (document.querySelector(selector) !== null) return 'seen';
  } catch {
    return 'no css';
  }
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (document.querySelector(selector) === null) return;
      observer.disconnect();
      clearTimeout(timer);
      resolve('seen');
    });
    const timer = setTimeout(() => {
      observer.disconnect();
      resolve('late');
    }, timeoutMs);
    observer.observe(document, { childList: true, subtree: true, attributes: true });
  });
}

interface WatchedPage {
  readonly document: { querySelector(selector: string): unknown };
  readonly MutationObserver: new (
    onChange: () => void,
  ) => { observe(target: unknown, what: unknown): void; disconnect(): void };
  readonly setTimeout: (action: () => void, ms: number) => number;
  readonly clearTimeout: (timer: number) => void;
}

export async function waitFor(target: ActionTarget, wait: RenderWait, timeout: number): Promise<void> {
  const { page } = target;
  if (wait.until !== undefined) await page.waitForLoadState(wait.until, { timeout });
  if (wait.selector !== undefined) {
    await appears(target, wait.selector, timeout);
  }
  if (wait.ms !== undefined) await page.waitForTimeout(wait.ms);
}

/** In the page's own world, where its variables are. */
async function runScript(page: Page, script: string): Promise<unknown> {
  const value = await evaluateEither(page, script);
  const json = JSON.stringify(value) ?? 'null';
  if (json.length > MOST_VALUE_CHARS) throw new Error('the result is too large');
  return JSON.parse(json);
}

const IS_BODY = /SyntaxError: (?:Illegal return statement|await is only valid)/;

/** As an expression or a program, whose last value counts; else, with `return` or `await`, as the body of a function. */
async function evaluateEither(page: Page, script: string): Promise<unknown> {
  const run = (text: string): Promise<unknown> => page.evaluate(text, undefined, undefined, false);
  try {
    return await run(script);
  } catch (error) {
    // Such a script was refused before any of it ran.
    if (!(error instanceof Error) || !IS_BODY.test(error.message)) throw error;
    return run(`(async () => {\n${script}\n})()`);
  }
}

export async function takePicture(page: Page, options: ScreenshotOptions, timeout: number): Promise<Picture> {
  const { selector, format = 'png', quality, fullPage = false } = options;
  const shared = {
    type: format,
    timeout,
    ...(format === 'jpeg' && quality !== undefined ? { quality } : {}),
  };
  const bytes =
    selector === undefined
      ? await page.screenshot({ ...shared, fullPage })
      : await page.locator(selector).first().screenshot(shared);
  return { bytes, contentType: format === 'jpeg' ? 'image/jpeg' : 'image/png' };
}

/** Down the page by screens, until its end stays where it is. */
export async function scrollDown(
  target: ActionTarget,
  scroll: RenderScroll,
  limitMs: number,
  humanInput?: HumanInput,
): Promise<void> {
  const { maxSteps = SCROLL_STEPS, pauseMs = SCROLL_PAUSE_MS } = scroll;
  const until = performance.now() + limitMs;
  let heightBefore = -1;
  let quiet = 0;
  for (let step = 0; step < maxSteps && performance.now() < until; step += 1) {
    const { height, isAtEnd } = await scrollOn(target, null, humanInput);
    quiet = isAtEnd && height === heightBefore ? quiet + 1 : 0;
    if (quiet >= QUIET_STEPS) return;
    heightBefore = height;
    await target.page.waitForTimeout(pauseMs);
  }
}

interface ScrollPlace {
  readonly height: number;
  readonly isAtEnd: boolean;
  readonly top: number;
  readonly screen: number;
}

/** One screen down, or as far as told. A wheel over a part that scrolls by itself does not move the page: then it jumps. */
async function scrollOn(
  { page, evaluate }: ActionTarget,
  pixels: number | null,
  humanInput: HumanInput | undefined,
): Promise<ScrollPlace> {
  const turnWheel = humanInput?.turnWheel ?? null;
  if (turnWheel === null) return evaluate(scrollBy, pixels);
  const before = await evaluate(scrollBy, 0);
  await turnWheel(page, pixels ?? before.screen);
  const after = await evaluate(scrollBy, 0);
  const hasMoved = after.top !== before.top || before.isAtEnd;
  return hasMoved ? after : evaluate(scrollBy, pixels);
}

/** Runs in the page: one screen down, or as far as told. */
function scrollBy(pixels: number | null): ScrollPlace {
  const { scrollBy, innerHeight, scrollY, document } = globalThis as unknown as PageGlobals;
  scrollBy(0, pixels ?? innerHeight);
  const height = document.documentElement.scrollHeight;
  return { height, isAtEnd: scrollY + innerHeight * 2 >= height, top: scrollY, screen: innerHeight };
}

interface PageGlobals {
  readonly scrollBy: (x: number, y: number) => void;
  readonly innerHeight: number;
  readonly scrollY: number;
  readonly document: { readonly documentElement: { readonly scrollHeight: number } };
}
