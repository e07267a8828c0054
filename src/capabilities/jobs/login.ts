import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { runsScripts } from '../../core/model/engine-traits.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { SessionStore } from '../../core/ports/session-store.ts';
import { isLoginUrl } from '../../fetch/classify/page-phrases.ts';
import { findLoginForm, type LoginForm, loginActions } from '../sessions/login-form.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Given } from './accept/accept-job.ts';
import type { Jobs } from './jobs.ts';
import { scrapeRequestSchema } from './request/job-request.ts';
import { pageFields } from './request/page-options.ts';
import { checkPage } from './request/page-request.ts';
import type { ScrapeResult } from './results/job-reader.ts';

/**
 * form: the form of the page was sent by plain HTTP. browser: the form was filled in by a browser. actions: the steps of
 * the caller. none: the site did not ask, because the session is logged in or its credentials go along as headers.
 */
export const LOGIN_METHODS = ['form', 'browser', 'actions', 'none'] as const;

export interface LoginResult {
  readonly session: Session;
  readonly method: (typeof LOGIN_METHODS)[number];
  /** The page that the log-in led to. */
  readonly finalUrl: string;
  readonly statusCode: number | null;
  /** The scrapes that the log-in took, in their order. */
  readonly jobIds: readonly JobId[];
}

interface LoginDeps {
  readonly jobs: Pick<Jobs, 'scrapeNow'>;
  readonly sessions: Pick<Sessions, 'open' | 'get'>;
  readonly store: Pick<SessionStore, 'getCredential'>;
}

interface LoginTarget {
  readonly session: string;
  readonly account: AccountId;
}

type FetchPage = (more: object, fillBodyFrom?: string) => Promise<ScrapeResult>;

const fields = pageFields('crawl', ['rawHtml']);
const { wait, actions, engine, headers, timeoutMs, obeyRobots, proxy, identity } = fields;
/** For the fields of a page request that a log-in does not have. */
const DEFAULTS = z.object(fields).parse({});

/** What a log-in may ask for: where, how the pages are fetched, and steps in place of the form that is found. */
export const loginRequestSchema = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(8_192)
      .describe('The page with the log-in form.')
      .meta({ examples: ['https://shop.example/login'] }),
    actions: actions.describe(
      'Steps that log in, for pages whose form is not found or is not enough. `{{username}}` and `{{password}}` in `type` ' +
        'actions stand for the credentials of the session. Left out: the form of the page is filled in and sent. Needs a browser.',
    ),
    engine,
    wait,
    headers,
    timeoutMs: timeoutMs.describe('Time for each of the pages that the log-in takes.'),
    obeyRobots,
    proxy,
    identity,
  })
  .superRefine((given, context) => checkPage({ ...DEFAULTS, ...given }, context))
  .meta({ id: 'LoginRequest', examples: [{ url: 'https://shop.example/login' }] });

/**
 * Logs a session in: from then on it keeps the cookies and the storage of the log-in. Throws LOGIN_FAILED when the site
 * still asks, and the error of a page that could not be fetched. No job, message or result has the password.
 */
export async function logIn(
  deps: LoginDeps,
  { session: name, account }: LoginTarget,
  request: LoginRequest,
  given: Omit<Given, 'id' | 'fillBodyFrom'> = {},
): Promise<LoginResult> {
  const { jobs, sessions } = deps;
  const before = await sessions.open(account, name);
  const jobIds: JobId[] = [];

  const fetchPage: FetchPage = async (more, fillBodyFrom) => {
    const wanted = scrapeRequestSchema.parse({
      ...request,
      session: name,
      formats: ['html', 'rawHtml'],
      // Repeated log-ins lock accounts.
      maxAttempts: 1,
      ...more,
    });
    const from = fillBodyFrom === undefined ? {} : { fillBodyFrom };
    const page = await jobs.scrapeNow(wanted, account, { ...given, ...from });
    jobIds.push(page.id);
    return page;
  };

  const ended = async (method: LoginResult['method'], page: ScrapeResult): Promise<LoginResult> => {
    const { finalUrl, statusCode } = page;
    const session = await sessions.get(account, name);
    const isEmpty = session.cookies.length === 0 && Object.keys(session.localStorage).length === 0;
    if (method !== 'none' && isEmpty) {
      throw failed(`The site set no cookie and stored nothing: ${finalUrl} has not logged in.`);
    }
    return { session, method, finalUrl, statusCode, jobIds };
  };

  if (request.actions.length > 0) {
    const page = await fetchPage({});
    refuseWall(page);
    return ended('actions', page);
  }
  const { credentials } = before.wish;
  if (credentials === null) {
    throw new ScrapifieError(
      'UNSUPPORTED_OPTION',
      `The session "${name}" has no credentials to log in with. Create it with credentials, or say by actions how to log in.`,
    );
  }
  const { page, form, isShown } = await findForm(request, fetchPage);
  if (form === null) {
    refuseWall(page);
    const kind = (await deps.store.getCredential(account, credentials))?.kind ?? 'login';
    // A site leads visitors who have logged in away from the form; credentials of other kinds need none.
    const isElsewhere = isLoginUrl(request.url) && !isLoginUrl(page.finalUrl);
    if (isElsewhere || kind !== 'login') return ended('none', page);
    throw failed(`There is no log-in form on ${page.finalUrl}. Say by actions how to log in.`);
  }
  const isPlain = form.body !== null && !isShown;
  const answered = isPlain
    ? await fetchPage(postOf(form, page.finalUrl), page.finalUrl)
    : await fetchPage({ url: page.finalUrl, engine: engineFor(request), actions: loginActions(form) });
  if (findLoginForm(htmlOf(answered), answered.finalUrl) !== null) throw failed(shownAgain(answered));
  refuseWall(answered);
  return ended(isPlain ? 'form' : 'browser', answered);
}

interface FoundForm {
  readonly page: ScrapeResult;
  readonly form: LoginForm | null;
  /** A browser has rendered the page. */
  readonly isShown: boolean;
}

/** The form on the page; where plain HTTP finds none, scripts may make one. */
async function findForm(request: LoginRequest, fetchPage: FetchPage): Promise<FoundForm> {
  const first = readForm(await fetchPage({}));
  const mayBeMade = request.engine === 'auto' && first.form === null && !first.isShown;
  const isAsked = isLoginUrl(first.page.finalUrl) || first.page.trace.rule !== null;
  return mayBeMade && isAsked ? readForm(await fetchPage({ engine: 'browser' })) : first;
}

function readForm(page: ScrapeResult): FoundForm {
  return { page, form: findLoginForm(htmlOf(page), page.finalUrl), isShown: isRendered(page) };
}

const isRendered = ({ trace }: ScrapeResult) => runsScripts(trace.attempts.at(-1)?.engine ?? 'http');

/** A rendered document for what scripts have made of a page; else the one that was sent, with its hidden fields. */
const htmlOf = (page: ScrapeResult) => (isRendered(page) ? page.html : page.rawHtml) ?? '';

const engineFor = ({ engine }: LoginRequest) => (engine === 'stealth' ? engine : 'browser');

function postOf({ action, body }: LoginForm, pageUrl: string): object {
  return {
    url: action,
    engine: 'http',
    wait: null,
    method: 'POST',
    body,
    // As browsers send them: sites check that a log-in comes from a page of their own.
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: new URL(pageUrl).origin,
      referer: pageUrl,
    },
  };
}

/** Throws when the page still asks to log in, or could not be fetched. */
function refuseWall(page: ScrapeResult): void {
  if (page.trace.attempts.at(-1)?.outcome === 'login-wall') throw failed(shownAgain(page));
  if (page.error === undefined) return;
  const { code, message } = page.error;
  throw failed(`${page.finalUrl} could not be used to log in (${code}): ${message}`);
}

const shownAgain = ({ finalUrl }: ScrapeResult) =>
  `${finalUrl} still asks to log in: user name or password are wrong, or the site wants more than them. ` +
  'Say by actions how to log in where it does.';

const failed = (message: string) => new ScrapifieError('LOGIN_FAILED', message);

type LoginRequest = z.output<typeof loginRequestSchema>;
