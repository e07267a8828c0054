import { guarded } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import {
  type Ask,
  CallClock,
  type CallHandler,
  type CallName,
  type CallOptions,
  type Consumer,
  noFreeWorker,
  readCallAnswer,
  writeCallAnswer,
  writeCallFailure,
  writeCallMessage,
  writeCallReply,
} from '../../core/ports/queue.ts';
import type { Lane } from './lane.ts';

/** The calls of one name. They wait in a lane; requests and waiting callers are kept here. */
export interface LocalCalls {
  call(request: unknown, how: CallOptions): Promise<unknown>;
  answer(concurrency: number, handler: CallHandler): Consumer;
  /** Fails whatever is asked. */
  close(): void;
}

interface Asked {
  /** Written and read as between processes, so that caller and handler never share an object. */
  readonly request: string;
  readonly unwanted: AbortController;
  readonly ask: Ask | null;
  readonly askedAt: number;
  isStarted: boolean;
  settle(answer: string): void;
  fail(error: ScrapifieError): void;
}

export function createLocalCalls(name: CallName, lane: Lane): LocalCalls {
  /** Owned by the callers: each leaves with its answer, its time limit or its signal. */
  const asked = new Map<string, Asked>();
  let calls = 0;
  let isClosed = false;
  const closed = () => new ScrapifieError('QUEUE_UNAVAILABLE', 'The queue is closed.');
  const noWorker = () => new ScrapifieError('NO_WORKER', `No worker answers ${name}.`);

  return {
    async call(request, { rank, timeoutMs, startWithinMs, signal, onQuestion }) {
      const text = writeCallMessage(request);
      if (isClosed) throw closed();
      if (signal?.aborted === true) throw cancelled();
      if (!lane.hasWorkers) throw noWorker();
      calls += 1;
      const id = String(calls);
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      const unwanted = new AbortController();
      const clock = new CallClock(timeoutMs, () => {
        reject(new ScrapifieError('TASK_TIMEOUT', `No answer to ${name} within ${timeoutMs} ms.`));
      });
      const ask = async (question: unknown) => {
        const written = writeCallMessage(question);
        if (onQuestion === undefined || unwanted.signal.aborted) throw cancelled();
        const reply = await clock.hold(() =>
          Promise.race([writeCallReply(onQuestion, written), aborted(unwanted.signal)]),
        );
        return readCallAnswer(reply);
      };
      const own: Asked = {
        request: text,
        unwanted,
        ask: onQuestion === undefined ? null : ask,
        askedAt: performance.now(),
        isStarted: false,
        settle: resolve,
        fail: reject,
      };
      asked.set(id, own);
      const onAbort = guarded(() => reject(cancelled()));
      signal?.addEventListener('abort', onAbort, { once: true });
      const giveUp = () => {
        if (!own.isStarted) reject(noFreeWorker(startWithinMs));
      };
      const start = startWithinMs === undefined ? undefined : setTimeout(giveUp, startWithinMs);
      lane.offer({ id, rank });
      try {
        return readCallAnswer(await promise);
      } finally {
        asked.delete(id);
        clearTimeout(start);
        unwanted.abort();
        clock.end();
        signal?.removeEventListener('abort', onAbort);
      }
    },
    answer(concurrency, handler) {
      const consumer = lane.consume(concurrency, async ({ id }) => {
        const call = asked.get(id);
        if (call === undefined) return;
        call.isStarted = true;
        try {
          const { request, unwanted, ask, askedAt } = call;
          // Within one process no call is lost and no worker dies alone.
          const start = { isRepeated: false, waitedMs: performance.now() - askedAt };
          call.settle(writeCallAnswer(await handler(JSON.parse(request), unwanted.signal, ask, start)));
        } catch (error) {
          call.settle(writeCallFailure(error));
          // What the caller is told of is no fault here; everything else is.
          if (!isScrapifieError(error)) throw error;
        }
      });
      return {
        stop() {
          const stopped = consumer.stop();
          if (!lane.hasWorkers) for (const call of asked.values()) if (!call.isStarted) call.fail(noWorker());
          return stopped;
        },
      };
    },
    close() {
      isClosed = true;
      for (const call of asked.values()) call.fail(closed());
    },
  };
}

const cancelled = () => new ScrapifieError('CANCELLED', 'The caller no longer waits for the answer.');

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener(
      'abort',
      guarded(() => reject(cancelled())),
      { once: true },
    );
  });
