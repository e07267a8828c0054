import { z } from 'zod';
import type { ChatConnection, ChatError } from './chat-connection.ts';
import type { AnswerSchema } from './prompt.ts';

export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

/** How the answer's shape is asked for, from the surest to what every server knows. */
export const ANSWER_MODES = ['json_schema', 'json_object', 'text'] as const;
export type AnswerMode = (typeof ANSWER_MODES)[number];

export interface ChatQuestion {
  /** Without a schema enforced by the server the words have to describe it. */
  readonly messages: (mode: AnswerMode) => readonly ChatMessage[];
  readonly schema: AnswerSchema;
}

export interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** `usage` is null where the server does not count, or nothing was answered. */
export type ChatAnswer =
  | {
      readonly kind: 'answered';
      readonly content: string;
      readonly usage: ChatUsage | null;
      readonly mode: AnswerMode;
    }
  | { readonly kind: ChatFailure; readonly reason: string; readonly usage: ChatUsage | null };

/** `account`: a retry is useless until the operator has fixed the key, the balance or the model. */
export type ChatFailure = 'unavailable' | 'limited' | 'account' | 'too-long' | 'bad-answer';

export interface ChatClientOptions {
  readonly connection: ChatConnection;
  readonly model: string;
  readonly maxOutputTokens: number;
  /** Attempts for one question while the server has temporary errors. */
  readonly attempts: number;
  /** Chance, as a number from 0 to below 1. */
  readonly random: () => number;
  /** Ends early when the signal does, without throwing. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

const BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 8_000;
const ACCOUNT_STATUSES: ReadonlySet<number> = new Set([0, 401, 402, 403, 404, 405]);
const TOO_LONG = /context_length|context length|maximum context|too many tokens|prompt is too long/i;

const answerSchema = z.object({
  choices: z
    .array(
      z.object({
        finish_reason: z.string().nullish(),
        message: z.object({
          content: z
            .union([
              z.string(),
              z
                .array(z.object({ text: z.string().catch('') }))
                .transform((parts) => parts.map(({ text }) => text).join('')),
            ])
            .nullish(),
          refusal: z.string().nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .object({ prompt_tokens: z.number().nonnegative(), completion_tokens: z.number().nonnegative().catch(0) })
    .nullish()
    .catch(null),
});

/** Names for the limit of the answer: servers know the old one, the new one, or neither. */
const LIMIT_NAMES = ['max_tokens', 'max_completion_tokens', null] as const;

/** What a server has turned out to accept. */
interface Dialect {
  readonly mode: number;
  readonly limitName: number;
  readonly hasTemperature: boolean;
}

/** Sends a question to a model, drops parameters that the server does not know, and retries temporary errors. */
export class ChatClient {
  readonly #options: ChatClientOptions;
  #dialect: Dialect = { mode: 0, limitName: 0, hasTemperature: true };

  constructor(options: ChatClientOptions) {
    this.#options = options;
  }

  /** `endsAt` is a time of the clock; waiting beyond it is not begun. Throws only when the signal ends it. */
  async ask(question: ChatQuestion, endsAt: number, signal: AbortSignal): Promise<ChatAnswer> {
    const { connection, attempts } = this.#options;
    let dialect = this.#dialect;
    for (let failures = 0; ; ) {
      const reply = await connection.ask(this.#body(question, dialect), signal);
      if (reply.kind === 'ok') {
        this.#dialect = dialect;
        return read(reply.value, ANSWER_MODES[dialect.mode] ?? 'text');
      }
      if (reply.kind === 'refused') {
        const { status, reason, error } = reply;
        if (TOO_LONG.test(`${error.code} ${error.message}`) || status === 413) {
          return { kind: 'too-long', reason: 'the page is longer than the model takes', usage: null };
        }
        const plainer = status === 400 || status === 422 ? giveWay(dialect, error) : null;
        if (plainer !== null) {
          dialect = plainer;
          continue;
        }
        const isAccount = ACCOUNT_STATUSES.has(status) || status === 429;
        return { kind: isAccount ? 'account' : 'unavailable', reason, usage: null };
      }
      failures++;
      const waitMs = reply.waitMs ?? this.#backoffMs(failures);
      const isLate = this.#options.clock() + waitMs >= endsAt;
      if (failures >= attempts || isLate) {
        return { kind: reply.isLimit ? 'limited' : 'unavailable', reason: reply.reason, usage: null };
      }
      await this.#options.wait(waitMs, signal);
      if (signal.aborted) throw new Error('The question was ended.');
    }
  }

  #backoffMs(failures: number): number {
    const most = Math.min(MOST_BACKOFF_MS, BACKOFF_MS * 2 ** (failures - 1));
    return most * (0.5 + this.#options.random() / 2);
  }

  #body({ messages, schema }: ChatQuestion, dialect: Dialect): Record<string, unknown> {
    const { model, maxOutputTokens } = this.#options;
    const mode = ANSWER_MODES[dialect.mode] ?? 'text';
    const limitName = LIMIT_NAMES[dialect.limitName] ?? null;
    return {
      model,
      messages: messages(mode),
      ...(dialect.hasTemperature ? { temperature: 0 } : {}),
      ...(limitName === null ? {} : { [limitName]: maxOutputTokens }),
      ...(mode === 'text' ? {} : { response_format: formatOf(mode, schema) }),
    };
  }
}

function formatOf(
  mode: 'json_schema' | 'json_object',
  { schema, isStrict }: AnswerSchema,
): Record<string, unknown> {
  if (mode === 'json_object') return { type: mode };
  return { type: mode, json_schema: { name: 'page_values', strict: isStrict, schema } };
}

/** A dialect without what the server refuses; null when there is nothing left to leave out. */
function giveWay(dialect: Dialect, { param, message }: ChatError): Dialect | null {
  const named = `${param ?? ''} ${message}`;
  if (/\btemperature\b/.test(named) && dialect.hasTemperature) return { ...dialect, hasTemperature: false };
  if (/\bmax_(?:completion_)?tokens\b/.test(named) && dialect.limitName < LIMIT_NAMES.length - 1) {
    return { ...dialect, limitName: dialect.limitName + 1 };
  }
  return dialect.mode < ANSWER_MODES.length - 1 ? { ...dialect, mode: dialect.mode + 1 } : null;
}

function read(value: unknown, mode: AnswerMode): ChatAnswer {
  const parsed = answerSchema.safeParse(value);
  const [choice] = parsed.success ? parsed.data.choices : [];
  if (!parsed.success || choice === undefined) {
    return { kind: 'bad-answer', reason: 'its answer has another shape', usage: null };
  }
  const { usage: counted } = parsed.data;
  const usage =
    counted === null || counted === undefined
      ? null
      : { promptTokens: counted.prompt_tokens, completionTokens: counted.completion_tokens };
  const { message, finish_reason: end } = choice;
  const content = message.content ?? '';
  if (typeof message.refusal === 'string' && message.refusal !== '') {
    return { kind: 'bad-answer', reason: 'the model declined to answer', usage };
  }
  if (end === 'content_filter')
    return { kind: 'bad-answer', reason: 'its filter held the answer back', usage };
  if (end === 'length')
    return { kind: 'bad-answer', reason: 'its answer was cut at the limit of tokens', usage };
  if (content === '') return { kind: 'bad-answer', reason: 'its answer is empty', usage };
  return { kind: 'answered', content, usage, mode };
}
