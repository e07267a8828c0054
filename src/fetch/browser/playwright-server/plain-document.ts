import type { Request, Response, Route } from 'patchright-core';
import type { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { EMPTY_BODY } from '../../http/body-buffer.ts';
import { isRedirect } from '../../http/redirects.ts';
import {
  DocumentProgress,
  hasNoBody,
  lowerCaseNames,
  tooLarge,
  withoutFragment,
} from '../page/document-progress.ts';
import type { ToolOptions } from '../page/page-tools.ts';

/**
 * The page's document as Playwright's interface reports it. A navigation of the page itself is asked about before it
 * begins. A redirect of a server is reported only while the browser follows it: one that must not be followed taints the
 * page, and nothing of it is read.
 */
export class PlainDocument {
  readonly progress: DocumentProgress;
  /** The response that `progress.answer` describes. */
  response: Response | null = null;
  isTainted = false;
  readonly #options: ToolOptions;
  #hasStarted = false;

  constructor(options: ToolOptions) {
    this.#options = options;
    this.progress = new DocumentProgress(options);
  }

  isMain(request: Request): boolean {
    return request.isNavigationRequest() && request.frame() === this.#options.page.mainFrame();
  }

  /** The document is about to be requested, not as part of a redirect. */
  async onRoute(route: Route, request: Request): Promise<void> {
    const { request: wanted } = this.#options;
    const target = withoutFragment(request.url());
    this.progress.lastTarget = target;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { etag, lastModified } = wanted.conditional ?? {};
      await route.continue({
        headers: {
          ...request.headers(),
          'cache-control': 'max-age=0',
          ...(etag == null ? {} : { 'if-none-match': etag }),
          ...(lastModified == null ? {} : { 'if-modified-since': lastModified }),
          ...Object.fromEntries(lowerCaseNames(wanted.headers)),
        },
        ...(wanted.method === 'POST' ? { method: 'POST', postData: wanted.body ?? '' } : {}),
      });
      return;
    }
    try {
      if (await this.progress.depart(target)) {
        await route.continue();
        return;
      }
    } catch (error) {
      this.progress.fail(error);
    }
    await route.abort('aborted');
    this.progress.onArrival();
  }

  /** The browser follows a redirect of a server; the request has already left. */
  async onRedirected(request: Request, before: Request): Promise<void> {
    const { guard } = this.#options;
    const target = withoutFragment(request.url());
    this.progress.lastTarget = target;
    try {
      const refusal = (await guard?.(target)) ?? null;
      if (refusal !== null) throw refusal;
      const response = await before.response();
      const statusCode = response?.status() ?? 302;
      if ((await this.progress.decide(new URL(target), true)) === 'follow') {
        this.progress.redirects.push({ url: before.url(), statusCode });
        return;
      }
      this.isTainted = true;
      const headers = response?.headers() ?? {};
      const answer = { url: withoutFragment(before.url()), statusCode, headers, networkId: null };
      this.progress.end({ answer, body: EMPTY_BODY, redirectedTo: target });
    } catch (error) {
      this.isTainted = true;
      this.progress.fail(error);
    }
  }

  /** The guard refuses the URL of the document. */
  onRefused(refusal: ScrapifieError): void {
    this.progress.fail(refusal);
  }

  onResponse(response: Response): void {
    const [statusCode, headers] = [response.status(), response.headers()];
    if (isRedirect(statusCode) && headers.location !== undefined) return;
    const answer = { url: withoutFragment(response.url()), statusCode, headers, networkId: null };
    const { maxBodyBytes } = this.#options.request;
    this.progress.answer = answer;
    this.response = response;
    if (Number(headers['content-length'] ?? 0) > maxBodyBytes) {
      this.isTainted = true;
      this.progress.fail(tooLarge(maxBodyBytes));
    }
    if (hasNoBody(statusCode)) {
      this.progress.end({ answer, body: EMPTY_BODY, redirectedTo: null });
    }
  }
}
