import type { Locator, Page } from 'patchright-core';
import { isFor, notFor } from '../../../model/credential-hosts.ts';
import type {
  ActionResult,
  FillGuard,
  Picture,
  RenderAction,
  RenderScroll,
  RenderWait,
  ScreenshotOptions,
} from '../../../model/render.ts';
import { orAborted, settlesWithin } from '../../deadline.ts';
import { plainMessage, stepFailed } from '../../render-errors.ts';
import type { Evaluate } from '../page/page-tools.ts';

export const DEFAULT_STEP_MS = 10_000;
const MOST_VALUE_CHARS = 1_000_000;
const SCROLL_STEPS = 20;
const SCROLL_PAUSE_MS = 150;
/** What a page loads when its end comes into sight takes a while. */
const QUIET_STEPS = 3;

/** Where something is done. */
export interface ActionTarget {
  readonly page: Page;
  readonly evaluate: Evaluate;
}

/** Human-like timing and pointer movement for actions. */
export interface HumanInput {
  /** Before each action. */
  pauseMs(): number;
  /** Between two keys. */
  keyMs(): number;
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
  const isTouched = action.type === 'click' || action.type === 'type' || action.type === 'select';
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
  const { page, evaluate } = target;
  const position = at === null ? {} : { position: at };
  switch (action.type) {
    case 'click':
      await page
        .locator(action.selector)
        .first()
        .click({ timeout, ...position });
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
      } else await evaluate(scrollBy, action.pixels ?? null);
      return {};
    case 'evaluate':
      return { value: await runScript(page, action.script) };
    case 'screenshot':
      return { picture: await takePicture(page, action, timeout) };
  }
}

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
  const value: unknown = await page.evaluate(script, undefined, undefined, false);
  const json = JSON.stringify(value) ?? 'null';
  if (json.length > MOST_VALUE_CHARS) throw new Error('the result is too large');
  return JSON.parse(json);
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
  { page, evaluate }: ActionTarget,
  scroll: RenderScroll,
  limitMs: number,
): Promise<void> {
  const { maxSteps = SCROLL_STEPS, pauseMs = SCROLL_PAUSE_MS } = scroll;
  const until = performance.now() + limitMs;
  let heightBefore = -1;
  let quiet = 0;
  for (let step = 0; step < maxSteps && performance.now() < until; step += 1) {
    const { height, isAtEnd } = await evaluate(scrollBy, null);
    quiet = isAtEnd && height === heightBefore ? quiet + 1 : 0;
    if (quiet >= QUIET_STEPS) return;
    heightBefore = height;
    await page.waitForTimeout(pauseMs);
  }
}

/** Runs in the page: one screen down, or as far as told. */
function scrollBy(pixels: number | null): { height: number; isAtEnd: boolean } {
  const { scrollBy, innerHeight, scrollY, document } = globalThis as unknown as PageGlobals;
  scrollBy(0, pixels ?? innerHeight);
  const height = document.documentElement.scrollHeight;
  return { height, isAtEnd: scrollY + innerHeight * 2 >= height };
}

interface PageGlobals {
  readonly scrollBy: (x: number, y: number) => void;
  readonly innerHeight: number;
  readonly scrollY: number;
  readonly document: { readonly documentElement: { readonly scrollHeight: number } };
}
