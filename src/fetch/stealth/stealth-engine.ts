import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import type { BrowserContext, Page } from 'patchright-core';
import type { Identity } from '../../core/model/identity.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import {
  type BrowserEngineHooks,
  type BrowserEngineOptions,
  createBrowserEngine,
  type RenderEngine,
} from '../browser/browser-engine.ts';
import type { HeaderEntry } from '../browser/page/page-session.ts';
import { browserUnavailable } from '../render-errors.ts';
import { fitIdentity } from './client-hints.ts';
import { contextOptionsOf, regionalOptionsOf, targetSetupOf } from './disguise.ts';
import { createHumanInput, type PauseRange } from './human-input.ts';
import { type TargetCommands, targetCommandsOf } from './target-commands.ts';

export interface StealthEngineOptions extends Pick<BrowserEngineOptions, 'runtime' | 'userAgent' | 'limits'> {
  /** Called when a page has loaded, to look for a captcha. */
  readonly afterLoad?: BrowserEngineHooks['afterLoad'];
  /** How long the pauses between actions are. */
  readonly pauses?: PauseRange | undefined;
  readonly random?: (() => number) | undefined;
}

/** URLs that a context remembers to have asked for. */
const MAX_VISITED = 2_000;

/** Sent with a reload, before everything else. */
const FIRST = 'cache-control';
/** Hints that a site has asked for stand with the others. */
const BEFORE_OTHER_HINTS = 'sec-ch-ua-platform';
const BEFORE_REFERER = 'sec-fetch-dest';
/** Only HTTP/2 has it, and Chromium writes it by itself. */
const WRITTEN_LATER: ReadonlySet<string> = new Set(['priority', 'cookie']);
const PLAIN_ENCODINGS = 'gzip, deflate';

/**
 * A browser that is who the request's identity says: to servers, to scripts of the page, of its frames and of its
 * workers, and in the way it acts. A request without an identity says who we are, like one to the plain engine. The
 * version is that of the running browser, which may differ from the one the identity was drawn for.
 *
 * A browser behind a Playwright server has a disguise of its own (that is what such servers are for) and gets only what
 * concerns the place: time zone, language and position.
 */
export function createStealthEngine(options: StealthEngineOptions): RenderEngine {
  const { runtime, userAgent, limits, afterLoad, pauses, random = Math.random } = options;
  const hasOwnDisguise = runtime.kind === 'playwright';
  const visits = new WeakMap<BrowserContext, BoundedMap<string, true>>();
  /** Version of the last browser that a context was made in; null before the first context. */
  let version: string | null = null;
  const versionMismatches = new WeakSet<object>();

  const hooks: BrowserEngineHooks = {
    contextFor({ identity }) {
      if (identity === undefined) return { identity: '', options: {} };
      const name = JSON.stringify(identity);
      if (!hasOwnDisguise) return { identity: name, options: contextOptionsOf(identity) };
      return { identity: name, options: { viewport: null, ...regionalOptionsOf(identity) }, isWhole: true };
    },
    async prepareContext(context, { identity }) {
      if (identity === undefined || hasOwnDisguise) return;
      version = context.browser()?.version() ?? null;
      if (version !== null && fitIdentity(identity, version) !== identity) throw versionMismatch(version);
      targetCommandsFor(context).brief(
        context,
        targetSetupOf(identity, `s${randomBytes(9).toString('hex')}`),
      );
    },
    beforeNavigation(page, { identity }) {
      if (identity === undefined || hasOwnDisguise) return;
      const refusal = targetCommandsFor(page.context()).refusalOf(page.context());
      if (refusal !== null) throw browserUnavailable(`it cannot be disguised (${refusal})`);
    },
    arrangeHeaders(headers, url, page, { identity }) {
      const plain = () => [...headers].map(([name, value]) => ({ name, value }));
      if (identity === undefined || hasOwnDisguise) return plain();
      const sent = new Map(headers);
      // Browsers revalidate only pages that they have visited before.
      if (!hasVisited(page, url.href)) sent.delete('cache-control');
      return arrangeHeaders(sent, url, identity);
    },
    afterLoad,
    humanInput: createHumanInput({ random, pauses }),
  };

  const hasVisited = (page: Page, url: string): boolean => {
    const visited = visits.get(page.context()) ?? new BoundedMap(MAX_VISITED);
    visits.set(page.context(), visited);
    const isKnown = visited.get(url) === true;
    visited.set(url, true);
    return isKnown;
  };

  const versionMismatch = (found: string) => {
    const error = browserUnavailable(`it is of version ${found}, and the identity of another`);
    versionMismatches.add(error);
    return error;
  };

  /** Contexts are planned before it is known which browser they are made in, so the first plan may not fit. */
  const fitting = async <Request extends { readonly identity?: Identity | undefined }, Response>(
    request: Request,
    work: (request: Request) => Promise<Response>,
  ): Promise<Response> => {
    const { identity } = request;
    const fitted = (): Request =>
      identity === undefined || version === null || hasOwnDisguise
        ? request
        : { ...request, identity: fitIdentity(identity, version) };
    try {
      return await work(fitted());
    } catch (error) {
      const reasons = [error, error instanceof Error ? error.cause : null];
      const isMisfit = reasons.some((reason) => reason instanceof Error && versionMismatches.has(reason));
      if (!isMisfit) throw error;
      return work(fitted());
    }
  };

  const engine = createBrowserEngine({
    runtime,
    userAgent,
    limits,
    name: 'stealth',
    isDisguised: true,
    hooks,
  });
  return {
    name: engine.name,
    render: (request) => fitting(request, (fitted) => engine.render(fitted)),
    fetch: (request) => fitting(request, (fitted) => engine.fetch(fitted)),
    close: () => engine.close(),
  };
}

function targetCommandsFor(context: BrowserContext): TargetCommands {
  const browser = context.browser();
  const commands = browser === null ? null : targetCommandsOf(browser);
  if (commands === null) throw browserUnavailable('it cannot be disguised (its messages cannot be reached)');
  return commands;
}

/**
 * The headers of a document's request as a browser of this identity sends them: the same names in the same order and
 * spelling. Chromium, which is told its languages from outside, would put them elsewhere. It fills in what it knows
 * better (where the request came from, above all) without moving it.
 */
function arrangeHeaders(headers: ReadonlyMap<string, string>, url: URL, identity: Identity): HeaderEntry[] {
  const left = new Map(headers);
  for (const name of ['device-memory', 'sec-ch-device-memory']) {
    if (left.has(name)) left.set(name, String(identity.deviceMemory));
  }
  const arranged: HeaderEntry[] = [];
  const take = (name: string, value = left.get(name)): void => {
    left.delete(name);
    if (value !== undefined) arranged.push({ name: spelled(name), value });
  };
  const isSafe = isTrustworthy(url);
  take(FIRST);
  for (const [name, planned] of identity.headers) {
    if (WRITTEN_LATER.has(name)) continue;
    if (name === 'accept-encoding') take(name, left.get(name) ?? (isSafe ? planned : PLAIN_ENCODINGS));
    else if (name.startsWith('sec-fetch-') && isSafe) take(name, left.get(name) ?? planned);
    else take(name);
    if (name === BEFORE_OTHER_HINTS) {
      for (const other of [...left.keys()]) if (isHint(other, identity)) take(other);
    }
    if (name === BEFORE_REFERER) take('referer');
  }
  for (const name of [...left.keys()]) take(name);
  return arranged;
}

function isHint(name: string, { headers }: Identity): boolean {
  const isPlanned = headers.some(([planned]) => planned === name);
  return !isPlanned && (name.startsWith('sec-ch-') || name === 'device-memory' || name === 'dpr');
}

/** To other sites Chrome tells neither where a request came from nor that it understands the newer encodings. */
function isTrustworthy({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return isIPv4(hostname) && hostname.startsWith('127.');
}

/** As Chrome writes them in HTTP/1.1; in HTTP/2 all are lower case anyway. */
function spelled(name: string): string {
  if (name.startsWith('sec-ch-') || name === 'device-memory' || name === 'dpr') return name;
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
