import { logIn, loginRequestSchema } from '../../capabilities/jobs/login.ts';
import { mapRequestSchema, scrapeRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import type { MapResult } from '../../capabilities/jobs/results/map-result.ts';
import { type LoginView, loginView } from '../../capabilities/views/session-view.ts';
import { guarded } from '../../core/errors/guarded.ts';
import { urlPart } from '../../lib/url-part.ts';
import { dataPlaceOf } from '../folders/data-folder.ts';
import { explainWait, inDataFolder, inTemporaryFolder, OPERATOR } from '../folders/one-off.ts';
import { watchInterrupts } from '../shell/interrupt.ts';
import type { OpenPlatform, Shell } from '../shell/shell.ts';
import type { ApiClient } from './api-client.ts';
import { apiClientOf, type BackendFlags, refuseForServer } from './open-backend.ts';

/**
 * Fetches single pages for a command: in this process, or by a running server. Requests are those of the API, without
 * defaults, and were checked before.
 */
export interface Fetcher {
  scrape(request: object): Promise<ScrapeResult>;
  map(request: object): Promise<MapResult>;
  /** Logs the session in; see `logIn`. */
  login(session: string, request: object): Promise<LoginView>;
}

export interface FetcherFlags extends BackendFlags {
  readonly allowPrivate?: true;
  readonly session?: string;
  /** The archive that answers in place of the web. */
  readonly replay?: string;
  /** Pages that the data folder has stored within this time are used. */
  readonly maxAge?: number;
  /** False: the page answers no later call with maxAge. */
  readonly reuse?: boolean;
}

/**
 * Runs work with a fetcher. Without a server it is done in a temporary folder that is removed afterwards, with the
 * sessions of the data folder. Resolves with null after Ctrl-C.
 */
export async function withFetcher<T>(
  shell: Shell,
  flags: FetcherFlags,
  work: (fetcher: Fetcher) => Promise<T>,
): Promise<T | null> {
  const interrupted = new AbortController();
  const client = apiClientOf(shell, flags, interrupted.signal);
  if (client === null) {
    const overrides = { allowPrivate: flags.allowPrivate, replay: flags.replay };
    const fetched = (platform: OpenPlatform, signal: AbortSignal) =>
      unlessAborted(signal, work(localFetcher(platform, signal)));
    // Pages that are to be found again are kept.
    if ((flags.maxAge ?? 0) > 0) {
      const { dataDir } = dataPlaceOf(shell, flags.dataDir);
      return inDataFolder(shell, { ...overrides, dataDir }, fetched);
    }
    const accountsIn = flags.session === undefined ? undefined : dataPlaceOf(shell, flags.dataDir);
    return inTemporaryFolder(shell, overrides, fetched, accountsIn);
  }
  refuseForServer(flags);
  const interrupts = watchInterrupts();
  interrupts.signal.addEventListener(
    'abort',
    guarded(() => interrupted.abort()),
  );
  try {
    return await unlessAborted(interrupts.signal, work(remoteFetcher(client)));
  } finally {
    interrupts.close();
  }
}

/** The commands end quietly when they are interrupted. */
async function unlessAborted<T>(signal: AbortSignal, working: Promise<T>): Promise<T | null> {
  try {
    return await working;
  } catch (error) {
    if (signal.aborted) return null;
    throw error;
  }
}

function localFetcher({ jobs, accounts, store }: OpenPlatform, signal: AbortSignal): Fetcher {
  const given = { operator: OPERATOR, signal };
  const account = store.defaultAccount();
  const explained = async <T>(timeoutMs: number, working: Promise<T>): Promise<T> => {
    try {
      return await working;
    } catch (error) {
      throw explainWait(error, timeoutMs);
    }
  };
  return {
    async scrape(request) {
      const wanted = scrapeRequestSchema.parse(request);
      return explained(wanted.timeoutMs, jobs.scrapeNow(wanted, await account, given));
    },
    async map(request) {
      const wanted = mapRequestSchema.parse(request);
      return explained(wanted.timeoutMs, jobs.mapNow(wanted, await account, given));
    },
    async login(session, request) {
      const wanted = loginRequestSchema.parse(request);
      const target = { session, account: await account };
      const done = await explained(wanted.timeoutMs, logIn({ jobs, ...accounts }, target, wanted, given));
      const details = { method: done.method, url: done.finalUrl };
      await accounts.store.audit([
        { at: Date.now(), actor: 'command line', action: 'session.login', target: session, details },
      ]);
      return loginView(done, Date.now());
    },
  };
}

const remoteFetcher = (client: ApiClient): Fetcher => ({
  scrape: (request) => client.call('POST', '/v1/scrape', request),
  map: (request) => client.call('POST', '/v1/map', request),
  login: (session, request) => client.call('POST', `/v1/sessions/${urlPart(session)}/login`, request),
});
