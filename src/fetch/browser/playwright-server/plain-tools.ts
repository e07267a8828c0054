import type { Page, Request, Response, Route } from 'patchright-core';
import { ScrapifieError } from '../../../errors/scrapifie-error.ts';
import { isPortable } from '../../http/request-headers.ts';
import type { Evaluate, PageTools, ToolOptions } from '../page/page-tools.ts';
import { ownBytes } from '../page/paused-body.ts';
import { isBlocked } from '../page/resource-blocks.ts';
import type { RenderRequest } from '../render-request.ts';
import { PlainDocument } from './plain-document.ts';
import { PlainNetwork } from './plain-network.ts';

/** By Playwright's own interface, for a browser of which nothing else is known. */
export async function plainTools(options: ToolOptions): Promise<PageTools> {
  const { page, request, guard, watchesConsole, limits } = options;
  const document = new PlainDocument(options);
  const network = new PlainNetwork(page, request.captureXhr === true, watchesConsole, limits, options.load);
  let blocked: Parameters<PageTools['block']>[0] = [];
  /** An origin that is visited only for its storage: nobody is asked for anything. */
  let empty: string | null = null;

  const onRoute = async (route: Route, asked: Request): Promise<void> => {
    try {
      if (empty !== null) {
        await route.fulfill({ contentType: 'text/html', body: '' });
        return;
      }
      const refusal = (await guard?.(asked.url())) ?? null;
      if (refusal !== null || isBlocked(asked.url(), blocked)) {
        if (refusal !== null && document.isMain(asked)) document.onRefused(refusal);
        await route.abort('blockedbyclient');
      } else if (document.isMain(asked)) await document.onRoute(route, asked);
      else await route.continue();
    } catch {
      // The page has gone on or away meanwhile; nobody needs to know.
    }
  };
  const onRequest = (asked: Request): void => {
    const before = asked.redirectedFrom();
    if (empty === null && before !== null && document.isMain(asked))
      void document.onRedirected(asked, before);
  };
  const onResponse = (response: Response): void => {
    if (empty === null && document.isMain(response.request())) document.onResponse(response);
  };
  page.on('request', onRequest);
  page.on('response', onResponse);
  await page.route(EVERYTHING, onRoute);

  return {
    document,
    network,
    get isSpoilt() {
      return document.isSpoilt;
    },
    async block(kinds) {
      blocked = kinds;
    },
    async putLocalStorage(storage) {
      for (const [origin, items] of Object.entries(storage)) {
        empty = origin;
        await page.goto(origin, { timeout: STORAGE_MS });
        await page.evaluate(fillStorage, items);
      }
      empty = null;
      return { arrivedAt: () => {}, end: () => {} };
    },
    evaluate: evaluateIn(page),
    async readRaw(_answer, maxBytes) {
      const bytes = await document.response?.body().catch(() => null);
      return bytes == null || bytes.length > maxBytes ? null : ownBytes(bytes);
    },
    end() {
      network.end();
      page.off('request', onRequest);
      page.off('response', onResponse);
      page.unroute(EVERYTHING, onRoute).catch(() => {});
    },
  };
}

/** Playwright's types unwrap handles, of which none ever come here. */
const evaluateIn = (page: Page): Evaluate => page.evaluate.bind(page) as Evaluate;

const EVERYTHING = '**/*';
const STORAGE_MS = 10_000;

/** Runs in the page. */
function fillStorage(items: Readonly<Record<string, string>>): void {
  const { localStorage } = globalThis as unknown as {
    readonly localStorage: { clear(): void; setItem(name: string, value: string): void };
  };
  localStorage.clear();
  for (const [name, value] of Object.entries(items)) localStorage.setItem(name, value);
}

/** Throws UNSUPPORTED_OPTION for what cannot be done without Chromium's own protocol. */
export function checkPlain(request: RenderRequest): void {
  const refuse = (option: string, why: string): never => {
    throw new ScrapifieError('UNSUPPORTED_OPTION', `${option}: ${why}`);
  };
  if (request.pdf === true) refuse('pdf', 'a browser behind a Playwright server makes none');
  for (const name of Object.keys(request.headers)) {
    if (isPortable(name, request.crossOriginHeaders)) continue;
    refuse(
      `headers.${name}`,
      'a browser behind a Playwright server would send it to wherever it is redirected; name it in crossOriginHeaders if it may',
    );
  }
}
