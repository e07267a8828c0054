import type { Duplex } from 'node:stream';
import { guarded, listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { CaptchaSolver } from '../../core/ports/captcha.ts';
import {
  type Ask,
  type CallHandler,
  readCallAnswer,
  writeCallAnswer,
  writeCallFailure,
  writeCallMessage,
} from '../../core/ports/queue.ts';
import { parsed, type RenderName } from '../remote/render-message.ts';
import {
  callSchema,
  type EventMessage,
  type FrameHead,
  FrameReader,
  HASH_BYTES,
  MOST_CONTROL_BYTES,
  questionSchema,
  type StartMessage,
  type StateMessage,
  solutionSchema,
  startSchema,
  writeCaptcha,
  writeFrame,
} from './process-messages.ts';

/** The bytes of one call. */
export type CallBlobs = Pick<Blobs, 'get' | 'put' | 'delete'>;

export interface ChildChannelOptions {
  readonly pipe: Duplex;
  readonly onStart: (start: StartMessage) => void;
  /** Who answers calls of this name, with the bytes of this one. */
  readonly handlerOf: (name: RenderName, blobs: CallBlobs) => Promise<CallHandler>;
  readonly state: () => StateMessage;
  readonly onClose: () => void;
  /** The server is gone, or what it sends cannot be read. */
  readonly onGone: (reason: string) => void;
}

interface Answering {
  readonly blobs: Map<string, Uint8Array>;
  readonly unwanted: AbortController;
  readonly questions: Map<number, PromiseWithResolvers<string>>;
  asked: number;
}

/** Bodies and tasks that were too long for a message. */
const MOST_SENT_BYTES = 268_435_456;
const SMALL = 1_024;

/** A render process's end of the pipe to the server. */
export class ChildChannel {
  readonly #options: ChildChannelOptions;
  /** Bounded by the server, which limits the pages at once. */
  readonly #answering = new Map<number, Answering>();
  readonly #asked = new Map<number, PromiseWithResolvers<string>>();
  #asks = 0;

  constructor(options: ChildChannelOptions) {
    this.#options = options;
    const { pipe, onGone } = options;
    const reader = new FrameReader({
      limitOf: (head) => limitOf(head),
      onFrame: (head, payload) => this.#onFrame(head, payload),
      onViolation: onGone,
    });
    listen(pipe, 'data', (chunk: Buffer) => reader.push(chunk));
    listen(pipe, 'error', (error: Error) => onGone(String(error)));
    listen(pipe, 'close', () => onGone('the server has ended'));
    listen(pipe, 'end', () => onGone('the server has ended'));
  }

  ready(): void {
    writeFrame(this.#options.pipe, 'ready', 0);
  }

  tellState(): void {
    writeFrame(this.#options.pipe, 'state', 0, JSON.stringify(this.#options.state()));
  }

  tellEvent(event: EventMessage): void {
    writeFrame(this.#options.pipe, 'event', 0, JSON.stringify(event));
  }

  async relocate(): Promise<string | null> {
    const path = await this.#ask({ what: 'relocate' });
    return typeof path === 'string' ? path : null;
  }

  /** The server's solvers: their keys stay there. */
  readonly solver: CaptchaSolver = {
    name: 'server',
    solve: async (captcha, signal) =>
      solutionSchema.parse(await this.#ask({ what: 'solve', captcha: writeCaptcha(captcha) }, signal)),
    reportBad: async (solution) => {
      await this.#ask({ what: 'report bad', solution }).catch(() => undefined);
    },
    balance: async () => {
      throw new ScrapifieError('CAPTCHA_UNSOLVED', 'A render process does not know of accounts.');
    },
    close: async () => undefined,
  };

  async #ask(question: unknown, signal?: AbortSignal): Promise<unknown> {
    const { pipe } = this.#options;
    if (signal?.aborted === true) throw signal.reason;
    this.#asks += 1;
    const id = this.#asks;
    const waiting = Promise.withResolvers<string>();
    this.#asked.set(id, waiting);
    const onAbort = () => {
      writeFrame(pipe, 'unask', id);
      waiting.reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    writeFrame(pipe, 'ask', id, JSON.stringify(question));
    try {
      return readCallAnswer(await waiting.promise);
    } finally {
      this.#asked.delete(id);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #onFrame({ kind, id }: FrameHead, payload: Buffer<ArrayBuffer>): void {
    const { pipe, onStart, onClose } = this.#options;
    switch (kind) {
      case 'start':
        onStart(startSchema.parse(parsed(payload)));
        break;
      case 'blob':
        this.#callOf(id).blobs.set(payload.toString('hex', 0, HASH_BYTES), payload.subarray(HASH_BYTES));
        break;
      case 'call':
        void this.#answer(id, payload);
        break;
      case 'cancel':
        this.#answering.get(id)?.unwanted.abort(cancelled());
        break;
      case 'reply': {
        const { number, text } = questionSchema.parse(parsed(payload));
        this.#answering.get(id)?.questions.get(number)?.resolve(text);
        break;
      }
      case 'told':
        this.#asked.get(id)?.resolve(payload.toString('utf8'));
        break;
      case 'ping':
        writeFrame(pipe, 'pong', 0);
        this.tellState();
        break;
      case 'close':
        onClose();
        break;
    }
  }

  #callOf(id: number): Answering {
    const known = this.#answering.get(id);
    if (known !== undefined) return known;
    const call = { blobs: new Map(), unwanted: new AbortController(), questions: new Map(), asked: 0 };
    this.#answering.set(id, call);
    return call;
  }

  async #answer(id: number, payload: Buffer): Promise<void> {
    const call = this.#callOf(id);
    let answer: string;
    try {
      const { name, request, takesQuestions } = callSchema.parse(parsed(payload));
      const handler = await this.#options.handlerOf(name, this.#blobsOf(id, call));
      const ask = takesQuestions ? this.#asker(id, call) : null;
      // A call goes to one process, and at once: what dies with it is planned anew by the owner of the host.
      const start = { isRepeated: false, waitedMs: 0 };
      answer = writeCallAnswer(await handler(request, call.unwanted.signal, ask, start));
    } catch (error) {
      answer = writeCallFailure(error);
    } finally {
      this.#answering.delete(id);
      for (const question of call.questions.values()) question.reject(cancelled());
    }
    writeFrame(this.#options.pipe, 'answer', id, answer);
  }

  #asker(id: number, call: Answering): Ask {
    return async (question) => {
      const text = writeCallMessage(question);
      if (call.unwanted.signal.aborted) throw cancelled();
      call.asked += 1;
      const number = call.asked;
      const waiting = Promise.withResolvers<string>();
      call.questions.set(number, waiting);
      const onAbort = guarded(() => waiting.reject(cancelled()));
      call.unwanted.signal.addEventListener('abort', onAbort, { once: true });
      writeFrame(this.#options.pipe, 'question', id, JSON.stringify({ number, text }));
      try {
        return readCallAnswer(await waiting.promise);
      } finally {
        call.questions.delete(number);
        call.unwanted.signal.removeEventListener('abort', onAbort);
      }
    };
  }

  #blobsOf(id: number, { blobs }: Answering): CallBlobs {
    const { pipe } = this.#options;
    return {
      async put(given) {
        for (const { hash, bytes } of given) writeFrame(pipe, 'blob', id, Buffer.from(hash, 'hex'), bytes);
      },
      get: async (hash: ContentHash) => blobs.get(hash) ?? null,
      async delete(hashes) {
        for (const hash of hashes) blobs.delete(hash);
      },
    };
  }
}

function limitOf({ kind }: FrameHead): number | null {
  switch (kind) {
    case 'ping':
    case 'cancel':
    case 'close':
      return SMALL;
    case 'blob':
      return MOST_SENT_BYTES;
    default:
      return 2 * MOST_CONTROL_BYTES;
  }
}

const cancelled = () => new ScrapifieError('CANCELLED', 'The server does not wait for the answer any more.');
