import { randomUUID } from 'node:crypto';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { BrowserCookie } from '../../core/model/render.ts';
import { updateJar } from '../browser/page/page-storage.ts';
import type { CookieJar } from '../cookies/cookie-jar.ts';
import { Deadline, followSignal, orAborted } from '../deadline.ts';
import type { Engine, FetchRequest, FetchResponse } from '../engine.ts';
import type { PrivateAddresses } from '../guard/address-guard.ts';
import { createTargetGuard, type Resolve, type TargetGuard } from '../guard/guarded-lookup.ts';
import { type CheckProxy, createProxyCheck } from '../proxy/checked-proxy.ts';
import { shuttingDown } from '../render-errors.ts';
import {
  SolverClient,
  type SolverCommand,
  type SolverSession,
  SolverSessions,
  type SolverSolution,
  solverError,
  solverUnavailable,
} from './solver-client.ts';
import {
  cookieKey,
  cookiesFor,
  cookiesOf,
  finalUrlOf,
  orderFor,
  pageResponse,
  proxyOf,
  redirectResponse,
  type SolverOrder,
} from './solver-order.ts';

export interface FlareSolverrOptions {
  /** Such as `http://127.0.0.1:8191/v1`; a login in it is sent as basic authentication. */
  readonly url: string;
  /** Send it to loopback, private and link-local addresses too. */
  readonly allowPrivate: PrivateAddresses;
  /** Browsers it is asked to keep at once. */
  readonly maxSessions?: number | undefined;
  /** Age at which a browser is replaced. */
  readonly sessionMaxAgeMs?: number | undefined;
  readonly resolve?: Resolve | undefined;
  /** Monotonic milliseconds; the process's clock by default. */
  readonly now?: (() => number) | undefined;
}

/**
 * Pages by FlareSolverr, a service that opens them in a browser of its own and waits until a challenge of Cloudflare
 * or DDoS-GUARD is over. It looks like that browser, whatever identity is asked for. It tells no real status and no
 * headers: a page it shows is a 200. Redirects are followed inside; `onRedirect` is asked afterwards, once, about
 * where the page ended.
 */
export interface FlareSolverrEngine extends Engine {
  readonly name: 'flaresolverr';
  /** How many browsers it keeps there for all who use it. Throws BROWSER_UNAVAILABLE when it does not answer. */
  check(signal: AbortSignal): Promise<{ readonly sessions: number; readonly version: string | null }>;
}

export function createFlareSolverrEngine(options: FlareSolverrOptions): FlareSolverrEngine {
  return new SolverEngine(options);
}

const MAX_SESSIONS = 4;
const SESSION_MAX_AGE_MS = 1_800_000;
/** Ahead of our own limit, so that it can still say what went wrong. */
const MARGIN_MS = 500;
const DESTROY_MS = 10_000;

class SolverEngine implements FlareSolverrEngine {
  readonly name = 'flaresolverr';
  readonly #client: SolverClient;
  readonly #sessions: SolverSessions;
  readonly #guard: TargetGuard;
  readonly #checkProxy: CheckProxy;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  /** Bounded by the callers. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** Jars have no name of their own, and requests with different ones must not share cookies. */
  readonly #jarIds = new WeakMap<CookieJar, string>();

  constructor(options: FlareSolverrOptions) {
    this.#now = options.now ?? (() => performance.now());
    this.#client = new SolverClient(options.url);
    this.#guard = createTargetGuard(options);
    this.#checkProxy = createProxyCheck(options);
    this.#sessions = new SolverSessions({
      maxSessions: options.maxSessions ?? MAX_SESSIONS,
      maxAgeMs: options.sessionMaxAgeMs ?? SESSION_MAX_AGE_MS,
      now: this.#now,
      newId: () => `scrapifie-${randomUUID()}`,
      destroy: async ({ id }) => {
        const command = { cmd: 'sessions.destroy', session: id } as const;
        await this.#client.ask(command, AbortSignal.timeout(DESTROY_MS)).catch(() => {});
      },
    });
  }

  async fetch(request: FetchRequest): Promise<FetchResponse> {
    const work = this.#attempt(request);
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  async check(signal: AbortSignal): Promise<{ sessions: number; version: string | null }> {
    const { status, sessions, version } = await this.#client.ask({ cmd: 'sessions.list' }, signal);
    if (status === 'error') throw solverUnavailable('does not list its sessions');
    return { sessions: sessions?.length ?? 0, version: version ?? null };
  }

  async close(): Promise<void> {
    this.#closing.abort(shuttingDown());
    await Promise.allSettled(this.#underWay);
    await this.#sessions.close();
    await this.#client.close();
  }

  async #attempt(request: FetchRequest): Promise<FetchResponse> {
    let order = orderFor(request, (jar) => this.#idOf(jar));
    if (this.#closing.signal.aborted) throw shuttingDown();
    const startedAt = this.#now();
    const deadline = new Deadline(request.timeoutMs, order.url.host);
    const caller = followSignal(request.signal);
    const signal = AbortSignal.any([deadline.signal, caller.signal, this.#closing.signal]);
    try {
      if (request.proxy !== undefined) {
        const proxy = proxyOf(await orAborted(this.#checkProxy(request.proxy), signal));
        order = { ...order, owner: { ...order.owner, proxy } };
      }
      await this.#guard(order.url, request.proxy, signal);
      const { solution, finalUrl } = await this.#visit(order, request, deadline, signal);
      const response = { url: request.url, ms: 0, httpVersion: '1.1' } as const;
      if (finalUrl.href !== order.url.href) {
        if (request.maxRedirects < 1) {
          const message = `${order.url.host} redirects more than ${request.maxRedirects} times`;
          throw new ScrapifieError('TOO_MANY_REDIRECTS', message);
        }
        const answer = await deadline.hold(() => request.onRedirect(finalUrl.href, 1));
        if (answer === 'stop') {
          return {
            ...response,
            ...redirectResponse(solution, finalUrl, order.url, request),
            ms: this.#now() - startedAt,
          };
        }
      }
      return {
        ...response,
        ...pageResponse(solution, finalUrl, order.url, request),
        ms: this.#now() - startedAt,
      };
    } finally {
      deadline.end();
      caller.end();
    }
  }

  /** Opens the page in a session that no other request uses meanwhile. */
  async #visit(
    order: SolverOrder,
    request: FetchRequest,
    deadline: Deadline,
    signal: AbortSignal,
  ): Promise<{ solution: SolverSolution; finalUrl: URL }> {
    const { url, owner } = order;
    const session = await this.#sessions.lend(owner, signal);
    let isSpoiled = true;
    try {
      await this.#open(session, signal);
      const fromJar = request.jar?.cookiesFor(url, Date.now()) ?? [];
      const cookies = cookiesFor(request, url, fromJar, session.cookies);
      if (request.mayStart?.() === false) {
        isSpoiled = false;
        throw new ScrapifieError('CANCELLED', `The request to ${url.host} came too late`);
      }
      const command: SolverCommand = {
        ...(order.postData === null
          ? { cmd: 'request.get' }
          : { cmd: 'request.post', postData: order.postData }),
        url: url.href,
        session: session.id,
        maxTimeout: Math.max(1, deadline.remainingMs - MARGIN_MS),
        ...(cookies.length === 0 ? {} : { cookies }),
        ...(order.waitInSeconds === null ? {} : { waitInSeconds: order.waitInSeconds }),
      };
      const { status, message, solution } = await this.#client.ask(command, signal, request.maxBodyBytes);
      if (status === 'error') throw solverError(message, url.host);
      if (solution === undefined || solution === null) throw solverUnavailable('answers without a page');
      const finalUrl = finalUrlOf(solution, url);
      if (finalUrl.host !== url.host) await this.#guard(finalUrl, request.proxy, signal);
      this.#keepCookies(session, cookiesOf(solution), finalUrl, fromJar, request);
      isSpoiled = false;
      return { solution, finalUrl };
    } finally {
      this.#sessions.giveBack(session, isSpoiled);
    }
  }

  /**
   * Asked for before each use: it changes nothing when the session is there. A FlareSolverr that was restarted would
   * otherwise make one by itself, and without the proxy.
   */
  async #open({ id, proxy }: SolverSession, signal: AbortSignal): Promise<void> {
    const command: SolverCommand = {
      cmd: 'sessions.create',
      session: id,
      ...(proxy === null ? {} : { proxy }),
    };
    const { status } = await this.#client.ask(command, signal);
    if (status === 'error') throw solverUnavailable('cannot start a browser');
  }

  #keepCookies(
    session: SolverSession,
    cookies: readonly BrowserCookie[],
    finalUrl: URL,
    fromJar: readonly (readonly [string, string])[],
    request: FetchRequest,
  ): void {
    session.cookies.clear();
    for (const { name, value } of cookies) session.cookies.set(cookieKey(finalUrl, name), value);
    const { jar } = request;
    if (jar === undefined) return;
    const url = new URL(request.url);
    url.hash = '';
    // FlareSolverr reports the cookies of the page it ended on. If that is another page, a cookie that it does not
    // name may still exist.
    const names = finalUrl.href === url.href ? fromJar.map(([name]) => name) : [];
    // Cookies that FlareSolverr was given come back with a wider domain; the domain in the jar is the right one.
    const given = new Map([...fromJar, ...Object.entries(request.cookies)]);
    updateJar(jar, url, { fromJar: names, given }, cookies, Date.now());
  }

  #idOf(jar: CookieJar): string {
    const known = this.#jarIds.get(jar) ?? randomUUID();
    this.#jarIds.set(jar, known);
    return known;
  }
}
