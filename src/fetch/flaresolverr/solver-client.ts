import { Pool } from 'undici';
import { z } from 'zod';
import { guarded } from '../../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { jsonWithin, loginHeader } from '../captcha/captcha-api-client.ts';
import { bodyLimit } from '../http/body-buffer.ts';
import { codeOf } from '../network-errors.ts';
import { browserCrashed, browserUnavailable, mapNavigationError } from '../render-errors.ts';

export interface SolverProxy {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
}

/** A cookie in the form in which Selenium takes it. */
export interface SolverCookie {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  readonly path: string;
  readonly secure?: boolean;
  readonly httpOnly?: boolean;
  /** When the cookie expires, in seconds since 1970. */
  readonly expiry?: number;
  readonly sameSite?: 'Strict' | 'Lax' | 'None';
}

export type SolverCommand =
  | { readonly cmd: 'sessions.create'; readonly session: string; readonly proxy?: SolverProxy }
  | { readonly cmd: 'sessions.list' }
  | { readonly cmd: 'sessions.destroy'; readonly session: string }
  | (PageCommand & { readonly cmd: 'request.get' })
  | (PageCommand & { readonly cmd: 'request.post'; readonly postData: string });

interface PageCommand {
  readonly url: string;
  readonly session: string;
  /** Time limit of the command, in milliseconds. */
  readonly maxTimeout: number;
  readonly cookies?: readonly SolverCookie[];
  readonly waitInSeconds?: number;
}

const cookieSchema = z.looseObject({
  name: z.string(),
  value: z.string(),
  domain: z.string(),
  path: z.string().default('/'),
  /** The expiry as version 1 of FlareSolverr names it. */
  expires: z.number().nullish(),
  expiry: z.number().nullish(),
  httpOnly: z.boolean().default(false),
  secure: z.boolean().default(false),
  sameSite: z.string().nullish(),
});

const solutionSchema = z.looseObject({
  url: z.string(),
  status: z.number().int().min(100).max(999).catch(200),
  headers: z.record(z.string(), z.unknown()).nullish(),
  response: z.string().nullish(),
  cookies: z.array(cookieSchema).nullish(),
  userAgent: z.string().nullish(),
});

const answerSchema = z.looseObject({
  status: z.enum(['ok', 'error']),
  message: z.string().default(''),
  session: z.string().nullish(),
  sessions: z.array(z.string()).nullish(),
  solution: solutionSchema.nullish(),
  version: z.string().nullish(),
});

type SolverAnswer = z.infer<typeof answerSchema>;
export type SolverSolution = z.infer<typeof solutionSchema>;

const CONNECT_MS = 10_000;
/** For answers that have no page in them, and for what comes with one. */
const BESIDES_BYTES = 1_048_576;
/** JSON may write one byte as six. */
const JSON_FACTOR = 6;

const TIMEOUT = /timeout after/i;
const BANNED = /has blocked this request|ip is banned/i;
/**
 * FlareSolverr sets cookies after a first load without them. This error means that the load was redirected to another
 * host.
 */
const LED_AWAY = /invalid cookie domain/i;
const CRASHED =
  /invalid session id|session deleted|disconnected|not reachable|crashed|no such window|window already closed|max retries exceeded/i;
const NO_BROWSER = /session not created|cannot (?:find|start)|binary|chrome failed to start/i;
const UNSOLVED = /captcha|challenge/i;

/** FlareSolverr's `/v1`: one address that takes commands as JSON. */
export class SolverClient {
  readonly #host: string;
  readonly #path: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #pool: Pool;

  constructor(url: string) {
    const address = new URL(url);
    const { origin, host, pathname, search } = address;
    this.#host = host;
    this.#path = (pathname === '/' ? '/v1' : pathname) + search;
    this.#headers = {
      accept: 'application/json',
      'content-type': 'application/json',
      ...loginHeader(address),
    };
    // FlareSolverr sends nothing before the page is there, so the deadline of the attempt is the only time limit.
    this.#pool = new Pool(origin, {
      connections: null,
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_MS },
    });
  }

  /**
   * What it answers, also when that is an error of the page. Throws the signal's reason; BODY_LIMIT_EXCEEDED for an
   * answer that cannot be a page of so many bytes; else BROWSER_UNAVAILABLE.
   */
  async ask(command: SolverCommand, signal: AbortSignal, maxBodyBytes = 0): Promise<SolverAnswer> {
    signal.throwIfAborted();
    try {
      const { statusCode, body } = await this.#pool.request({
        path: this.#path,
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(command),
        signal,
      });
      const { isTooLong, value } = await jsonWithin(body, maxBodyBytes * JSON_FACTOR + BESIDES_BYTES);
      if (isTooLong && maxBodyBytes > 0) throw bodyLimit(maxBodyBytes);
      const parsed = answerSchema.safeParse(value);
      if (parsed.success) return parsed.data;
      throw solverUnavailable(`at ${this.#host} gives no answer that can be read (status ${statusCode})`);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (isScrapifieError(error)) throw error;
      throw solverUnavailable(`at ${this.#host} is not reached (${codeOf(error) || 'connection failed'})`);
    }
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }
}

/** The service was not reached, or what answers at its address is no FlareSolverr. */
export function solverUnavailable(why: string): ScrapifieError {
  return browserUnavailable(`FlareSolverr ${why}`);
}

export function unsupported(what: string): ScrapifieError {
  return new ScrapifieError('UNSUPPORTED_OPTION', `FlareSolverr cannot ${what}`);
}

/**
 * Names what FlareSolverr says went wrong with a page. It has one status and free text for everything, so the text
 * decides; addresses are taken out of it, because they may hold secrets.
 */
export function solverError(message: string, host: string): ScrapifieError {
  const net = /net::ERR_[A-Z0-9_]+/.exec(message)?.[0];
  if (net !== undefined) return mapNavigationError(new Error(net), host);
  if (TIMEOUT.test(message)) {
    return new ScrapifieError('TASK_TIMEOUT', `FlareSolverr did not get past ${host} in time`);
  }
  if (BANNED.test(message)) {
    return new ScrapifieError('BLOCKED', `${host} has blocked the address that FlareSolverr has`);
  }
  if (LED_AWAY.test(message)) {
    const why = 'leads to another host before FlareSolverr can give it its cookies';
    return new ScrapifieError('BAD_REDIRECT', `${host} ${why}`);
  }
  if (CRASHED.test(message)) return browserCrashed('The browser of FlareSolverr');
  const said = plain(message);
  if (NO_BROWSER.test(message) || !UNSOLVED.test(message)) return solverUnavailable(`failed: ${said}`);
  return new ScrapifieError('CAPTCHA', `FlareSolverr did not get past the challenge of ${host}: ${said}`);
}

function plain(message: string): string {
  const [first = ''] = message.split(/\\n|\n/);
  const text = first
    .replace(/^(?:Error: |Error solving the challenge\. )+/, '')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '…')
    .replace(/\s+/g, ' ')
    .trim();
  return text.slice(0, 160) || 'it does not say why';
}

/** Who a session is for: requests of one key share its browser. */
export interface SessionOwner {
  readonly key: string;
  readonly proxy: SolverProxy | null;
}

/** One browser inside FlareSolverr, with its cookies. */
export interface SolverSession extends SessionOwner {
  readonly id: string;
  readonly createdAt: number;
  /** What its browser said last about the cookies of the page it showed: `host name` → value. */
  readonly cookies: Map<string, string>;
}

interface SolverSessionsOptions {
  /** Each is a browser. */
  readonly maxSessions: number;
  /** A session older than this is replaced. */
  readonly maxAgeMs: number;
  readonly now: () => number;
  readonly newId: () => string;
  /** Ends the browser of a session. Never throws. */
  readonly destroy: (session: SolverSession) => Promise<void>;
}

interface SessionSlot {
  session: SolverSession;
  isLent: boolean;
}

interface Waiting {
  readonly owner: SessionOwner;
  readonly resolve: (session: SolverSession) => void;
}

/**
 * Lends sessions, each to one request at a time: its browser has one page, and a second request would take that away
 * from under the first. The one that was used longest ago makes room for another key.
 */
export class SolverSessions {
  readonly #options: SolverSessionsOptions;
  /** By key, the longest unused first. */
  readonly #desks = new Map<string, SessionSlot>();
  /** Bounded by the callers of the engine. */
  readonly #waiting: Waiting[] = [];
  readonly #leaving = new Set<Promise<void>>();

  constructor(options: SolverSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#desks.size;
  }

  async lend(owner: SessionOwner, signal: AbortSignal): Promise<SolverSession> {
    signal.throwIfAborted();
    const free = this.#take(owner);
    if (free !== null) return free;
    const { promise, resolve, reject } = Promise.withResolvers<SolverSession>();
    const waiting: Waiting = { owner, resolve };
    const onAbort = guarded(() => {
      const at = this.#waiting.indexOf(waiting);
      if (at !== -1) this.#waiting.splice(at, 1);
      reject(signal.reason);
    });
    this.#waiting.push(waiting);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** A spoiled session may still be at work, or hold what the next request must not see: its browser ends. */
  giveBack(session: SolverSession, isSpoiled: boolean): void {
    const slot = this.#desks.get(session.key);
    if (slot?.session !== session) return;
    this.#desks.delete(session.key);
    if (isSpoiled) this.#end(session);
    else this.#desks.set(session.key, { session, isLent: false });
    this.#serve();
  }

  async close(): Promise<void> {
    for (const { session } of this.#desks.values()) this.#end(session);
    this.#desks.clear();
    await Promise.all(this.#leaving);
  }

  #serve(): void {
    for (const waiting of [...this.#waiting]) {
      const session = this.#take(waiting.owner);
      if (session === null) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      waiting.resolve(session);
    }
  }

  #take(owner: SessionOwner): SolverSession | null {
    const { maxSessions, maxAgeMs, now } = this.#options;
    const known = this.#desks.get(owner.key);
    if (known !== undefined) {
      if (known.isLent) return null;
      if (now() - known.session.createdAt > maxAgeMs) {
        this.#end(known.session);
        known.session = this.#fresh(owner);
      }
      known.isLent = true;
      return known.session;
    }
    if (this.#desks.size >= maxSessions) {
      const oldest = [...this.#desks.values()].find(({ isLent }) => !isLent);
      if (oldest === undefined) return null;
      this.#desks.delete(oldest.session.key);
      this.#end(oldest.session);
    }
    const session = this.#fresh(owner);
    this.#desks.set(owner.key, { session, isLent: true });
    return session;
  }

  #fresh(owner: SessionOwner): SolverSession {
    const { now, newId } = this.#options;
    return { ...owner, id: newId(), createdAt: now(), cookies: new Map() };
  }

  #end(session: SolverSession): void {
    const leaving = this.#options.destroy(session).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}
