import { hash } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import type { EngineName } from '../../model/attempt.ts';
import { isContentHash } from '../../model/blob-frame.ts';
import type { ContentHash } from '../../model/ids.ts';
import type { CallName } from '../../ports/queue.ts';

/** Engines that work in processes of their own. */
export type RenderName = Extract<EngineName, 'browser' | 'stealth'>;

/** The queue through which each is asked. */
export const RENDER_CALLS: Readonly<Record<RenderName, CallName>> = {
  browser: 'scrape-browser',
  stealth: 'scrape-stealth',
};

/** No URL, and no header that could bring one, is longer. */
const MOST_URL_CHARS = 65_536;

const contentHash = z
  .string()
  .refine(isContentHash)
  .transform((text) => text as ContentHash);
const url = z.string().max(MOST_URL_CHARS);

const requestSchema = z.object({
  url: url.refine(URL.canParse),
  method: z.enum(['GET', 'POST', 'HEAD']),
  /** Cookies aside, all that is sent besides the engine's own; names in lower case. */
  headers: z.record(z.string(), z.string()),
  /** What to send to this URL as [name, value], in this order. */
  cookies: z.array(z.tuple([z.string(), z.string()])),
  /** A large one is a blob. */
  body: z.union([z.null(), z.object({ text: z.string() }), z.object({ contentHash })]),
  /** What was left of the attempt's time when it was asked for. */
  timeoutMs: z.number().positive(),
  maxBodyBytes: z.number().nonnegative(),
});

const answerSchema = z.object({
  finalUrl: url,
  statusCode: z.int().min(100).max(999),
  headers: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  contentType: z.string().nullable(),
  /** The body, which is a blob; null when there is none. */
  contentHash: contentHash.nullable(),
  wireBytes: z.number().nonnegative(),
  ms: z.number().nonnegative(),
  httpVersion: z.enum(['1.1', '2']),
  /** Cookies that were set by other means than the headers: by a script, or by what else the page loads. */
  setCookies: z.array(z.object({ url, lines: z.array(z.string()) })),
});

/** One request to one URL: redirects are answers, and whoever asks decides about them. */
export type RenderRequest = z.infer<typeof requestSchema>;
export type RenderAnswer = z.infer<typeof answerSchema>;

/** Messages pass through a server that others can write to, and may be those of another version. */
export function readRenderRequest(message: unknown): RenderRequest {
  return read(requestSchema, message, 'A request to render');
}

export function readRenderAnswer(message: unknown): RenderAnswer {
  return read(answerSchema, message, 'The answer to a request to render');
}

function read<T>(schema: z.ZodType<T>, message: unknown, what: string): T {
  const { data, error } = schema.safeParse(message);
  if (error === undefined) return data;
  // Where it is wrong, not what stands there: that may be anybody's secret.
  const places = [...new Set(error.issues.map(({ path }) => String(path[0] ?? 'all')))];
  throw new ScrapifieError('INTERNAL', `${what} is not one: ${places.join(', ')}`);
}

export function contentHashOf(bytes: Uint8Array): ContentHash {
  return hash('sha256', bytes, 'hex') as ContentHash;
}
