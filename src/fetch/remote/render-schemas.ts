import { z } from 'zod';
import { type Identity, OTHER_BROWSERS } from '../../core/model/identity.ts';
import { givenSchema, type PlainOption } from '../../core/model/page-option.ts';
import { PLAIN_RENDER_OPTIONS } from '../../core/model/plain-options.ts';
import {
  PROXY_PROTOCOLS,
  PROXY_TIERS,
  ProxyCredentials,
  type ProxyEndpoint,
} from '../../core/model/proxy.ts';
import type { BrowserStorage, RenderAction, RenderWish } from '../../core/model/render.ts';
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
export const storedCookieSchema: z.ZodType<StoredCookie> = z.object({
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

export const identitySchema: z.ZodType<Identity> = z.object({
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

export const proxySchema = z.object({
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
export type SentProxy = z.infer<typeof proxySchema>;

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
