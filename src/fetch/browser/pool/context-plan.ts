import { createHash } from 'node:crypto';
import type { BrowserContext, BrowserContextOptions } from 'patchright-core';
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
    /** They are all there is: the plain ones are not meant for this browser. */
    readonly isWhole?: boolean;
  };
  /** Before the first page of a context is opened. */
  readonly prepareContext?: (context: BrowserContext, request: BrowserRequest) => Promise<void>;
}

const DEFAULT_VIEWPORT = { width: 1_280, height: 800 };
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
  const { viewport = DEFAULT_VIEWPORT, locale, timezone, proxy, cookies } = request;
  const changed = hooks.contextFor?.(request);
  const agent = request.userAgent ?? userAgent;
  const plain: BrowserContextOptions = {
    viewport,
    userAgent: agent,
    ...(locale === undefined ? {} : { locale }),
    ...(timezone === undefined ? {} : { timezoneId: timezone }),
  };
  const options = changed?.isWhole === true ? changed.options : { ...plain, ...changed?.options };
  // Cookies of the request last for the attempt: only requests with the very same ones may see them. Whoever names a
  // key says whose cookies belong together, whichever jar they come from.
  const parts = [
    request.key ?? [new URL(request.url).origin, idOf(request.jar)],
    changed?.identity ?? '',
    viewport,
    agent,
    locale ?? '',
    timezone ?? '',
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
