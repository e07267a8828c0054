import type { Blobs } from '../../core/ports/blobs.ts';
import type { UnkeptExchange } from '../../crawl/host/attempt/exchange-observer.ts';
import type { HeaderLine } from '../../lib/warc/http-head.ts';
import {
  type ArchivedJob,
  type Exchange,
  exchangeOfUnkept,
  hasSecretCookies,
  requestOf,
} from './exchange.ts';

/** An exchange whose response is stored as no page. */
export async function exchangeOfObserved(
  observed: UnkeptExchange,
  job: ArchivedJob,
  blobs: Pick<Blobs, 'get'>,
): Promise<Exchange> {
  const { response, fetchedAt } = observed;
  const isRobots = observed.kind === 'robots';
  const key = isRobots
    ? ['robots', job.id, response.url]
    : ['unkept', job.id, String(observed.task.id), observed.task.hops, response.statusCode];
  if (!isRobots && observed.page !== null) return exchangeOfUnkept(observed.page, key, job, blobs);
  return {
    key,
    url: isRobots ? response.url : observed.task.url,
    finalUrl: response.finalUrl,
    ...(isRobots ? { method: 'GET', requestHeaders: [] } : requestOf(job)),
    fetchedAt,
    statusCode: response.statusCode,
    headers: headerLines(observed, job),
    redirects: isRobots ? response.redirects : observed.redirects,
    // An empty body may be one that was given away to a thread.
    body: response.body.byteLength === 0 ? new Uint8Array() : response.body,
    contentType: response.contentType,
    isNotModified: false,
    rendered: null,
    error: null,
    page: null,
  };
}

function headerLines({ response }: UnkeptExchange, job: ArchivedJob): HeaderLine[] {
  const isSecret = hasSecretCookies(job);
  return Object.entries(response.headers).flatMap(([name, value]) =>
    value === undefined || (name === 'set-cookie' && isSecret)
      ? []
      : [value].flat().map((each): HeaderLine => [name, each]),
  );
}
