import { onTestFinished } from 'vitest';
import { searchEnvironment } from '../../core/config/search-environment.ts';
import { isScrapifieError, type ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { BrowserRequest, BrowserResponse } from '../engine.ts';
import { type BrowserEngineOptions, createBrowserEngine, type RenderEngine } from './browser-engine.ts';
import { type BrowserRuntime, type BrowserRuntimeOptions, createBrowserRuntime } from './browser-runtime.ts';
import { findBrowser } from './pool/find-browser.ts';

const found = await findBrowser({ executable: null, env: searchEnvironment() });
export const EXECUTABLE = found?.path ?? null;

export interface TestBrowser {
  readonly engine: RenderEngine;
  readonly runtime: BrowserRuntime;
}

/** An engine with a browser of its own, which ends with the test, or when `close` is called for one that outlives it. */
export function testBrowser(
  options: Partial<BrowserRuntimeOptions> = {},
  more: Partial<BrowserEngineOptions> = {},
): TestBrowser {
  const browser = lastingBrowser(options, more);
  onTestFinished(() => browser.engine.close());
  return browser;
}

export function lastingBrowser(
  options: Partial<BrowserRuntimeOptions> = {},
  more: Partial<BrowserEngineOptions> = {},
): TestBrowser {
  const runtime = createBrowserRuntime({ executablePath: EXECUTABLE, allowPrivate: true, ...options });
  return { runtime, engine: createBrowserEngine({ runtime, userAgent: 'TestBot/1', ...more }) };
}

export function requestFor(url: string, more: Partial<BrowserRequest> = {}): BrowserRequest {
  return {
    url,
    method: 'GET',
    headers: {},
    cookies: {},
    body: null,
    timeoutMs: 20_000,
    maxBodyBytes: 4_000_000,
    maxRedirects: 5,
    conditional: null,
    onRedirect: async () => 'follow',
    ...more,
  };
}

export function render(
  engine: RenderEngine,
  url: string,
  more: Partial<BrowserRequest> = {},
): Promise<BrowserResponse> {
  return engine.render(requestFor(url, more));
}

export const textOf = (response: BrowserResponse): string => Buffer.from(response.body).toString('utf8');

export async function failureOf(attempt: Promise<unknown>): Promise<ScrapifieError> {
  const error = await attempt.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (isScrapifieError(error)) return error;
  throw error;
}

/** Waits for a condition, for half a minute at most. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come true');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
