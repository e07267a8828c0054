import type { Request, Response, Route } from 'patchright-core';
import { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import type { Redirect } from '../../engine.ts';
import { EMPTY_BODY } from '../../http/body-buffer.ts';
import { isRedirect } from '../../http/redirect.ts';
import { type DocumentResponse, type DocumentWithoutPage, tooLarge } from '../page/document-gate.ts';
import type { DocumentWatch, ToolOptions } from '../page/page-tools.ts';

/**
 * A page's document as Playwright's interface shows it. Where a page goes by itself is asked about before; a redirect
 * of a server is heard of only when the browser follows it: one that is not wanted spoils the page, and nothing of it
 * is read.
 */
export class PlainDocument implements DocumentWatch {
  readonly redirects: Redirect[] = [];
  readonly ended: Promise<DocumentWithoutPage>;
  readonly isStopped: Promise<null>;
  answer: DocumentResponse | null = null;
  /** That the answer came with. */
  response: Response | null = null;
  refusedTarget: string | null = null;
  lastTarget: string | null = null;
  leaving: Promise<void> | null = null;
  isTainted = false;
  private readonly options: ToolOptions;
  private readonly end: (document: DocumentWithoutPage) => void;
  private readonly fail: (error: unknown) => void;
  private readonly stop: (nothing: null) => void;
  private arrived: (() => void) | null = null;
  private hasStarted = false;
  private hop = 0;

  constructor(options: ToolOptions) {
    this.options = options;
    const ended = Promise.withResolvers<DocumentWithoutPage>();
    const stopped = Promise.withResolvers<null>();
    ended.promise.catch(() => {});
    this.ended = ended.promise;
    this.end = ended.resolve;
    this.fail = ended.reject;
    this.isStopped = stopped.promise;
    this.stop = stopped.resolve;
  }

  onArrival(): void {
    this.arrived?.();
    this.arrived = null;
    this.leaving = null;
  }

  isMain(request: Request): boolean {
    return request.isNavigationRequest() && request.frame() === this.options.page.mainFrame();
  }

  /** The document is about to be asked for, not by way of a redirect. */
  async onRoute(route: Route, request: Request): Promise<void> {
    const { request: wanted } = this.options;
    const target = withoutFragment(request.url());
    this.lastTarget = target;
    if (!this.hasStarted) {
      this.hasStarted = true;
      const { etag, lastModified } = wanted.conditional ?? {};
      await route.continue({
        headers: {
          ...request.headers(),
          'cache-control': 'max-age=0',
          ...(etag == null ? {} : { 'if-none-match': etag }),
          ...(lastModified == null ? {} : { 'if-modified-since': lastModified }),
          ...lowerCase(wanted.headers),
        },
        ...(wanted.method === 'POST' ? { method: 'POST', postData: wanted.body ?? '' } : {}),
      });
      return;
    }
    const from = this.answer?.url ?? wanted.url;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.leaving = promise;
    this.arrived = resolve;
    try {
      if ((await this.decide(target, target !== from)) === 'follow') {
        this.redirects.push({ url: from, statusCode: this.answer?.statusCode ?? 200 });
        await route.continue();
        return;
      }
      this.refusedTarget = target;
      this.stop(null);
    } catch (error) {
      this.fail(error);
    }
    await route.abort('aborted');
    this.onArrival();
  }

  /** The browser follows a redirect: it is on its way already. */
  async onRedirected(request: Request, before: Request): Promise<void> {
    const { guard } = this.options;
    const target = withoutFragment(request.url());
    this.lastTarget = target;
    try {
      const refusal = (await guard?.(target)) ?? null;
      if (refusal !== null) throw refusal;
      const response = await before.response();
      const statusCode = response?.status() ?? 302;
      if ((await this.decide(target, true)) === 'follow') {
        this.redirects.push({ url: before.url(), statusCode });
        return;
      }
      this.isTainted = true;
      const headers = response?.headers() ?? {};
      const answer = { url: withoutFragment(before.url()), statusCode, headers, networkId: null };
      this.end({ answer, body: EMPTY_BODY, redirectedTo: target });
    } catch (error) {
      this.isTainted = true;
      this.fail(error);
    }
  }

  /** It may not be asked for at all. */
  onRefused(refusal: ScrapifieError): void {
    this.fail(refusal);
  }

  onResponse(response: Response): void {
    const [statusCode, headers] = [response.status(), response.headers()];
    if (isRedirect(statusCode) && headers.location !== undefined) return;
    const answer = { url: withoutFragment(response.url()), statusCode, headers, networkId: null };
    const { maxBodyBytes } = this.options.request;
    this.answer = answer;
    this.response = response;
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes) {
      this.isTainted = true;
      this.fail(tooLarge(maxBodyBytes));
    }
    if (statusCode === 204 || statusCode === 205 || statusCode === 304) {
      this.end({ answer, body: EMPTY_BODY, redirectedTo: null });
    }
  }

  private async decide(target: string, isElsewhere: boolean): Promise<'follow' | 'stop'> {
    const { request, ask } = this.options;
    const { host, protocol } = new URL(target);
    if (protocol !== 'http:' && protocol !== 'https:') return 'stop';
    this.hop += 1;
    if (this.hop > request.maxRedirects) {
      const message = `${new URL(request.url).host} redirects more than ${request.maxRedirects} times`;
      throw new ScrapifieError('TOO_MANY_REDIRECTS', message);
    }
    const verdict = isElsewhere ? await ask(target, this.hop) : 'follow';
    if (verdict === 'follow' && request.mayStart?.() === false) {
      throw new ScrapifieError('CANCELLED', `The request to ${host} came too late`);
    }
    return verdict;
  }
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at === -1 ? url : url.slice(0, at);
}
