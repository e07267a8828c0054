import type { Browser, Page } from 'patchright-core';
import { internalsOf } from './patchright-internals.ts';

/** Tries in a row before others get a turn, and before it is enough. */
const TRIES_AT_ONCE = 10;
const MOST_TRIES = 500;

interface InnerFrame {
  readonly _page: { isClosedOrClosingOrCrashed?(): boolean };
  _context?(world: string): Promise<unknown>;
}

interface InnerSession {
  readonly _callbacks?: { has(id: number): boolean };
  _onMessage?(message: { readonly id?: number }): void;
}

const mended = new WeakSet<object>();

/**
 * Chromium may answer a command of a page that has crashed twice. Patchright takes that for its own mistake and ends
 * the whole process; an answer that nobody waits for is left alone instead.
 */
export function patchSessions(browser: Browser): void {
  const session = internalsOf<{ _connection?: { rootSession?: InnerSession } }>(browser)?._connection
    ?.rootSession;
  const prototype = session === undefined ? null : (Object.getPrototypeOf(session) as InnerSession);
  const hear = prototype?._onMessage;
  if (prototype === null || hear === undefined || mended.has(prototype)) return;
  mended.add(prototype);
  prototype._onMessage = function (this: InnerSession, message) {
    const isUnasked = message.id !== undefined && this._callbacks?.has(message.id) === false;
    if (!isUnasked) hear.call(this, message);
  };
}

/**
 * Patchright asks a frame for its context again and again until it gets one. The process of a page that has crashed
 * will never answer, and because the refusal comes at once, nothing else in this process would ever run again. Each
 * try goes through here, and on a page that is gone it fails.
 */
export function patchFrames(page: Page): void {
  const frame = internalsOf<{ mainFrame?(): InnerFrame }>(page)?.mainFrame?.();
  const prototype = frame === undefined ? null : (Object.getPrototypeOf(frame) as InnerFrame);
  const contextOf = prototype?._context;
  if (prototype === null || contextOf === undefined || mended.has(prototype)) return;
  mended.add(prototype);
  const tries = new WeakMap<InnerFrame, number>();
  prototype._context = async function (this: InnerFrame, world: string): Promise<unknown> {
    if (this._page.isClosedOrClosingOrCrashed?.() === true) throw new Error('Target crashed');
    const count = (tries.get(this) ?? 0) + 1;
    if (count > MOST_TRIES) throw new Error('Target crashed: the frame has no context');
    tries.set(this, count);
    try {
      if (count > TRIES_AT_ONCE) await new Promise((resolve) => setImmediate(resolve));
      return await contextOf.call(this, world);
    } finally {
      tries.set(this, (tries.get(this) ?? 1) - 1);
    }
  };
}
