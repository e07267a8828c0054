import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { guarded, listen } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import {
  type CallOptions,
  type Queue,
  readCallAnswer,
  writeCallAnswer,
  writeCallFailure,
  writeCallMessage,
  writeCallReply,
} from '../../core/ports/queue.ts';
import { parsed, RENDER_CALLS, type RenderName } from '../remote/render-message.ts';
import { MOST_PACK_BYTES } from '../remote/rendered-pack.ts';
import {
  type AskMessage,
  askSchema,
  type EventMessage,
  eventSchema,
  type FrameHead,
  FrameReader,
  HASH_BYTES,
  MOST_ASK_BYTES,
  MOST_CONTROL_BYTES,
  questionSchema,
  type StartMessage,
  type StateMessage,
  stateSchema,
  writeFrame,
} from './process-messages.ts';

/** What one attempt is rendered through: calls for a remote engine, and the bytes that belong to them. */
export interface AttemptLink {
  readonly queue: Pick<Queue, 'call' | 'countAnswerers'>;
  readonly blobs: Pick<Blobs, 'get' | 'put' | 'delete'>;
}

export interface ServerChannelOptions {
  readonly pipe: Duplex;
  readonly start: StartMessage;
  readonly onReady: () => void;
  readonly onState: (state: StateMessage) => void;
  readonly onEvent: (event: EventMessage) => void;
  /** Answers what the render process asks for itself. The signal ends when it does not want to know any more. */
  readonly onAsk: (ask: AskMessage, signal: AbortSignal) => Promise<unknown>;
  /** Any frame has come. */
  readonly onHeard: () => void;
  readonly onViolation: (reason: string) => void;
}

interface Pending {
  readonly blobs: Map<string, Uint8Array>;
  /** How many bytes may still come as blobs, and in how many frames. */
  bytesLeft: number;
  blobsLeft: number;
  readonly onQuestion: CallOptions['onQuestion'];
  readonly mayBeSolved: boolean;
  settle(answer: string): void;
  fail(error: ScrapifieError): void;
}

/** The body, and one pack of everything else. */
const BLOBS_PER_CALL = 2;
/** A render process that asks more than this at once does not behave. */
const MOST_ASKS = 256;
const SMALL = 1_024;

const requestFacts = z.object({ maxBodyBytes: z.number(), maySolve: z.boolean().optional() });

/** The server's end of the pipe to a render process. Everything that comes from there is checked before it is used. */
export class ServerChannel {
  readonly #options: ServerChannelOptions;
  /** Owned by the callers: each leaves with its answer or its signal. */
  readonly #pending = new Map<number, Pending>();
  /** Questions that are being answered, at most MOST_ASKS. */
  readonly #asks = new Map<number, AbortController>();
  #calls = 0;
  #ended: ScrapifieError | null = null;

  constructor(options: ServerChannelOptions) {
    this.#options = options;
    const { pipe, onViolation } = options;
    const reader = new FrameReader({
      limitOf: (head) => this.#limitOf(head),
      onFrame: (head, payload) => this.#onFrame(head, payload),
      onViolation,
    });
    listen(pipe, 'data', (chunk: Buffer) => reader.push(chunk));
    // The end of the process says more than what its pipe makes of it.
    pipe.on('error', () => {});
    writeFrame(pipe, 'start', 0, JSON.stringify(options.start));
  }

  /** Number of calls under way. */
  get underWay(): number {
    return this.#pending.size;
  }

  ping(): void {
    writeFrame(this.#options.pipe, 'ping', 0);
  }

  /** Asks the process to close its browsers and end. */
  close(): void {
    writeFrame(this.#options.pipe, 'close', 0);
  }

  /** Ends all calls with this error, later ones as well. */
  end(error: ScrapifieError): void {
    this.#ended ??= error;
    for (const call of this.#pending.values()) call.fail(error);
    for (const ask of this.#asks.values()) ask.abort(error);
    this.#asks.clear();
  }

  /** The bytes are kept as long as the attempt: no other attempt ever sees them. */
  link(name: RenderName): AttemptLink {
    /** What the calls bring along, and what came back. */
    const sent = new Map<string, Uint8Array>();
    const received = new Map<string, Uint8Array>();
    return {
      queue: {
        countAnswerers: async () => 1,
        call: (called, request, how) => {
          if (called !== RENDER_CALLS[name]) throw new Error(`${called} is not what ${name} answers`);
          return this.#call(name, request, how, sent, received);
        },
      },
      blobs: {
        async put(blobs) {
          for (const { hash, bytes } of blobs) sent.set(hash, bytes);
        },
        get: async (hash) => received.get(hash) ?? null,
        async delete(hashes) {
          for (const hash of hashes) {
            sent.delete(hash);
            received.delete(hash);
          }
        },
      },
    };
  }

  async #call(
    name: RenderName,
    request: unknown,
    { signal, onQuestion }: CallOptions,
    sent: ReadonlyMap<string, Uint8Array>,
    received: Map<string, Uint8Array>,
  ): Promise<unknown> {
    const written = writeCallMessage(request);
    if (this.#ended !== null) throw this.#ended;
    if (signal?.aborted === true) throw cancelled();
    const { pipe } = this.#options;
    const { maxBodyBytes, maySolve = false } = requestFacts.parse(request);
    this.#calls = (this.#calls + 1) % 0xffff_ffff;
    const id = this.#calls;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.#pending.set(id, {
      blobs: received,
      bytesLeft: maxBodyBytes + 2 * MOST_PACK_BYTES,
      blobsLeft: BLOBS_PER_CALL,
      onQuestion,
      mayBeSolved: maySolve,
      settle: resolve,
      fail: reject,
    });
    const onAbort = guarded(() => {
      writeFrame(pipe, 'cancel', id);
      reject(cancelled());
    });
    signal?.addEventListener('abort', onAbort, { once: true });
    for (const [hash, bytes] of sent) writeFrame(pipe, 'blob', id, Buffer.from(hash, 'hex'), bytes);
    const takesQuestions = onQuestion !== undefined;
    writeFrame(
      pipe,
      'call',
      id,
      `{"name":"${name}","takesQuestions":${takesQuestions},"request":${written}}`,
    );
    try {
      return readCallAnswer(await promise);
    } catch (error) {
      if (isScrapifieError(error)) throw error;
      this.#options.onViolation('it sent an answer that cannot be read');
      throw new ScrapifieError('INTERNAL', 'The render process sent an answer that cannot be read.');
    } finally {
      this.#pending.delete(id);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #limitOf({ kind, id, bytes }: FrameHead): number | null {
    switch (kind) {
      case 'ready':
      case 'pong':
      case 'unask':
        return SMALL;
      case 'state':
      case 'event':
        return MOST_CONTROL_BYTES;
      case 'ask':
        return MOST_ASK_BYTES;
      case 'answer':
        return MOST_CONTROL_BYTES;
      case 'question':
        // A question is JSON within JSON, whose quotes are escaped.
        return 2 * MOST_CONTROL_BYTES;
      case 'blob': {
        const call = this.#pending.get(id);
        // Its caller is gone; the bytes were on their way.
        if (call === undefined) return null;
        call.blobsLeft -= 1;
        const limit = call.blobsLeft < 0 ? 0 : call.bytesLeft + HASH_BYTES;
        call.bytesLeft -= bytes;
        return Math.max(HASH_BYTES, limit);
      }
      default:
        return 0;
    }
  }

  #onFrame({ kind, id }: FrameHead, payload: Buffer<ArrayBuffer>): void {
    const { onHeard, onReady, onState, onEvent, onViolation } = this.#options;
    onHeard();
    try {
      switch (kind) {
        case 'ready':
          onReady();
          break;
        case 'state':
          onState(stateSchema.parse(parsed(payload)));
          break;
        case 'event':
          onEvent(eventSchema.parse(parsed(payload)));
          break;
        case 'answer':
          this.#pending.get(id)?.settle(payload.toString('utf8'));
          break;
        case 'question':
          void this.#reply(id, questionSchema.parse(parsed(payload)));
          break;
        case 'blob':
          this.#keep(id, payload);
          break;
        case 'ask':
          void this.#tell(id, askSchema.parse(parsed(payload)));
          break;
        case 'unask':
          this.#asks.get(id)?.abort(cancelled());
          break;
        case 'pong':
          break;
        default:
          onViolation(`it sent a frame (${kind}) that only the server sends`);
      }
    } catch {
      // Without the reason, which may quote what a page has made of it.
      onViolation(`it sent a frame (${kind}) that cannot be read`);
    }
  }

  #keep(id: number, payload: Buffer<ArrayBuffer>): void {
    const hash = payload.toString('hex', 0, HASH_BYTES) as ContentHash;
    this.#pending.get(id)?.blobs.set(hash, payload.subarray(HASH_BYTES));
  }

  async #reply(id: number, { number, text }: z.infer<typeof questionSchema>): Promise<void> {
    const onQuestion = this.#pending.get(id)?.onQuestion;
    if (onQuestion === undefined) return;
    const answer = await writeCallReply(onQuestion, text);
    writeFrame(this.#options.pipe, 'reply', id, JSON.stringify({ number, text: answer }));
  }

  async #tell(id: number, ask: AskMessage): Promise<void> {
    const { pipe, onAsk, onViolation } = this.#options;
    if (this.#asks.size >= MOST_ASKS) return onViolation(`it asked more than ${MOST_ASKS} questions at once`);
    const ending = new AbortController();
    this.#asks.set(id, ending);
    let answer: string;
    try {
      // Solutions cost money: only pages whose request allows it may have one.
      const isAllowed =
        ask.what === 'relocate' || [...this.#pending.values()].some((call) => call.mayBeSolved);
      if (!isAllowed) throw new ScrapifieError('CAPTCHA_UNSOLVED', 'No request under way allows a solver.');
      answer = writeCallAnswer(await onAsk(ask, ending.signal));
    } catch (error) {
      answer = writeCallFailure(error);
    } finally {
      this.#asks.delete(id);
    }
    writeFrame(pipe, 'told', id, answer);
  }
}

const cancelled = () => new ScrapifieError('CANCELLED', 'The caller does not wait for the answer any more.');
