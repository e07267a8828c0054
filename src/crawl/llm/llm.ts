import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ChatAnswer, ChatClient, type ChatUsage } from './chat-client.ts';
import { ChatConnection } from './chat-connection.ts';
import { compileFields, type Fitting, keepFitting } from './keep-fitting.ts';
import { answerSchema, type FieldsSchema, promptFor, readModelAnswer } from './prompt.ts';
import { cutToTokens, estimateTokens } from './token-budget.ts';

export interface LlmDeps {
  /** Where OpenAI's protocol is spoken, `https://host/v1`; plain http only within private networks. */
  readonly baseUrl: string;
  readonly apiKey?: string | null | undefined;
  readonly model: string;
  /** For one call, with all its attempts and waits. */
  readonly timeoutMs?: number | undefined;
  readonly maxInputTokens?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly maxAnswerBytes?: number | undefined;
  readonly attempts?: number | undefined;
  /** Calls under way at once. */
  readonly connections?: number | undefined;
  readonly cache?: LlmCache | null | undefined;
  /** How long a server is left alone that refuses the key, the money or the model. */
  readonly restMs?: number | undefined;
  /** Milliseconds since the epoch; and monotonic ones. */
  readonly now?: (() => number) | undefined;
  readonly clock?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
  /** Ends early when the signal does, without throwing. */
  readonly wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export interface FillRequest {
  /** Only the required fields that have no value yet. */
  readonly fields: FieldsSchema;
  /** Text or Markdown of the page; cut to the budget. */
  readonly text: string;
  readonly url: string;
  /** Fields whose values are judgements or calculations and need not stand on the page; `all` for every one. */
  readonly derived?: readonly string[] | 'all' | undefined;
}

type LlmProblemCode =
  /** About the call: there are no values. */
  | 'llm-unavailable'
  | 'llm-limited'
  | 'llm-refused'
  | 'llm-timeout'
  | 'llm-bad-answer'
  | 'llm-bad-fields'
  /** Problems with a single field. */
  | 'not-found'
  | 'does-not-fit'
  | 'not-in-page'
  /** About the page: it was longer than the budget. */
  | 'page-cut';

export interface LlmProblem {
  readonly code: LlmProblemCode;
  /** Null when it is about all of them. */
  readonly field: string | null;
  readonly message: string;
}

interface LlmUsage extends ChatUsage {
  /** The server did not count; these are our own estimates. */
  readonly isEstimated: boolean;
}

interface Filled {
  /** Values that fit their schema and stand on the page. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Quotes from the page, where the model gave them and they are really there. */
  readonly evidence: Readonly<Record<string, string>>;
  readonly problems: readonly LlmProblem[];
  /** What this call cost; nothing when it was answered from the cache. */
  readonly usage: LlmUsage;
  readonly isCached: boolean;
  readonly model: string;
}

interface LlmFigures extends ChatUsage {
  readonly calls: number;
  readonly cached: number;
  readonly failed: number;
}

/**
 * A language model that fills in what rules left empty. Trouble with it is never an error: the fields stay empty and a
 * problem says why, in words that hold neither key nor page. Only the caller's signal and `close` make it throw
 * (CANCELLED, SHUTTING_DOWN).
 */
export interface Llm {
  readonly model: string;
  fillMissing(request: FillRequest, signal: AbortSignal): Promise<Filled>;
  figures(): LlmFigures;
  close(): Promise<void>;
}

const NOTHING: LlmUsage = { promptTokens: 0, completionTokens: 0, isEstimated: false };
const FAILURES = {
  unavailable: 'llm-unavailable',
  limited: 'llm-limited',
  account: 'llm-refused',
  'too-long': 'llm-refused',
  'bad-answer': 'llm-bad-answer',
} as const;
/** Part of the cache's keys: another way of asking or checking needs other answers. */
const VERSION = 1;
const MIN_TEXT_TOKENS = 64;

const cachedSchema = z.object({
  values: z.record(z.string(), z.unknown()),
  evidence: z.record(z.string(), z.string()),
  problems: z.array(z.custom<LlmProblem>((each) => typeof each === 'object' && each !== null)),
});

const waitBySystem = async (ms: number, signal: AbortSignal): Promise<void> => {
  await delay(ms, undefined, { signal }).catch(() => undefined);
};

/** Throws INVALID_SETTINGS for an address that must not be used; sends no request yet. */
export function createLlm(options: LlmDeps): Llm {
  const {
    model,
    timeoutMs = 60_000,
    maxInputTokens = 12_000,
    maxOutputTokens = 2_000,
    cache = null,
  } = options;
  const { clock = () => performance.now(), now = Date.now, restMs = 60_000 } = options;
  const connection = new ChatConnection({
    baseUrl: options.baseUrl,
    apiKey: options.apiKey ?? null,
    connections: options.connections ?? 4,
    maxAnswerBytes: options.maxAnswerBytes ?? 1_048_576,
    now,
  });
  const client = new ChatClient({
    connection,
    model,
    maxOutputTokens,
    attempts: options.attempts ?? 3,
    random: options.random ?? Math.random,
    wait: options.wait ?? waitBySystem,
    clock,
  });
  const figures = { calls: 0, cached: 0, failed: 0, promptTokens: 0, completionTokens: 0 };
  let rests: { readonly until: number; readonly reason: string } | null = null;

  const without = (code: LlmProblem['code'], reason: string, usage: LlmUsage = NOTHING): Filled => {
    figures.failed++;
    const message = `The language model did not help: ${reason}.`;
    return {
      values: {},
      evidence: {},
      problems: [{ code, field: null, message }],
      usage,
      isCached: false,
      model,
    };
  };

  const ask = async (
    question: Parameters<ChatClient['ask']>[0],
    signal: AbortSignal,
  ): Promise<ChatAnswer | null> => {
    const late = AbortSignal.timeout(timeoutMs);
    const end = AbortSignal.any([signal, connection.closing]);
    try {
      return await client.ask(question, clock() + timeoutMs, AbortSignal.any([end, late]));
    } catch (error) {
      if (end.aborted) throw ended(end.reason);
      if (late.aborted) return null;
      throw error;
    }
  };

  return {
    model,

    async fillMissing({ fields, text, url, derived = [] }, signal) {
      if (signal.aborted) throw ended(signal.reason);
      const names = Object.keys(fields.properties);
      if (names.length === 0) {
        return { values: {}, evidence: {}, problems: [], usage: NOTHING, isCached: false, model };
      }
      const compiled = compileFields(fields);
      if (typeof compiled === 'string') return without('llm-bad-fields', compiled);
      const schema = answerSchema(fields);
      const overhead = estimateTokens(JSON.stringify(promptFor(url, '', fields, schema)('text')));
      const page = cutToTokens(text, Math.max(MIN_TEXT_TOKENS, maxInputTokens - overhead));
      const key = keyOf([VERSION, options.baseUrl, model, fields, derived, page.text]);
      const known = await fromCache(cache, key);
      if (known !== null) {
        figures.cached++;
        return { ...known, usage: NOTHING, isCached: true, model };
      }
      if (rests !== null && clock() < rests.until) return without('llm-refused', rests.reason);
      figures.calls++;
      const messages = promptFor(url, page.text, fields, schema);
      const answer = await ask({ messages, schema }, signal);
      if (answer === null) return without('llm-timeout', `it took longer than ${timeoutMs} ms`);
      const usage = usageOf(answer, messages);
      figures.promptTokens += usage.promptTokens;
      figures.completionTokens += usage.completionTokens;
      rests = answer.kind === 'account' ? { until: clock() + restMs, reason: answer.reason } : null;
      if (answer.kind !== 'answered') return without(FAILURES[answer.kind], answer.reason, usage);
      const answered = readModelAnswer(answer.content, names);
      if (answered === null)
        return without('llm-bad-answer', 'its answer is not the JSON that was asked for', usage);
      const given = new Set(derived === 'all' ? names : derived);
      const fitting = keepFitting(answered, compiled, { fields, text: page.text, derived: given, clock });
      const cutting: LlmProblem = {
        code: 'page-cut',
        field: null,
        message: 'The model saw only part of the page.',
      };
      const found = page.isCut ? { ...fitting, problems: [...fitting.problems, cutting] } : fitting;
      await intoCache(cache, key, found);
      return { ...found, usage, isCached: false, model };
    },

    figures: () => ({ ...figures }),
    close: () => connection.close(),
  };
}

function keyOf(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex');
}

async function fromCache(cache: LlmCache | null, key: string): Promise<Fitting | null> {
  if (cache === null) return null;
  try {
    const text = await cache.get(key);
    return text === null ? null : (cachedSchema.safeParse(JSON.parse(text)).data ?? null);
  } catch {
    return null;
  }
}

async function intoCache(cache: LlmCache | null, key: string, found: Fitting): Promise<void> {
  try {
    await cache?.put(key, JSON.stringify(found));
  } catch {
    // The answer is as good without it.
  }
}

type Messages = Parameters<ChatClient['ask']>[0]['messages'];

function usageOf(answer: ChatAnswer, messages: Messages): LlmUsage {
  if (answer.usage !== null) return { ...answer.usage, isEstimated: false };
  if (answer.kind !== 'answered') return NOTHING;
  const asked = messages(answer.mode).map(({ content }) => content);
  return {
    promptTokens: estimateTokens(asked.join('\n')),
    completionTokens: estimateTokens(answer.content),
    isEstimated: true,
  };
}

/** What ended the call, in the one shape it may leave in. */
function ended(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request for the language model was cancelled', {
    cause: reason,
  });
}

/**
 * Answers of models by what was asked. A cache may forget at any time. Keys are hashes and values are text that only this
 * layer reads. What `get` or `put` throws is passed over: the model is asked, and the answer given.
 */
interface LlmCache {
  get(key: string): Promise<string | null>;
  put(key: string, value: string): Promise<void>;
}

interface MemoryCacheOptions {
  readonly maxEntries?: number;
  readonly maxChars?: number;
}

/** Keeps answers in this process; those not asked for the longest go first. */
export function createMemoryCache({
  maxEntries = 2_000,
  maxChars = 8_000_000,
}: MemoryCacheOptions = {}): LlmCache {
  const entries = new Map<string, string>();
  let chars = 0;
  const drop = (key: string): void => {
    chars -= entries.get(key)?.length ?? 0;
    entries.delete(key);
  };
  return {
    async get(key) {
      const value = entries.get(key);
      if (value === undefined) return null;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    async put(key, value) {
      drop(key);
      if (value.length > maxChars) return;
      entries.set(key, value);
      chars += value.length;
      for (const oldest of entries.keys()) {
        if (entries.size <= maxEntries && chars <= maxChars) break;
        drop(oldest);
      }
    },
  };
}
