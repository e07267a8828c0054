import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { plainRenderWords } from '../../core/model/plain-options.ts';
import type { RenderWish } from '../../core/model/render.ts';
import type { FetchRequest } from '../engine.ts';
import { firecrawlCannot } from './firecrawl-errors.ts';

export function urlOf(request: Pick<FetchRequest, 'url'>): URL {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '') {
    throw new ScrapifieError('INVALID_URL', 'Not an absolute http or https URL');
  }
  if (url.username !== '' || url.password !== '') {
    throw new ScrapifieError('INVALID_URL', 'A URL with credentials is not fetched');
  }
  url.hash = '';
  return url;
}

/**
 * What the service is asked for: the document as it is, fetched now and not kept there. What belongs to a caller is never
 * sent to a service of others, and what the service would leave out is refused.
 */
export function bodyFor(request: FetchRequest, url: URL): Readonly<Record<string, unknown>> {
  const { method, headers, cookies, storage, wantsStorage, secrets = [], proxy, render } = request;
  const refused = [
    [method !== 'GET', 'send anything but GET'],
    [Object.keys(headers).length > 0, 'send headers: they belong to the caller'],
    [Object.keys(cookies).length > 0, 'send cookies: they belong to the caller'],
    [storage !== undefined || wantsStorage === true || secrets.length > 0, 'use a session'],
    [proxy !== undefined, 'use a proxy of ours'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  const waitFor = waitOf(render ?? {});
  return {
    url: url.href,
    formats: ['rawHtml'],
    onlyMainContent: false,
    maxAge: 0,
    storeInCache: false,
    ...(waitFor === 0 ? {} : { waitFor }),
  };
}

function waitOf(wish: RenderWish): number {
  const { wait, scroll, actions = [], screenshot, pdf, captureXhr, device } = wish;
  const refused = [
    [wait?.selector !== undefined || wait?.until !== undefined, 'wait for anything but a time'],
    [scroll !== undefined, 'scroll'],
    [actions.length > 0, 'do actions'],
    [screenshot !== undefined, 'take screenshots'],
    [pdf === true, 'make a PDF'],
    [captureXhr === true, 'keep what scripts load'],
    ...plainRenderWords(wish).map((words) => [true, words] as const),
    [device !== undefined, 'show a page on another screen or in another place'],
  ] as const;
  for (const [isWanted, what] of refused) if (isWanted) throw firecrawlCannot(what);
  return wait?.ms ?? 0;
}
