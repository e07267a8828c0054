import type { Browser } from 'playwright-core';
import { endCommands, temporaryFolder } from '../integration/cli-command.ts';
import { openBrowser, type ServedDashboard, serve } from './dashboard-server.ts';
import { type HostileSite, startHostileSite } from './hostile-site.ts';

/** A server with the built dashboard, a browser to look at it, and a site that wants harm. */
export interface DashboardWorld extends ServedDashboard {
  readonly browser: Browser;
  readonly site: HostileSite;
  close(): Promise<void>;
}

export async function openDashboardWorld(): Promise<DashboardWorld> {
  const folder = temporaryFolder();
  const [browser, site, server] = await Promise.all([
    openBrowser(),
    startHostileSite(),
    serve(folder, { args: ['--allow-private'], env: { SCRAPIFIE_PROXIES: 'http://127.0.0.1:9' } }),
  ]);
  return {
    ...server,
    browser,
    site,
    async close() {
      await browser.close();
      await endCommands();
      await site.close();
      folder.remove();
    },
  };
}
