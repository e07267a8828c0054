import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'patchright-core';

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

/** The version of patchright-core that the patches in this folder were written for. */
export const PATCHRIGHT_VERSION = '1.63.0';

/**
 * The server-side object of the library behind a client-side one. Null for a browser behind a Playwright server, where
 * that object is in another process, and for a library whose internals have changed.
 */
export function internalsOf<T>(object: Browser | BrowserContext | Page): T | null {
  const { _connection: connection } = object as unknown as {
    _connection?: { toImpl?: (of: object) => unknown };
  };
  return (connection?.toImpl?.(object) as T | undefined) ?? null;
}

/**
 * Returns the dotted paths that lead to nothing. The library does not promise these internals, so any version may
 * change them.
 */
export function missingInternals(internals: object | null, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    let value: unknown = internals;
    for (const name of path.split('.')) {
      if (typeof value !== 'object' || value === null) return true;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value === undefined || value === null;
  });
}

/** For the log: what was not found, and which version has it. */
export function describeMismatch(missing: readonly string[]): string {
  return `patchright-core ${PATCHRIGHT_VERSION} is needed and ${installedVersion()} is installed: without ${missing.join(', ')} it is used unpatched`;
}

function installedVersion(): string {
  try {
    const path = fileURLToPath(import.meta.resolve('patchright-core/package.json'));
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: string };
    return version ?? 'an unknown version';
  } catch {
    return 'an unknown version';
  }
}

/** The library's side of the pipe to a browser. Messages are JSON, each followed by a zero byte. */
interface Transport {
  _pendingBuffers: Buffer[];
  _dispatch(chunk: Buffer): void;
  onmessage?: ((message: object) => void) | undefined;
  send(message: object): void;
}

interface Pending {
  bytes: number;
  /** First and last bytes of the message that is being skipped; null while none is. */
  skipped: { readonly head: Buffer; tail: Buffer } | null;
}

/**
 * The longest message that is accepted from a browser. The largest one in regular use is a body of 100 MB in base64.
 * The library throws an uncaught error for a message that does not fit into a string (512 MB).
 */
const MOST_MESSAGE_BYTES = 167_772_160;
const KEPT_HEAD_BYTES = 4_096;
const KEPT_TAIL_BYTES = 512;
/** Above all ids of the library, which counts from 1. */
const FIRST_OWN_ID = 1_073_741_824;

const MESSAGE_LIMIT_INTERNALS = [
  '_connection._transport._dispatch',
  '_connection._transport._pendingBuffers',
];

const limited = new WeakSet<object>();
let ownIds = 0;

/**
 * Skips messages of a browser that are too long, without buffering them: a page controls the length of console messages,
 * posted bodies and results. A skipped answer becomes an error for its command; a skipped event is dropped, and the
 * request that it has paused is failed.
 */
export function limitMessages(browser: Browser, mostBytes = MOST_MESSAGE_BYTES): void {
  const internals = internalsOf<{ readonly _connection: { readonly _transport: Transport } }>(browser);
  if (internals === null || missingInternals(internals, MESSAGE_LIMIT_INTERNALS).length > 0) return;
  const { _transport: transport } = internals._connection;
  if (limited.has(transport)) return;
  limited.add(transport);
  const { _dispatch: dispatch } = transport;
  const pending: Pending = { bytes: 0, skipped: null };
  transport._dispatch = function (this: Transport, given) {
    const chunk = pending.skipped === null ? given : skip(this, pending, given);
    if (chunk === null) return;
    dispatch.call(this, chunk);
    const waiting = this._pendingBuffers;
    pending.bytes = waiting.length === 1 ? (waiting[0]?.length ?? 0) : pending.bytes + chunk.length;
    if (pending.bytes <= mostBytes) return;
    const head = Buffer.from(Buffer.concat(waiting.slice(0, 8)).subarray(0, KEPT_HEAD_BYTES));
    pending.skipped = { head, tail: Buffer.from((waiting.at(-1) ?? head).subarray(-KEPT_TAIL_BYTES)) };
    this._pendingBuffers = [];
    pending.bytes = 0;
  };
}

/** The bytes after the end of the skipped message; null while the message goes on. */
function skip(transport: Transport, pending: Pending, chunk: Buffer): Buffer | null {
  const { skipped } = pending;
  if (skipped === null) return chunk;
  const end = chunk.indexOf(0);
  const part = end === -1 ? chunk : chunk.subarray(0, end);
  const tail = Buffer.concat([skipped.tail, part.subarray(-KEPT_TAIL_BYTES)]);
  skipped.tail = Buffer.from(tail.subarray(-KEPT_TAIL_BYTES));
  if (end === -1) return null;
  pending.skipped = null;
  replaceSkipped(transport, skipped.head.toString('latin1'), skipped.tail.toString('latin1'));
  return end + 1 < chunk.length ? chunk.subarray(end + 1) : null;
}

function replaceSkipped(transport: Transport, head: string, tail: string): void {
  const sessionId = /"sessionId":"([^"]+)"\}$/.exec(tail)?.[1];
  const session = sessionId === undefined ? {} : { sessionId };
  const id = /^\{"id":(\d+)[,}]/.exec(head)?.[1];
  if (id !== undefined) {
    const error = { code: -32_000, message: 'The answer of the browser was too large' };
    setImmediate(() => transport.onmessage?.({ id: Number(id), error, ...session }));
    return;
  }
  if (!head.startsWith('{"method":"Fetch.requestPaused"')) return;
  const requestId = /"requestId":"([^"]+)"/.exec(head)?.[1];
  if (requestId === undefined) return;
  ownIds = (ownIds + 1) % FIRST_OWN_ID;
  const params = { requestId, errorReason: 'BlockedByClient' };
  transport.send({ id: FIRST_OWN_ID + ownIds, method: 'Fetch.failRequest', params, ...session });
}
