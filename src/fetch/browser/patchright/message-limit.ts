import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'patchright-core';

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

export const MESSAGE_LIMIT_INTERNALS = [
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
