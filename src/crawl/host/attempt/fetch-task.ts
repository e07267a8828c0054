import { isScrapifieError, ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../../core/model/ids.ts';
import { traitsOfKind } from '../../../core/model/job-kinds.ts';
import type { NewTask, Task } from '../../../core/model/task.ts';
import type { LeaseRef } from '../../../core/ports/host-store.ts';
import type { StoredPage } from '../../../core/ports/job-store.ts';
import type { LedgerStore, TaskEnd } from '../../../core/ports/ledger-store.ts';
import type { HeldBytes } from '../../../fetch/byte-budget.ts';
import { type Engine, type FetchRequest, type FetchResponse, heldBytesOf } from '../../../fetch/engine.ts';
import { isPortable } from '../../../fetch/http/request-headers.ts';
import { holdsSecret } from '../../../fetch/wrapped-engines.ts';
import { SITEMAP_LIMITS } from '../../frontier/sitemap.ts';
import type { Robots } from '../../robots/robots-cache.ts';
import { fetchInSpan } from '../process/attempt-spans.ts';
import { expectsLogin, LOGIN_REQUIRED_END, leadsToLogin } from '../process/login-walls.ts';
import type { RunningJob } from '../process/running-job.ts';

/** The result of a request: a response, an error, or the end of the task by a redirect. */
export type Fetched =
  | { readonly kind: 'response'; readonly response: FetchResponse }
  | {
      readonly kind: 'error';
      readonly error: ScrapifieError;
      readonly ms: number;
      /** The attempt was refused before a request was sent. */
      readonly isUnsent?: true;
    }
  | { readonly kind: 'end'; readonly end: TaskEnd; readonly response: FetchResponse };

/** The owner's part of an attempt. */
export interface FetchContext {
  readonly hostKey: HostKey;
  readonly lease: LeaseRef;
  readonly store: Pick<LedgerStore, 'reserveUrl'>;
  readonly signal: AbortSignal;
  /** Counts the bytes that the attempt holds; its creator closes it when the response is no longer needed. */
  readonly held?: HeldBytes;
  /** Asked right before a request is written: false when this process may no longer own the host. */
  readonly mayStart: () => boolean;
  /** Whether a user agent of the caller's may be sent to this host. */
  readonly mayDisguise: boolean;
  /** Null when robots.txt is not obeyed; `unknown` when that of the URL's origin has not been read. */
  readonly robotsFor: (url: URL) => Robots | 'unknown' | null;
  /** Resolves when one more request may be sent to this host; rejects when `ended` says that the attempt is over. */
  readonly pass: (ended: AbortSignal) => Promise<void>;
  /** How long the request may still leave with the gate's last admission; not above zero: it has to pass again. */
  readonly admittedForMs: () => number;
  /** The time limit of the attempt. */
  readonly timeoutMs: number;
  /** The part of the request that the plan decides. */
  readonly how?: HowToFetch;
  /** The page of the crawl before: it is asked for only if it changed. */
  readonly earlier?: EarlierPage | null;
}

/** A stored page that a host may call unchanged. */
export interface EarlierPage {
  readonly page: StoredPage;
  /** Null when the body is gone. */
  readonly body: () => Promise<Uint8Array<ArrayBuffer> | null>;
}

export interface HowToFetch
  extends Pick<
    FetchRequest,
    | 'proxy'
    | 'identity'
    | 'key'
    | 'render'
    | 'storage'
    | 'wantsStorage'
    | 'maySolve'
    | 'jar'
    | 'runsAlone'
    | 'secrets'
  > {
  /** The body of a log-in form with the stored credentials; left out: that of the job's options. */
  readonly body?: string;
  /** Headers and cookies that authenticate the session to this host. */
  readonly personal?: Pick<FetchRequest, 'headers' | 'cookies'>;
}

export const MAX_REDIRECTS = 10;
/** Captchas are solved by people, which takes long. */
const SOLVING_MS = 120_000;

/**
 * Fetches a task's URL. A redirect within the host is followed when robots and scope allow it and no other task of
 * the job has that page; one to another host hands the task over to that host's owner.
 */
export async function fetchTask(
  task: Task,
  running: RunningJob,
  engine: Engine,
  context: FetchContext,
): Promise<Fetched> {
  const { page } = running.job.options;
  // The body of a POST is not sent on to another host by a redirect.
  const isLedHere = task.hops > 0;
  const { personal, ...how } = context.how ?? {};
  const earlier = isLedHere ? null : (context.earlier ?? null);
  const startedAt = performance.now();
  let end: TaskEnd | null = null;
  /** Ends the waits of `pass` with the attempt; made for the first of them, because most attempts have none. */
  let over = null as AbortController | null;
  /** The waits follow one another: two workers may ask about the same call, and the attempt counts as one request. */
  let passing: Promise<void> = Promise.resolve();
  const pass = () => {
    over ??= new AbortController();
    const { signal } = over;
    passing = passing.catch(() => undefined).then(() => context.pass(signal));
    return passing;
  };
  try {
    // Planning the attempt took long: a store that stalls must not make requests leave together.
    let validMs = context.admittedForMs();
    if (validMs <= 0) {
      await pass();
      validMs = context.admittedForMs();
    }
    const answer = await fetchInSpan(engine, {
      url: task.atUrl,
      method: isLedHere ? 'GET' : page.method,
      ...withPersonal(headersFor(task, running, context.mayDisguise), personal),
      crossOriginHeaders: page.crossOriginHeaders,
      body: isLedHere ? null : page.body,
      timeoutMs: how.maySolve === true ? Math.max(context.timeoutMs, SOLVING_MS) : context.timeoutMs,
      maxBodyBytes: task.kind === 'sitemap' ? SITEMAP_LIMITS.maxBytes : page.maxBodyBytes,
      maxRedirects: Math.max(0, MAX_REDIRECTS - task.hops),
      conditional: earlier?.page ?? null,
      onRedirect: async (target, hop) => {
        // URLs are stored and logged, also by the site.
        if (holdsSecret(target, how.secrets)) {
          throw new ScrapifieError('BAD_REDIRECT', 'The page leads to a URL that holds a stored credential.');
        }
        end = await judgeLogin(task, running, context, target, hop);
        if (end !== null) return 'stop';
        await pass();
        return 'follow';
      },
      jar: running.jar,
      mayStart: context.mayStart,
      admission: { validMs, again: pass },
      signal: context.signal,
      held: context.held,
      ...how,
    });
    const response =
      earlier === null || answer.statusCode !== 304 ? answer : await unchanged(answer, earlier);
    // Some engines hold their bytes elsewhere until the response is here.
    const uncounted = heldBytesOf(response) - (context.held?.bytes ?? 0);
    if (uncounted > 0) context.held?.take(uncounted);
    return end === null ? { kind: 'response', response } : { kind: 'end', end, response };
  } catch (error) {
    const ms = performance.now() - startedAt;
    if (isScrapifieError(error)) return { kind: 'error', error, ms };
    if (!context.signal.aborted) throw error;
    return { kind: 'error', error: new ScrapifieError('CANCELLED', 'The attempt was given up.'), ms };
  } finally {
    over?.abort(new ScrapifieError('CANCELLED', 'The attempt is over.'));
  }
}

/** The stored page in place of the host's word that it has not changed. */
async function unchanged(answer: FetchResponse, { page, body }: EarlierPage): Promise<FetchResponse> {
  const bytes = answer.finalUrl === page.finalUrl ? await body() : null;
  // Without a body the task is repeated, and then asks for the whole page.
  if (bytes === null) throw new ScrapifieError('STORE_UNAVAILABLE', 'The stored body of the page is gone.');
  return {
    ...answer,
    statusCode: page.statusCode ?? 200,
    contentType: page.contentType,
    headers: {
      etag: page.etag ?? undefined,
      'last-modified': page.lastModified ?? undefined,
      ...answer.headers,
    },
    body: bytes,
    stored: { reason: 'not-modified', storedAt: page.fetchedAt },
  };
}

/** All headers and cookies for the origins that the caller named; elsewhere only headers that hold no secret. */
function headersFor(task: Task, running: RunningJob, mayDisguise: boolean) {
  const { page, secretOrigins } = running.job.options;
  const { headers, cookies, crossOriginHeaders } = page;
  if (isEmpty(headers) && isEmpty(cookies)) return { headers, cookies };
  // `secretOrigins` names the origins of a job; without it the start URLs count, and `seeds` has only the first of a
  // long list.
  const isGiven = secretOrigins === undefined && task.depth === 0 && task.hops === 0;
  const isNamed = isGiven || running.isNamedOrigin(new URL(task.atUrl).origin);
  if (isNamed && mayDisguise) return { headers, cookies };
  const kept = Object.entries(headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return (isNamed || isPortable(lower, crossOriginHeaders)) && (mayDisguise || lower !== 'user-agent');
  });
  return { headers: Object.fromEntries(kept), cookies: isNamed ? cookies : {} };
}

function isEmpty(record: Readonly<Record<string, string>>): boolean {
  for (const _ in record) return false;
  return true;
}

/** Headers and cookies of the caller take precedence over those of its session. */
function withPersonal(
  given: Pick<FetchRequest, 'headers' | 'cookies'>,
  personal: HowToFetch['personal'],
): Pick<FetchRequest, 'headers' | 'cookies'> {
  if (personal === undefined) return given;
  const names = new Set(Object.keys(given.headers).map((name) => name.toLowerCase()));
  const headers = Object.entries(personal.headers).filter(([name]) => !names.has(name.toLowerCase()));
  return {
    headers: { ...Object.fromEntries(headers), ...given.headers },
    cookies: { ...personal.cookies, ...given.cookies },
  };
}

/**
 * Null when the redirect is to be followed. In a crawl with a session a redirect to the log-in is followed even when other
 * pages were led there: the site may renew the log-in and lead back. Where it may not be followed, the page asks to log in.
 */
async function judgeLogin(
  task: Task,
  running: RunningJob,
  context: FetchContext,
  target: string,
  hop: number,
): Promise<TaskEnd | null> {
  const isToLogin = task.kind === 'page' && expectsLogin(running.job) && leadsToLogin(task.url, target);
  const isHere = isToLogin && running.canonical(target)?.hostKey === context.hostKey;
  const end = await judgeRedirect(task, running, context, target, hop, isHere);
  // The rule of a task without a page does not begin with `attempt`.
  const isRefused = isToLogin && end !== null && end.state !== 'moved';
  return isRefused ? { ...LOGIN_REQUIRED_END, rule: 'login-wall (redirect)' } : end;
}

/** Null when the redirect is to be followed. `isFree`: whatever scope says, and whichever task has the page. */
export async function judgeRedirect(
  task: Task,
  { job, canonical, isInScope }: RunningJob,
  context: Pick<FetchContext, 'store' | 'lease' | 'hostKey' | 'robotsFor'>,
  target: string,
  hop: number,
  isFree: boolean,
): Promise<TaskEnd | null> {
  const found = canonical(target);
  if (found === null)
    throw new ScrapifieError('BAD_REDIRECT', `A redirect leads to ${target.slice(0, 200)}.`);
  if (!isFree && traitsOfKind(job.kind).follows !== 'nothing') {
    const decision = isInScope({
      url: found.url,
      hostKey: found.hostKey,
      depth: task.depth,
      // A seed may lead to its real address; what it finds there is judged like everything else.
      foundBy: task.depth === 0 && task.kind === 'page' ? 'seed' : 'redirect',
      isNofollow: false,
      kind: task.kind,
    });
    if (!decision.inScope) return { state: 'skipped', rule: `${decision.rule} (redirect)` };
    const alias: NewTask = {
      ...found,
      kind: task.kind,
      depth: task.depth,
      foundBy: 'redirect',
      foundOn: task.id,
      state: 'skipped',
      rule: 'duplicate.redirect',
    };
    const isOurs = await context.store.reserveUrl(context.lease, task.id, alias);
    if (!isOurs) return { state: 'skipped', rule: `duplicate.redirect:${found.url}` };
  }
  const url = new URL(target);
  const robots = found.hostKey === context.hostKey ? context.robotsFor(url) : 'unknown';
  // From http to https is another origin of the same host, with a robots.txt of its own.
  if (robots === 'unknown') {
    return { state: 'moved', atUrl: target, hostKey: found.hostKey, hops: task.hops + hop };
  }
  const verdict = robots?.allows(url.pathname + url.search);
  return verdict === undefined || verdict.allowed
    ? null
    : { state: 'denied', rule: `robots: ${verdict.rule}` };
}
