import type { Browser } from 'patchright-core';
import { internalsOf } from './patchright-internals.ts';

/** The library's end of the pipe to a browser: messages in JSON, each followed by a zero byte. */
interface Transport {
  _pendingBuffers?: Buffer[];
  _dispatch?(chunk: Buffer): void;
  onmessage?: ((message: object) => void) | undefined;
  send(message: object): void;
}

interface Pending {
  bytes: number;
  /** Beginning and end of the message that is just being skipped; null while none is. */
  skipped: { readonly head: Buffer; tail: Buffer } | null;
}

/**
 * The longest message that is taken from a browser. The largest honest one is a body of 100 MB in base64; the library
 * throws where nothing catches it when a message does not fit into a string (512 MB).
 */
export const MOST_MESSAGE_BYTES = 167_772_160;
const KEPT_HEAD_BYTES = 4_096;
const KEPT_TAIL_BYTES = 512;
/** The library counts its own from 1. */
const FIRST_OWN_ID = 1_073_741_824;

const limited = new WeakSet<object>();
let ownIds = 0;

/**
 * Skips messages of a browser that are too long, without keeping them: a page decides how long what it writes to the
 * console, posts or returns is. Whoever waits for a skipped answer is told that it was too large; an event is dropped,
 * and a request that waits for leave in it is refused.
 */
export function limitMessages(browser: Browser, mostBytes = MOST_MESSAGE_BYTES): void {
  const transport = internalsOf<{ _connection?: { _transport?: Transport } }>(browser)?._connection
    ?._transport;
  const dispatch = transport?._dispatch;
  if (transport === undefined || dispatch === undefined || limited.has(transport)) return;
  if (transport._pendingBuffers === undefined) return;
  limited.add(transport);
  const pending: Pending = { bytes: 0, skipped: null };
  transport._dispatch = function (this: Transport, given) {
    const chunk = pending.skipped === null ? given : skip(this, pending, given);
    if (chunk === null) return;
    dispatch.call(this, chunk);
    const waiting = this._pendingBuffers ?? [];
    pending.bytes = waiting.length === 1 ? (waiting[0]?.length ?? 0) : pending.bytes + chunk.length;
    if (pending.bytes <= mostBytes) return;
    const head = Buffer.from(Buffer.concat(waiting.slice(0, 8)).subarray(0, KEPT_HEAD_BYTES));
    pending.skipped = { head, tail: Buffer.from((waiting.at(-1) ?? head).subarray(-KEPT_TAIL_BYTES)) };
    this._pendingBuffers = [];
    pending.bytes = 0;
  };
}

/** What stands behind the skipped message in this chunk; null while the message goes on. */
function skip(transport: Transport, pending: Pending, chunk: Buffer): Buffer | null {
  const { skipped } = pending;
  if (skipped === null) return chunk;
  const end = chunk.indexOf(0);
  const part = end === -1 ? chunk : chunk.subarray(0, end);
  const tail = Buffer.concat([skipped.tail, part.subarray(-KEPT_TAIL_BYTES)]);
  skipped.tail = Buffer.from(tail.subarray(-KEPT_TAIL_BYTES));
  if (end === -1) return null;
  pending.skipped = null;
  standIn(transport, skipped.head.toString('latin1'), skipped.tail.toString('latin1'));
  return end + 1 < chunk.length ? chunk.subarray(end + 1) : null;
}

function standIn(transport: Transport, head: string, tail: string): void {
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
