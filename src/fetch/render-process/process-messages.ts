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
export const captchaSchema: z.ZodType<Captcha, unknown> = z.discriminatedUnion('kind', [
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
