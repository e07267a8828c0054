import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { listen } from '../../core/errors/guarded.ts';
import {
  failureOf,
  type MethodCall,
  PING,
  type ThreadAnswer,
  type ThreadMethods,
  type ThreadNotice,
} from './thread.ts';

type Answers<Methods extends ThreadMethods<Methods>> = {
  readonly [Name in keyof Methods]: (
    ...values: Parameters<Methods[Name]>
  ) => Answer<Awaited<ReturnType<Methods[Name]>>> | Promise<Answer<Awaited<ReturnType<Methods[Name]>>>>;
};
type Answer<Result> = Result | HandedOver<Result>;

class HandedOver<Result> {
  readonly result: Result;
  readonly buffers: readonly ArrayBuffer[];

  constructor(result: Result, buffers: readonly ArrayBuffer[]) {
    this.result = result;
    this.buffers = buffers;
  }
}

/** A result whose buffers are transferred and not copied: the thread cannot use them any more. */
export const handOver = <Result>(result: Result, buffers: readonly ArrayBuffer[]): HandedOver<Result> =>
  new HandedOver(result, buffers);

/**
 * Answers the calls of a `ThreadClient`, in its thread, one after the other in the order of the calls. What a method throws
 * rejects its call.
 */
export function answerCalls<Methods extends ThreadMethods<Methods>>(answers: Answers<Methods>): void {
  const port = ownPort();
  const methods: Readonly<Record<string, unknown>> = { ...answers, [PING]: () => null };
  let last: Promise<void> = Promise.resolve();
  listen(port, 'message', (call: MethodCall) => {
    last = last.then(() => answer(port, call, methods[call.method]));
  });
}

async function answer(port: MessagePort, { id, values }: MethodCall, method: unknown): Promise<void> {
  try {
    const found = await (method as (...values: readonly unknown[]) => unknown)(...values);
    const { result, buffers } = found instanceof HandedOver ? found : handOver(found, []);
    port.postMessage({ id, result } satisfies ThreadAnswer, [...buffers]);
  } catch (error) {
    port.postMessage({ id, failure: failureOf(error) } satisfies ThreadAnswer);
  }
}

/** Sends the process a message that answers no call. */
export function notify<Notice>(notice: Notice): void {
  ownPort().postMessage({ notice } satisfies ThreadNotice<Notice>);
}

function ownPort(): MessagePort {
  if (parentPort === null) throw new Error('This module is the entry of a thread, and has no parent here.');
  return parentPort;
}

const LOW_PRIORITY = 10;

/** Gives the thread that calls this a low priority, where the system knows priorities of threads: its work can wait. */
export function lowerThreadPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    if (Number.isInteger(thread)) setPriority(thread, LOW_PRIORITY);
  } catch {
    // Only Linux tells a thread its number; elsewhere the thread is as urgent as the rest.
  }
}
