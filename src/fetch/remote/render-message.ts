import { hash } from 'node:crypto';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { EngineName } from '../../core/model/attempt.ts';
import { type Identity, OTHER_BROWSERS } from '../../core/model/identity.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import { givenSchema, type PlainOption } from '../../core/model/page-option.ts';
import { isContentHash } from '../../core/model/page-record.ts';
import { PLAIN_RENDER_OPTIONS } from '../../core/model/plain-options.ts';
import {
  PROXY_PROTOCOLS,
  PROXY_TIERS,
  ProxyCredentials,
  type ProxyEndpoint,
} from '../../core/model/proxy.ts';
import type { BrowserStorage, RenderAction, RenderWish } from '../../core/model/render.ts';
import type { CallName } from '../../core/ports/queue.ts';
import type { StoredCookie } from '../cookies/cookie-jar.ts';

/** The parts of render messages that the model describes, as they travel. What they do not name is passed over. */

const selector = z.string().max(10_000);
const ms = z.number().min(0).max(86_400_000);
const until = z.enum(['load', 'domcontentloaded', 'networkidle']);
const screenshot = {
  fullPage: z.boolean().optional(),
  selector: selector.optional(),
  format: z.enum(['png', 'jpeg']).optional(),
  quality: z.number().min(0).max(100).optional(),
};
const timeoutMs = ms.optional();
const wait = { selector: selector.optional(), ms: ms.optional(), until: until.optional() };

const file = z.object({
  name: z.string().max(1_000),
  contentType: z.string().max(1_000).optional(),
  base64: z.string(),
});

const device = z.object({
  viewport: z.object({ width: z.int().min(1).max(100_000), height: z.int().min(1).max(100_000) }).optional(),
  isMobile: z.boolean().optional(),
  geolocation: z
    .object({ latitude: z.number(), longitude: z.number(), accuracy: z.number().optional() })
    .optional(),
  locale: z.string().max(100).optional(),
  timezone: z.string().max(100).optional(),
});

const actionSchema: z.ZodType<RenderAction> = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['click', 'hover']), selector, timeoutMs }),
  z.object({ type: z.literal('back'), timeoutMs }),
  z.object({ type: z.literal('upload'), selector, files: z.array(file).max(100), timeoutMs }),
  z.object({
    type: z.literal('type'),
    selector,
    text: z.string(),
    fill: z
      .object({
        hosts: z.array(z.string().max(300)).max(100),
        allowHttp: z.boolean().optional(),
        isPassword: z.boolean(),
      })
      .optional(),
    timeoutMs,
  }),
  z.object({ type: z.literal('press'), key: z.string().max(100), selector: selector.optional(), timeoutMs }),
  z.object({ type: z.literal('select'), selector, value: z.string(), timeoutMs }),
  z.object({ type: z.literal('wait'), ...wait, timeoutMs }),
  z.object({
    type: z.literal('scroll'),
    selector: selector.optional(),
    pixels: z.number().optional(),
    timeoutMs,
  }),
  z.object({ type: z.literal('evaluate'), script: z.string(), timeoutMs }),
  z.object({ type: z.literal('screenshot'), ...screenshot, timeoutMs }),
]);

const plainFields = Object.fromEntries(
  Object.entries<PlainOption>(PLAIN_RENDER_OPTIONS).map(([name, { schema }]) => [
    name,
    givenSchema(schema).optional(),
  ]),
);

export const wishSchema: z.ZodType<RenderWish> = z.object({
  ...plainFields,
  wait: z.object(wait).optional(),
  scroll: z
    .object({ maxSteps: z.number().min(0).max(100_000).optional(), pauseMs: ms.optional() })
    .optional(),
  actions: z.array(actionSchema).max(1_000).optional(),
  screenshot: z.object(screenshot).optional(),
  pdf: z.boolean().optional(),
  captureXhr: z.boolean().optional(),
  device: device.optional(),
  manner: z
    .object({ minPauseMs: ms, maxPauseMs: ms, typing: z.boolean(), scrolling: z.boolean() })
    .optional(),
});

const cookieSchema = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string(),
  expires: z.number(),
  httpOnly: z.boolean(),
  secure: z.boolean(),
  sameSite: z.enum(['Strict', 'Lax', 'None']),
});

export const storageSchema: z.ZodType<BrowserStorage> = z.object({
  cookies: z.array(cookieSchema).max(10_000),
  localStorage: z.record(z.string(), z.record(z.string(), z.string())),
});

/** Cookies of a jar. */
const storedCookieSchema: z.ZodType<StoredCookie> = z.object({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  isHostOnly: z.boolean(),
  path: z.string(),
  isSecure: z.boolean(),
  isHttpOnly: z.boolean(),
  sameSite: z.enum(['strict', 'lax', 'none']).nullable(),
  expiresAt: z.number().nullable(),
});

const text = z.string().max(10_000);
const brands = z.array(z.object({ brand: text, version: text })).max(32);
const pixels = z.number().min(0).max(100_000);

const identitySchema: z.ZodType<Identity> = z.object({
  kind: z.literal('browser'),
  family: z.enum(OTHER_BROWSERS).optional(),
  region: text,
  userAgent: text,
  clientHints: z.object({
    brands,
    fullVersionList: brands,
    fullVersion: text,
    platform: text,
    platformVersion: text,
    architecture: text,
    bitness: text,
    model: text,
    mobile: z.boolean(),
    wow64: z.boolean(),
  }),
  platform: text,
  screen: z.object({
    width: pixels,
    height: pixels,
    availWidth: pixels,
    availHeight: pixels,
    colorDepth: z.number(),
    devicePixelRatio: z.number().positive(),
  }),
  viewport: z.object({ width: pixels, height: pixels }),
  timeZone: text,
  geolocation: z.object({ latitude: z.number(), longitude: z.number(), accuracy: z.number() }),
  languages: z.array(text).max(32),
  acceptLanguage: text,
  hardwareConcurrency: z.number(),
  deviceMemory: z.number(),
  maxTouchPoints: z.number(),
  videoCard: z.object({ vendor: text, renderer: text }),
  headers: z.array(z.tuple([text, text])).max(100),
});

const proxySchema = z.object({
  id: text,
  provider: text,
  tier: z.enum(PROXY_TIERS),
  protocol: z.enum(PROXY_PROTOCOLS),
  host: z.string().min(1).max(253),
  port: z.int().min(1).max(65_535),
  login: z.object({ username: z.string(), password: z.string() }).nullable(),
  country: text.nullable(),
  isPrivateAllowed: z.boolean(),
});

/** A proxy as it travels: the one form of it that shows its login. */
type SentProxy = z.infer<typeof proxySchema>;

export function writeProxy({ credentials, ...proxy }: ProxyEndpoint): SentProxy {
  const { id, provider, tier, protocol, host, port, country, isPrivateAllowed } = proxy;
  const login =
    credentials === null ? null : { username: credentials.username, password: credentials.password };
  return { id, provider, tier, protocol, host, port, login, country, isPrivateAllowed };
}

export function readProxy({ login, ...proxy }: SentProxy): ProxyEndpoint {
  return {
    ...proxy,
    credentials: login === null ? null : new ProxyCredentials(login.username, login.password),
  };
}

/** Engines that work in processes of their own. */
export type RenderName = Extract<EngineName, 'browser' | 'stealth'>;

/** The queue through which each is asked. */
export const RENDER_CALLS: Readonly<Record<RenderName, CallName>> = {
  browser: 'scrape-browser',
  stealth: 'scrape-stealth',
};

/** No URL, and no header that could bring one, is longer. */
const MOST_URL_CHARS = 65_536;
const MOST_REDIRECTS = 100;

const contentHash = z
  .string()
  .refine(isContentHash)
  .transform((text) => text as ContentHash);
/** Bytes beside the message; see `Parcels`. */
const parcel = z.object({ contentHash, isSealed: z.boolean() });
const url = z.string().max(MOST_URL_CHARS);

/** What can be too large for a message, and is a parcel then. */
const taskSchema = z.object({
  render: wishSchema.optional(),
  storage: storageSchema.optional(),
  /** Cookies of the site with all that is known of them, those of this URL among them. */
  jar: z.array(storedCookieSchema).max(10_000).optional(),
});

const requestSchema = z.object({
  url: url.refine(URL.canParse),
  method: z.enum(['GET', 'POST', 'HEAD']),
  /** Cookies aside, all that is sent besides the engine's own; names in lower case. */
  headers: z.record(z.string(), z.string()),
  /** See FetchRequest. A worker that does not know it sends fewer headers elsewhere. */
  crossOriginHeaders: z.array(z.string().max(256)).max(64).optional(),
  /** What to send to this URL as [name, value], in this order. */
  cookies: z.array(z.tuple([z.string(), z.string()])),
  /** A large one is a parcel; owners of earlier versions send a blob. */
  body: z.union([z.null(), z.object({ text: z.string() }), z.object({ parcel }), z.object({ contentHash })]),
  /** What was left of the attempt's time when it was asked for. */
  timeoutMs: z.number().positive(),
  maxBodyBytes: z.number().nonnegative(),
  /** How many the caller can be asked about; none without. */
  maxRedirects: z.int().min(0).max(MOST_REDIRECTS).optional(),
  proxy: proxySchema.optional(),
  identity: identitySchema.optional(),
  key: z.string().max(1_000).optional(),
  task: z
    .union([z.object({ inline: taskSchema }), z.object({ parcel }), z.object({ contentHash })])
    .optional(),
  /** The owner takes parcels, of this kind; without it the answer's pack is a blob, as earlier versions read it. */
  parcels: z.enum(['sealed', 'plain']).optional(),
  /**
   * The owner answers an `AdmissionQuestion`, and has to be asked when the page is not opened within `validMs` (null: at
   * any time) after the call. Owners of earlier versions take no such question.
   */
  admission: z.object({ validMs: z.number().nonnegative().nullable() }).optional(),
  wantsStorage: z.boolean().optional(),
  maySolve: z.boolean().optional(),
  /** Secrets that the answer must not contain. Workers that know this field also know `fill` of an action. */
  secrets: z.array(z.string().max(10_000)).max(200).optional(),
  /** A worker that does not know it shows the page beside others. */
  runsAlone: z.boolean().optional(),
  /** The span of the caller, for workers that have spans. */
  traceParent: z.string().max(100).optional(),
  /** Fields that a worker must know to take the call, such as a proxy. */
  needs: z.array(z.string().max(100)).max(100).optional(),
});

/** What a caller is asked before a redirect is followed, whether the server or the page makes it. */
const redirectSchema = z.object({ target: url.refine(URL.canParse), hop: z.int().positive() });

/** What a caller is asked before a page is opened a second time, or too late for the admission of the call. */
const admissionQuestionSchema = z.object({ again: z.literal(true) });

const questionSchema = z.union([redirectSchema, admissionQuestionSchema]);

/** The host's gate has admitted one more request. A refusal is an error. */
const admittedSchema = z.object({ isAdmitted: z.literal(true) });

/** `isFollowed` is false as well when the caller goes there by a request of its own. */
const verdictSchema = z.object({ isFollowed: z.boolean() });

const answerSchema = z.object({
  finalUrl: url.refine(URL.canParse),
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
  redirects: z
    .array(z.object({ url: url.refine(URL.canParse), statusCode: z.int().min(100).max(999) }))
    .max(MOST_REDIRECTS)
    .optional(),
  /** The target of a redirect that was not followed; undefined when the owner was not asked. */
  redirectedTo: url.refine(URL.canParse).nullable().optional(),
  /** What there is beyond the document: a head alone, or a pack. Missing for engines that show no pages. */
  rendered: z
    .union([z.object({ head: z.unknown() }), z.object({ parcel }), z.object({ contentHash })])
    .optional(),
});

/** One request to one URL; the redirects that follow are the caller's to decide. */
export type RenderCall = z.infer<typeof requestSchema>;
export type RenderTask = z.infer<typeof taskSchema>;
export type RenderAnswer = z.infer<typeof answerSchema>;
export type RedirectQuestion = z.infer<typeof redirectSchema>;
export type AdmissionQuestion = z.infer<typeof admissionQuestionSchema>;
export type Admitted = z.infer<typeof admittedSchema>;
export type RedirectVerdict = z.infer<typeof verdictSchema>;

/** Messages pass through a server that others can write to, and may be those of another version. */
export function readRenderCall(message: unknown): RenderCall {
  const request = read(requestSchema, message, 'A request to render');
  const unknown = (request.needs ?? []).filter((name) => !Object.hasOwn(requestSchema.shape, name));
  if (unknown.length === 0) return request;
  throw new ScrapifieError('NO_WORKER', `The worker is of a version that cannot do: ${unknown.join(', ')}`);
}

export function readRenderTask(json: Uint8Array): RenderTask {
  return read(taskSchema, parsed(json), 'The task of a request to render');
}

export function readRenderAnswer(message: unknown): RenderAnswer {
  return read(answerSchema, message, 'The answer to a request to render');
}

export function readQuestion(message: unknown): RedirectQuestion | AdmissionQuestion {
  return read(questionSchema, message, 'A question about a render');
}

export function readAdmitted(message: unknown): Admitted {
  return read(admittedSchema, message, 'The admission of a request');
}

export function readVerdict(message: unknown): RedirectVerdict {
  return read(verdictSchema, message, 'The verdict on a redirect');
}

/** Throws INTERNAL, which names the wrong fields and not their values, since these may be secret. */
export function read<T>(schema: z.ZodType<T>, message: unknown, what: string): T {
  const { data, error } = schema.safeParse(message);
  if (error === undefined) return data;
  const places = [...new Set(error.issues.map(({ path }) => String(path[0] ?? 'all')))];
  throw new ScrapifieError('INTERNAL', `${what} is not one: ${places.join(', ')}`);
}

/** Undefined when it is no JSON. */
export function parsed(json: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}

export function contentHashOf(bytes: Uint8Array): ContentHash {
  return hash('sha256', bytes, 'hex') as ContentHash;
}
