import type { Writable } from 'node:stream';
import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import type { Captcha, Solution } from '../../core/ports/captcha.ts';
import { MAX_CALL_BYTES } from '../../core/ports/queue.ts';

/** A call or an answer with what stands around it. */
export const MOST_CONTROL_BYTES = MAX_CALL_BYTES + 4_096;
/** A question to the server from the render process itself: a picture to be read may be in it. */
export const MOST_ASK_BYTES = 4_194_304;

const text = z.string().max(10_000);
const count = z.number().nonnegative();

/** What a render process needs to know. It holds no secret but the address of a remote browser. */
export const startSchema = z.object({
  settings: z.object({
    allowPrivate: z.union([z.boolean(), text]),
    maxRenderBytes: z.number(),
    contact: text.optional(),
    remoteBrowserUrl: text.optional(),
    browserIsolation: z.enum(['site', 'none']),
  }),
  executablePath: text.nullable(),
  limits: z.object({
    maxBrowsers: z.int().positive(),
    pagesAtOnce: z.int().positive(),
    pagesEach: z.int().positive(),
    maxBrowserBytes: z.number().positive(),
    mostBrowserBytes: z.number().positive(),
    mostRendererBytes: z.number().positive(),
    pagesPerBrowser: z.int().positive().optional(),
    minBrowsers: z.int().nonnegative().optional(),
  }),
  hasSolver: z.boolean(),
  /** Chromium runs its sandbox. */
  isSandboxed: z.boolean(),
  /** What the process removes when the server is gone. */
  home: text,
});
export type StartMessage = z.infer<typeof startSchema>;

export const callSchema = z.object({
  name: z.enum(['browser', 'stealth']),
  request: z.unknown(),
  takesQuestions: z.boolean(),
});

/** A question of a page, or its answer: the text is as it travels through a queue. */
export const questionSchema = z.object({ number: z.int().nonnegative(), text: z.string() });

const health = z.object({
  state: z.enum(['ok', 'degraded', 'failing']),
  code: z
    .string()
    .refine((code) => Object.hasOwn(ERRORS, code))
    .transform((code) => code as ErrorCode)
    .nullable(),
  reason: text.nullable(),
});

export const stateSchema = z.object({
  health: z.object({ browser: health, stealth: health }),
  figures: z
    .object({
      browsers: count,
      pagesOpen: count,
      pagesInUse: count,
      launched: count,
      launchesFailed: count,
      replaced: z.record(z.string().max(100), count),
    })
    .nullable(),
  /** Main processes of the browsers that run. */
  browserPids: z.array(z.int().positive()).max(1_000),
});
export type StateMessage = z.infer<typeof stateSchema>;

export const eventSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('browser launched'), version: text, path: text.nullable() }),
  z.object({
    what: z.literal('pool'),
    kind: z.enum(['launched', 'launch failed', 'replaced', 'program removed', 'driver unpatched']),
    reason: text,
  }),
  z.object({ what: z.literal('log'), level: text, message: text, reason: text.nullable() }),
]);
export type EventMessage = z.infer<typeof eventSchema>;

const onPage = { siteKey: text, pageUrl: z.string().max(65_536) };
const base64 = z.string().transform((value): Uint8Array => Buffer.from(value, 'base64'));
const captchaSchema: z.ZodType<Captcha, unknown> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('recaptcha-v2'),
    ...onPage,
    isInvisible: z.boolean(),
    isEnterprise: z.boolean(),
    dataS: text.nullable(),
  }),
  z.object({
    kind: z.literal('recaptcha-v3'),
    ...onPage,
    isEnterprise: z.boolean(),
    action: text.nullable(),
    minScore: z.number(),
  }),
  z.object({ kind: z.literal('hcaptcha'), ...onPage, isInvisible: z.boolean(), rqData: text.nullable() }),
  z.object({ kind: z.literal('turnstile'), ...onPage, action: text.nullable(), cData: text.nullable() }),
  z.object({ kind: z.literal('image-text'), image: base64, hint: text.nullable() }),
]);

export const solutionSchema: z.ZodType<Solution> = z.object({
  kind: z.enum(['recaptcha-v2', 'recaptcha-v3', 'hcaptcha', 'turnstile', 'image-text']),
  token: z.string(),
  userAgent: text.nullable(),
  solver: text,
  taskId: text,
  ms: count,
  costUsd: z.number().nullable(),
});

/** What a render process asks the server for: what needs secrets, or a look at the machine. */
export const askSchema = z.discriminatedUnion('what', [
  z.object({ what: z.literal('relocate') }),
  z.object({ what: z.literal('solve'), captcha: captchaSchema }),
  z.object({ what: z.literal('report bad'), solution: solutionSchema }),
]);
export type AskMessage = z.infer<typeof askSchema>;

/** A captcha as it travels. */
export function writeCaptcha(captcha: Captcha): unknown {
  return captcha.kind === 'image-text'
    ? { ...captcha, image: Buffer.from(captcha.image).toString('base64') }
    : captcha;
}

/**
 * What travels between the server and its render process, on one pipe. A frame is a kind (1 byte), the number of the
 * call it belongs to (4 bytes), the length of its payload (4 bytes) and the payload: JSON text, or for `blob` the
 * content hash (32 bytes) and the bytes.
 */
const FRAME_KINDS = [
  // Frames that the server sends.
  'start',
  'call',
  'cancel',
  'reply',
  'told',
  'ping',
  'close',
  // Frames that the render process sends.
  'ready',
  'answer',
  'question',
  'ask',
  'unask',
  'state',
  'event',
  'pong',
  // Frames that both sides send.
  'blob',
] as const;
type FrameKind = (typeof FRAME_KINDS)[number];

export interface FrameHead {
  readonly kind: FrameKind;
  readonly id: number;
  readonly bytes: number;
}

interface FrameReaderOptions {
  /**
   * The most bytes that a frame of this kind and call may have; null when it is to be skipped. Asked with the head
   * alone, before any of the payload is kept.
   */
  readonly limitOf: (head: FrameHead) => number | null;
  /** The payload stands alone on its ArrayBuffer. */
  readonly onFrame: (head: FrameHead, payload: Buffer<ArrayBuffer>) => void;
  /** The other side does not keep to the protocol; nothing more is read. */
  readonly onViolation: (reason: string) => void;
}

const HEAD_BYTES = 9;
const KIND_NUMBERS = new Map<string, number>(FRAME_KINDS.map((kind, index) => [kind, index + 1]));
export const HASH_BYTES = 32;

export function writeFrame(
  pipe: Writable,
  kind: FrameKind,
  id: number,
  ...payload: readonly (Uint8Array | string)[]
): void {
  if (!pipe.writable) return;
  const parts = payload.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt8(KIND_NUMBERS.get(kind) ?? 0, 0);
  head.writeUInt32BE(id, 1);
  head.writeUInt32BE(
    parts.reduce((sum, { byteLength }) => sum + byteLength, 0),
    5,
  );
  pipe.cork();
  pipe.write(head);
  for (const part of parts) pipe.write(part);
  pipe.uncork();
}

/** Puts the chunks of a pipe together to frames. It never holds more than one frame that its limit allows. */
export class FrameReader {
  readonly #options: FrameReaderOptions;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  #current: FrameHead | null = null;
  /** Null while the payload is skipped. */
  #payload: Buffer<ArrayBuffer> | null = null;
  #payloadBytes = 0;
  #hasEnded = false;

  constructor(options: FrameReaderOptions) {
    this.#options = options;
  }

  push(chunk: Buffer): void {
    let at = 0;
    while (!this.#hasEnded && (at < chunk.byteLength || this.#isComplete)) {
      if (this.#current === null) at += this.#readHead(chunk, at);
      else at += this.#readPayload(chunk, at, this.#current);
    }
  }

  /** A frame without a payload needs no further chunk. */
  get #isComplete(): boolean {
    return this.#current !== null && this.#payloadBytes === this.#current.bytes;
  }

  #readHead(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#head, this.#headBytes, at);
    this.#headBytes += taken;
    if (this.#headBytes < HEAD_BYTES) return taken;
    this.#headBytes = 0;
    const kind = FRAME_KINDS[this.#head.readUInt8(0) - 1];
    if (kind === undefined) return this.#violated('it sent a frame of an unknown kind', taken);
    const head = { kind, id: this.#head.readUInt32BE(1), bytes: this.#head.readUInt32BE(5) };
    const limit = this.#options.limitOf(head);
    if (limit !== null && head.bytes > limit) {
      return this.#violated(
        `it sent a frame (${kind}) of ${head.bytes} bytes, at most ${limit} are taken`,
        taken,
      );
    }
    this.#current = head;
    this.#payloadBytes = 0;
    this.#payload = limit === null ? null : Buffer.allocUnsafeSlow(head.bytes);
    return taken;
  }

  #readPayload(chunk: Buffer, at: number, head: FrameHead): number {
    const taken = Math.min(chunk.byteLength - at, head.bytes - this.#payloadBytes);
    const payload = this.#payload;
    if (payload !== null) chunk.copy(payload, this.#payloadBytes, at, at + taken);
    this.#payloadBytes += taken;
    if (this.#payloadBytes < head.bytes) return taken;
    this.#current = null;
    this.#payload = null;
    if (payload !== null) this.#options.onFrame(head, payload);
    return taken;
  }

  #violated(reason: string, taken: number): number {
    this.#hasEnded = true;
    this.#options.onViolation(reason);
    return taken;
  }
}
