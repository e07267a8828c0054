import type { Browser, Page } from 'patchright-core';
import { internalsOf, limitMessages, MESSAGE_LIMIT_INTERNALS, missingInternals } from './message-limit.ts';

/*
 * Changes to the library's internals, which its interface does not offer. Each patch names the internals that it needs
 * and is applied only when all of them exist; the library is used unpatched otherwise. Both functions return the names
 * of missing internals, for the log.
 */

interface InnerBrowser {
  readonly _connection: { readonly rootSession: InnerSession };
}

interface InnerSession {
  readonly _callbacks: { has(id: number): boolean };
  _onMessage(message: { readonly id?: number }): void;
}

interface InnerFrame {
  readonly _page: { isClosedOrClosingOrCrashed(): boolean };
  _context(world: string): Promise<unknown>;
}

interface InnerPage {
  mainFrame(): InnerFrame;
  readonly delegate: { readonly _mainFrameSession: { readonly _client: PageClient } };
}

interface PageClient {
  send(method: string, parameters?: object): Promise<unknown>;
  /** Commands whose failure the library ignores. */
  _sendMayFail(method: string, parameters?: object): Promise<unknown>;
}

const SESSION_INTERNALS = ['_connection.rootSession._onMessage', '_connection.rootSession._callbacks'];
const FRAME_INTERNALS = ['_context', '_page.isClosedOrClosingOrCrashed'];
const CLIENT = 'delegate._mainFrameSession._client';
const EVENT_INTERNALS = [`${CLIENT}.send`, `${CLIENT}._sendMayFail`];

const patched = new WeakSet<object>();

/** `isPiped`: the browser was started by this process and is spoken to through a pipe. */
export function patchBrowser(browser: Browser, isPiped: boolean): readonly string[] {
  const internals = internalsOf<InnerBrowser>(browser);
  const missingSession = missingInternals(internals, SESSION_INTERNALS);
  if (internals !== null && missingSession.length === 0) patchSessions(internals);
  const missingLimit = isPiped ? missingInternals(internals, MESSAGE_LIMIT_INTERNALS) : [];
  if (isPiped && missingLimit.length === 0) limitMessages(browser);
  return [...missingSession, ...missingLimit];
}

export function patchPage(page: Page): readonly string[] {
  const internals = internalsOf<InnerPage>(page);
  const missingEvents = missingInternals(internals, ['mainFrame', ...EVENT_INTERNALS]);
  if (internals === null || missingEvents.includes('mainFrame')) return missingEvents;
  const frame = internals.mainFrame();
  const missingFrame = missingInternals(frame, FRAME_INTERNALS);
  if (missingFrame.length === 0) patchFrames(frame);
  return [...missingEvents, ...missingFrame.map((name) => `mainFrame().${name}`)];
}

/**
 * Chromium may answer a command of a crashed page twice. Patchright takes the second answer for a fault of its own and
 * ends the process; an answer without a pending command is ignored instead.
 */
function patchSessions({ _connection: { rootSession } }: InnerBrowser): void {
  const prototype = Object.getPrototypeOf(rootSession) as InnerSession;
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { _onMessage: onMessage } = prototype;
  prototype._onMessage = function (this: InnerSession, message) {
    const isUnexpected = message.id !== undefined && !this._callbacks.has(message.id);
    if (!isUnexpected) onMessage.call(this, message);
  };
}

/** Attempts in a row before the event loop gets a turn, and before the patch gives up. */
const ATTEMPTS_AT_ONCE = 10;
const MAX_ATTEMPTS = 500;

/**
 * Patchright requests the execution context of a frame in a loop until it gets one. The process of a crashed page never
 * answers and each refusal comes at once, so the loop would block the event loop for good. Every attempt goes through
 * this patch, which fails on a page that is gone.
 */
function patchFrames(frame: InnerFrame): void {
  const prototype = Object.getPrototypeOf(frame) as InnerFrame;
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { _context: contextOf } = prototype;
  const attempts = new WeakMap<InnerFrame, number>();
  prototype._context = async function (this: InnerFrame, world: string): Promise<unknown> {
    if (this._page.isClosedOrClosingOrCrashed()) throw new Error('Target crashed');
    const count = (attempts.get(this) ?? 0) + 1;
    if (count > MAX_ATTEMPTS) throw new Error('Target crashed: the frame has no context');
    attempts.set(this, count);
    try {
      if (count > ATTEMPTS_AT_ONCE) await new Promise((resolve) => setImmediate(resolve));
      return await contextOf.call(this, world);
    } finally {
      attempts.set(this, (attempts.get(this) ?? 1) - 1);
    }
  };
}

/** Pages whose request events are switched off, and pages whose client is patched. */
const withoutEvents = new WeakSet<Page>();
const withPatchedClient = new WeakSet<Page>();
/** The library's own setting. */
const INTERCEPT_ALL = {
  handleAuthRequests: true,
  patterns: [{ urlPattern: '*', requestStage: 'Request' }],
};
/** The library sends these while each document loads, to look for its own scripts, of which there are none. */
const NEEDLESS_COMMANDS: ReadonlySet<string> = new Set([
  'DOM.getDocument',
  'DOM.querySelectorAll',
  'Runtime.runIfWaitingForDebugger',
]);

/**
 * Switches the library's interception of requests on or off. With it, Chromium pauses every request of a page until the
 * library continues it, and reports each in many messages. The library needs that for its disguise, for proxy logins
 * and for `networkidle`; a page without these loads faster when it is off (decision 8). Has no effect when the internals
 * are missing.
 */
export async function setRequestEvents(page: Page, isWanted: boolean): Promise<void> {
  if (withoutEvents.has(page) !== isWanted) return;
  const internals = internalsOf<InnerPage>(page);
  if (internals === null || missingInternals(internals, EVENT_INTERNALS).length > 0) return;
  const client = internals.delegate._mainFrameSession._client;
  dropNeedlessCommands(page, client);
  if (isWanted) {
    withoutEvents.delete(page);
    await Promise.all([client.send('Network.enable'), client.send('Fetch.enable', INTERCEPT_ALL)]);
  } else {
    withoutEvents.add(page);
    await Promise.all(
      ['Fetch.disable', 'Network.disable', 'DOM.disable'].map((method) => client.send(method)),
    );
  }
}

function dropNeedlessCommands(page: Page, client: PageClient): void {
  if (withPatchedClient.has(page)) return;
  withPatchedClient.add(page);
  const { _sendMayFail: send } = client;
  client._sendMayFail = async (method, parameters) =>
    withoutEvents.has(page) && NEEDLESS_COMMANDS.has(method)
      ? undefined
      : send.call(client, method, parameters);
}
