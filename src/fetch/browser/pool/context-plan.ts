import { createHash } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions } from 'patchright-core';
import type { RenderDevice } from '../../../core/model/render.ts';
import { defined } from '../../../lib/defined.ts';
import type { CookieJar } from '../../cookies/cookie-jar.ts';
import { proxyKeyOf } from '../../proxy/proxy-key.ts';
import type { BrowserRequest } from '../../render-engine.ts';
import type { ContextPlan } from './pooled-browser.ts';

/** What an engine of another kind changes about contexts. */
export interface ContextHooks {
  /** Options over the plain ones. They must follow from the request, and `identity` must tell them apart. */
  readonly contextFor?: (request: BrowserRequest) => {
    readonly identity: string;
    readonly options: BrowserContextOptions;
    /** The options are complete: the plain ones are not meant for this browser. */
    readonly isWhole?: boolean;
  };
  /** Before the first page of a context is opened. */
  readonly prepareContext?: (context: BrowserContext, request: BrowserRequest) => Promise<void>;
}

const DEFAULT_VIEWPORT = { width: 1_280, height: 800 };
const PHONE_VIEWPORT = { width: 412, height: 915 };
const PHONE_PIXEL_RATIO = 2;
const jarIds = new WeakMap<CookieJar, number>();
let jars = 0;

/** Jars have no name of their own, and pages with different ones must not share cookies. */
function idOf(jar: CookieJar | undefined): number {
  if (jar === undefined) return 0;
  const known = jarIds.get(jar);
  if (known !== undefined) return known;
  jars += 1;
  jarIds.set(jar, jars);
  return jars;
}

/** Which context a request's page belongs into, and how that is made. */
export function contextPlanFor(request: BrowserRequest, userAgent: string, hooks: ContextHooks): ContextPlan {
  const { device = {}, proxy, cookies } = request;
  const changed = hooks.contextFor?.(request);
  const own = request.userAgent ?? userAgent;
  const agent = device.isMobile === true ? `${own} Mobile` : own;
  const plain: BrowserContextOptions = { userAgent: agent, ...deviceOptionsOf(device) };
  const options = changed?.isWhole === true ? changed.options : { ...plain, ...changed?.options };
  // Cookies of the request last for the attempt: only requests with the very same ones may see them. A caller that
  // names a key says whose cookies belong together, whichever jar they come from.
  const parts = [
    request.key ?? [new URL(request.url).origin, idOf(request.jar)],
    changed?.identity ?? '',
    device,
    agent,
    proxy === undefined ? '' : proxyKeyOf(proxy),
    cookies,
  ];
  const prepare = hooks.prepareContext;
  return {
    // Hashed because it holds secrets and outlives the request.
    identity: createHash('sha256').update(JSON.stringify(parts)).digest('base64url'),
    options,
    upstream: proxy ?? null,
    isWatched: (changed?.identity ?? '') !== '',
    ...(prepare === undefined ? {} : { prepare: (context) => prepare(context, request) }),
  };
}

function deviceOptionsOf(device: RenderDevice): BrowserContextOptions {
  const { isMobile = false, geolocation, locale, timezone } = device;
  const viewport = device.viewport ?? (isMobile ? PHONE_VIEWPORT : DEFAULT_VIEWPORT);
  return {
    viewport,
    ...(isMobile ? { isMobile, hasTouch: true, deviceScaleFactor: PHONE_PIXEL_RATIO, screen: viewport } : {}),
    ...(geolocation === undefined ? {} : { geolocation: exactly(geolocation), permissions: ['geolocation'] }),
    ...defined({ locale, timezoneId: timezone }),
  };
}

const exactly = ({ accuracy = 10, latitude, longitude }: NonNullable<RenderDevice['geolocation']>) => ({
  latitude,
  longitude,
  accuracy,
});
