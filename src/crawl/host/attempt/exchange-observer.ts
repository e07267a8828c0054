import type { Job } from '../../../core/model/job.ts';
import type { NewPage, PageRedirect } from '../../../core/model/page.ts';
import type { Task } from '../../../core/model/task.ts';
import type { FetchResponse } from '../../../fetch/engine.ts';
import type { Fetched } from './fetch-task.ts';
import type { Finished } from './finish-task.ts';

/** Gets what was fetched and is stored as no page, for an archive of everything that a crawl received. */
export interface ExchangeObserver {
  /** Resolves when the observer has it safe; the task ends after that. Never rejects. */
  exchanged(exchange: UnkeptExchange): Promise<void>;
}

/** A response that becomes no page. */
export type UnkeptExchange =
  | {
      readonly kind: 'robots';
      readonly response: ObservedResponse;
      readonly fetchedAt: number;
    }
  | {
      readonly kind: 'task';
      readonly job: Job;
      readonly task: Task;
      /** The redirects before this exchange; those of earlier hosts come first. */
      readonly redirects: readonly PageRedirect[];
      readonly response: ObservedResponse;
      readonly fetchedAt: number;
      /** The page as it was read, its body stored; null for sitemaps and redirects. */
      readonly page: NewPage | null;
    };

/** The body is that of a sitemap, of robots.txt or of a redirect, and empty for pages. */
export type ObservedResponse = Pick<
  FetchResponse,
  'url' | 'finalUrl' | 'statusCode' | 'headers' | 'contentType' | 'body' | 'redirects' | 'redirectedTo'
>;

/** What the observer gets when the attempt has ended; null when its page is stored, or it is made again. */
export function unkeptExchange(
  job: Job,
  task: Task,
  fetched: Fetched,
  { completion, reading }: Pick<Finished, 'completion' | 'reading'>,
  sitemap: FetchResponse['body'] | null,
  fetchedAt: number,
): UnkeptExchange | null {
  const { end, page } = completion;
  if (fetched.kind === 'error' || page !== null || end.state === 'ready' || end.state === 'waiting')
    return null;
  // The page at the other host has the redirects that led to it. A page that leads on by its markup is in no record.
  if (end.state === 'moved' && fetched.kind === 'end') return null;
  const { response } = fetched;
  const isRead = reading !== null && task.kind === 'page';
  return {
    kind: 'task',
    job,
    task,
    redirects: [
      ...task.trace.flatMap(({ ledOn, redirects = [] }) => (ledOn === true ? redirects : [])),
      ...response.redirects,
    ],
    // The body of a page was given away to the thread that read it.
    response: { ...response, body: sitemap ?? (isRead ? NO_BODY : response.body) },
    fetchedAt,
    page: isRead ? reading.page : null,
  };
}

const NO_BODY: FetchResponse['body'] = new Uint8Array();
