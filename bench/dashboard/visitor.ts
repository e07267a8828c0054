import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import type { MeasuredServer } from '../api/server.ts';

/** A Chromium that looks at the dashboard of a server. */
export interface Visitor {
  /** A browser profile without a cache, signed in. */
  enter(): Promise<BrowserContext>;
  close(): Promise<void>;
}

export async function openVisitor({ origin, apiKey }: MeasuredServer): Promise<Visitor> {
  const found = await findBrowser({ executable: null, env: process.env });
  if (found === null) throw new Error('There is no Chromium on this machine.');
  const browser: Browser = await chromium.launch({
    executablePath: found.path,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return {
    async enter() {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      const signedIn = await context.request.post(`${origin}/dashboard/session`, {
        data: { key: apiKey },
        headers: { 'x-scrapifie-dashboard': '1' },
      });
      if (!signedIn.ok()) throw new Error(`The sign-in was answered with ${signedIn.status()}.`);
      return context;
    },
    close: () => browser.close(),
  };
}
